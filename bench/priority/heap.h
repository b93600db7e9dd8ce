/* SPDX-License-Identifier: MIT */
/*
 * heap.h - an evicting pool as one writes it: a binary heap of all objects in use that knows where each of them stands.
 * Not thread-safe; locked.h puts a lock around it.
 *
 * Idea         The indexed priority queue of Sedgewick and Wayne (Algorithms, 4th edition, 2.4): beside the heap stands the
 *              position of each slot in it, so that any object's priority can be changed, and any can be removed, in
 *              O(log n).  An eviction puts the newcomer into the victim's place at the top, and sifts down once: the
 *              pool is never less than full.
 *                 Made fast: the entries, of 16 bytes, hold the priority, so that a comparison looks at the heap alone;
 *              an entry is moved once for each level, not swapped.
 * Handles      {how many objects were acquired before, slot}, 44 and 20 bits, as lfpool's.  An entry holds its handle: so a
 *              stale one is refused by one comparison, and of equal priorities the less handle is the older object.
 */
#ifndef LFPOOL_BENCH_HEAP_H
#define LFPOOL_BENCH_HEAP_H

#include "../objects.h"
#include "evicting.h"

#define HEAP_SLOT_BITS 20

struct entry {
	uint64_t priority, handle;
};

struct heap {
	struct entry *entries; /* 1 .. count; entry i is not before entry i / 2 */
	uint32_t *positions;   /* of each slot; 0: it is free                   */
	uint32_t *free;        /* a stack of slots                              */
	size_t count, free_count;
	uint64_t acquired; /* objects, so far */
	struct objects objects;
};

static inline uint32_t heap_slot(uint64_t handle)
{
	return (uint32_t)(handle & ((1u << HEAP_SLOT_BITS) - 1));
}

static inline bool heap_before(const struct entry *a, const struct entry *b)
{
	return a->priority != b->priority ? a->priority < b->priority : a->handle < b->handle;
}

static inline void heap_put(struct heap *heap, size_t at, struct entry entry)
{
	heap->entries[at] = entry;
	heap->positions[heap_slot(entry.handle)] = (uint32_t)at;
}

/* An entry whose place is at `at` or above it. */
static inline void heap_rise(struct heap *heap, size_t at, struct entry entry)
{
	for (; at > 1 && heap_before(&entry, &heap->entries[at / 2]); at /= 2)
		heap_put(heap, at, heap->entries[at / 2]);
	heap_put(heap, at, entry);
}

/* At `at` or below it. */
static inline void heap_sink(struct heap *heap, size_t at, struct entry entry)
{
	for (size_t child; (child = 2 * at) <= heap->count; at = child) {
		if (child < heap->count && heap_before(&heap->entries[child + 1], &heap->entries[child]))
			child++;
		if (!heap_before(&heap->entries[child], &entry))
			break;
		heap_put(heap, at, heap->entries[child]);
	}
	heap_put(heap, at, entry);
}

/* Where the handle's entry is; 0: the handle is stale. */
static inline size_t heap_find(const struct heap *heap, uint64_t handle)
{
	const uint32_t slot = heap_slot(handle);
	const size_t at = slot < heap->objects.count ? heap->positions[slot] : 0;

	return at && heap->entries[at].handle == handle ? at : 0;
}

static inline void heap_settle(struct heap *heap, size_t at, struct entry entry)
{
	if (at > 1 && heap_before(&entry, &heap->entries[at / 2]))
		heap_rise(heap, at, entry);
	else
		heap_sink(heap, at, entry);
}

static inline uint64_t heap_new_handle(struct heap *heap, uint32_t slot)
{
	return ++heap->acquired << HEAP_SLOT_BITS | slot;
}

static inline void *heap_acquire(struct heap *heap, uint64_t priority, uint64_t *handle_out)
{
	uint32_t slot;

	if (heap->free_count) {
		slot = heap->free[--heap->free_count];
		*handle_out = heap_new_handle(heap, slot);
		heap_rise(heap, ++heap->count, (struct entry){priority, *handle_out});
	} else {
		const struct entry *least = &heap->entries[1];

		if (least->priority >= priority)
			return NULL;
		slot = heap_slot(least->handle);
		*handle_out = heap_new_handle(heap, slot);
		heap_sink(heap, 1, (struct entry){priority, *handle_out});
	}

	void *object = objects_at(&heap->objects, slot);

	object_fill(object, priority);
	return object;
}

static inline bool heap_update(struct heap *heap, uint64_t handle, uint64_t priority)
{
	const size_t at = heap_find(heap, handle);

	if (!at)
		return false;
	heap_settle(heap, at, (struct entry){priority, handle});
	return true;
}

static inline bool heap_release(struct heap *heap, uint64_t handle)
{
	const size_t at = heap_find(heap, handle);

	if (!at)
		return false;

	const struct entry last = heap->entries[heap->count--];

	heap->positions[heap_slot(handle)] = 0;
	heap->free[heap->free_count++] = heap_slot(handle);
	if (last.handle != handle)
		heap_settle(heap, at, last);
	return true;
}

static inline struct heap heap_make(const struct plan *plan)
{
	struct heap heap = {
		.entries = (struct entry *)must(calloc(plan->capacity + 1, sizeof(struct entry))),
		.positions = (uint32_t *)must(calloc(plan->capacity, sizeof(uint32_t))),
		.free = (uint32_t *)must(calloc(plan->capacity, sizeof(uint32_t))),
		.objects = objects_make(plan),
	};

	for (size_t i = plan->capacity; i-- > 0;)
		heap.free[heap.free_count++] = (uint32_t)i;
	return heap;
}

static inline void heap_free(struct heap *heap)
{
	objects_free(&heap->objects);
	free(heap->free);
	free(heap->positions);
	free(heap->entries);
}

#define POOL heap
#define CALL(name) heap_##name

#endif
