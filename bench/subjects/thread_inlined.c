/* SPDX-License-Identifier: MIT */
/*
 * thread_inlined.c - lfpool_acquire(pool) and lfpool_release(pool, object), inlined by lfpool/inline.h.
 */
#include "pool.h"

#include "lfpool/inline.h"

#define CALL(name) lfpool_##name
#include "calls.h"

#include "../workloads.h"

const struct subject subject_thread_inlined = {
	.name = "lfpool-thread-inlined",
	.what = "lfpool_acquire(pool), inlined by lfpool/inline.h",
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	POOL_BY_THREAD(pool_open_usual),
};
