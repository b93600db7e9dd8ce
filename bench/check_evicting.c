/* SPDX-License-Identifier: MIT */
/*
 * check_evicting.c - does a pool that evicts do what it must?
 *
 * Idea         One thread: random calls, beside a model that is too simple to be wrong.  Then several: in the end nothing is
 *              lost, and nothing is there twice.
 * Invariants   E1  the victim is the least, of equal ones the oldest; NULL if it is not below the newcomer.
 *              E2  a handle is refused from the moment on when its object is released or evicted.
 *              E3  when all calls have returned, objects in use + objects that can be had without evicting = capacity,
 *                  and each object in use holds what its last holder wrote.
 */
#include "barrier.h"
#include "subjects.h"
#include "workload.h"

#include <sched.h>
#include <string.h>

#define MODEL_CAPACITY 40
#define CALLS 8000
#define THREADS 4

struct got {
	void *object;
	uint64_t handle, priority, written;
};

static bool holds(const struct got *got)
{
	for (size_t i = 0; i < EVICTING_BYTES / sizeof(got->written); i++)
		if (((const uint64_t *)got->object)[i] != got->written)
			return false;
	return true;
}

static void *open_evicting(const struct subject *subject, size_t capacity, unsigned threads)
{
	const struct plan plan = {.object_bytes = EVICTING_BYTES, .capacity = capacity, .held = capacity, .threads = threads};

	return subject->open(&plan);
}

struct model {
	const struct subject *subject;
	void *hand;
	struct random random;
	size_t count;
	struct got held[MODEL_CAPACITY]; /* the oldest first */
	uint64_t stale;                  /* the last handle that became so */
};

static void forget(struct model *model, size_t at)
{
	model->stale = model->held[at].handle;
	memmove(&model->held[at], &model->held[at + 1], (--model->count - at) * sizeof(model->held[0]));
}

/* E1. */
static void step_acquire(struct model *model)
{
	struct got got = {.priority = random_below(&model->random, 10)};
	const bool full = model->count == MODEL_CAPACITY;
	size_t least = 0;

	for (size_t i = 1; i < model->count; i++)
		if (model->held[i].priority < model->held[least].priority)
			least = i;
	got.written = got.priority;
	got.object = model->subject->loops.evicting->acquire(model->hand, got.priority, &got.handle);
	if (full && model->held[least].priority >= got.priority) {
		must_be(!got.object, model->subject, "it evicts what does not give way");
		return;
	}
	must_be(got.object && holds(&got), model->subject, "NULL, or an object that is not filled");
	if (full) {
		must_be(got.object == model->held[least].object, model->subject, "it evicts another than the least");
		forget(model, least);
	}
	for (size_t i = 0; i < model->count; i++)
		must_be(got.object != model->held[i].object, model->subject, "an object that is in use");
	model->held[model->count++] = got;
}

static void step(struct model *model)
{
	const struct evicting_calls *calls = model->subject->loops.evicting;
	const uint32_t lot = random_below(&model->random, 100);

	if (lot < 40 || !model->count) {
		step_acquire(model);
		return;
	}

	const size_t at = random_below(&model->random, (uint32_t)model->count);

	if (lot < 80) {
		model->held[at].priority = random_below(&model->random, 10);
		must_be(calls->update(model->hand, model->held[at].handle, model->held[at].priority), model->subject,
			"an update of an object that is in use is refused");
	} else if (lot < 85) {
		must_be(calls->release(model->hand, model->held[at].handle), model->subject,
			"a release of an object that is in use is refused");
		forget(model, at);
	} else if (model->stale) {
		must_be(!calls->update(model->hand, model->stale, 5) && !calls->release(model->hand, model->stale),
			model->subject, "a stale handle is not refused"); /* E2 */
	}
	must_be(model->count == 0 || holds(&model->held[0]), model->subject, "an object changed while it was held");
}

struct holder {
	const struct subject *subject;
	void *hand;
	struct barrier *start;
	uint64_t *clock; /* calls of all; atomic */
	struct random random;
	struct got got[CALLS]; /* all that it ever got */
	size_t count;
};

static void *hold_and_lose(void *argument)
{
	struct holder *holder = argument;
	const struct evicting_calls *calls = holder->subject->loops.evicting;

	barrier_wait(holder->start, THREADS);
	for (size_t i = 0; i < CALLS; i++) {
		const uint32_t lot = random_below(&holder->random, 100);
		/* Rising, and some below the least: most acquires evict, some are refused. */
		const uint64_t priority = __atomic_add_fetch(holder->clock, 1, __ATOMIC_RELAXED) +
					  random_below(&holder->random, 4 * MODEL_CAPACITY);
		struct got *next = &holder->got[holder->count];

		/* On few processors a thread would be done before the next begins. */
		if (i % 64 == 0)
			(void)sched_yield();
		if (lot < 50 || !holder->count) {
			next->written = priority;
			next->object = calls->acquire(holder->hand, priority, &next->handle);
			holder->count += next->object != NULL;
			continue;
		}

		const uint32_t newest = holder->count < 8 ? (uint32_t)holder->count : 8;
		const uint64_t handle = holder->got[holder->count - 1 - random_below(&holder->random, newest)].handle;

		if (lot < 90)
			(void)calls->update(holder->hand, handle, priority);
		else
			(void)calls->release(holder->hand, handle);
	}
	return NULL;
}

/* E3: what is below 0 evicts nothing. */
static void check_nothing_lost(const struct subject *subject, void *hand, const struct holder *holders)
{
	const struct evicting_calls *calls = subject->loops.evicting;
	size_t found = 0, live = 0;
	uint64_t handle;

	while (calls->acquire(hand, 0, &handle))
		found++;
	for (unsigned t = 0; t < THREADS; t++) {
		for (size_t i = 0; i < holders[t].count; i++) {
			if (!calls->release(hand, holders[t].got[i].handle))
				continue;
			must_be(holds(&holders[t].got[i]), subject, "an object changed while it was held");
			live++;
		}
	}
	must_be(live + found == MODEL_CAPACITY, subject, "objects are lost, or there twice");
}

void check_evicting(const struct subject *subject)
{
	struct model model = {.subject = subject, .random = random_for(test_seed(subject->name), 0)};
	struct holder *holders = must(calloc(THREADS, sizeof(*holders)));
	struct barrier start = BARRIER_INITIALIZER;
	pthread_t threads[THREADS];
	uint64_t clock = 0;

	model.hand = open_evicting(subject, MODEL_CAPACITY, 1);
	for (int i = 0; i < 50000; i++)
		step(&model);
	subject->close(model.hand);
	if (!(subject->traits & TRAIT_ONE_THREAD)) {
		void *shared = open_evicting(subject, MODEL_CAPACITY, THREADS);

		for (unsigned t = 0; t < THREADS; t++) {
			holders[t].subject = subject;
			holders[t].hand = shared;
			holders[t].start = &start;
			holders[t].clock = &clock;
			holders[t].random = random_for(model.random.state, t);
			thread_start(&threads[t], hold_and_lose, &holders[t]);
		}
		for (unsigned t = 0; t < THREADS; t++)
			(void)pthread_join(threads[t], NULL);
		check_nothing_lost(subject, shared, holders);
		subject->close(shared);
	}
	free(holders);
}
