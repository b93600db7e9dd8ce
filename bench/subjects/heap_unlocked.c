/* SPDX-License-Identifier: MIT */
/* heap_unlocked.c - the heap of heap.h without a lock, for one thread alone: what synchronisation costs is the difference. */
#define MUTEX(operation) (void)0
#include "heap.h"

const struct subject subject_heap_unlocked = {
	SUBJECT("heap-unlocked", "limit", "an indexed binary heap without any synchronisation: one thread only", NULL,
		TRAIT_ONE_THREAD),
	SHARED_BY_ALL(open_heap, close_heap, EVICTING_LOOPS),
};
