/* SPDX-License-Identifier: MIT */
/*
 * rest.c - see rest.h.
 */
#include "rest.h"

#include "barrier.h"

struct rest {
	const struct subject *subject;
	void *shared;
	struct barrier used, over;
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
	barrier_wait(&rest->used, RESTING_THREADS + 1);
	barrier_wait(&rest->over, RESTING_THREADS + 1);
	rest->subject->leave(worker.hand);
	return NULL;
}

struct rest *rest_begin(const struct subject *subject, void *shared)
{
	struct rest *rest = must(malloc(sizeof(*rest)));

	*rest = (struct rest){subject, shared, BARRIER_INITIALIZER, BARRIER_INITIALIZER, {0}};
	for (unsigned i = 0; i < RESTING_THREADS; i++)
		thread_start(&rest->threads[i], use_and_rest, rest);
	barrier_wait(&rest->used, RESTING_THREADS + 1);
	return rest;
}

void rest_end(struct rest *rest)
{
	barrier_wait(&rest->over, RESTING_THREADS + 1);
	for (unsigned i = 0; i < RESTING_THREADS; i++)
		(void)pthread_join(rest->threads[i], NULL);
	free(rest);
}
