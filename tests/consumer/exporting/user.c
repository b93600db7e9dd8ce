/* SPDX-License-Identifier: MIT */
/* user.c - exports a function that uses a pool. */
#include <lfpool/lfpool.h>

int user_works(void);

int user_works(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.object_size = 16;
	config.capacity = 10;
	return lfpool_create(&pool, &config) == LFPOOL_OK && lfpool_destroy(pool) == 0;
}
