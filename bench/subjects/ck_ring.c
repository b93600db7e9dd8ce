/* SPDX-License-Identifier: MIT */
/*
 * ck_ring.c - Concurrency Kit's bounded queue as a free list: pointers to all free objects go around in it, and the
 * one that has been free the longest is next.  No caches, no checks.
 *
 * Documented   ck_ring_init(3): a power of two, 4 or more; ck_ring.h: it holds one pointer less than that.
 *              ck_ring_enqueue_mpmc() and ck_ring_dequeue_mpmc() are the pair for any number of threads on both
 *              sides.  An enqueue waits until those that began before it have finished, and if their threads do not
 *              run, until they do: in that order, so with more threads than CPUs each can take a time slice.
 * Edges        There is room for all objects, so no enqueue ever fails.
 */
#include "../objects.h"

#include <ck_md.h>
#include <ck_ring.h>

struct store {
	ck_ring_t free CK_CC_CACHELINE;
	ck_ring_buffer_t *buffer;
	struct objects objects;
};

static inline void *acquire(void *hand)
{
	struct store *store = (struct store *)hand;
	void *object;

	return ck_ring_dequeue_mpmc(&store->free, store->buffer, &object) ? object : NULL;
}

static inline void release(void *hand, void *object)
{
	struct store *store = (struct store *)hand;

	(void)ck_ring_enqueue_mpmc(&store->free, store->buffer, object);
}

#include "../workloads.h"

static void *open_ck_ring(const struct plan *plan)
{
	struct store *store = (struct store *)must(aligned_alloc(_Alignof(struct store), sizeof(*store)));
	unsigned size = 4;

	while (size <= plan->capacity)
		size *= 2;
	store->objects = objects_make(plan);
	store->buffer = (ck_ring_buffer_t *)must(malloc((size_t)size * sizeof(*store->buffer)));
	ck_ring_init(&store->free, size);
	for (size_t i = 0; i < plan->capacity; i++)
		release(store, objects_at(&store->objects, i));
	return store;
}

static void close_ck_ring(void *shared)
{
	struct store *store = (struct store *)shared;

	objects_free(&store->objects);
	free(store->buffer);
	free(store);
}

VERSION_IS("ck " CK_VERSION)

const struct subject subject_ck_ring = {
	.name = "ck-ring",
	.group = "lock-free",
	.what = "Concurrency Kit: a bounded queue of pointers, ck_ring_dequeue_mpmc() and ck_ring_enqueue_mpmc()",
	.version = version,
	.traits = TRAIT_BOUNDED | TRAIT_POOL | TRAIT_NOT_PREEMPTIBLE,
	SHARED_BY_ALL(open_ck_ring, close_ck_ring, SUBJECT_LOOPS),
};
