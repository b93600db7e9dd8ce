/* SPDX-License-Identifier: MIT */
/*
 * barrier.h - threads wait for each other.
 *
 * Idea         A counter under a mutex says how many have arrived.  A waiter looks at the number of the turn for a while before
 *              it sleeps: threads that are woken up start late, and one after the other.
 * Edges        What the threads wrote before they arrived is visible to all after the turn: each arrival takes the mutex, and
 *              the last one publishes the turn.
 */
#ifndef LFPOOL_BENCH_BARRIER_H
#define LFPOOL_BENCH_BARRIER_H

#include <pthread.h>

#define BARRIER_SPINS 500 /* some 10 us */

struct barrier {
	pthread_mutex_t mutex;
	pthread_cond_t turned;
	int arrived;   /* under the mutex */
	unsigned turn; /* atomic; written under the mutex */
};
#define BARRIER_INITIALIZER {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0}

static inline void barrier_wait(struct barrier *barrier, int threads)
{
	(void)pthread_mutex_lock(&barrier->mutex);
	/* relaxed: under the mutex. */
	const unsigned turn = __atomic_load_n(&barrier->turn, __ATOMIC_RELAXED);

	if (++barrier->arrived == threads) {
		barrier->arrived = 0;
		/* release: what this thread wrote, and what those wrote that had the mutex before. */
		__atomic_store_n(&barrier->turn, turn + 1, __ATOMIC_RELEASE);
		(void)pthread_cond_broadcast(&barrier->turned);
		(void)pthread_mutex_unlock(&barrier->mutex);
		return;
	}
	(void)pthread_mutex_unlock(&barrier->mutex);
	for (int i = 0; i < BARRIER_SPINS; i++) {
		/* acquire: what the others wrote before they arrived. */
		if (__atomic_load_n(&barrier->turn, __ATOMIC_ACQUIRE) != turn)
			return;
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#endif
	}
	(void)pthread_mutex_lock(&barrier->mutex);
	/* relaxed: under the mutex. */
	while (__atomic_load_n(&barrier->turn, __ATOMIC_RELAXED) == turn)
		(void)pthread_cond_wait(&barrier->turned, &barrier->mutex);
	(void)pthread_mutex_unlock(&barrier->mutex);
}

#endif
