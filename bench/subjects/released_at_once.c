/* SPDX-License-Identifier: MIT */
/* released_at_once.c - lfpool_release() instead of deferring, and no sections: the cost of the loop and the pool
 * alone.  A reader may find another thread's node, and must not mind.  No program may do this, but it is a lower
 * bound. */
#include "../workload.h"
#include "pool.h"

static inline void *acquire(void *hand)
{
	return lfpool_acquire((lfpool_t *)hand);
}

static inline void defer(void *hand, void *node)
{
	(void)lfpool_release((lfpool_t *)hand, node);
}

static inline void section(void *hand)
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

#define acquire_wait acquire
#define section_begin section
#define section_end section
#define RELEASES_AT_ONCE
#include "../retiring.h"

const struct subject subject_released_at_once = {
	SUBJECT("released-at-once", "limit",
		"lfpool_release() while others read, which no program may do: the loop and the pool alone", NULL,
		TRAIT_BOUNDED),
	SHARED_BY_ALL(pool_open_usual, pool_close, RETIRING_LOOPS),
};
