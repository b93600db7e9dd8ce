/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_wait.c - calls that wait: which events serve them, in which order; and refusing hooks.
 *
 * (Timeouts, and a full queue: tests/os/unit_late.c.  The order of very many: tests/core/unit_queue.c.  Endless
 * hand-offs, and pools that shrink and grow at the same time: the stress scenarios `wait` and `resize`. In the child
 * of a fork: tests/pool/test_fork_waiting.c.)
 */
#include "../support/waiters.h"
#include "../support/ways.h"

/* ---- Events that serve waiters ---- */

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

KIND_TEST(every_kind_of_release_and_growth_serves_a_waiter)
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
		/* A walk of release_all() may meet the object again, when the waiter already has it. */
		(void)lfpool_release_all(s.pool);
		lfpool_cache_destroy(cache);
		lfpool_cache_destroy(w.cache);
		stage_close(&s);
	}
}

/* lfpool_cancel() accepts any value, and no value cancels a waiting call. */
KIND_TEST(no_ticket_cancels_a_waiting_call)
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

KIND_TEST(waiting_calls_are_fifo)
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

/* ---- An object is free while others queue ---- */

/* A continuation releases its object, and the next in the queue gets it when the continuation has returned.  Meanwhile
 * another thread comes. */
struct gap {
	struct stage stage;
	struct waiter next, late; /* the next in the queue; a continuation of the thread's */
	bool asks, meant;         /* the thread comes with a continuation; it has come     */
	void *object;             /* what its call got                                     */
};

static void *come(void *argument)
{
	struct gap *g = argument;

	if (g->asks)
		REQUIRE(lfpool_acquire_async(g->stage.pool, note_order, &g->late, NULL) == LFPOOL_OK);
	else
		g->object = lfpool_acquire_wait(g->stage.pool, SHORT_NS);
	return NULL;
}

static void let_another_come(void *context, lfpool_t *pool, void *object)
{
	struct gap *g = context;
	pthread_t thread;

	REQUIRE(object && lfpool_release(pool, object) == LFPOOL_OK);
	REQUIRE(!g->next.object);
	thread_start(&thread, come, g);
	pthread_join(thread, NULL);
	g->meant = true;
}

KIND_TEST(no_call_takes_an_object_while_others_queue)
{
	for (int asks = 0; asks < 2; asks++) {
		struct gap g;
		void *object;

		memset(&g, 0, sizeof(g));
		stage_open(&g.stage, kind, 1, 0);
		hold_all(&g.stage, &object, 1);
		g.asks = asks;
		const uint64_t exhausted = stats_of(g.stage.pool).exhausted;

		REQUIRE(lfpool_acquire_async(g.stage.pool, let_another_come, &g, NULL) == LFPOOL_OK);
		REQUIRE(lfpool_acquire_async(g.stage.pool, note_order, &g.next, NULL) == LFPOOL_OK);
		assert_int_equal(lfpool_release(g.stage.pool, object), LFPOOL_OK);
		assert_true(g.meant);
		assert_non_null(g.next.object);
		assert_null(g.object);
		assert_null(g.late.object);
		/* Both continuations, and the thread's. */
		assert_int_equal(stats_of(g.stage.pool).exhausted - exhausted, 3);
		assert_int_equal(lfpool_release(g.stage.pool, g.next.object), LFPOOL_OK);
		assert_true(!g.late.object == !asks);
		assert_int_equal(lfpool_release(g.stage.pool, g.late.object), LFPOOL_OK);
		stage_close(&g.stage);
	}
}

/* ---- Cancellation ---- */

/* Cancelled while it waits: it gets its object, and ends at the first cancellation point after the call. */
static void *wait_and_be_cancelled(void *argument)
{
	struct waiter *w = argument;

	w->object = lfpool_acquire_wait(w->stage->pool, FOR_EVER);
	pthread_testcancel();
	return NULL;
}

KIND_TEST(waiting_is_no_cancellation_point)
{
	struct stage s;
	struct waiter w = {.stage = &s};
	void *object, *result;

	stage_open(&s, kind, 1, 0);
	hold_all(&s, &object, 1);
	thread_start(&w.thread, wait_and_be_cancelled, &w);
	await_waiting(&s, 1);
	assert_int_equal(pthread_cancel(w.thread), 0);
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	assert_int_equal(pthread_join(w.thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_non_null(w.object);
	assert_int_equal(lfpool_release(s.pool, w.object), LFPOOL_OK);
	stage_close(&s);
}

/* ---- Hooks ---- */

/* A free object that a hook refuses: no wait.  (Refused to a waiter: test_async.c.) */
KIND_TEST(activate_refusal_ends_the_wait)
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

RUN_TESTS()
