/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_wait.c - calls that wait: what serves them, in which order; a hook that refuses; a thousand that wait, and a full queue.
 *
 * (For how long: tests/os/unit_late.c.  Hand-offs without number, and pools that shrink and grow meanwhile: the stress scenarios
 * `wait` and `resize`.  In the child of a fork: tests/pool/test_fork_waiting.c.)
 */
#include "../support/waiters.h"
#include "../support/ways.h"

/* ---- What serves them ---- */

/* Growth: by grow, by reserve, and after the limit was raised. */
enum { BY_GROW = WAYS_BACK, BY_RESERVE, BY_LIMIT, WAYS_SERVED };

static void serve_by(unsigned way, lfpool_t *pool, lfpool_cache_t *cache, void *object)
{
	switch (way) {
	case BY_GROW: REQUIRE(lfpool_grow(pool, 1) == 1); break;
	case BY_RESERVE: REQUIRE(lfpool_reserve(pool, 2) == 1); break;
	case BY_LIMIT:
		REQUIRE(lfpool_limit(pool, 1) == LFPOOL_OK);
		REQUIRE(lfpool_grow(pool, 1) == 0);
		REQUIRE(lfpool_limit(pool, 2) == LFPOOL_OK);
		REQUIRE(lfpool_grow(pool, 1) == 1);
		break;
	default: (void)give_back_by((enum way_back)way, pool, cache, object); break;
	}
}

KIND_TEST(served_by_every_way_back_and_by_growth)
{
	for (unsigned way = 0; way < WAYS_SERVED; way++) {
		struct stage s;
		struct waiter w = {.keep = true};
		void *object;

		stage_open(&s, kind, 1, 2);
		lfpool_cache_t *cache = lfpool_cache_create(s.pool);

		w.cache = way % 2 ? lfpool_cache_create(s.pool) : NULL;
		hold_all(&s, &object, 1);
		waiter_start(&w, &s);
		await_waiting(&s, 1);
		serve_by(way, s.pool, cache, object);
		pthread_join(w.thread, NULL);
		assert_non_null(w.object);
		/* A walk of release_all() may meet the object again, once it is the waiter's. */
		(void)lfpool_release_all(s.pool);
		lfpool_cache_destroy(cache);
		lfpool_cache_destroy(w.cache);
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

/* ---- Hooks ---- */

/* An object that is there, and refused: no waiting.  (Refused to one that waits: test_async.c.) */
KIND_TEST(a_hook_that_refuses_ends_the_wait)
{
	struct stage s;

	if (!kind->hooks)
		return;
	stage_open(&s, kind, 1, 0);
	s.activate_refuses = SIZE_MAX;
	assert_null(lfpool_acquire_wait(s.pool, 0));
	assert_null(lfpool_acquire_wait(s.pool, FOR_EVER));
	s.activate_refuses = 0;
	stage_close(&s);
}

/* ---- Many ---- */

static void crowd(const struct kind *kind, size_t many)
{
	struct stage s;
	struct waiter *w = calloc(many, sizeof(*w));
	void **objects = pointers_new(many);

	REQUIRE(w);
	stage_open(&s, kind, many / 2, many);
	hold_all(&s, objects, many / 2);
	for (size_t i = 0; i < many; i++) {
		w[i].keep = true;
		waiter_start(&w[i], &s);
	}
	await_waiting(&s, many);
	assert_int_equal(lfpool_release_bulk(s.pool, objects, many / 2), many / 2);
	assert_int_equal(lfpool_grow(s.pool, many - many / 2), many - many / 2);
	for (size_t i = 0; i < many; i++) {
		pthread_join(w[i].thread, NULL);
		objects[i] = w[i].object;
		assert_non_null(objects[i]);
	}
	assert_true(sort_disjoint(objects, many, SIZE));
	require_counts(s.pool, many, many);
	release_all(s.pool, objects, many);
	stage_close(&s);
	free(objects);
	free(w);
}

TEST_WITH(very_many_threads_wait, NULL, kind_teardown)
{
	static const struct kind plain = {0}, mutex = {.backend = LFPOOL_BACKEND_MUTEX};

	crowd(&plain, TIMES(1000, 200));
	crowd(&mutex, TIMES(400, 60));
}

enum { PLACES = 16368 };

static void count_call(void *context, lfpool_t *pool, void *object)
{
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	atomic_fetch_add((atomic_size_t *)context, 1);
}

TEST_WITH(a_call_for_which_the_queue_has_no_place_waits_too, NULL, kind_teardown)
{
	const struct kind kind = {0};
	struct stage s;
	struct waiter w = {.timeout_ns = 0};
	void *object;
	atomic_size_t calls = 0;

	/* Quadratic in the places: 2 s, and a minute with a sanitizer. */
	if (SANITIZED)
		return;
	stage_open(&s, &kind, 1, 0);
	hold_all(&s, &object, 1);
	for (size_t i = 0; i < PLACES; i++)
		REQUIRE(lfpool_acquire_async(s.pool, count_call, &calls, NULL) == LFPOOL_OK);
	await_waiting(&s, PLACES);
	assert_int_equal(lfpool_acquire_async(s.pool, count_call, &calls, NULL), LFPOOL_E_NO_MEMORY);
	uint64_t start = now_ns();

	assert_null(lfpool_acquire_wait(s.pool, SHORT_NS));
	assert_true(now_ns() - start >= SHORT_NS);
	waiter_start(&w, &s);
	REQUIRE(lfpool_release(s.pool, object) == LFPOOL_OK);
	pthread_join(w.thread, NULL);
	assert_non_null(w.object);
	assert_int_equal(calls, PLACES);
	/* There are places again. */
	assert_int_equal(lfpool_acquire_async(s.pool, count_call, &calls, NULL), LFPOOL_OK);
	assert_int_equal(calls, PLACES + 1);
	stage_close(&s);
}

RUN_TESTS()
