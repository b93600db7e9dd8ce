/* SPDX-License-Identifier: MIT */
/*
 * sleep.h - idle workers sleep, and no wake-up is lost.
 *
 * Idea         A worker that goes to sleep counts itself first, and then checks once more for a reason to stay awake.
 *              A worker that makes a reason (a job, or the end of a job that a worker waits for) makes it first, and
 *              then checks for sleepers.  All four steps are seq_cst, so they have one order: if the waker saw no
 *              sleeper, the sleeper's check comes after the reason and sees it.  (Dekker's pattern; the EventCount of
 *              Eigen and folly is the same, with a futex instead of the condition variable.)
 * Invariant    S1  a worker that waits on the condition has found no reason since it counted itself, and every thread
 *              that made one since then has signalled.
 * Progress     With no sleeper: one load.  Otherwise a mutex.
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

/* Returns when there is a reason.  `reason` must read with seq_cst. */
static inline void sleep_until(struct sleepers *sleepers, bool (*reason)(const void *context), const void *context)
{
	pthread_mutex_lock(&sleepers->mutex);
	/* seq_cst: before the check. */
	atomic_fetch_add_explicit(&sleepers->count, 1, memory_order_seq_cst);
	while (!reason(context))
		pthread_cond_wait(&sleepers->condition, &sleepers->mutex);
	/* relaxed: a count that is too high costs only an extra signal. */
	atomic_fetch_sub_explicit(&sleepers->count, 1, memory_order_relaxed);
	pthread_mutex_unlock(&sleepers->mutex);
}

/* Call it after making a reason by a seq_cst store or read-modify-write. */
static inline void wake(struct sleepers *sleepers)
{
	/* seq_cst: after the reason. */
	if (atomic_load_explicit(&sleepers->count, memory_order_seq_cst) == 0)
		return;
	/* Under the mutex: a sleeper that has checked in vain is waiting by now. */
	pthread_mutex_lock(&sleepers->mutex);
	pthread_cond_broadcast(&sleepers->condition);
	pthread_mutex_unlock(&sleepers->mutex);
}

#endif
