/* SPDX-License-Identifier: MIT */
/*
 * thread.c - lfpool_acquire(pool) and lfpool_release(pool, object), which find the thread's cache themselves, by two
 * backends: lfpool proper, and one mutex around one list, which makes the same checks.
 */
#include "pool.h"

#define CALL(name) lfpool_##name
#include "calls.h"

#include "../workloads.h"

static void *open_mutex(const struct plan *plan)
{
	return pool_open(plan, LFPOOL_BACKEND_MUTEX, 0);
}

const struct subject subject_thread = {
	.name = "lfpool-thread",
	.what = "lfpool_acquire(pool): the thread's own cache, found through thread-local storage",
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	POOL_BY_THREAD(pool_open_usual),
};

const struct subject subject_mutex = {
	.name = "mutex",
	.group = "own",
	.what = "one mutex, one list, the same checks: LFPOOL_BACKEND_MUTEX",
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	SHARED_BY_ALL(open_mutex, pool_close, SUBJECT_LOOPS),
};
