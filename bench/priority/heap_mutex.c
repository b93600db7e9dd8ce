/* SPDX-License-Identifier: MIT */
/*
 * heap_mutex.c - one mutex around the heap of heap.h: what most programs do.
 *
 * Idea         Each call is one critical section.  A new object is filled inside it: else its holder would need a second
 *              one to let it be evicted, or would write to what another has got meanwhile.
 */
#include "heap.h"

struct locked {
	/* Who has the lock wants the heap: neighbours. */
	_Alignas(128) pthread_mutex_t mutex;
	struct heap heap;
};

static inline void *acquire_filled(void *hand, uint64_t priority, uint64_t *handle_out)
{
	struct locked *locked = (struct locked *)hand;

	(void)pthread_mutex_lock(&locked->mutex);

	void *object = heap_acquire(&locked->heap, priority, handle_out);

	(void)pthread_mutex_unlock(&locked->mutex);
	return object;
}

static inline bool update(void *hand, uint64_t handle, uint64_t priority)
{
	struct locked *locked = (struct locked *)hand;

	(void)pthread_mutex_lock(&locked->mutex);

	const bool done = heap_update(&locked->heap, handle, priority);

	(void)pthread_mutex_unlock(&locked->mutex);
	return done;
}

static inline bool release(void *hand, uint64_t handle)
{
	struct locked *locked = (struct locked *)hand;

	(void)pthread_mutex_lock(&locked->mutex);

	const bool done = heap_release(&locked->heap, handle);

	(void)pthread_mutex_unlock(&locked->mutex);
	return done;
}

#include "loops.h"

static void *open_heap(const struct plan *plan)
{
	struct locked *locked = (struct locked *)must(aligned_alloc(_Alignof(struct locked), sizeof(*locked)));

	*locked = (struct locked){.heap = heap_make(plan)};
	(void)pthread_mutex_init(&locked->mutex, NULL);
	return locked;
}

static void close_heap(void *shared)
{
	struct locked *locked = (struct locked *)shared;

	(void)pthread_mutex_destroy(&locked->mutex);
	heap_free(&locked->heap);
	free(locked);
}

const struct subject subject_heap_mutex = {
	.name = "heap-mutex",
	.group = "own",
	.what = "one mutex around an indexed binary heap",
	SHARED_BY_ALL(open_heap, close_heap, EVICTING_LOOPS),
};
