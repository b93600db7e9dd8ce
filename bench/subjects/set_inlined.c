/* SPDX-License-Identifier: MIT */
/*
 * set_inlined.c - lfpool_set_acquire(set, bytes) and lfpool_set_release(set, object), inlined by lfpool/set_inline.h.
 */
#include "lfpool/set_inline.h"

#include "sizes.h"

#include "../loops.h"

const struct subject subject_set_inlined = {
	SUBJECT("lfpool-set-inlined", "lfpool", "lfpool_set_acquire(set, bytes), inlined by lfpool/set_inline.h", NULL,
		0),
	SHARED_BY_ALL(open_set, close_set, SUBJECT_LOOPS),
};
