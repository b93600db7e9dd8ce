/* SPDX-License-Identifier: MIT */
/*
 * library.c - lfpool through a cache per thread, each call into the library.
 */
#include "pool.h"

#define CALL(name) lfpool_cache_##name
#include "calls.h"

#include "../workloads.h"

static void *open_tracked(const struct plan *plan)
{
	return pool_open(plan, LFPOOL_BACKEND_LOCKFREE, 0);
}

const struct subject subject_library = {
	.name = "lfpool-library",
	.group = "lfpool",
	.what = "a cache for each thread, calls into the library",
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	.open = open_tracked,
	.close = pool_close,
	.join = pool_cache_join,
	.leave = pool_cache_leave, .counters = pool_counters,
	.loops = SUBJECT_LOOPS,
};
