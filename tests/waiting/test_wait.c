/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_wait.c - calls that wait: for how long, for whom an object is meant, in which order; debts and refusals.
 */
#include "../support/waiters.h"

#include <semaphore.h>

/* ---- For how long ---- */

KIND_TEST(a_call_waits_as_long_as_it_says)
{
	struct stage s;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	lfpool_cache_t *cache = lfpool_cache_create(s.pool);

	errno = 4711;
	/* There is one: whatever the time, at once. */
	static const int64_t any[] = {0, 1, LONG_NS, INT64_MAX, -1, INT64_MIN};
	for (size_t i = 0; i < COUNT(any); i++) {
		assert_non_null(objects[0] = lfpool_acquire_wait(s.pool, any[i]));
		assert_non_null(objects[1] = lfpool_cache_acquire_wait(cache, any[i]));
		require_counts(s.pool, FIRST, 2);
		release_all(s.pool, objects, 2);
	}
	hold_all(&s, objects, FIRST);
	for (int64_t ns = 0; ns <= 2000000; ns = ns * 10 + 2) {
		uint64_t start = now_ns();

		assert_null(lfpool_acquire_wait(s.pool, ns));
		assert_true(now_ns() - start >= (uint64_t)ns);
		start = now_ns();
		assert_null(lfpool_cache_acquire_wait(cache, ns));
		assert_true(now_ns() - start >= (uint64_t)ns);
	}
	assert_int_equal(errno, 4711);
	require_counts(s.pool, FIRST, FIRST);
	release_all(s.pool, objects, FIRST);
	lfpool_cache_destroy(cache);
	stage_close(&s);
}

/* All objects lie in the cache of a thread that sleeps: they are free. */
struct parked {
	struct stage *stage;
	sem_t parked, go_on;
};

static void *park(void *argument)
{
	struct parked *p = argument;
	void *objects[FIRST];

	REQUIRE(acquire_all(p->stage->pool, objects, FIRST) == FIRST);
	release_all(p->stage->pool, objects, FIRST);
	sem_post(&p->parked);
	sem_wait(&p->go_on);
	return NULL;
}

KIND_TEST(what_lies_in_another_cache_is_not_waited_for)
{
	struct stage s;
	struct parked p = {.stage = &s};
	pthread_t thread;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	sem_init(&p.parked, 0, 0);
	sem_init(&p.go_on, 0, 0);
	thread_start(&thread, park, &p);
	sem_wait(&p.parked);
	for (size_t i = 0; i < FIRST; i++)
		assert_non_null(objects[i] = lfpool_acquire_wait(s.pool, i == 1 ? FOR_EVER : 0));
	assert_null(lfpool_acquire_wait(s.pool, 0));
	release_all(s.pool, objects, FIRST);
	sem_post(&p.go_on);
	pthread_join(thread, NULL);
	stage_close(&s);
}

/* ---- Who serves ---- */

enum way { ONE, BY_CACHE, BULK, HANDLE, SELF, ALL, GROW, RESERVE, RAISE_AND_GROW, BY_EXITING_THREAD, WAYS };

static void *release_and_exit(void *argument)
{
	struct waiter *w = argument;

	REQUIRE(lfpool_release(w->stage->pool, w->object) == LFPOOL_OK);
	return NULL;
}

KIND_TEST(served_by_every_way_back_and_by_growth)
{
	for (enum way way = ONE; way < WAYS; way++) {
		struct stage s;
		struct waiter w = {.keep = true}, last = {.stage = &s};
		void *object;

		stage_open(&s, kind, 1, 2);
		lfpool_cache_t *cache = lfpool_cache_create(s.pool);
		w.cache = way % 2 ? lfpool_cache_create(s.pool) : NULL;
		hold_all(&s, &object, 1);
		waiter_start(&w, &s);
		await_waiting(&s, 1);
		last.object = object;
		switch (way) {
		case ONE: REQUIRE(lfpool_release(s.pool, object) == LFPOOL_OK); break;
		case BY_CACHE: REQUIRE(lfpool_cache_release(cache, object) == LFPOOL_OK); break;
		case BULK: REQUIRE(lfpool_release_bulk(s.pool, &object, 1) == 1); break;
		case HANDLE: REQUIRE(lfpool_release_handle(s.pool, lfpool_handle_of(s.pool, object)) == LFPOOL_OK); break;
		case SELF: REQUIRE(lfpool_release_self(object) == LFPOOL_OK); break;
		case ALL:
			/* It may meet the object again, once it is the waiter's. */
			(void)lfpool_release_all(s.pool);
			break;
		case GROW: REQUIRE(lfpool_grow(s.pool, 1) == 1); break;
		case RESERVE: REQUIRE(lfpool_reserve(s.pool, 2) == 1); break;
		case RAISE_AND_GROW:
			REQUIRE(lfpool_limit(s.pool, 1) == LFPOOL_OK);
			REQUIRE(lfpool_grow(s.pool, 1) == 0);
			REQUIRE(lfpool_limit(s.pool, 2) == LFPOOL_OK);
			REQUIRE(lfpool_grow(s.pool, 1) == 1);
			break;
		default:
			thread_start(&last.thread, release_and_exit, &last);
			pthread_join(last.thread, NULL);
			break;
		}
		pthread_join(w.thread, NULL);
		assert_non_null(w.object);
		if (way == ALL) {
			(void)lfpool_release_all(s.pool);
		} else {
			assert_int_equal(lfpool_release(s.pool, w.object), LFPOOL_OK);
			if (way == GROW || way == RESERVE || way == RAISE_AND_GROW)
				assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
		}
		lfpool_cache_destroy(cache);
		lfpool_cache_destroy(w.cache);
		stage_close(&s);
	}
}

/* A limit that is raised, or a debt that is forgiven, lets the pool grow by itself for those who wait already. */
KIND_TEST(a_pool_that_may_grow_again_does_for_those_who_wait)
{
	for (int forgiven = 0; forgiven < 2; forgiven++) {
		struct stage s;
		struct waiter w[3];
		void *object;

		memset(w, 0, sizeof(w));
		stage_open_growing(&s, kind, 1, 4, 1);
		assert_non_null(object = lfpool_acquire(s.pool));
		if (forgiven)
			assert_int_equal(lfpool_shrink(s.pool, 1), 0);
		else
			assert_int_equal(lfpool_limit(s.pool, 1), LFPOOL_OK);
		for (size_t i = 0; i < COUNT(w); i++) {
			w[i].keep = true;
			waiter_start(&w[i], &s);
			await_waiting(&s, i + 1);
		}
		if (forgiven)
			assert_int_equal(lfpool_shrink_cancel(s.pool), 1);
		else
			assert_int_equal(lfpool_limit(s.pool, 4), LFPOOL_OK);
		for (size_t i = 0; i < COUNT(w); i++) {
			pthread_join(w[i].thread, NULL);
			assert_non_null(w[i].object);
			assert_int_equal(lfpool_release(s.pool, w[i].object), LFPOOL_OK);
		}
		assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
		require_counts(s.pool, 4, 0);
		stage_close(&s);
	}
}

/* lfpool_cancel() takes any value: no number names a call that waits. */
KIND_TEST(a_call_that_waits_has_no_ticket)
{
	struct stage s;
	struct waiter w = {.keep = true};
	void *object;

	stage_open(&s, kind, 1, 0);
	hold_all(&s, &object, 1);
	waiter_start(&w, &s);
	await_waiting(&s, 1);
	for (lfpool_ticket_t ticket = 0; ticket < 16; ticket++)
		for (lfpool_ticket_t place = 0; place < 20; place++)
			assert_false(lfpool_cancel(s.pool, ticket << 16 | place));
	await_waiting(&s, 1);
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	pthread_join(w.thread, NULL);
	assert_int_equal(lfpool_release(s.pool, w.object), LFPOOL_OK);
	stage_close(&s);
}

static void note_order(void *context, lfpool_t *pool, void *object)
{
	struct waiter *w = context;

	(void)pool;
	w->object = object;
	w->order = atomic_fetch_add(&served, 1);
}

KIND_TEST(first_come_first_served)
{
	enum { MANY = 9 };
	struct stage s;
	struct waiter w[MANY];
	void *object;

	memset(w, 0, sizeof(w));
	stage_open(&s, kind, 1, 0);
	hold_all(&s, &object, 1);
	/* Every third is a continuation. */
	for (size_t i = 0; i < MANY; i++) {
		w[i].keep = true;
		if (i % 3 == 2) {
			REQUIRE(lfpool_acquire_async(s.pool, note_order, &w[i], NULL) == LFPOOL_OK);
		} else {
			waiter_start(&w[i], &s);
		}
		await_waiting(&s, i + 1);
	}
	for (size_t i = 0; i < MANY; i++) {
		REQUIRE(lfpool_release(s.pool, object) == LFPOOL_OK);
		if (i % 3 != 2)
			pthread_join(w[i].thread, NULL);
		REQUIRE(w[i].object && w[i].order == i);
		object = w[i].object;
	}
	REQUIRE(lfpool_release(s.pool, object) == LFPOOL_OK);
	stage_close(&s);
}

/* One bulk release, one growth, one release after another, for very many. */

/* ---- Debts ---- */

KIND_TEST(a_debt_is_paid_before_those_who_wait)
{
	struct stage s;
	struct waiter w = {.keep = true};
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	hold_all(&s, objects, FIRST);
	assert_int_equal(lfpool_shrink(s.pool, 2), 0);
	waiter_start(&w, &s);
	await_waiting(&s, 1);
	release_all(s.pool, objects, 2);
	await_waiting(&s, 1);
	/* The call that began to wait serves as well, and may be on its way with the one that pays. */
	while (lfpool_capacity(s.pool) != 1)
		(void)sched_yield();
	assert_int_equal(lfpool_shrink_owed(s.pool), 0);
	assert_int_equal(lfpool_release(s.pool, objects[2]), LFPOOL_OK);
	pthread_join(w.thread, NULL);
	assert_non_null(w.object);
	require_counts(s.pool, 1, 1);
	assert_int_equal(lfpool_release(s.pool, w.object), LFPOOL_OK);
	/* Of a pool that has nothing at all. */
	assert_int_equal(lfpool_shrink(s.pool, 1), 1);
	w = (struct waiter){.keep = true};
	waiter_start(&w, &s);
	await_waiting(&s, 1);
	assert_int_equal(lfpool_grow(s.pool, 1), 1);
	pthread_join(w.thread, NULL);
	assert_int_equal(lfpool_release(s.pool, w.object), LFPOOL_OK);
	stage_close(&s);
}

/* ---- Hooks ---- */

KIND_TEST(a_hook_refuses_and_the_next_is_served)
{
	struct stage s;
	struct waiter w[2] = {{.keep = true}, {.keep = true}};
	void *object;

	if (!kind->hooks)
		return;
	stage_open(&s, kind, 1, 0);
	/* An object that is there, and refused: no waiting. */
	s.activate_refuses = SIZE_MAX;
	assert_null(lfpool_acquire_wait(s.pool, 0));
	assert_null(lfpool_acquire_wait(s.pool, FOR_EVER));
	s.activate_refuses = 0;
	/* Refused to the first who waits: nothing is released any more, and the second gets it. */
	hold_all(&s, &object, 1);
	for (size_t i = 0; i < 2; i++) {
		waiter_start(&w[i], &s);
		await_waiting(&s, i + 1);
	}
	s.activate_refuses = 1;
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	for (size_t i = 0; i < 2; i++)
		pthread_join(w[i].thread, NULL);
	assert_null(w[0].object);
	assert_non_null(w[1].object);
	require_counts(s.pool, 1, 1);
	assert_int_equal(lfpool_release(s.pool, w[1].object), LFPOOL_OK);
	stage_close(&s);
}

RUN_TESTS()
