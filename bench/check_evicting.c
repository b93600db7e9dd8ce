/* SPDX-License-Identifier: MIT */
/*
 * check_evicting.c - does a pool that evicts do what it must?
 *
 * Idea         One thread: random calls, beside a model that is too simple to be wrong.  Then several run the loop of the benchmark
 *              and release what they still have: in the end nothing is lost, and nothing is there twice.
 * Invariants   E1  the victim is the least, of equal ones the oldest; NULL if it is not below the newcomer.
 *              E2  a handle is refused from the moment on when its object is released or evicted.
 *              E3  when all calls have returned, newcomers with a priority above all others get `capacity` objects, and no more.
 */
#include "subjects.h"
#include "workload.h"

#include <sched.h>
#include <string.h>

#define MODEL_CAPACITY 40
#define CALLS 8000
#define THREADS 4
#define EACH (MODEL_CAPACITY / THREADS)

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

static void *lose_and_release(void *argument)
{
	struct worker *worker = argument;
	const struct loops *loops = &worker->subject->loops;

	for (size_t i = 0; i < CALLS; i += 64) {
		(void)loops->evict(worker, 64);
		/* On few processors a thread would be done before the next begins. */
		(void)sched_yield();
	}
	(void)loops->drain(worker, worker->held);
	return NULL;
}

/* E3. */
static void check_nothing_lost(const struct subject *subject, void *hand)
{
	const uint64_t above_all = UINT64_C(1) << 40;
	void *objects[MODEL_CAPACITY];
	uint64_t handle;

	for (size_t i = 0; i < MODEL_CAPACITY; i++) {
		objects[i] = subject->loops.evicting->acquire(hand, above_all, &handle);
		must_be(objects[i], subject, "an object is lost");
		for (size_t before = 0; before < i; before++)
			must_be(objects[before] != objects[i], subject, "an object is there twice");
	}
	must_be(!subject->loops.evicting->acquire(hand, above_all, &handle), subject, "it evicts what does not give way");
}

static void check_together(const struct subject *subject, uint64_t seed)
{
	void *shared = open_evicting(subject, MODEL_CAPACITY, THREADS);
	uint64_t clock = MODEL_CAPACITY, handles[THREADS][EACH];
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	for (unsigned t = 0; t < THREADS; t++) {
		/* Priorities rise, and some are below the least: most acquires evict, some are refused. */
		workers[t] = (struct worker){
			.subject = subject,
			.hand = shared,
			.random = random_for(seed, t),
			.handles = handles[t],
			.clock = &clock,
			.step = 1,
			.window = 4 * MODEL_CAPACITY,
			.acquires = 55,
		};
		must_be(subject->loops.fill(&workers[t], EACH) == EACH, subject, "fewer objects than it should have");
	}
	for (unsigned t = 0; t < THREADS; t++)
		thread_start(&threads[t], lose_and_release, &workers[t]);
	for (unsigned t = 0; t < THREADS; t++)
		(void)pthread_join(threads[t], NULL);
	check_nothing_lost(subject, shared);
	subject->close(shared);
}

void check_evicting(const struct subject *subject)
{
	struct model model = {.subject = subject, .random = random_for(test_seed(subject->name), 0)};

	model.hand = open_evicting(subject, MODEL_CAPACITY, 1);
	for (int i = 0; i < 50000; i++)
		step(&model);
	subject->close(model.hand);
	if (!(subject->traits & TRAIT_ONE_THREAD))
		check_together(subject, model.random.state);
}
