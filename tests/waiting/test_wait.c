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
