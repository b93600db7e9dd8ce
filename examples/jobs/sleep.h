/* SPDX-License-Identifier: MIT */
/*
 * sleep.h - idle workers sleep, and no wake-up is lost.
 *
 * Idea         A worker that goes to sleep says so first (count), and then looks once more for a reason not to.  A
 *              worker that makes a reason (a job, the end of what another waits for) makes it first, and then looks
 *              whether a thread sleeps.  All four are seq_cst, so in one order that all agree on: if the waker saw no
 *              sleeper, the sleeper's look comes after the reason and sees it.  (Dekker's pattern; the EventCount of
 *              Eigen and folly is the same, with a futex in place of the condition variable.)
 * Invariant    S1  a worker that waits on the condition has found no reason since it counted itself, and no thread that
 *                  made one since has failed to signal.
 * Progress     None asleep: one load.  Otherwise a mutex.
 */
#ifndef EXAMPLE_SLEEP_H
#define EXAMPLE_SLEEP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct sleepers {
	_Atomic(unsigned) count;
	pthread_mutex_t mutex;
	pthread_cond_t condition;
};
#define SLEEPERS_INIT {0, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER}

/* Returns when there is a reason to.  `reason` reads with seq_cst what it looks at. */
static inline void sleep_until(struct sleepers *sleepers, bool (*reason)(const void *context), const void *context)
{
	pthread_mutex_lock(&sleepers->mutex);
	/* seq_cst: before the look. */
	atomic_fetch_add_explicit(&sleepers->count, 1, memory_order_seq_cst);
	while (!reason(context))
		pthread_cond_wait(&sleepers->condition, &sleepers->mutex);
	/* relaxed: too many is only a signal too many. */
	atomic_fetch_sub_explicit(&sleepers->count, 1, memory_order_relaxed);
	pthread_mutex_unlock(&sleepers->mutex);
}

/* To be called after a reason was made, by a seq_cst store or read-modify-write. */
static inline void wake(struct sleepers *sleepers)
{
	/* seq_cst: after the reason. */
	if (atomic_load_explicit(&sleepers->count, memory_order_seq_cst) == 0)
		return;
	/* Under the mutex: a sleeper that has looked in vain is waiting by now. */
	pthread_mutex_lock(&sleepers->mutex);
	pthread_cond_broadcast(&sleepers->condition);
	pthread_mutex_unlock(&sleepers->mutex);
}

#endif
