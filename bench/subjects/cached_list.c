/* SPDX-License-Identifier: MIT */
/*
 * cached_list.c - a list for each thread, and batches of objects under a mutex: the pool that a good programmer
 * writes in an hour.
 *
 * Idea         A thread pops from its list and pushes onto it, linked through the objects, and keeps one full batch
 *              in reserve.  It takes the mutex only to get a batch or to give one away.
 * Without      No checks.  NULL is inexact: objects in other threads' lists are not found.  So the pool has more
 *              objects than the plan asks for.
 */
#include "../objects.h"

#include <pthread.h>

#define BATCH 256 /* objects, as in a magazine of lfpool */

struct link {
	struct link *next;
	struct link *next_batch; /* in the first object of a batch */
};

struct pool {
	pthread_mutex_t lock;
	struct link *batches;
	size_t carved; /* objects that have been in a batch */
	struct objects objects;
};

struct own {
	struct link *first, *spare;
	size_t count; /* upper bound on the objects in `first`: a thread that leaves gives away a partial batch */
	struct pool *pool;
};

/* A batch of unused objects; NULL when all have been used. */
static struct link *carve(struct pool *pool)
{
	struct link *first = NULL;

	for (size_t i = 0; i < BATCH && pool->carved < pool->objects.count; i++) {
		struct link *link = objects_at(&pool->objects, pool->carved++);

		link->next = first;
		first = link;
	}
	return first;
}

static struct link *take_batch(struct pool *pool)
{
	(void)pthread_mutex_lock(&pool->lock);

	struct link *batch = pool->batches;

	if (batch)
		pool->batches = batch->next_batch;
	else
		batch = carve(pool);
	(void)pthread_mutex_unlock(&pool->lock);
	return batch;
}

static void give_batch(struct pool *pool, struct link *batch)
{
	if (!batch)
		return;
	(void)pthread_mutex_lock(&pool->lock);
	batch->next_batch = pool->batches;
	pool->batches = batch;
	(void)pthread_mutex_unlock(&pool->lock);
}

static inline void *acquire(void *hand)
{
	struct own *own = hand;

	if (__builtin_expect(!own->first, 0)) {
		own->first = own->spare ? own->spare : take_batch(own->pool);
		own->spare = NULL;
		own->count = BATCH;
	}

	struct link *link = own->first;

	if (link) {
		own->first = link->next;
		own->count--;
	}
	return link;
}

static inline void release(void *hand, void *object)
{
	struct own *own = hand;
	struct link *link = object;

	if (__builtin_expect(own->count == BATCH, 0)) {
		give_batch(own->pool, own->spare);
		own->spare = own->first;
		own->first = NULL;
		own->count = 0;
	}
	link->next = own->first;
	own->first = link;
	own->count++;
}

#include "../loops.h"

static void *open_pool(const struct plan *plan)
{
	struct pool *pool = must(calloc(1, sizeof(*pool)));
	struct plan more = *plan;

	more.capacity += 2 * BATCH * (size_t)plan->threads;
	pool->objects = objects_make(&more);
	(void)pthread_mutex_init(&pool->lock, NULL);
	return pool;
}

static void close_pool(void *shared)
{
	objects_free(&((struct pool *)shared)->objects);
	free(shared);
}

static void *join(void *shared)
{
	struct own *own = must(calloc(1, sizeof(*own)));

	own->pool = shared;
	return own;
}

static void leave(void *hand)
{
	struct own *own = hand;

	give_batch(own->pool, own->spare);
	give_batch(own->pool, own->first);
	free(own);
}

const struct subject subject_cached_list = {
	SUBJECT("cached-list", "own", "a list for each thread, batches of 256 under one pthread mutex: no checks", NULL,
		TRAIT_POOL),
	FOR_EACH_THREAD(open_pool, close_pool, join, leave, SUBJECT_LOOPS),
};
