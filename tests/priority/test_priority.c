/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_priority.c - the life of an object of an evicting pool, call by call: new, active, pinned, released, evicted; what
 * each handle is good for, and what is refused.
 */
#include "../support/priority_support.h"

enum { SIZE = 40, CAPACITY = 5 };

TEST(a_new_object_is_its_holders_alone)
{
	lfpool_priority_t *pool = priority_of(SIZE, 1);
	lfpool_handle_t handle = 0, other = 1;
	uint64_t priority;
	void *object = lfpool_priority_acquire(pool, 7, NULL, &handle);

	assert_non_null(object);
	assert_int_not_equal(handle, 0);
	assert_true(all_bytes_are(object, SIZE, 0));
	assert_int_equal(lfpool_priority_count(pool), 1);
	/* Nobody gets at it, not even by its handle; it is not evicted. */
	assert_false(lfpool_priority_is_active(pool, handle));
	assert_null(lfpool_priority_look(pool, handle));
	assert_null(lfpool_priority_pin(pool, handle));
	assert_false(lfpool_priority_get(pool, handle, &priority));
	assert_int_equal(lfpool_priority_update(pool, handle, 8), LFPOOL_E_STALE);
	assert_int_not_equal(lfpool_priority_unpin(pool, handle), LFPOOL_OK);
	assert_int_equal(lfpool_priority_peek_min(pool, &priority), 0);
	assert_int_equal(lfpool_priority_release_min(pool, 1), 0);
	assert_null(lfpool_priority_acquire(pool, UINT64_MAX, NULL, &other));
	assert_int_equal(other, 0);
	/* What was refused has changed nothing. */
	assert_int_equal(lfpool_priority_publish(pool, handle), LFPOOL_OK);
	require_priority(pool, handle, 7);
	assert_int_equal(lfpool_priority_release(pool, handle), LFPOOL_OK);
	require_stale(pool, handle);
	/* Or it is given back without having been seen. */
	assert_ptr_equal(lfpool_priority_acquire(pool, 1, NULL, &handle), object);
	assert_int_equal(lfpool_priority_release(pool, handle), LFPOOL_OK);
	require_stale(pool, handle);
	priority_close(pool, SIZE);
}

TEST(pins_are_counted)
{
	lfpool_priority_t *pool = priority_of(SIZE, 1);
	lfpool_handle_t handle = priority_put(pool, 7), other;
	void *object = lfpool_priority_look(pool, handle);

	for (int round = 0; round < 3; round++) {
		assert_int_equal(lfpool_priority_unpin(pool, handle), LFPOOL_E_NOT_PINNED);
		for (int pins = 0; pins < PINS; pins++)
			assert_ptr_equal(lfpool_priority_pin(pool, handle), object);
		assert_null(lfpool_priority_pin(pool, handle));
		assert_null(lfpool_priority_pin(pool, handle));
		/* All goes on but eviction. */
		assert_true(lfpool_priority_is_active(pool, handle));
		assert_int_equal(lfpool_priority_update(pool, handle, 5 + (uint64_t)round), LFPOOL_OK);
		require_priority(pool, handle, 5 + (uint64_t)round);
		for (int pins = PINS; pins > 0; pins--) {
			assert_null(lfpool_priority_acquire(pool, UINT64_MAX, NULL, &other));
			assert_int_equal(lfpool_priority_peek_min(pool, NULL), 0);
			assert_int_equal(lfpool_priority_release_min(pool, 1), 0);
			assert_int_equal(lfpool_priority_unpin(pool, handle), LFPOOL_OK);
		}
		assert_int_equal(lfpool_priority_unpin(pool, handle), LFPOOL_E_NOT_PINNED);
		assert_true(lfpool_priority_peek_min(pool, NULL) == handle);
	}
	/* Not pinned any more: it can go. */
	assert_ptr_equal(lfpool_priority_acquire(pool, 8, NULL, &other), object);
	assert_true(other != handle);
	require_stale(pool, handle);
	assert_int_not_equal(lfpool_priority_unpin(pool, handle), LFPOOL_OK);
	assert_int_equal(lfpool_priority_destroy(pool), 1);
}

TEST(handles_go_stale_for_ever)
{
	enum { USES = 1000 };
	static lfpool_handle_t handles[USES];
	lfpool_priority_t *pool = priority_of(SIZE, CAPACITY);

	/* Each object comes and goes often: released, evicted, released at the least. */
	for (size_t i = 0; i < USES; i++) {
		handles[i] = priority_put(pool, i);
		assert_int_not_equal(handles[i], 0);
		if (i % 7 == 3)
			assert_int_equal(lfpool_priority_release(pool, handles[i]), LFPOOL_OK);
		if (i % 11 == 5)
			assert_int_equal(lfpool_priority_release_min(pool, 2), 2);
	}
	size_t active = 0;

	for (size_t i = 0; i < USES; i++)
		for (size_t k = 0; k < i; k++)
			REQUIRE(handles[i] != handles[k]);
	for (size_t i = 0; i < USES; i++) {
		if (lfpool_priority_is_active(pool, handles[i]))
			active++;
		else
			require_stale(pool, handles[i]);
	}
	assert_int_equal(active, lfpool_priority_count(pool));
	/* The handle of another pool's object may name one here, too; of any other value nothing is to fear. */
	struct random r = {test_seed("handles_go_stale_for_ever")};

	for (int i = 0; i < 100000; i++) {
		const lfpool_handle_t any = random_next(&r) >> random_below(&r, 64);
		bool mine = false;

		for (size_t k = 0; k < USES; k++)
			mine = mine || handles[k] == any;
		if (!mine) {
			require_stale(pool, any);
			REQUIRE(lfpool_priority_unpin(pool, any) != LFPOOL_OK);
		}
	}
	require_stale(pool, 0);
	require_stale(pool, UINT64_MAX);
	assert_int_equal(lfpool_priority_unpin(pool, 0), LFPOOL_E_STALE);
	assert_int_equal(lfpool_priority_unpin(pool, UINT64_MAX), LFPOOL_E_STALE);
	assert_int_equal(lfpool_priority_destroy(pool), active);
}

TEST(null_is_refused)
{
	lfpool_priority_t *pool = priority_of(SIZE, 1);

	assert_null(lfpool_priority_acquire(pool, 1, NULL, NULL));
	assert_int_equal(lfpool_priority_count(pool), 0);
	priority_close(pool, SIZE);
	assert_int_equal(lfpool_priority_destroy(NULL), 0);
}

TEST(contents_survive_reuse)
{
	lfpool_priority_t *pool = priority_of(SIZE, 1);
	lfpool_handle_t handle;
	void *object = lfpool_priority_acquire(pool, 1, NULL, &handle);

	for (uint64_t i = 0; i < 20; i++) {
		stamp_write(object, SIZE, i);
		assert_int_equal(lfpool_priority_publish(pool, handle), LFPOOL_OK);
		if (i % 2)
			assert_int_equal(lfpool_priority_release(pool, handle), LFPOOL_OK);
		assert_ptr_equal(lfpool_priority_acquire(pool, 2 + i, NULL, &handle), object);
		assert_true(stamp_holds(object, SIZE, i));
	}
	assert_int_equal(lfpool_priority_destroy(pool), 1);
}

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

TEST(a_walk_visits_what_is_active)
{
	lfpool_priority_t *pool = priority_of(SIZE, CAPACITY);
	lfpool_handle_t handles[CAPACITY - 1], unseen;
	struct walk w = {.pool = pool, .stop_after = CAPACITY + 1};

	assert_int_equal(lfpool_priority_for_each(pool, visit, &w), 0);
	for (size_t i = 0; i < COUNT(handles); i++)
		handles[i] = priority_put(pool, i);
	/* Not a new one, nor one that was released and is pinned, nor one that is pinned too often. */
	assert_non_null(lfpool_priority_acquire(pool, 9, NULL, &unseen));
	assert_non_null(lfpool_priority_pin(pool, handles[1]));
	assert_int_equal(lfpool_priority_release(pool, handles[1]), LFPOOL_OK);
	for (int pins = 0; pins < PINS; pins++)
		assert_non_null(lfpool_priority_pin(pool, handles[2]));
	assert_non_null(lfpool_priority_pin(pool, handles[3]));
	assert_int_equal(lfpool_priority_for_each(pool, visit, &w), 2);
	assert_true((w.handles[0] == handles[0] && w.handles[1] == handles[3]) ||
		    (w.handles[0] == handles[3] && w.handles[1] == handles[0]));
	require_priority(pool, handles[0], 1);
	require_priority(pool, handles[3], 4);
	for (int pins = 0; pins < PINS; pins++)
		assert_int_equal(lfpool_priority_unpin(pool, handles[2]), LFPOOL_OK);
	/* No pin was left behind. */
	assert_int_equal(lfpool_priority_unpin(pool, handles[3]), LFPOOL_OK);
	assert_int_equal(lfpool_priority_unpin(pool, handles[3]), LFPOOL_E_NOT_PINNED);
	w.visits = 0;
	w.stop_after = 2;
	assert_int_equal(lfpool_priority_for_each(pool, visit, &w), 2);
	/* The first that is visited releases all. */
	w.visits = 0;
	w.stop_after = CAPACITY + 1;
	w.release = true;
	assert_int_equal(lfpool_priority_for_each(pool, visit, &w), 1);
	assert_int_equal(lfpool_priority_count(pool), 2);
	assert_int_equal(lfpool_priority_unpin(pool, handles[1]), LFPOOL_OK);
	assert_int_equal(lfpool_priority_release(pool, unseen), LFPOOL_OK);
	priority_close(pool, SIZE);
}

RUN_TESTS()
