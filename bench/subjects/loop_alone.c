/* SPDX-License-Identifier: MIT */
/*
 * loop_alone.c - no pool at all: what the loop itself takes, and is contained in the figures of all.
 */
#include "../workload.h"

/* One address for all: nobody looks at it. */
static inline void *acquire_filled(void *hand, uint64_t priority, uint64_t *handle_out)
{
	*handle_out = priority;
	return hand;
}

static inline bool update(void *hand, uint64_t handle, uint64_t priority)
{
	__asm__ __volatile__("" : : "r"(hand), "r"(handle), "r"(priority) : "memory");
	return true;
}

static inline bool release(void *hand, uint64_t handle)
{
	return update(hand, handle, 0);
}

#include "../evicting.h"

static void *open_nothing(const struct plan *plan)
{
	return must(malloc(plan->object_bytes));
}

const struct subject subject_loop_alone = {
	SUBJECT("loop-alone", "limit", "no pool: the loop over pools that evict by itself", NULL, 0),
	SHARED_BY_ALL(open_nothing, free, EVICTING_LOOPS),
};
