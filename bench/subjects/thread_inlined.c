/* SPDX-License-Identifier: MIT */
/*
 * thread_inlined.c - lfpool_acquire(pool) and lfpool_release(pool, object), inlined by lfpool/inline.h.
 */
#include "pool.h"

#include "lfpool/inline.h"

#define CALL(name) lfpool_##name
#include "calls.h"

#include "../workloads.h"

static void *open_lockfree(const struct plan *plan)
{
	return pool_open(plan, LFPOOL_BACKEND_LOCKFREE, 0);
}

const struct subject subject_thread_inlined = {
	.name = "lfpool-thread-inlined",
	.group = "lfpool",
	.what = "lfpool_acquire(pool), inlined by lfpool/inline.h",
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	.open = open_lockfree,
	.close = pool_close,
	.join = join_shared,
	.leave = leave_nothing,
	.counters = pool_counters,
	.loops = SUBJECT_LOOPS,
};
