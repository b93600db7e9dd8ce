/* SPDX-License-Identifier: MIT */
/*
 * sleep.h - idle workers sleep, and no wake-up is lost.
 *
 * Idea         A worker that goes to sleep says so first (count), and then looks once more for a reason not to.  A worker
 *              that makes a reason (a job in a deque or in the inbox, a group that has ended) makes it first, and then looks
 *              whether a thread sleeps.  All four are seq_cst, so in one order that all agree on: if the waker saw no
 *              sleeper, the sleeper's look comes after the reason and sees it.  (The pattern of Dekker's mutual exclusion;
 *              Eigen's and folly's EventCount are the same with a futex in place of the condition variable.)
 * Invariant    S1  a worker that waits on the condition has found no reason since it counted itself, and none that made one
 *              since
 *                  has failed to signal.
 * Which wake   A job wakes one sleeper: any will do.  The end of a group wakes all: one of them waits for it, and so one
 *              that was woken for a job, but leaves because its group has ended, takes no wake-up with it.
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

static inline void sleepers_init(struct sleepers *sleepers)
{
	atomic_init(&sleepers->count, 0);
	pthread_mutex_init(&sleepers->mutex, NULL);
	pthread_cond_init(&sleepers->condition, NULL);
}

static inline void sleepers_destroy(struct sleepers *sleepers)
{
	pthread_cond_destroy(&sleepers->condition);
	pthread_mutex_destroy(&sleepers->mutex);
}

/* Returns when there is a reason to.  `reason` reads with seq_cst what it looks at. */
static inline void sleep_until(struct sleepers *sleepers, bool (*reason)(const void *context), const void *context)
{
	pthread_mutex_lock(&sleepers->mutex);
	/* seq_cst: before the look, see the file's comment. */
	atomic_fetch_add_explicit(&sleepers->count, 1, memory_order_seq_cst);
	while (!reason(context))
		pthread_cond_wait(&sleepers->condition, &sleepers->mutex);
	/* relaxed: too many is only a signal too many. */
	atomic_fetch_sub_explicit(&sleepers->count, 1, memory_order_relaxed);
	pthread_mutex_unlock(&sleepers->mutex);
}

/* To be asked after a reason was made, by a seq_cst store or read-modify-write. */
static inline bool somebody_sleeps(struct sleepers *sleepers)
{
	/* seq_cst: after the reason, see the file's comment. */
	return atomic_load_explicit(&sleepers->count, memory_order_seq_cst) != 0;
}

static inline void wake_one(struct sleepers *sleepers)
{
	if (!somebody_sleeps(sleepers))
		return;
	/* Under the mutex: a sleeper that has looked in vain is by now waiting. */
	pthread_mutex_lock(&sleepers->mutex);
	pthread_cond_signal(&sleepers->condition);
	pthread_mutex_unlock(&sleepers->mutex);
}

static inline void wake_all(struct sleepers *sleepers)
{
	if (!somebody_sleeps(sleepers))
		return;
	pthread_mutex_lock(&sleepers->mutex);
	pthread_cond_broadcast(&sleepers->condition);
	pthread_mutex_unlock(&sleepers->mutex);
}

#endif
