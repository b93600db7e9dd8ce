/* SPDX-License-Identifier: MIT */
/*
 * pool.h - opening and closing the lfpool pools among the subjects.
 */
#ifndef LFPOOL_BENCH_POOL_H
#define LFPOOL_BENCH_POOL_H

#include "../subject.h"

#include "lfpool/lfpool.h"
#include "lfpool/report.h"
#include "lfpool/retire.h"

/* The configuration that these pools share. */
static inline lfpool_config_t pool_config(const struct plan *plan, lfpool_backend_t backend)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	config.name = "bench";
	config.object_size = plan->object_bytes;
	config.object_alignment = plan->object_bytes < 64 ? plan->object_bytes : 64;
	config.capacity = plan->capacity;
	config.backend = backend;
	return config;
}

/* Creates a pool; ends the program if that fails. */
static inline lfpool_t *pool_create(const lfpool_config_t *config)
{
	lfpool_t *pool;
	lfpool_status_t status = lfpool_create(&pool, config);

	if (status != LFPOOL_OK)
		give_up("lfpool", lfpool_status_string(status));
	return pool;
}

static inline lfpool_t *pool_open(const struct plan *plan, lfpool_backend_t backend, uint32_t flags)
{
	lfpool_config_t config = pool_config(plan, backend);

	config.flags = flags;
	return pool_create(&config);
}

/* For open(). */
static inline void *pool_open_usual(const struct plan *plan)
{
	return pool_open(plan, LFPOOL_BACKEND_LOCKFREE, 0);
}

/* Ends the program if an object was not released or a release was refused: then the figures would be about something
 * else. */
static inline void pool_close(void *pool)
{
	size_t misuses = lfpool_quick_stats(pool).misuses;
	size_t active = lfpool_destroy(pool);

	if (misuses)
		give_up("lfpool", "releases were refused");
	if (active)
		give_up("lfpool", "objects were not released");
}

/* For settle(), see workload.h. */
static inline void pool_settle(void *pool, bool first)
{
	if (first && lfpool_drain((lfpool_t *)pool) != LFPOOL_OK)
		give_up("lfpool", "it could not be drained");
}

/* For join() and leave(): an explicit cache for each thread. */
static inline void *pool_cache_join(void *pool)
{
	return must(lfpool_cache_create(pool));
}

static inline void pool_cache_leave(void *cache)
{
	lfpool_cache_destroy(cache);
}

#define POOL_TRAITS (TRAIT_BOUNDED | TRAIT_POOL)
/* The last members of subjects with an explicit cache; of subjects that find the thread's cache. */
#define POOL_BY_CACHE(its_open) FOR_EACH_THREAD(its_open, pool_close, pool_cache_join, pool_cache_leave, SUBJECT_LOOPS)
#define POOL_BY_THREAD(its_open) SHARED_BY_ALL(its_open, pool_close, SUBJECT_LOOPS)

#endif
