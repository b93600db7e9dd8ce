/* SPDX-License-Identifier: MIT */
/*
 * test_shrink.c - a pool gives up objects: idle ones at once, wherever they lie, the rest exactly as they come back,
 * by whatever way they do; and forgiveness.
 */
#include "../support/owing.h"

#include <pthread.h>

enum { FIRST = 40, MOST = 300 };

/* ---- Idle objects ---- */

KIND_TEST(idle_objects_go_at_once)
{
	struct stage s;
	void *held[20], *rest[FIRST + 1];
	size_t count = 0, capacity = FIRST;

	stage_open(&s, kind, FIRST, 0);
	assert_int_equal(lfpool_shrink(s.pool, 0), 0);
	/* Never used; used and free again; with more and more in use. */
	for (int round = 0; round < 5; round++) {
		assert_int_equal(lfpool_shrink(s.pool, 6), 6);
		capacity -= 6;
		require_owes(s.pool, capacity, count, 0);
		assert_int_equal(acquire_all(s.pool, rest, FIRST + 1), capacity - count);
		require_owes(s.pool, capacity, capacity, 0);
		assert_int_equal(lfpool_release_bulk(s.pool, rest, capacity - count), capacity - count);
		held[count] = lfpool_acquire(s.pool);
		assert_non_null(held[count++]);
	}
	release_all(s.pool, held, count);
	require_owes(s.pool, FIRST - 30, 0, 0);
	stage_close(&s);
}

/* Objects lie in a cache of this thread, in two of nobody's, in the shared store, and where nobody has been. */
KIND_TEST(idle_objects_go_wherever_they_lie)
{
	struct stage s;
	void *objects[MOST];
	lfpool_cache_t *caches[2];

	stage_open(&s, kind, MOST, 0);
	for (size_t i = 0; i < 2; i++) {
		assert_non_null(caches[i] = lfpool_cache_create(s.pool));
		assert_int_equal(lfpool_cache_acquire_bulk(caches[i], objects + 100 * i, 100), 100);
	}
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(lfpool_cache_release_bulk(caches[i], objects + 100 * i, 100), 100);
	assert_int_equal(lfpool_acquire_bulk(s.pool, objects, 3), 3);
	assert_int_equal(lfpool_release_bulk(s.pool, objects, 2), 2);
	assert_int_equal(lfpool_shrink(s.pool, MOST), MOST - 1);
	require_owes(s.pool, 1, 1, 1);
	assert_null(lfpool_cache_acquire(caches[0]));
	assert_int_equal(lfpool_cache_release(caches[1], objects[2]), LFPOOL_OK);
	require_owes(s.pool, 0, 0, 0);
	for (size_t i = 0; i < 2; i++) {
		assert_null(lfpool_cache_acquire(caches[i]));
		lfpool_cache_destroy(caches[i]);
	}
	stage_close(&s);
}

/* ---- Owed ---- */

enum way { ONE, BY_CACHE, BULK, BULK_BY_CACHE, HANDLE, SELF, ALL, BY_EXITING_THREAD, WAYS };

struct return_of {
	lfpool_t *pool;
	lfpool_cache_t *cache;
	void *object;
};

static void *release_and_exit(void *argument)
{
	struct return_of *r = argument;
	REQUIRE(lfpool_release(r->pool, r->object) == LFPOOL_OK);
	/* What stays, if any does, stays in its cache when it exits. */
	REQUIRE(lfpool_release(r->pool, lfpool_acquire(r->pool)) == LFPOOL_OK);
	return NULL;
}

/* One object comes back, all that are held for ALL; how many that were. */
static size_t give(struct return_of *r, enum way way, size_t held)
{
	pthread_t thread;

	switch (way) {
	case ONE: REQUIRE(lfpool_release(r->pool, r->object) == LFPOOL_OK); return 1;
	case BY_CACHE: REQUIRE(lfpool_cache_release(r->cache, r->object) == LFPOOL_OK); return 1;
	case BULK: REQUIRE(lfpool_release_bulk(r->pool, &r->object, 1) == 1); return 1;
	case BULK_BY_CACHE: REQUIRE(lfpool_cache_release_bulk(r->cache, &r->object, 1) == 1); return 1;
	case HANDLE: REQUIRE(lfpool_release_handle(r->pool, lfpool_handle_of(r->pool, r->object)) == LFPOOL_OK); return 1;
	case SELF: REQUIRE(lfpool_release_self(r->object) == LFPOOL_OK); return 1;
	case ALL: REQUIRE(lfpool_release_all(r->pool) == held); return held;
	default:
		thread_start(&thread, release_and_exit, r);
		pthread_join(thread, NULL);
		return 1;
	}
}

KIND_TEST(a_debt_is_paid_exactly_as_objects_come_back)
{
	for (enum way way = ONE; way < WAYS; way++) {
		struct stage s;
		void *objects[FIRST];

		stage_open(&s, kind, FIRST, 0);
		struct return_of r = {.pool = s.pool, .cache = lfpool_cache_create(s.pool)};
		assert_int_equal(acquire_all(s.pool, objects, FIRST), FIRST);
		assert_int_equal(lfpool_shrink(s.pool, 25), 0);
		require_owes(s.pool, FIRST, FIRST, 25);
		size_t back = 0;

		while (back < FIRST) {
			r.object = objects[back];
			back += give(&r, way, FIRST - back);
			size_t paid = back < 25 ? back : 25;

			require_owes(s.pool, FIRST - paid, FIRST - back, 25 - paid);
			if (kind->hooks && kind->backend != LFPOOL_BACKEND_MALLOC)
				assert_int_equal(s.destroyed, paid);
		}
		lfpool_cache_destroy(r.cache);
		require_owes(s.pool, 15, 0, 0);
		stage_close(&s);
	}
}

KIND_TEST(a_debt_is_paid_by_one_bulk_release)
{
	struct stage s;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	assert_int_equal(acquire_all(s.pool, objects, FIRST), FIRST);
	assert_int_equal(lfpool_shrink(s.pool, 25), 0);
	assert_int_equal(lfpool_release_bulk(s.pool, objects, 20), 20);
	require_owes(s.pool, FIRST - 20, FIRST - 20, 5);
	assert_null(lfpool_acquire(s.pool));
	assert_int_equal(lfpool_release_bulk(s.pool, objects + 20, 20), 20);
	require_owes(s.pool, 15, 0, 0);
	stage_close(&s);
}

KIND_TEST(no_more_is_taken_or_owed_than_there_is)
{
	struct stage s;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	assert_int_equal(lfpool_acquire_bulk(s.pool, objects, 10), 10);
	/* First what is idle, the rest is owed; no more can be owed than there is. */
	assert_int_equal(lfpool_shrink(s.pool, FIRST - 10 + 3), FIRST - 10);
	require_owes(s.pool, 10, 10, 3);
	assert_int_equal(lfpool_shrink(s.pool, 4), 0);
	require_owes(s.pool, 10, 10, 7);
	assert_int_equal(lfpool_shrink(s.pool, SIZE_MAX), 0);
	require_owes(s.pool, 10, 10, 10);
	assert_int_equal(lfpool_shrink(s.pool, 1), 0);
	require_owes(s.pool, 10, 10, 10);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(lfpool_release(s.pool, objects[i]), LFPOOL_OK);
		require_owes(s.pool, 9 - i, 9 - i, 9 - i);
	}
	assert_int_equal(lfpool_shrink(s.pool, SIZE_MAX), 0);
	require_owes(s.pool, 0, 0, 0);
	stage_close(&s);
}

/* ---- Forgiveness ---- */

KIND_TEST(cancel_forgives_what_is_owed)
{
	struct stage s;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	assert_int_equal(lfpool_shrink_cancel(s.pool), 0);
	assert_int_equal(acquire_all(s.pool, objects, FIRST), FIRST);
	assert_int_equal(lfpool_shrink(s.pool, 30), 0);
	release_all(s.pool, objects, 10);
	require_owes(s.pool, 30, 30, 20);
	assert_int_equal(lfpool_shrink_cancel(s.pool), 20);
	require_owes(s.pool, 30, 30, 0);
	assert_int_equal(lfpool_shrink_cancel(s.pool), 0);
	release_all(s.pool, objects + 10, 5);
	require_owes(s.pool, 30, 25, 0);
	/* Owed again, on top of what is idle. */
	assert_int_equal(lfpool_shrink(s.pool, 8), 5);
	require_owes(s.pool, 25, 25, 3);
	release_all(s.pool, objects + 15, 25);
	require_owes(s.pool, 22, 0, 0);
	stage_close(&s);
}

KIND_TEST(grow_forgives_first)
{
	struct stage s;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, FIRST + 5);
	assert_int_equal(acquire_all(s.pool, objects, FIRST), FIRST);
	assert_int_equal(lfpool_shrink(s.pool, 10), 0);
	/* Less than is owed, the rest and more, and more than there is room for. */
	assert_int_equal(lfpool_grow(s.pool, 4), 4);
	require_owes(s.pool, FIRST, FIRST, 6);
	assert_int_equal(lfpool_grow(s.pool, 8), 8);
	require_owes(s.pool, FIRST + 2, FIRST, 0);
	assert_int_equal(lfpool_shrink(s.pool, 12), 2);
	require_owes(s.pool, FIRST, FIRST, 10);
	assert_int_equal(lfpool_grow(s.pool, 100), 15);
	require_owes(s.pool, FIRST + 5, FIRST, 0);
	/* Where there is no room at all, forgiveness is still possible. */
	assert_int_equal(lfpool_shrink(s.pool, 7), 5);
	require_owes(s.pool, FIRST, FIRST, 2);
	assert_int_equal(lfpool_limit(s.pool, 1), LFPOOL_OK);
	assert_int_equal(lfpool_grow(s.pool, 5), 2);
	require_owes(s.pool, FIRST, FIRST, 0);
	release_all(s.pool, objects, FIRST);
	stage_close(&s);
}

KIND_TEST(while_it_owes_a_pool_does_not_grow_by_itself)
{
	struct stage s;
	void *objects[FIRST];

	stage_open_growing(&s, kind, FIRST, MOST, 4);
	assert_int_equal(lfpool_acquire_bulk(s.pool, objects, FIRST), FIRST);
	assert_int_equal(lfpool_shrink(s.pool, 2), 0);
	assert_null(lfpool_acquire(s.pool));
	assert_null(lfpool_acquire_wait(s.pool, 0));
	require_owes(s.pool, FIRST, FIRST, 2);
	release_all(s.pool, objects, 2);
	require_owes(s.pool, FIRST - 2, FIRST - 2, 0);
	/* Paid: from now on it does. */
	assert_non_null(objects[0] = lfpool_acquire(s.pool));
	require_owes(s.pool, FIRST + 2, FIRST - 1, 0);
	release_all(s.pool, objects, 1);
	release_all(s.pool, objects + 2, FIRST - 2);
	stage_close(&s);
}

/* ---- To nothing, and back ---- */

KIND_TEST(to_nothing_and_back)
{
	struct stage s;
	void *objects[FIRST + 1];

	stage_open(&s, kind, FIRST, 0);
	for (int round = 0; round < 3; round++) {
		require_whole(s.pool, SIZE);
		assert_int_equal(lfpool_shrink(s.pool, SIZE_MAX), FIRST);
		require_owes(s.pool, 0, 0, 0);
		assert_null(lfpool_acquire(s.pool));
		assert_null(lfpool_acquire_wait(s.pool, 0));
		assert_null(lfpool_acquire_wait(s.pool, 1000));
		assert_int_equal(lfpool_acquire_bulk(s.pool, objects, FIRST), 0);
		assert_int_equal(lfpool_release_all(s.pool), 0);
		require_whole(s.pool, SIZE);
		/* One by one. */
		for (size_t i = 0; i < FIRST; i++) {
			assert_int_equal(lfpool_grow(s.pool, 1), 1);
			assert_non_null(objects[i] = lfpool_acquire(s.pool));
			assert_null(lfpool_acquire(s.pool));
			mark_write(objects[i], i);
			require_owes(s.pool, i + 1, i + 1, 0);
		}
		assert_int_equal(lfpool_grow(s.pool, 1), 0);
		for (size_t i = 0; i < FIRST; i++)
			assert_true(mark_holds(objects[i], i));
		release_all(s.pool, objects, FIRST);
		if (kind->hooks && kind->backend != LFPOOL_BACKEND_MALLOC)
			assert_int_equal(s.created - s.destroyed, FIRST);
	}
	stage_close(&s);
}

/* Released once more, by a holder that did not know: refused, and nothing comes back. */
KIND_TEST(what_went_is_not_in_use)
{
	struct stage s;
	void *object;

	if (kind->backend == LFPOOL_BACKEND_MALLOC)
		return;
	stage_open(&s, kind, 1, 0);
	assert_non_null(object = lfpool_acquire(s.pool));
	lfpool_handle_t handle = lfpool_handle_of(s.pool, object);

	assert_ptr_equal(lfpool_resolve(s.pool, handle), object);
	assert_int_equal(lfpool_shrink(s.pool, 1), 0);
	/* Owed is not gone: it is used as ever. */
	assert_ptr_equal(lfpool_resolve(s.pool, handle), object);
	assert_true(lfpool_in_use(s.pool, object));
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	assert_false(lfpool_in_use(s.pool, object));
	assert_null(lfpool_resolve(s.pool, handle));
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_E_NOT_IN_USE);
	assert_int_equal(lfpool_release_handle(s.pool, handle), LFPOOL_E_STALE);
	require_owes(s.pool, 0, 0, 0);
	assert_int_equal(lfpool_misuse_count(s.pool), 2);
	assert_int_equal(lfpool_destroy(s.pool), 0);
}

RUN_TESTS()
