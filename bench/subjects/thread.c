/* SPDX-License-Identifier: MIT */
/*
 * thread.c - lfpool_acquire(pool) and lfpool_release(pool, object), which find the thread's cache themselves, by two
 * backends: lfpool proper, and one mutex around one list, which makes the same checks.
 */
#include "pool.h"

static inline void *acquire(void *pool)
{
	return lfpool_acquire((lfpool_t *)pool);
}

static inline void release(void *pool, void *object)
{
	(void)lfpool_release((lfpool_t *)pool, object);
}

#define SUBJECT_HAS_BULK

static inline bool acquire_bulk(void *pool, void **objects, size_t count)
{
	return lfpool_acquire_bulk((lfpool_t *)pool, objects, count) == count;
}

static inline void release_bulk(void *pool, void **objects, size_t count)
{
	(void)lfpool_release_bulk((lfpool_t *)pool, objects, count);
}

#include "../workloads.h"

static void *open_lockfree(const struct plan *plan)
{
	return pool_open(plan, LFPOOL_BACKEND_LOCKFREE, 0);
}

static void *open_mutex(const struct plan *plan)
{
	return pool_open(plan, LFPOOL_BACKEND_MUTEX, 0);
}

const struct subject subject_thread = {
	.name = "lfpool-thread",
	.group = "lfpool",
	.what = "lfpool_acquire(pool): the thread's own cache, found through thread-local storage",
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	.open = open_lockfree,
	.close = pool_close,
	.join = join_shared,
	.leave = leave_nothing,
	.counters = pool_counters,
	.loops = SUBJECT_LOOPS,
};

const struct subject subject_mutex = {
	.name = "mutex",
	.group = "own",
	.what = "one mutex, one list, the same checks: LFPOOL_BACKEND_MUTEX",
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	.open = open_mutex,
	.close = pool_close,
	.join = join_shared,
	.leave = leave_nothing,
	.loops = SUBJECT_LOOPS,
};
