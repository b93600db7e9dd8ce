/* SPDX-License-Identifier: MIT */
/*
 * check.c - see check.h.
 *
 * Idea         Every byte of each object that is held has a value of its holder's.  Two objects that overlap, and a pool
 *              that writes into what it has given away, change bytes of a holder.
 */
#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EACH 1000

struct half {
	const struct subject *subject;
	void *shared;
	struct worker worker;
	unsigned char value;
	void *objects[2 * EACH + 1];
};

static void begin(struct half *half)
{
	half->worker = (struct worker){.subject = half->subject, .shared = half->shared, .objects = half->objects};
	half->worker.hand = half->subject->join(half->shared);
}

static unsigned char mark(const struct half *half, size_t index)
{
	return (unsigned char)(half->value + index % 100);
}

static void fill(struct half *half, size_t count)
{
	const size_t before = half->worker.held;

	if (half->subject->loops.fill(&half->worker, count) != count)
		give_up(half->subject->name, "fewer objects than it should have");
	for (size_t i = before; i < half->worker.held; i++)
		memset(half->objects[i], mark(half, i), CHECK_BYTES);
}

/* As they were filled? */
static void look(const struct half *half)
{
	for (size_t i = 0; i < half->worker.held; i++)
		for (size_t byte = 0; byte < CHECK_BYTES; byte++)
			if (((const unsigned char *)half->objects[i])[byte] != mark(half, i))
				give_up(half->subject->name, "an object changed while it was held");
}

/* The other half's life: fills its own, looks at both's, releases what `theirs` holds, and fills that much again. */
static void *other_life(void *argument)
{
	struct half *theirs = argument, mine = {.subject = theirs->subject, .shared = theirs->shared, .value = 100};
	const bool handed = !(mine.subject->traits & TRAIT_PRIVATE);

	begin(&mine);
	fill(&mine, EACH);
	look(theirs);
	if (handed) {
		struct worker receiver = mine.worker;

		receiver.objects = theirs->objects;
		receiver.held = theirs->worker.held;
		(void)receiver.subject->loops.drain(&receiver, EACH);
		theirs->worker.held = 0;
		fill(&mine, EACH);
	}
	look(&mine);
	/* All are out, of those that are bounded. */
	if ((mine.subject->traits & TRAIT_BOUNDED) && mine.subject->loops.fill(&mine.worker, 1))
		give_up(mine.subject->name, "more objects than it should have");
	(void)mine.subject->loops.drain(&mine.worker, mine.worker.held);
	mine.subject->leave(mine.worker.hand);
	return NULL;
}

void check_subject(const struct subject *subject)
{
	const struct plan plan = {.object_bytes = CHECK_BYTES, .capacity = 2 * EACH, .held = 2 * EACH, .threads = 2};
	struct half *half = must(calloc(1, sizeof(*half)));
	pthread_t other;

	half->subject = subject;
	half->shared = subject->open(&plan);
	begin(half);
	fill(half, EACH);
	thread_start(&other, other_life, half);
	(void)pthread_join(other, NULL);
	look(half);
	(void)subject->loops.drain(&half->worker, half->worker.held);
	/* Everything is back. */
	fill(half, 2 * EACH);
	look(half);
	(void)subject->loops.drain(&half->worker, half->worker.held);
	subject->leave(half->worker.hand);
	subject->close(half->shared);
	free(half);
}
