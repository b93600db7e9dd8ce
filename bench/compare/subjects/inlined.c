/* SPDX-License-Identifier: MIT */
/*
 * inlined.c - lfpool through a cache per thread and lfpool/inline.h: with a state word for each object, which is the
 * default, and without.
 */
#include "lfpool/inline.h"

#include "pool.h"

static inline void *acquire(void *hand)
{
	return lfpool_cache_acquire(hand);
}

static inline void release(void *hand, void *object)
{
	(void)lfpool_cache_release(hand, object);
}

#include "../workloads.h"

static void *open_tracked(size_t threads, size_t held)
{
	return pool_open(LFPOOL_BACKEND_LOCKFREE, 0, threads, held);
}

static void *open_untracked(size_t threads, size_t held)
{
	return pool_open(LFPOOL_BACKEND_LOCKFREE, LFPOOL_UNTRACKED, threads, held);
}

static void *join(void *pool)
{
	return must(lfpool_cache_create(pool));
}

static void leave(void *cache)
{
	lfpool_cache_destroy(cache);
}

const struct subject subject_inlined = {
	.name = "lfpool-inlined",
	.what = "lfpool, a cache for each thread, lfpool/inline.h",
	.workloads = 1 << PAIRS | 1 << BURSTS | 1 << HANDOFF,
	.open = open_tracked,
	.close = pool_close,
	.join = join,
	.leave = leave,
	SUBJECT_LOOPS,
};

const struct subject subject_untracked = {
	.name = "lfpool-untracked",
	.what = "the same, made with LFPOOL_UNTRACKED",
	.workloads = 1 << PAIRS | 1 << BURSTS | 1 << HANDOFF,
	.open = open_untracked,
	.close = pool_close,
	.join = join,
	.leave = leave,
	SUBJECT_LOOPS,
};
