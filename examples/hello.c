/* SPDX-License-Identifier: MIT */
/*
 * hello.c - the whole life of a pool: create, acquire, release, destroy.
 */
#include "lfpool/lfpool.h"

#include <stdio.h>

struct greeting {
	char text[64];
};

int main(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.object_size = sizeof(struct greeting);
	config.capacity = 1000;
	lfpool_status_t status = lfpool_create(&pool, &config);
	if (status != LFPOOL_OK) {
		fprintf(stderr, "lfpool_create: %s\n", lfpool_status_string(status));
		return 1;
	}
	struct greeting *greeting = lfpool_acquire(pool); /* NULL only if all 1000 are in use */
	if (greeting) {
		snprintf(greeting->text, sizeof(greeting->text), "hello from one of %zu", lfpool_capacity(pool));
		printf("%s objects, %zu active\n", greeting->text, lfpool_active_count(pool));
		lfpool_release(pool, greeting); /* from any thread */
	}
	return lfpool_destroy(pool) == 0 ? 0 : 1; /* how many objects were never released */
}
