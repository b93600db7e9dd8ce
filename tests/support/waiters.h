/* SPDX-License-Identifier: MIT */
/*
 * waiters.h - threads that wait for an object.
 *
 * Idea         lfpool_stats() reports the number of waiters: a test continues when the expected number is reached, and
 *              depends on no time.  If a call waits for ever by mistake, ctest's time-out ends it.
 */
#ifndef LFPOOL_TESTS_WAITERS_H
#define LFPOOL_TESTS_WAITERS_H

#include "kinds.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

enum { FIRST = 3, THREADS = 4, SHORT_NS = 200000 };
#define FOR_EVER INT64_C(-1)

/* ---- Threads that wait ---- */

struct waiter {
	struct stage *stage;
	lfpool_cache_t *cache; /* the cache to wait through, or NULL: the thread's own */
	int64_t timeout_ns;
	pthread_t thread;
	void *object;
	size_t order; /* number of waiters that got an object before this one */
	bool keep;    /* does not release the object */
};

static atomic_size_t served;

static inline void *wait_for_one(void *argument)
{
	struct waiter *w = argument;

	errno = 4711;
	w->object = w->cache ? lfpool_cache_acquire_wait(w->cache, w->timeout_ns)
			     : lfpool_acquire_wait(w->stage->pool, w->timeout_ns);
	REQUIRE(errno == 4711);
	if (w->object)
		w->order = atomic_fetch_add(&served, 1);
	if (!w->keep)
		REQUIRE(lfpool_release(w->stage->pool, w->object) == LFPOOL_OK);
	return NULL;
}

/* Returns when `count` calls and continuations wait. */
static inline void await_waiting(const struct stage *s, size_t count)
{
	lfpool_stats_t stats;

	for (;;) {
		REQUIRE(lfpool_stats(s->pool, &stats) == LFPOOL_OK);
		if (stats.waiting == count)
			return;
		sched_yield();
	}
}

static inline void waiter_start(struct waiter *w, struct stage *s)
{
	w->stage = s;
	w->timeout_ns = w->timeout_ns ? w->timeout_ns : FOR_EVER;
	thread_start_small(&w->thread, wait_for_one, w);
}

static inline void hold_all(struct stage *s, void **objects, size_t count)
{
	atomic_store(&served, 0);
	REQUIRE(lfpool_acquire_bulk(s->pool, objects, count) == count);
	REQUIRE(!lfpool_acquire(s->pool));
}

#endif
