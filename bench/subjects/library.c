/* SPDX-License-Identifier: MIT */
/*
 * library.c - lfpool through a cache per thread, each call into the library.
 */
#include "pool.h"

static inline void *acquire(void *hand)
{
	return lfpool_cache_acquire((lfpool_cache_t *)hand);
}

static inline void release(void *hand, void *object)
{
	(void)lfpool_cache_release((lfpool_cache_t *)hand, object);
}

#define SUBJECT_HAS_BULK

static inline bool acquire_bulk(void *hand, void **objects, size_t count)
{
	return lfpool_cache_acquire_bulk((lfpool_cache_t *)hand, objects, count) == count;
}

static inline void release_bulk(void *hand, void **objects, size_t count)
{
	(void)lfpool_cache_release_bulk((lfpool_cache_t *)hand, objects, count);
}

#include "../workloads.h"

static void *open_tracked(const struct plan *plan)
{
	return pool_open(plan, LFPOOL_BACKEND_LOCKFREE, 0);
}

const struct subject subject_library = {
	.name = "lfpool-library",
	.group = "lfpool",
	.what = "a cache for each thread, calls into the library",
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	.open = open_tracked,
	.close = pool_close,
	.join = pool_cache_join,
	.leave = pool_cache_leave, .counters = pool_counters,
	.loops = SUBJECT_LOOPS,
};
