/* SPDX-License-Identifier: MIT */
/* calls.h - operations that consist of one call; for the files with tables of operations. */
#ifndef LFPOOL_VERIFY_CALLS_H
#define LFPOOL_VERIFY_CALLS_H

#define LFPOOL_INLINE_KEEP_NAMES_
#include "lfpool/inline.h"
#include "scene.h"
#include "stepper.h"

#define OPERATION(name, call)                                               \
	static __attribute__((noinline, unused)) void name(struct scene *s) \
	{                                                                   \
		call;                                                       \
	}

OPERATION(acquire_inlined, s->got[0] = STEP(lfpool_cache_acquire_inline_(s->mine)))
OPERATION(release_inlined, s->released = STEP(lfpool_cache_release_inline_(s->mine, s->given[0])) == LFPOOL_OK)
OPERATION(acquire_through_cache, s->got[0] = STEP(lfpool_cache_acquire(s->mine)))
OPERATION(release_through_cache, s->released = STEP(lfpool_cache_release(s->mine, s->given[0])) == LFPOOL_OK)
OPERATION(acquire, s->got[0] = STEP(lfpool_acquire(s->pool)))
OPERATION(release, s->released = STEP(lfpool_release(s->pool, s->given[0])) == LFPOOL_OK)
OPERATION(acquire_bulk, (void)STEP(lfpool_acquire_bulk(s->pool, s->got, s->wanted)))
OPERATION(release_bulk, s->released = STEP(lfpool_release_bulk(s->pool, s->given, s->given_count)))

#endif
