/* SPDX-License-Identifier: MIT */
/* thread.c - lfpool_acquire(pool) and lfpool_release(pool, object), which find the thread's cache, in two modes: the
 * lock-free pool, and one mutex around one list, with the same checks. */
#include "pool.h"

#define CALL(name) lfpool_##name
#include "calls.h"

#include "../loops.h"

static void *open_mutex(const struct plan *plan)
{
	return pool_open(plan, LFPOOL_BACKEND_MUTEX, 0);
}

const struct subject subject_thread = {
	SUBJECT("lfpool-thread", "lfpool",
		"lfpool_acquire(pool): the thread's own cache, found through thread-local storage", NULL, POOL_TRAITS),
	POOL_BY_THREAD(pool_open_usual),
};

const struct subject subject_mutex = {
	SUBJECT("mutex", "own", "one mutex, one list, the same checks: LFPOOL_BACKEND_MUTEX", NULL, POOL_TRAITS),
	SHARED_BY_ALL(open_mutex, pool_close, SUBJECT_LOOPS),
};
