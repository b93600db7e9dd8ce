/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_priority.c - what may be called in the middle of a call on an evicting pool: by a walk's visitor, and by config.on_evict.
 *
 * (Any sequence of calls, and what on_evict is told, against a model: test_priority_order.c.)
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

/* ---- on_evict ---- */

static size_t evictions, depth, deepest;

/* A newcomer evicts another one, and the hook is told of that too. */
static void call_the_pool(void *context, const lfpool_evicted_t *e)
{
	lfpool_handle_t handle;

	(void)context;
	evictions++;
	if (++depth > deepest)
		deepest = depth;
	if (e->priority < CAPACITY - 2) {
		uint64_t priority;

		/* Not what this call has in its hands. */
		REQUIRE(lfpool_priority_acquire(e->pool, 100 + e->priority, NULL, &handle) != e->object);
		REQUIRE(lfpool_priority_publish(e->pool, handle) == LFPOOL_OK);
		REQUIRE(lfpool_priority_pin(e->pool, handle) && lfpool_priority_unpin(e->pool, handle) == LFPOOL_OK);
		REQUIRE(lfpool_priority_update(e->pool, handle, 1) == LFPOOL_OK);
		REQUIRE(lfpool_priority_peek_min(e->pool, &priority) == handle && priority == 1);
		REQUIRE(lfpool_priority_release(e->pool, handle) == LFPOOL_OK);
		handle = priority_put(e->pool, 100 + e->priority);
		require_priority(e->pool, handle, 100 + e->priority);
	}
	depth--;
}

TEST(on_evict_may_call_the_pool)
{
	lfpool_priority_t *pool = PRIORITY_WITH(.object_size = SIZE, .capacity = CAPACITY, .on_evict = call_the_pool);
	lfpool_handle_t handle;

	for (uint64_t i = 0; i < CAPACITY; i++)
		assert_true(priority_put(pool, i));
	assert_true(handle = priority_put(pool, 50));
	/* 0 by the call, then one by each hook in the hook of the one before. */
	assert_int_equal(evictions, CAPACITY - 1);
	assert_int_equal(deepest, CAPACITY - 1);
	assert_int_equal(lfpool_priority_count(pool), CAPACITY);
	assert_true(lfpool_priority_peek_min(pool, NULL) != handle);
	require_priority(pool, lfpool_priority_peek_min(pool, NULL), CAPACITY - 1);
	assert_int_equal(lfpool_priority_update(pool, handle, 0), LFPOOL_OK);
	/* By release_min, too: what its hook has put there goes with the others. */
	assert_int_equal(lfpool_priority_release_min(pool, CAPACITY), CAPACITY);
	priority_close(pool, SIZE);
}

RUN_TESTS()
