/* SPDX-License-Identifier: MIT */
/*
 * released_at_once.c - lfpool_release() instead of deferring, and no sections: what the loop and a pool take.  Who reads
 * finds nodes that are somebody else's by now, and must not mind.  No way to do it, but nothing can be below it.
 */
#include "retiring.h"

#include "../subjects/pool.h"

static inline void *acquire(void *hand)
{
	return lfpool_acquire((lfpool_t *)hand);
}

static void *acquire_wait(void *hand)
{
	return must(lfpool_acquire_wait((lfpool_t *)hand, -1));
}

static inline void defer(void *hand, void *node)
{
	(void)lfpool_release((lfpool_t *)hand, node);
}

static inline void section_begin(void *hand)
{
	(void)hand;
}

static inline void section_end(void *hand)
{
	(void)hand;
}

static inline void quiesce(void *hand)
{
	(void)hand;
}

static inline void go_online(void *hand)
{
	(void)hand;
}

static inline void go_offline(void *hand)
{
	(void)hand;
}

static void settle(void *hand, bool first)
{
	(void)hand;
	(void)first;
}

static size_t in_flight(void *shared, size_t deferred)
{
	(void)shared;
	(void)deferred;
	return 0;
}

#define RELEASES_AT_ONCE
#include "loops.h"

static void *open_pool(const struct plan *plan)
{
	return pool_open(plan, LFPOOL_BACKEND_LOCKFREE, 0);
}

const struct subject subject_released_at_once = {
	.name = "released-at-once",
	.group = "limit",
	.what = "lfpool_release() while others read, which no program may do: the loop and the pool alone",
	.traits = TRAIT_BOUNDED,
	.open = open_pool,
	.close = pool_close,
	.join = join_shared,
	.leave = leave_nothing,
	.loops = RETIRING_LOOPS,
};
