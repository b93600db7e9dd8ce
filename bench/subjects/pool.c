/* SPDX-License-Identifier: MIT */
/*
 * pool.c - opening and closing the lfpool pools among the subjects.
 */
#include "pool.h"

lfpool_t *pool_open(const struct plan *plan, lfpool_backend_t backend, uint32_t flags)
{
	return pool_open_cached(plan, backend, flags, 0);
}

lfpool_t *pool_open_cached(const struct plan *plan, lfpool_backend_t backend, uint32_t flags, size_t cache_capacity)
{
	return pool_open_hooked(plan, backend, flags, cache_capacity, NULL);
}

void *pool_open_usual(const struct plan *plan)
{
	return pool_open(plan, LFPOOL_BACKEND_LOCKFREE, 0);
}

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

static lfpool_t *create(const lfpool_config_t *config)
{
	lfpool_t *pool;
	lfpool_status_t status = lfpool_create(&pool, config);

	if (status != LFPOOL_OK)
		give_up("lfpool", lfpool_status_string(status));
	return pool;
}

lfpool_t *pool_open_hooked(const struct plan *plan, lfpool_backend_t backend, uint32_t flags, size_t cache_capacity,
			   const lfpool_hooks_t *hooks)
{
	lfpool_config_t config = pool_config(plan, backend);

	if (hooks)
		config.hooks = *hooks;
	config.cache_capacity = cache_capacity;
	config.flags = flags;
	return create(&config);
}

lfpool_t *pool_open_deferring(const struct plan *plan, lfpool_backend_t backend, lfpool_scheme_t scheme)
{
	lfpool_config_t config = pool_config(plan, backend);

	config.scheme = scheme;
	return create(&config);
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

void pool_counters(void *pool, uint64_t *misses, uint64_t *retries)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	if (lfpool_stats((const lfpool_t *)pool, &stats) != LFPOOL_OK)
		give_up("lfpool", "no statistics");
	*misses = stats.refills + stats.drains;
	*retries = stats.retries;
}

void *pool_acquire_wait(void *pool)
{
	return must(lfpool_acquire_wait((lfpool_t *)pool, -1));
}

void pool_settle(void *pool, bool first)
{
	if (first && lfpool_drain((lfpool_t *)pool) != LFPOOL_OK)
		give_up("lfpool", "it could not be drained");
}

size_t pool_in_flight(void *pool, size_t deferred)
{
	(void)deferred;
	return lfpool_retired_count((const lfpool_t *)pool);
}

void *pool_cache_join(void *pool)
{
	return must(lfpool_cache_create(pool));
}

void pool_cache_leave(void *cache)
{
	lfpool_cache_destroy(cache);
}
