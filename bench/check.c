/* SPDX-License-Identifier: MIT */
/*
 * check.c - does a subject do what it must?
 *
 * Pools that evict are in check_evicting.c.
 *
 * Pools        Two threads, each with half of a pool of objects of 64 bytes, then with the other's half.  Every byte of each
 *              object that is held has a value of its holder's.  Two objects that overlap, and a pool that writes into what it
 *              has given away, change bytes of a holder.
 * Deferring    A reader stays in its section, having looked at every node of the table; another thread updates meanwhile until
 *              each entry has changed many times.
 *              T1  what a section found is as it was until the section ends.
 *              T2  what is deferred meanwhile is in flight, all of it; and when all has settled, nothing is.
 */
#include "barrier.h"
#include "subjects.h"
#include "workload.h"

#include <string.h>

void must_be(bool right, const struct subject *subject, const char *why)
{
	if (!right)
		give_up(subject->name, why);
}

/* ---- Pools ---- */

#define CHECK_BYTES 64
#define EACH 1000

/* What one of two threads has: its worker, whose index is in the bytes. */
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
		"fewer objects than it should have");
	for (size_t i = before; i < half->worker.held; i++)
		memset(half->objects[i], (int)(100 * half->worker.index + i % 100), CHECK_BYTES);
}

/* As they were filled? */
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

/* The other half's life: fills its own, looks at both's, releases what `theirs` holds, and fills that much again. */
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
	/* All are out, of those that are bounded. */
	must_be(!(subject->traits & TRAIT_BOUNDED) || subject->loops.fill(&mine.worker, 1) == 0, subject,
		"more objects than it should have");
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
	/* Everything is back. */
	fill(&half, 2 * EACH);
	look(&half);
	drain(&half.worker);
	subject->leave(half.worker.hand);
	subject->close(shared);
}

/* ---- Those that defer ---- */

/* Odd: a thread that polls every so often has not just done so. */
#define UPDATES (20 * RETIRE_TABLE + 1)

struct scene {
	const struct subject *subject;
	void *shared;
	void *table[RETIRE_TABLE]; /* atomic */
	struct barrier turn;
};

static void turn(struct scene *scene)
{
	barrier_wait(&scene->turn, 2);
}

static void *stay_in_section(void *argument)
{
	struct scene *scene = argument;
	const struct retiring_calls *calls = scene->subject->loops.retiring;
	const struct node *found[RETIRE_TABLE];
	uint64_t stamps[RETIRE_TABLE];
	void *hand = scene->subject->join(scene->shared);

	turn(scene); /* the table is full */
	calls->section_begin(hand);
	for (size_t i = 0; i < RETIRE_TABLE; i++) {
		found[i] = __atomic_load_n(&scene->table[i], __ATOMIC_ACQUIRE);
		stamps[i] = __atomic_load_n(&found[i]->stamp, __ATOMIC_RELAXED);
	}
	turn(scene); /* we are in the section */
	turn(scene); /* it has updated */
	for (size_t i = 0; i < RETIRE_TABLE; i++)
		must_be(node_is_whole(found[i]) && __atomic_load_n(&found[i]->stamp, __ATOMIC_RELAXED) == stamps[i],
			scene->subject, "a node was used again while a thread read it"); /* T1 */
	calls->section_end(hand);
	turn(scene); /* the section has ended */
	calls->settle(hand, false);
	turn(scene);
	scene->subject->leave(hand);
	return NULL;
}

static void *update_meanwhile(void *argument)
{
	struct scene *scene = argument;
	const struct loops *loops = &scene->subject->loops;
	struct worker worker = {
		.subject = scene->subject,
		.hand = scene->subject->join(scene->shared),
		.threads = 2,
		.random = random_for(test_seed(scene->subject->name), 0),
		.table = scene->table,
	};

	(void)loops->fill(&worker, RETIRE_TABLE);
	turn(scene); /* the table is full */
	turn(scene); /* a thread is in a section */
	(void)loops->retire(&worker, UPDATES);

	const size_t in_flight = loops->retiring->in_flight(scene->shared, worker.updates);

	turn(scene);                                                                                  /* it has updated */
	turn(scene);                                                                                  /* the section has ended */
	must_be(in_flight == UPDATES, scene->subject, "not all is in flight, though a thread reads"); /* T2 */
	(void)loops->drain(&worker, RETIRE_TABLE);
	loops->retiring->settle(worker.hand, true);
	must_be(loops->retiring->in_flight(scene->shared, worker.updates) == 0, scene->subject,
		"all has been waited for, but not all is free");
	turn(scene);
	scene->subject->leave(worker.hand);
	return NULL;
}

static void check_deferring(const struct subject *subject)
{
	const struct plan plan = {RETIRE_BYTES, 2 * RETIRE_TABLE + UPDATES, RETIRE_TABLE, 2};
	struct scene *scene = must(calloc(1, sizeof(*scene)));
	pthread_t reader, updater;

	scene->subject = subject;
	scene->shared = subject->open(&plan);
	scene->turn = (struct barrier)BARRIER_INITIALIZER;
	thread_start(&reader, stay_in_section, scene);
	thread_start(&updater, update_meanwhile, scene);
	(void)pthread_join(reader, NULL);
	(void)pthread_join(updater, NULL);
	subject->close(scene->shared);
	free(scene);
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
