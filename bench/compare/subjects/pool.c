/* SPDX-License-Identifier: MIT */
/*
 * pool.c - opening and closing the lfpool pools among the subjects.
 */
#include "pool.h"

#include "../subject.h"

#include <stdio.h>
#include <stdlib.h>

/* Objects beyond those that are out at once: enough for what rests in caches. */
#define SPARE_OBJECTS 65536

lfpool_t *pool_open(lfpool_backend_t backend, uint32_t flags, size_t threads, size_t held)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.name = "compare";
	config.object_size = OBJECT_BYTES;
	config.object_alignment = OBJECT_BYTES;
	config.capacity = threads * held + SPARE_OBJECTS;
	config.backend = backend;
	config.flags = flags;

	lfpool_status_t status = lfpool_create(&pool, &config);

	if (status != LFPOOL_OK) {
		fprintf(stderr, "lfpool-compare: no pool: %s\n", lfpool_status_string(status));
		exit(3);
	}
	return pool;
}

void pool_close(void *pool)
{
	size_t misuses = lfpool_misuse_count(pool);
	size_t active = lfpool_destroy(pool);

	if (misuses || active) {
		fprintf(stderr, "lfpool-compare: %zu releases refused, %zu objects not released\n", misuses, active);
		exit(3);
	}
}
