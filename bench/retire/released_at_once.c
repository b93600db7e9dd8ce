/* SPDX-License-Identifier: MIT */
/*
 * released_at_once.c - lfpool_release() instead of deferring, and no sections: what the loop and a pool take.  A
 * reader finds nodes that are another thread's by now, and must not mind.  No way to do it, but nothing can be below it.
 */
#include "retiring.h"

#include "../subjects/pool.h"

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

#define acquire pool_acquire
#define acquire_wait pool_acquire_wait
#define settle settle_nothing
#define in_flight none_in_flight
#define RELEASES_AT_ONCE
#include "loops.h"

const struct subject subject_released_at_once = {
	.name = "released-at-once",
	.group = "limit",
	.what = "lfpool_release() while others read, which no program may do: the loop and the pool alone",
	.traits = TRAIT_BOUNDED,
	SHARED_BY_ALL(pool_open_usual, pool_close, RETIRING_LOOPS),
};
