/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_wait_many.c - many who wait: thousands of them, a full queue, hand-offs without number; pools that shrink and grow
 * under them, and a child that goes on without them.
 */
#include "../support/child.h"
#include "../support/waiters.h"

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

KIND_TEST(as_many_as_there_are_objects_are_served)
{
	crowd(kind, 24);
}

TEST_WITH(very_many_threads_wait, NULL, kind_teardown)
{
	static const struct kind plain = {0}, mutex = {.backend = LFPOOL_BACKEND_MUTEX};

	crowd(&plain, TIMES(1000, 200));
	crowd(&mutex, TIMES(400, 60));
}

/* ---- A full queue ---- */

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

	/* Quadratic in the places. */
	if (SANITIZED)
		SKIP("2 s, and a minute with a sanitizer");
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

/* ---- Many hand-offs ---- */

struct line {
	struct stage *stage;
	unsigned rounds;
	bool short_waits;
	atomic_size_t holding, got, missed;
	size_t most;
};

static void *stand_in_line(void *argument)
{
	struct line *l = argument;
	lfpool_t *pool = l->stage->pool;

	for (unsigned i = 0; i < l->rounds; i++) {
		void *object = lfpool_acquire_wait(pool, l->short_waits ? (int64_t)(i % 7) * 5000 : FOR_EVER);

		if (!object) {
			REQUIRE(l->short_waits);
			l->missed++;
			continue;
		}
		REQUIRE(atomic_fetch_add(&l->holding, 1) < l->most);
		mark_write(object, i);
		l->got++;
		if (i % 64 == 0)
			sched_yield();
		REQUIRE(mark_holds(object, i));
		atomic_fetch_sub(&l->holding, 1);
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	}
	return NULL;
}

static void hand_offs(const struct kind *kind, size_t capacity, size_t threads, unsigned rounds, bool short_waits)
{
	struct stage s;
	struct line l = {.stage = &s, .rounds = rounds, .short_waits = short_waits, .most = capacity};
	pthread_t thread[16];

	stage_open(&s, kind, capacity, 0);
	for (size_t i = 0; i < threads; i++)
		thread_start(&thread[i], stand_in_line, &l);
	for (size_t i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	REQUIRE(l.got + l.missed == threads * rounds);
	require_counts(s.pool, capacity, 0);
	stage_close(&s);
}

KIND_TEST(no_wake_up_is_lost_on_any_kind)
{
	hand_offs(kind, 1, THREADS, TIMES(200, 50), false);
	hand_offs(kind, 2, THREADS + 1, TIMES(200, 50), false);
	hand_offs(kind, 1, THREADS, TIMES(200, 40), true);
	hand_offs(kind, 3, 2 * THREADS, TIMES(100, 20), true);
}

TEST_WITH(no_wake_up_is_lost_in_very_many_hand_offs, NULL, kind_teardown)
{
	static const struct kind some[] = {{0}, {.cache_capacity = LFPOOL_CACHE_NONE}, {.backend = LFPOOL_BACKEND_MUTEX}};

	for (size_t i = 0; i < COUNT(some); i++) {
		hand_offs(&some[i], 1, 2, TIMES(5000, 1000), false);
		hand_offs(&some[i], 1, 8, TIMES(800, 200), false);
		hand_offs(&some[i], 3, 8, TIMES(800, 200), false);
		hand_offs(&some[i], 2, 8, TIMES(500, 100), true);
	}
}

/* The pool shrinks and grows under those who wait. */
KIND_TEST(a_pool_shrinks_and_grows_under_those_who_wait)
{
	struct stage s;
	struct line l = {.stage = &s, .rounds = TIMES(300, 60), .most = THREADS};
	pthread_t thread[THREADS + 2];
	size_t capacity = 2;

	stage_open(&s, kind, capacity, THREADS);
	for (size_t i = 0; i < COUNT(thread); i++)
		thread_start(&thread[i], stand_in_line, &l);
	for (int i = 0; i < TIMES(200, 40); i++) {
		size_t more = lfpool_grow(s.pool, (size_t)i % 3), by = capacity + more;

		REQUIRE(more <= 2);
		capacity += more;
		/* All of it, for a moment. */
		size_t gone = lfpool_shrink(s.pool, by);

		capacity -= by;
		size_t back = lfpool_grow(s.pool, 1 + (size_t)i % THREADS);

		REQUIRE(gone <= by && back >= 1);
		capacity += back;
		/* What is still owed goes when it comes back. */
		while (lfpool_shrink_owed(s.pool) && l.got < COUNT(thread) * l.rounds)
			sched_yield();
	}
	for (size_t i = 0; i < COUNT(thread); i++)
		pthread_join(thread[i], NULL);
	require_counts(s.pool, capacity, 0);
	stage_close(&s);
}

/* ---- Fork ---- */

static void note(void *context, lfpool_t *pool, void *object)
{
	REQUIRE(pool);
	*(void **)context = object;
}

static void in_the_child(struct stage *s, void **objects, size_t held)
{
	void *again[FIRST + 1];

	alarm(20);
	/* Those who waited are not here; what is released is free. */
	release_all(s->pool, objects, held);
	REQUIRE(acquire_all(s->pool, again, FIRST + 1) == FIRST);
	REQUIRE(!lfpool_acquire_wait(s->pool, SHORT_NS));
	/* First in the queue, now. */
	REQUIRE(lfpool_acquire_async(s->pool, note, &again[FIRST], NULL) == LFPOOL_OK && !again[FIRST]);
	release_all(s->pool, again, 1);
	REQUIRE(again[FIRST]);
	release_all(s->pool, again + 1, FIRST);
	REQUIRE(lfpool_shrink(s->pool, 1) == 1);
	REQUIRE(lfpool_grow(s->pool, 1) == 1);
	/* Not lfpool_check(): their calls are under way for ever, and one may have stood in the middle of a look. */
	require_all_there(s->pool, SIZE);
	REQUIRE(again[0] = lfpool_acquire_wait(s->pool, FOR_EVER));
	REQUIRE(lfpool_release(s->pool, again[0]) == LFPOOL_OK);
	_exit(0);
}

KIND_TEST(a_child_goes_on_without_those_who_wait)
{
	struct stage s;
	struct waiter w[20];
	void *objects[FIRST];

	/* Its mutex is anybody's at the moment of the fork (lfpool.h). */
	if (kind->backend != LFPOOL_BACKEND_LOCKFREE)
		return;
	memset(w, 0, sizeof(w));
	stage_open(&s, kind, FIRST, 0);
	hold_all(&s, objects, FIRST);
	for (size_t i = 0; i < COUNT(w); i++) {
		waiter_start(&w[i], &s);
		await_waiting(&s, i + 1);
	}
	const pid_t child = child_start();

	if (child == 0)
		in_the_child(&s, objects, FIRST);
	child_end(child);
	release_all(s.pool, objects, FIRST);
	for (size_t i = 0; i < COUNT(w); i++) {
		pthread_join(w[i].thread, NULL);
		assert_non_null(w[i].object);
	}
	stage_close(&s);
}

RUN_TESTS()
