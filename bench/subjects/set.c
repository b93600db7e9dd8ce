/* SPDX-License-Identifier: MIT */
/*
 * set.c - lfpool_set_acquire(set, bytes) and lfpool_set_release(set, object): a pool for each size class.
 */
#include "sizes.h"

#include "../loops.h"

const struct subject subject_set = {
	SUBJECT("lfpool-set", "lfpool", "lfpool_set_acquire(set, bytes): a pool for each size class", NULL, 0),
	SHARED_BY_ALL(open_set, close_set, SUBJECT_LOOPS),
};
