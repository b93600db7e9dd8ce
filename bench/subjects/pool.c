/* SPDX-License-Identifier: MIT */
/*
 * pool.c - opening and closing the lfpool pools among the subjects.
 */
#include "pool.h"

lfpool_config_t pool_config(const struct plan *plan, lfpool_backend_t backend)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	config.name = "bench";
	config.object_size = plan->object_bytes;
	config.object_alignment = plan->object_bytes < 64 ? plan->object_bytes : 64;
	config.capacity = plan->capacity;
	config.backend = backend;
	return config;
}

lfpool_t *pool_create(const lfpool_config_t *config)
{
	lfpool_t *pool;
	lfpool_status_t status = lfpool_create(&pool, config);

	if (status != LFPOOL_OK)
		give_up("lfpool", lfpool_status_string(status));
	return pool;
}

lfpool_t *pool_open(const struct plan *plan, lfpool_backend_t backend, uint32_t flags)
{
	lfpool_config_t config = pool_config(plan, backend);

	config.flags = flags;
	return pool_create(&config);
}

void *pool_open_usual(const struct plan *plan)
{
	return pool_open(plan, LFPOOL_BACKEND_LOCKFREE, 0);
}

void pool_close(void *pool)
{
	size_t misuses = lfpool_misuse_count(pool);
	size_t active = lfpool_destroy(pool);

	if (misuses)
		give_up("lfpool", "releases were refused");
	if (active)
		give_up("lfpool", "objects were not released");
}

void pool_settle(void *pool, bool first)
{
	if (first && lfpool_drain((lfpool_t *)pool) != LFPOOL_OK)
		give_up("lfpool", "it could not be drained");
}

void *pool_cache_join(void *pool)
{
	return must(lfpool_cache_create(pool));
}

void pool_cache_leave(void *cache)
{
	lfpool_cache_destroy(cache);
}
