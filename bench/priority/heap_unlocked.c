/* SPDX-License-Identifier: MIT */
/*
 * heap_unlocked.c - the heap of heap.h without a lock, for one thread alone: what synchronisation costs is the difference.
 */
#include "heap.h"

#define UNLOCKED
#include "locked.h"

const struct subject subject_heap_unlocked = {
	.name = "heap-unlocked",
	.group = "limit",
	.what = "an indexed binary heap without any synchronisation: one thread only",
	.traits = TRAIT_ONE_THREAD,
	LOCKED_MEMBERS,
};
