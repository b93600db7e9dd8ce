/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_async.c - continuations: called at once or later; or, when cancelled, never; behind a debt; and where hooks refuse.
 *
 * (In which order, and with NULL by lfpool_destroy(), in any sequence of calls: verify/fuzz, verify/pairs.  Every way in which an object
 * comes back: test_wait.c.)
 */
#include "../support/continuations.h"

enum { FEW = 3 };

/* ---- At once, later, never ---- */

KIND_TEST(never_called_when_cancelled)
{
	enum { MANY = 100 };
	struct stage s;
	struct call calls[MANY];
	void *object;
	size_t next = 0;

	stage_open(&s, kind, 1, 0);
	assert_false(lfpool_cancel(s.pool, 0));
	assert_non_null(object = lfpool_acquire(s.pool));
	assert_false(lfpool_cancel(s.pool, 0));
	for (size_t i = 0; i < MANY; i++)
		ask(&s, &calls[i], keep);
	/* All but every seventh. */
	for (size_t i = MANY; i-- > 0;)
		if (i % 7) {
			assert_true(lfpool_cancel(s.pool, calls[i].ticket));
			assert_false(lfpool_cancel(s.pool, calls[i].ticket));
		}
	for (size_t i = 0; i < MANY; i += 7) {
		assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
		object = calls[i].object;
		assert_non_null(object);
		next++;
	}
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(calls[i].calls, i % 7 == 0);
	assert_int_equal(next, (MANY + 6) / 7);
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	/* Old tickets name no new continuation. */
	assert_non_null(object = lfpool_acquire(s.pool));
	struct call fresh;

	ask(&s, &fresh, keep);
	for (size_t i = 0; i < MANY; i++)
		assert_false(lfpool_cancel(s.pool, calls[i].ticket));
	assert_int_equal(fresh.calls, 0);
	assert_true(lfpool_cancel(s.pool, fresh.ticket));
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	assert_int_equal(fresh.calls, 0);
	stage_close(&s);
}

/* The context may be NULL, and the ticket may not be wanted. */
static void count_null(void *context, lfpool_t *pool, void *object)
{
	REQUIRE(!context && object);
	calls_so_far++;
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

KIND_TEST(no_context_and_no_ticket)
{
	struct stage s;
	void *object;

	stage_open(&s, kind, 1, 0);
	calls_so_far = 0;
	assert_int_equal(lfpool_acquire_async(s.pool, count_null, NULL, NULL), LFPOOL_OK);
	assert_int_equal(calls_so_far, 1);
	assert_non_null(object = lfpool_acquire(s.pool));
	assert_int_equal(lfpool_acquire_async(s.pool, count_null, NULL, NULL), LFPOOL_OK);
	assert_int_equal(calls_so_far, 1);
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	assert_int_equal(calls_so_far, 2);
	lfpool_ticket_t ticket = 77;

	assert_int_equal(lfpool_acquire_async(s.pool, NULL, &s, &ticket), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_acquire_async(s.pool, NULL, NULL, NULL), LFPOOL_E_ARGUMENT);
	require_counts(s.pool, 1, 0);
	stage_close(&s);
}

/* One that is called with NULL, and asks again, is refused: it would never end. */
static void ask_for_ever(void *context, lfpool_t *pool, void *object)
{
	struct call *c = context;

	keep(context, pool, object);
	c->ticket = 77;
	assert_int_equal(lfpool_acquire_async(pool, ask_for_ever, context, &c->ticket), LFPOOL_E_CLOSED);
	assert_true(c->ticket == 0);
}

KIND_TEST(one_that_asks_again_in_destroy_is_refused)
{
	struct stage s;
	struct call calls[FEW];

	stage_open(&s, kind, 1, 0);
	assert_int_equal(lfpool_shrink(s.pool, 1), 1);
	for (size_t i = 0; i < FEW; i++)
		ask(&s, &calls[i], ask_for_ever);
	assert_int_equal(lfpool_destroy(s.pool), 0);
	for (size_t i = 0; i < FEW; i++)
		assert_int_equal(calls[i].calls, 1);
}

KIND_TEST(a_debt_is_paid_before_those_who_wait)
{
	struct stage s;
	void *objects[10];
	struct call calls[4];

	stage_open(&s, kind, 10, 0);
	assert_int_equal(lfpool_acquire_bulk(s.pool, objects, 10), 10);
	for (size_t i = 0; i < 4; i++)
		ask(&s, &calls[i], keep);
	assert_int_equal(lfpool_shrink(s.pool, 3), 0);
	/* Three go, and only then do those that wait get some. */
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(lfpool_release(s.pool, objects[i]), LFPOOL_OK);
		assert_int_equal(calls[0].calls, 0);
		assert_int_equal(lfpool_capacity(s.pool), 9 - i);
		assert_int_equal(lfpool_shrink_owed(s.pool), 2 - i);
	}
	assert_int_equal(lfpool_release(s.pool, objects[3]), LFPOOL_OK);
	assert_int_equal(calls[0].calls, 1);
	/* One is owed again; forgiveness does not make objects, growing does. */
	assert_int_equal(lfpool_shrink(s.pool, 2), 0);
	assert_int_equal(lfpool_shrink_cancel(s.pool), 2);
	assert_int_equal(calls[1].calls, 0);
	assert_int_equal(lfpool_grow(s.pool, 2), 2);
	assert_int_equal(calls[1].calls + calls[2].calls, 2);
	assert_int_equal(calls[3].calls, 0);
	assert_true(lfpool_cancel(s.pool, calls[3].ticket));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(lfpool_release(s.pool, calls[i].object), LFPOOL_OK);
	release_all(s.pool, objects + 4, 6);
	require_counts(s.pool, 9, 0);
	stage_close(&s);
}

/* ---- Hooks ---- */

KIND_TEST(a_hook_refuses_and_the_next_is_served)
{
	struct stage s;
	void *object;
	struct call calls[3];

	if (!kind->hooks)
		return;
	stage_open(&s, kind, 1, 0);
	/* There is an object now, but it is refused. */
	s.activate_refuses = SIZE_MAX;
	ask(&s, &calls[0], keep);
	assert_int_equal(calls[0].calls, 1);
	assert_null(calls[0].object);
	/* It may have queued for it: the name is of one that has run. */
	assert_false(lfpool_cancel(s.pool, calls[0].ticket));
	s.activate_refuses = 0;
	require_counts(s.pool, 1, 0);
	/* Refused to the first of three that wait: the second gets it. */
	assert_non_null(object = lfpool_acquire(s.pool));
	for (size_t i = 0; i < 3; i++)
		ask(&s, &calls[i], keep);
	s.activate_refuses = 1;
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	assert_int_equal(calls[0].calls, 1);
	assert_null(calls[0].object);
	assert_int_equal(calls[1].calls, 1);
	assert_non_null(calls[1].object);
	assert_int_equal(calls[2].calls, 0);
	/* The last one is refused too: the object is free. */
	s.activate_refuses = 1;
	assert_int_equal(lfpool_release(s.pool, calls[1].object), LFPOOL_OK);
	assert_int_equal(calls[2].calls, 1);
	assert_null(calls[2].object);
	require_counts(s.pool, 1, 0);
	stage_close(&s);
}

RUN_TESTS()
