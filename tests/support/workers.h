/* SPDX-License-Identifier: MIT */
/*
 * workers.h - threads that share a scene: each has a number and a separate random sequence; they begin together, and
 * end on their own or on request.
 */
#ifndef LFPOOL_TESTS_WORKERS_H
#define LFPOOL_TESTS_WORKERS_H

#include "support.h"

#include <stdatomic.h>

enum { WORKERS_MAX = 32 };

struct worker {
	void *scene;          /* shared by all workers */
	unsigned number;      /* from 0 on                           */
	struct random random; /* from the seed and the number */
	size_t count;         /* free for the test's use */
	struct workers *all;
	pthread_t thread;
};

struct workers {
	void (*work)(struct worker *me);
	unsigned count;
	pthread_barrier_t start;
	_Atomic(bool) over;
	struct worker worker[WORKERS_MAX];
};

static inline bool told_to_end(const struct worker *me)
{
	/* relaxed: the flag publishes nothing; the threads are joined. */
	return atomic_load_explicit(&me->all->over, memory_order_relaxed);
}

static inline void *worker_run(void *worker)
{
	struct worker *me = worker;

	pthread_barrier_wait(&me->all->start);
	me->all->work(me);
	return NULL;
}

/* Returns when all are working. */
static inline void workers_start(struct workers *all, unsigned count, void (*work)(struct worker *me), void *scene,
				 uint64_t seed)
{
	REQUIRE(count <= WORKERS_MAX);
	all->work = work;
	all->count = count;
	atomic_store(&all->over, false);
	pthread_barrier_init(&all->start, NULL, count + 1);
	for (unsigned i = 0; i < count; i++) {
		all->worker[i] = (struct worker){
			.scene = scene, .number = i, .random = random_for(seed, i), .all = all};
		thread_start(&all->worker[i].thread, worker_run, &all->worker[i]);
	}
	pthread_barrier_wait(&all->start);
}

/* Returns the sum of their counts. */
static inline size_t workers_join(struct workers *all)
{
	size_t sum = 0;

	for (unsigned i = 0; i < all->count; i++) {
		REQUIRE(pthread_join(all->worker[i].thread, NULL) == 0);
		sum += all->worker[i].count;
	}
	pthread_barrier_destroy(&all->start);
	return sum;
}

/* Tells the threads to end; then workers_join(). */
static inline size_t workers_end(struct workers *all)
{
	atomic_store(&all->over, true);
	return workers_join(all);
}

/* workers_start() and workers_join(). */
static inline size_t workers_run(unsigned count, void (*work)(struct worker *me), void *scene, uint64_t seed)
{
	struct workers all;

	workers_start(&all, count, work, scene, seed);
	return workers_join(&all);
}

#endif
