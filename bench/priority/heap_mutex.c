/* SPDX-License-Identifier: MIT */
/*
 * heap_mutex.c - one mutex around the heap of heap.h: what most programs do.
 */
#include "heap.h"

#include "locked.h"

const struct subject subject_heap_mutex = {
	.name = "heap-mutex",
	.group = "own",
	.what = "one mutex around an indexed binary heap",
	LOCKED_MEMBERS,
};
