/* SPDX-License-Identifier: MIT */
/*
 * thread_inlined.c - lfpool_acquire(pool) and lfpool_release(pool, object), inlined by lfpool/inline.h.
 */
#include "pool.h"

#include "lfpool/inline.h"

#define CALL(name) lfpool_##name
#include "calls.h"

#include "../loops.h"

const struct subject subject_thread_inlined = {
	SUBJECT("lfpool-thread-inlined", "lfpool", "lfpool_acquire(pool), inlined by lfpool/inline.h", NULL,
		POOL_TRAITS),
	POOL_BY_THREAD(pool_open_usual),
};
