/* SPDX-License-Identifier: MIT */
/*
 * test_priority.c - the subjects of bench/priority: does each do what an evicting pool does, and the loop what it says?
 *
 * Idea         One thread: random calls, beside a model that is too simple to be wrong.  Each acquire from a full pool must
 *              give the very object that the model says, and each stale handle must be refused.  Several threads: in the
 *              end nothing is lost, and nothing is there twice.  The loop: with threads made as in the benchmark.
 * Invariants   E1  the victim is the least, of equal ones the oldest; NULL if it is not below the newcomer.
 *              E2  a handle is refused from the moment on when its object is released or evicted.
 *              E3  when all calls have returned, objects in use + objects that can be had without evicting = capacity,
 *                  and each object in use holds what its last holder wrote.
 *              E4  the loop does as many operations as it was asked for, and in a full pool acquires evict.
 */
#include "common/harness.h"
#include "common/test.h"

#include "run_team.h"
#include "../priority/evicting.h"

#include <string.h>

#define CAPACITY_MAX 40
#define STALE_KEPT 64

extern const struct subject subject_priority, subject_heap_unlocked, subject_heap_mutex, subject_scan_mutex;
#if defined(BENCH_HAS_TBB_QUEUE)
extern const struct subject subject_tbb_queue;
#endif

static const struct subject *const tested[] = {
	&subject_priority,  &subject_heap_unlocked, &subject_heap_mutex, &subject_scan_mutex,
#if defined(BENCH_HAS_TBB_QUEUE)
	&subject_tbb_queue,
#endif
};

#define TESTED (sizeof(tested) / sizeof(*tested))

static void *open_for(const struct subject *subject, size_t capacity, unsigned threads)
{
	const struct plan plan = {.object_bytes = EVICTING_BYTES, .capacity = capacity, .held = capacity, .threads = threads};

	return subject->open(&plan);
}

static bool holds(const void *object, uint64_t value)
{
	for (size_t i = 0; i < EVICTING_BYTES / sizeof(value); i++)
		if (((const uint64_t *)object)[i] != value)
			return false;
	return true;
}

/* ---- One thread, beside the model ---- */

struct held {
	void *object;
	uint64_t handle, priority, age, written;
};

struct model {
	const struct evicting_calls *calls;
	void *hand;
	struct random random;
	size_t capacity, count;
	uint64_t acquired;
	struct held held[CAPACITY_MAX];
	uint64_t stale[STALE_KEPT];
	size_t stale_count;
	size_t evictions, refusals;
};

static size_t least_of(const struct model *model)
{
	size_t least = 0;

	for (size_t i = 1; i < model->count; i++) {
		const struct held *a = &model->held[i], *b = &model->held[least];

		if (a->priority < b->priority || (a->priority == b->priority && a->age < b->age))
			least = i;
	}
	return least;
}

static void forget(struct model *model, size_t at)
{
	model->stale[model->stale_count++ % STALE_KEPT] = model->held[at].handle;
	model->held[at] = model->held[--model->count];
}

/* E1. */
static void step_acquire(struct model *model)
{
	const uint64_t priority = random_below(&model->random, 10);
	const bool full = model->count == model->capacity;
	const size_t victim = full ? least_of(model) : 0;
	uint64_t handle = 0;
	void *object = model->calls->acquire(model->hand, priority, &handle);

	if (full && model->held[victim].priority >= priority) {
		assert_null(object);
		model->refusals++;
		return;
	}
	assert_non_null(object);
	assert_true(holds(object, priority));
	if (full) {
		assert_ptr_equal(object, model->held[victim].object);
		forget(model, victim);
		model->evictions++;
	}
	for (size_t i = 0; i < model->count; i++)
		assert_ptr_not_equal(object, model->held[i].object);
	model->held[model->count++] = (struct held){object, handle, priority, ++model->acquired, priority};
}

/* E2. */
static void step_stale(struct model *model)
{
	const size_t known = model->stale_count < STALE_KEPT ? model->stale_count : STALE_KEPT;

	if (!known)
		return;

	const uint64_t handle = model->stale[random_below(&model->random, (uint32_t)known)];

	assert_false(model->calls->update(model->hand, handle, 5));
	assert_false(model->calls->release(model->hand, handle));
}

static void step(struct model *model)
{
	const uint32_t lot = random_below(&model->random, 100);

	if (lot < 40 || !model->count) {
		step_acquire(model);
		return;
	}

	const size_t at = random_below(&model->random, (uint32_t)model->count);

	if (lot < 80) {
		model->held[at].priority = random_below(&model->random, 10);
		assert_true(model->calls->update(model->hand, model->held[at].handle, model->held[at].priority));
	} else if (lot < 88) {
		assert_true(model->calls->release(model->hand, model->held[at].handle));
		forget(model, at);
	} else {
		step_stale(model);
	}
	assert_true(model->count == 0 || holds(model->held[0].object, model->held[0].written));
}

TEST(like_the_model)
{
	const uint64_t seed = test_seed("like_the_model");

	for (size_t s = 0; s < TESTED; s++) {
		size_t evictions = 0, refusals = 0;

		for (unsigned round = 0; round < 20; round++) {
			struct model model = {.calls = tested[s]->loops.calls, .random = random_for(seed, round)};

			model.capacity = 1 + random_below(&model.random, CAPACITY_MAX);
			model.hand = open_for(tested[s], model.capacity, 1);
			for (int i = 0; i < 5000; i++)
				step(&model);
			tested[s]->close(model.hand);
			evictions += model.evictions;
			refusals += model.refusals;
		}
		printf("%s: %zu evictions, %zu refusals\n", tested[s]->name, evictions, refusals);
		assert_true(evictions > 1000 && refusals > 1000);
	}
}

/* ---- Several threads ---- */

#define SHARED_CAPACITY 16
#define CALLS 8000

struct got {
	void *object;
	uint64_t handle, priority;
};

struct holder {
	const struct evicting_calls *calls;
	void *hand;
	pthread_barrier_t *start;
	uint64_t *clock; /* calls of all; atomic */
	struct random random;
	struct got *got; /* all that it ever got */
	size_t count, released;
};

static void *hold_and_lose(void *argument)
{
	struct holder *holder = argument;

	(void)pthread_barrier_wait(holder->start);
	for (size_t i = 0; i < CALLS; i++) {
		const uint32_t lot = random_below(&holder->random, 100);
		/* Rising, and some below the least: most acquires evict, some are refused. */
		const uint64_t priority = __atomic_add_fetch(holder->clock, 1, __ATOMIC_RELAXED) +
					  random_below(&holder->random, 4 * SHARED_CAPACITY);

		/* On few processors a thread would be done before the next begins. */
		if (i % 64 == 0)
			(void)sched_yield();

		if (lot < 50 || !holder->count) {
			struct got got = {.priority = priority};

			got.object = holder->calls->acquire(holder->hand, priority, &got.handle);
			if (got.object)
				holder->got[holder->count++] = got;
			continue;
		}

		const uint32_t newest = holder->count < 8 ? (uint32_t)holder->count : 8;
		const uint64_t handle = holder->got[holder->count - 1 - random_below(&holder->random, newest)].handle;

		if (lot < 90)
			(void)holder->calls->update(holder->hand, handle, priority);
		else
			holder->released += holder->calls->release(holder->hand, handle);
	}
	return NULL;
}

/* How many can be had without evicting: nothing is below 0. */
static size_t take_all_free(const struct evicting_calls *calls, void *hand)
{
	uint64_t handle;
	size_t found = 0;

	while (calls->acquire(hand, 0, &handle))
		found++;
	return found;
}

/* E3. */
static void check_nothing_lost(const struct subject *subject, void *hand, struct holder *holders)
{
	const size_t unused = take_all_free(subject->loops.calls, hand);
	size_t live = 0, acquired = 0, released = 0;

	for (unsigned t = 0; t < THREADS; t++) {
		acquired += holders[t].count;
		released += holders[t].released;
		for (size_t i = 0; i < holders[t].count; i++) {
			const struct got *got = &holders[t].got[i];

			if (!subject->loops.calls->release(hand, got->handle))
				continue;
			assert_true(holds(got->object, got->priority));
			live++;
		}
	}
	printf("%s: %zu acquired, %zu released, %zu in use in the end, %zu free\n", subject->name, acquired, released, live,
	       unused);
	assert_int_equal(live + unused, SHARED_CAPACITY);
	assert_int_equal(take_all_free(subject->loops.calls, hand), live);
	assert_true(acquired > released + live);
}

static void hold_together(const struct subject *subject, uint64_t seed)
{
	void *shared = open_for(subject, SHARED_CAPACITY, THREADS);
	struct holder holders[THREADS];
	pthread_t threads[THREADS];
	pthread_barrier_t start;
	uint64_t clock = 0;

	(void)pthread_barrier_init(&start, NULL, THREADS);
	for (unsigned t = 0; t < THREADS; t++) {
		holders[t] = (struct holder){
			.calls = subject->loops.calls,
			.hand = shared,
			.start = &start,
			.clock = &clock,
			.random = random_for(seed, t),
			.got = must(calloc(CALLS, sizeof(struct got))),
		};
		thread_start(&threads[t], hold_and_lose, &holders[t]);
	}
	for (unsigned t = 0; t < THREADS; t++)
		(void)pthread_join(threads[t], NULL);
	check_nothing_lost(subject, shared, holders);
	for (unsigned t = 0; t < THREADS; t++)
		free(holders[t].got);
	(void)pthread_barrier_destroy(&start);
	subject->close(shared);
}

TEST(nothing_is_lost)
{
	const uint64_t seed = test_seed("nothing_is_lost");

	for (size_t s = 0; s < TESTED; s++)
		if (!(tested[s]->traits & TRAIT_ONE_THREAD))
			hold_together(tested[s], seed);
}

/* ---- The loop ---- */

#define CHUNKS 3

static void *live(void *argument)
{
	live_until_the_end(argument, CHUNKS);
	return NULL;
}

/* E4.  The pool is full: with one thread, whose clock no other takes away, every acquire evicts. */
static void check_loop(const struct workload *workload, const struct member *member)
{
	const struct evicting *did = member->worker.evicting;
	const size_t operations = CHUNKS * workload->chunk;

	assert_int_equal(member->pairs, operations);
	assert_int_equal(did->acquired + did->refused + did->updated + did->stale, operations);
	assert_int_equal(member->worker.held, workload_count(workload, team.threads));
	/* By lot, but the same in each run. */
	assert_in_range(did->acquired + did->refused, operations * workload->evicts / 200, operations * workload->evicts / 66);
	if (workload->evicts == 100)
		assert_int_equal(did->acquired + did->refused, operations);
	if (team.threads == 1) {
		assert_int_equal(did->refused, 0);
		assert_true(did->stale <= did->updated);
	}
}

static void check_team(void)
{
	assert_int_equal(take_all_free(team.cell->subject->loops.calls, team.shared), 0);
	for (unsigned i = 0; i < team.threads; i++) {
		check_loop(team.cell->workload, &team.members[i]);
		member_end(&team.members[i]);
		member_unmake(&team.members[i]);
	}
}

TEST(the_loop)
{
	size_t cells = 0;

	for (size_t s = 0; s < TESTED; s++) {
		for (size_t w = 0; w < WORKLOAD_COUNT; w++) {
			for (unsigned threads = 1; threads <= THREADS; threads *= THREADS) {
				if (workloads[w].count > 1024 ||
				    !workload_fits(&workloads[w], tested[s], EVICTING_BYTES, threads))
					continue;
				run_team((struct cell){.subject = tested[s],
						       .workload = &workloads[w],
						       .object_bytes = EVICTING_BYTES},
					 threads, live, check_team);
				cells++;
			}
		}
	}
	/* Six workloads, twice; the heap that has no lock only once. */
	assert_int_equal(cells, 6 * (2 * TESTED - 1));
}

RUN_TESTS()
