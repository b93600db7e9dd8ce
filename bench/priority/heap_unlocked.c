/* SPDX-License-Identifier: MIT */
/*
 * heap_unlocked.c - the heap of heap.h without a lock, for one thread alone: what synchronisation costs is the difference.
 */
#include "heap.h"

static inline void *acquire_filled(void *hand, uint64_t priority, uint64_t *handle_out)
{
	return heap_acquire((struct heap *)hand, priority, handle_out);
}

static inline bool update(void *hand, uint64_t handle, uint64_t priority)
{
	return heap_update((struct heap *)hand, handle, priority);
}

static inline bool release(void *hand, uint64_t handle)
{
	return heap_release((struct heap *)hand, handle);
}

#include "loops.h"

static void *open_heap(const struct plan *plan)
{
	struct heap *heap = (struct heap *)must(malloc(sizeof(*heap)));

	*heap = heap_make(plan);
	return heap;
}

static void close_heap(void *shared)
{
	heap_free((struct heap *)shared);
	free(shared);
}

const struct subject subject_heap_unlocked = {
	.name = "heap-unlocked",
	.group = "limit",
	.what = "an indexed binary heap without any synchronisation: one thread only",
	.traits = TRAIT_ONE_THREAD,
	SHARED_BY_ALL(open_heap, close_heap, EVICTING_LOOPS),
};
