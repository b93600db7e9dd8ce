/* SPDX-License-Identifier: MIT */
/* limit.c - a list for each thread, linked through the objects, without synchronisation or checks: a thread-safe pool
 * cannot be much faster. */
#define LOCK_T char
#define LOCK_INIT(lock) (void)(lock)
#define LOCK(lock) (void)(lock)
#define UNLOCK(lock) (void)(lock)
#include "locked_list.h"

/* The threads share only the plan. */
static void *open_limit(const struct plan *plan)
{
	struct plan *own = open_plan(plan);

	own->capacity = plan->held;
	return own;
}

static void *join(void *shared)
{
	return open_stack(shared);
}

const struct subject subject_limit = {
	SUBJECT("limit", "limit", "a list for each thread, no synchronisation, no check", NULL, TRAIT_PRIVATE),
	FOR_EACH_THREAD(open_limit, free, join, close_stack, SUBJECT_LOOPS),
};
