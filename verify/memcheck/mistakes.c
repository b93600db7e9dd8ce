/* SPDX-License-Identifier: MIT */
/*
 * mistakes.c - a program that misuses an object in one way: what the malloc backend is for.
 *
 *     lfpool-mistakes none|overrun|leak|uninitialised
 *
 * With LFPOOL_BACKEND=malloc each object is a block of its own, so a checker sees each of the three.  On the lock-free
 * backend the pool is one mapping and none of them shows: the other half of what is tested.
 */
#include "lfpool/lfpool.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	const char *mistake = argc == 2 ? argv[1] : "";
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.object_size = 40;
	config.capacity = 10;
	if (lfpool_create(&pool, &config) != LFPOOL_OK)
		return 2;

	volatile char *object = lfpool_acquire(pool), *lost = lfpool_acquire(pool);

	if (!object || !lost)
		return 2;
	if (strcmp(mistake, "uninitialised") != 0)
		memset((void *)object, 0, config.object_size);
	if (strcmp(mistake, "overrun") == 0)
		object[config.object_size] = 1;
	/* Something depends on what is in there. */
	if (object[7] == 0)
		puts("zero");
	if (strcmp(mistake, "leak") != 0)
		(void)lfpool_release(pool, (void *)lost);
	lost = NULL;
	(void)lfpool_release(pool, (void *)object);
	object = NULL;
	printf("%s: %zu objects never released\n", mistake, lfpool_destroy(pool));
	return 0;
}
