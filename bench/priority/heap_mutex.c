/* SPDX-License-Identifier: MIT */
/*
 * heap_mutex.c - one mutex around the heap of heap.h: what most programs do.
 */
#include "heap.h"

#define POOL heap
#define CALL(name) heap_##name
#include "locked.h"

const struct subject subject_heap_mutex = {
	.name = "heap-mutex",
	.group = "own",
	.what = "one mutex around an indexed binary heap",
	SHARED_BY_ALL(open_locked, close_locked, EVICTING_LOOPS),
};
