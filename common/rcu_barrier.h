/* SPDX-License-Identifier: MIT */
/*
 * rcu_barrier.h - rcu_barrier() of any flavour of liburcu, in a form that ThreadSanitizer understands.
 *
 * Idea         liburcu's own version frees in one thread memory that it allocated in another, in an order that the
 *              sanitizer does not see.  This version queues a callback that sets a flag.  A worker thread of liburcu
 *              calls its callbacks in order, and without create_call_rcu_data() there is only one worker.
 */
#ifndef COMMON_RCU_BARRIER_H
#define COMMON_RCU_BARRIER_H

#include "annotate.h"

#include <pthread.h>
#include <stdbool.h>
#include <urcu/call-rcu.h>
#include <urcu/flavor.h>

struct flavor_barrier {
	struct rcu_head head; /* first */
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	bool called;
};

static inline void flavor_barrier_called(struct rcu_head *head)
{
	struct flavor_barrier *barrier = (struct flavor_barrier *)(void *)head;

	ordered_after(barrier);
	pthread_mutex_lock(&barrier->mutex);
	barrier->called = true;
	pthread_cond_signal(&barrier->condition);
	pthread_mutex_unlock(&barrier->mutex);
}

static inline void flavor_barrier(const struct rcu_flavor_struct *flavor)
{
	struct flavor_barrier barrier = {.mutex = PTHREAD_MUTEX_INITIALIZER, .condition = PTHREAD_COND_INITIALIZER};
	/* A QSBR thread must not delay the grace period that it waits for. */
	const bool online = flavor->read_ongoing();

	ordered_before(&barrier);
	flavor->update_call_rcu(&barrier.head, flavor_barrier_called);
	if (online)
		flavor->thread_offline();
	pthread_mutex_lock(&barrier.mutex);
	while (!barrier.called)
		pthread_cond_wait(&barrier.condition, &barrier.mutex);
	pthread_mutex_unlock(&barrier.mutex);
	if (online)
		flavor->thread_online();
	pthread_cond_destroy(&barrier.condition);
	pthread_mutex_destroy(&barrier.mutex);
}

#endif
