/* SPDX-License-Identifier: MIT */
/*
 * heap_mutex.c - an evicting pool as most programs write it: an indexed binary heap of all active objects, under one
 * mutex.
 *
 * Idea         The indexed priority queue of Sedgewick and Wayne (Algorithms, 4th edition, 2.4). An array has each
 *              slot's position in the heap, so any object's priority can be changed, and any object removed, in O(log
 *              n). An eviction puts the newcomer into the victim's place at the top and sifts down once.
 *              Made fast: the 16-byte entries hold the priority, so a comparison reads only the heap; an entry is
 *              moved once per level, not swapped.
 * Handles      {count of acquires, slot}, 44 and 20 bits.  An entry holds its handle, so one comparison refuses a
 *              stale handle, and with equal priorities the smaller handle belongs to the older object.
 * The mutex    Each call is one critical section.  A new object is filled inside it.  Otherwise its holder would need a
 *              second critical section to publish it, or would write to an object that another thread has acquired in
 *              the meantime.
 */
#include "../objects.h"
#include "../workload.h"

#include <pthread.h>

#define SLOT_BITS 20

struct entry {
	uint64_t priority, handle;
};

struct heap {
	/* Next to the pool's data, which the lock's holder needs. */
	_Alignas(128) pthread_mutex_t mutex;
	struct entry *entries; /* 1 .. count; entry i does not go before entry i / 2 */
	uint32_t *positions;   /* each slot's place in `entries`; 0: the slot is free */
	uint32_t *free;        /* a stack of slots                              */
	size_t count, free_count;
	uint64_t acquired; /* number of acquires so far */
	struct objects objects;
};

static inline uint32_t slot_of(uint64_t handle)
{
	return (uint32_t)(handle & ((1u << SLOT_BITS) - 1));
}

static inline bool before(const struct entry *a, const struct entry *b)
{
	return a->priority != b->priority ? a->priority < b->priority : a->handle < b->handle;
}

static inline void put(struct heap *heap, size_t at, struct entry entry)
{
	heap->entries[at] = entry;
	heap->positions[slot_of(entry.handle)] = (uint32_t)at;
}

/* Puts an entry at `at`, or above or below it, where it belongs. */
static inline void settle(struct heap *heap, size_t at, struct entry entry)
{
	if (at > 1 && before(&entry, &heap->entries[at / 2])) {
		do {
			put(heap, at, heap->entries[at / 2]);
			at /= 2;
		} while (at > 1 && before(&entry, &heap->entries[at / 2]));
		put(heap, at, entry);
		return;
	}
	for (size_t child; (child = 2 * at) <= heap->count; at = child) {
		if (child < heap->count && before(&heap->entries[child + 1], &heap->entries[child]))
			child++;
		if (!before(&heap->entries[child], &entry))
			break;
		put(heap, at, heap->entries[child]);
	}
	put(heap, at, entry);
}

/* The position of the handle's entry; 0: the handle is stale. */
static inline size_t find(const struct heap *heap, uint64_t handle)
{
	const uint32_t slot = slot_of(handle);
	const size_t at = slot < heap->objects.count ? heap->positions[slot] : 0;

	return at && heap->entries[at].handle == handle ? at : 0;
}

/* Room for a new entry, to be settled at `at_out`. False: the least does not give way. */
static inline bool make_room(struct heap *heap, uint64_t priority, uint32_t *slot_out, size_t *at_out)
{
	if (heap->free_count) {
		*slot_out = heap->free[--heap->free_count];
		*at_out = ++heap->count;
		return true;
	}
	*slot_out = slot_of(heap->entries[1].handle);
	*at_out = 1;
	return heap->entries[1].priority < priority;
}

static inline void *acquire_filled(void *hand, uint64_t priority, uint64_t *handle_out)
{
	struct heap *pool = (struct heap *)hand;
	void *object = NULL;
	uint32_t slot;
	size_t at;

	(void)pthread_mutex_lock(&pool->mutex);
	if (make_room(pool, priority, &slot, &at)) {
		*handle_out = ++pool->acquired << SLOT_BITS | slot;
		settle(pool, at, (struct entry){priority, *handle_out});
		object = objects_at(&pool->objects, slot);
		object_fill(object, priority);
	}
	(void)pthread_mutex_unlock(&pool->mutex);
	return object;
}

static inline bool update(void *hand, uint64_t handle, uint64_t priority)
{
	struct heap *pool = (struct heap *)hand;

	(void)pthread_mutex_lock(&pool->mutex);

	const size_t at = find(pool, handle);

	if (at)
		settle(pool, at, (struct entry){priority, handle});
	(void)pthread_mutex_unlock(&pool->mutex);
	return at;
}

static inline bool release(void *hand, uint64_t handle)
{
	struct heap *pool = (struct heap *)hand;

	(void)pthread_mutex_lock(&pool->mutex);

	const size_t at = find(pool, handle);

	if (at) {
		const struct entry last = pool->entries[pool->count--];

		pool->positions[slot_of(handle)] = 0;
		pool->free[pool->free_count++] = slot_of(handle);
		if (last.handle != handle)
			settle(pool, at, last);
	}
	(void)pthread_mutex_unlock(&pool->mutex);
	return at;
}

#include "../evicting.h"

static void *open_heap(const struct plan *plan)
{
	struct heap *heap = must(aligned_alloc(_Alignof(struct heap), sizeof(*heap)));

	*heap = (struct heap){
		.entries = must(calloc(plan->capacity + 1, sizeof(struct entry))),
		.positions = must(calloc(plan->capacity, sizeof(uint32_t))),
		.free = must(calloc(plan->capacity, sizeof(uint32_t))),
		.objects = objects_make(plan),
	};
	(void)pthread_mutex_init(&heap->mutex, NULL);
	for (size_t i = plan->capacity; i-- > 0;)
		heap->free[heap->free_count++] = (uint32_t)i;
	return heap;
}

static void close_heap(void *shared)
{
	struct heap *heap = shared;

	(void)pthread_mutex_destroy(&heap->mutex);
	objects_free(&heap->objects);
	free(heap->free);
	free(heap->positions);
	free(heap->entries);
	free(heap);
}

const struct subject subject_heap_mutex = {
	SUBJECT("heap-mutex", "own", "one mutex around an indexed binary heap", NULL, 0),
	SHARED_BY_ALL(open_heap, close_heap, EVICTING_LOOPS),
};
