/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_priority.c - an object of an evicting pool from its acquire to its end, what is refused, and walks.
 *
 * (Any sequence of calls, against a model: test_priority_order.c.)
 */
#include "../support/priority_support.h"

enum { SIZE = 40, CAPACITY = 5 };

/* ---- Walks ---- */

struct walk {
	lfpool_priority_t *pool;
	size_t visits, stop_after;
	bool release;
	lfpool_handle_t handles[CAPACITY];
};

static bool visit(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct walk *w = context;

	REQUIRE(w->visits < CAPACITY);
	w->handles[w->visits++] = handle;
	REQUIRE(lfpool_priority_look(w->pool, handle) == object);
	require_priority(w->pool, handle, priority);
	REQUIRE(lfpool_priority_pin(w->pool, handle) == object);
	REQUIRE(lfpool_priority_unpin(w->pool, handle) == LFPOOL_OK);
	REQUIRE(lfpool_priority_update(w->pool, handle, priority + 1) == LFPOOL_OK);
	/* All others may go, this one not. */
	if (w->release) {
		REQUIRE(lfpool_priority_release_min(w->pool, CAPACITY) < CAPACITY);
		REQUIRE(lfpool_priority_is_active(w->pool, handle));
		REQUIRE(lfpool_priority_release(w->pool, handle) == LFPOOL_OK);
	}
	return w->visits < w->stop_after;
}

TEST(a_visitor_may_stop_and_release)
{
	lfpool_priority_t *pool = priority_of(SIZE, CAPACITY);
	struct walk w = {.pool = pool, .stop_after = 2};
	lfpool_handle_t pinned, unseen;

	assert_int_equal(lfpool_priority_for_each(pool, visit, &w), 0);
	/* One that is new is not visited; one that was released and is pinned neither. */
	assert_non_null(lfpool_priority_acquire(pool, 9, NULL, &unseen));
	pinned = priority_put(pool, 1);
	assert_non_null(lfpool_priority_pin(pool, pinned));
	assert_int_equal(lfpool_priority_release(pool, pinned), LFPOOL_OK);
	for (uint64_t i = 0; i < CAPACITY - 2; i++)
		assert_true(priority_put(pool, i));
	assert_int_equal(lfpool_priority_for_each(pool, visit, &w), 2);
	/* The first that is visited releases all. */
	w = (struct walk){.pool = pool, .stop_after = CAPACITY + 1, .release = true};
	assert_int_equal(lfpool_priority_for_each(pool, visit, &w), 1);
	assert_int_equal(lfpool_priority_count(pool), 2);
	/* No pin was left behind, except this one. */
	assert_int_equal(lfpool_priority_unpin(pool, pinned), LFPOOL_OK);
	assert_int_equal(lfpool_priority_release(pool, unseen), LFPOOL_OK);
	priority_close(pool, SIZE);
}

RUN_TESTS()
