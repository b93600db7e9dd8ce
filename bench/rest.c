/* SPDX-License-Identifier: MIT */
/*
 * rest.c - see rest.h.
 */
#include "rest.h"

struct rest {
	const struct subject *subject;
	void *shared;
	pthread_barrier_t used, over;
	pthread_t threads[RESTING_THREADS];
};

static void *use_and_rest(void *argument)
{
	struct rest *rest = argument;
	void *object = NULL;
	struct worker worker = {
		.subject = rest->subject,
		.hand = rest->subject->join(rest->shared),
		.objects = &object,
		.count = 1,
	};

	if (rest->subject->loops.fill(&worker, 1) != 1)
		give_up(rest->subject->name, "NULL from a pool of which nothing is in use");
	(void)rest->subject->loops.drain(&worker, 1);
	(void)pthread_barrier_wait(&rest->used);
	(void)pthread_barrier_wait(&rest->over);
	rest->subject->leave(worker.hand);
	return NULL;
}

struct rest *rest_begin(const struct subject *subject, void *shared)
{
	struct rest *rest = must(malloc(sizeof(*rest)));

	rest->subject = subject;
	rest->shared = shared;
	if (pthread_barrier_init(&rest->used, NULL, RESTING_THREADS + 1) != 0 ||
	    pthread_barrier_init(&rest->over, NULL, RESTING_THREADS + 1) != 0)
		give_up(subject->name, "no barrier for the resting threads");
	for (unsigned i = 0; i < RESTING_THREADS; i++)
		thread_start(&rest->threads[i], use_and_rest, rest);
	(void)pthread_barrier_wait(&rest->used);
	return rest;
}

void rest_end(struct rest *rest)
{
	(void)pthread_barrier_wait(&rest->over);
	for (unsigned i = 0; i < RESTING_THREADS; i++)
		(void)pthread_join(rest->threads[i], NULL);
	(void)pthread_barrier_destroy(&rest->used);
	(void)pthread_barrier_destroy(&rest->over);
	free(rest);
}
