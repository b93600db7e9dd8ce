/* SPDX-License-Identifier: MIT */
/*
 * check.c - does a subject work correctly?
 *
 * Evicting pools are in check_evicting.c.
 *
 * Pools        Each of two threads acquires half of a pool of 64-byte objects; then one thread releases the other's
 *              objects.  Every byte of a held object has its holder's value.  Overlapping objects, and a pool that
 *              writes into objects in use, change such bytes.
 * Deferring    backlog_run() checks T1 and T2 of backlog.c while a reader stalls.
 */
#include "subjects.h"
#include "team.h"

#include <string.h>

void must_be(bool right, const struct subject *subject, const char *why)
{
	if (!right)
		give_up(subject->name, why);
}

/* ---- Pools ---- */

#define CHECK_BYTES 64
#define EACH 1000

/* A thread's half of the pool.  Its objects' bytes are filled with the worker's index. */
struct half {
	struct worker worker;
	void *objects[2 * EACH + 1];
};

static void begin(struct half *half, const struct subject *subject, void *shared, unsigned index)
{
	half->worker = (struct worker){.subject = subject, .shared = shared, .objects = half->objects, .index = index};
	half->worker.hand = subject->join(shared);
}

static void fill(struct half *half, size_t count)
{
	const size_t before = half->worker.held;

	must_be(half->worker.subject->loops.fill(&half->worker, count) == count, half->worker.subject,
		"fewer objects than its capacity");
	for (size_t i = before; i < half->worker.held; i++)
		memset(half->objects[i], (int)(100 * half->worker.index + i % 100), CHECK_BYTES);
}

/* Are the half's objects unchanged since they were filled? */
static void look(const struct half *half)
{
	for (size_t i = 0; i < half->worker.held; i++)
		for (size_t byte = 0; byte < CHECK_BYTES; byte++)
			must_be(((const unsigned char *)half->objects[i])[byte] == 100 * half->worker.index + i % 100,
				half->worker.subject, "an object changed while it was held");
}

static void drain(struct worker *worker)
{
	(void)worker->subject->loops.drain(worker, worker->held);
}

/* The second thread: fills its half, releases the objects of `theirs`, acquires these again, and checks all. */
static void *other_life(void *argument)
{
	struct half *theirs = argument, mine;
	const struct subject *subject = theirs->worker.subject;

	begin(&mine, subject, theirs->worker.shared, 1);
	fill(&mine, EACH);
	look(theirs);
	if (!(subject->traits & TRAIT_PRIVATE)) {
		struct worker receiver = theirs->worker;

		receiver.hand = mine.worker.hand;
		drain(&receiver);
		theirs->worker.held = 0;
		fill(&mine, EACH);
	}
	look(&mine);
	/* A bounded pool is exhausted now. */
	must_be(!(subject->traits & TRAIT_BOUNDED) || subject->loops.fill(&mine.worker, 1) == 0, subject,
		"more objects than its capacity");
	drain(&mine.worker);
	subject->leave(mine.worker.hand);
	return NULL;
}

static void check_pool(const struct subject *subject)
{
	const struct plan plan = {.object_bytes = CHECK_BYTES, .capacity = 2 * EACH, .held = 2 * EACH, .threads = 2};
	void *shared = subject->open(&plan);
	struct half half;
	pthread_t other;

	begin(&half, subject, shared, 0);
	fill(&half, EACH);
	thread_start(&other, other_life, &half);
	(void)pthread_join(other, NULL);
	look(&half);
	drain(&half.worker);
	/* All objects are free: they can be acquired again. */
	fill(&half, 2 * EACH);
	look(&half);
	drain(&half.worker);
	subject->leave(half.worker.hand);
	subject->close(shared);
}

/* ---- Subjects that defer ---- */

static void check_deferring(const struct subject *subject)
{
	const struct workload stalled = {
		.count = RETIRE_TABLE, .divided = true, .retires = true, .rate = 1000000, .stalls = true};
	const struct cell cell = {.subject = subject, .workload = &stalled, .object_bytes = RETIRE_BYTES};

	backlog_run(&cell);
}

void check_subject(const struct subject *subject)
{
	if (subject->loops.pair)
		check_pool(subject);
	else if (subject->loops.evict)
		check_evicting(subject);
	else
		check_deferring(subject);
}
