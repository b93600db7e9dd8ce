/* SPDX-License-Identifier: MIT */
/*
 * library.c - lfpool_acquire(pool) and lfpool_release(pool, object), by two backends: lfpool proper, and one mutex
 * around one list, which does the same checks.
 */
#include "lfpool/lfpool.h"

#include "pool.h"

static inline void *acquire(void *hand)
{
	return lfpool_acquire(hand);
}

static inline void release(void *hand, void *object)
{
	(void)lfpool_release(hand, object);
}

#include "../workloads.h"

static void *open_lockfree(size_t threads, size_t held)
{
	return pool_open(LFPOOL_BACKEND_LOCKFREE, 0, threads, held);
}

static void *open_mutex(size_t threads, size_t held)
{
	return pool_open(LFPOOL_BACKEND_MUTEX, 0, threads, held);
}

/* A thread works with the pool itself. */
static void *join(void *pool)
{
	return pool;
}

static void leave(void *pool)
{
	(void)pool;
}

const struct subject subject_library = {
	.name = "lfpool-library",
	.what = "lfpool, lfpool_acquire(pool)",
	.workloads = 1 << PAIRS | 1 << BURSTS | 1 << HANDOFF,
	.open = open_lockfree,
	.close = pool_close,
	.join = join,
	.leave = leave,
	SUBJECT_LOOPS,
};

const struct subject subject_mutex = {
	.name = "mutex",
	.what = "one mutex, one list: LFPOOL_BACKEND_MUTEX",
	.workloads = 1 << PAIRS | 1 << BURSTS | 1 << HANDOFF,
	.open = open_mutex,
	.close = pool_close,
	.join = join,
	.leave = leave,
	SUBJECT_LOOPS,
};
