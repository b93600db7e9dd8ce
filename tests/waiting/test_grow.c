/* SPDX-License-Identifier: MIT */
/*
 * test_grow.c - a pool grows automatically when any kind of call finds nothing.  (Objects of every size:
 * test_large.c.)
 *
 * (Step by step up to its maximum, explicit growth, refusing hooks, contents, in any sequence of calls, against a
 * model: verify/fuzz, verify/pairs.  With threads: the stress scenario `resize`.)
 */
#include "../support/kinds.h"
#include "../support/ways.h"

enum { FIRST = 10, MOST = 300 };

/* ---- Automatically ---- */

/* By each kind of call, and explicitly; and it may become empty again. */
KIND_TEST(growth_from_an_empty_pool)
{
	if (kind->flags & LFPOOL_CREATE_ALL)
		return;
	for (enum way_to way = 0; way < WAYS_TO; way++) {
		struct stage s;
		void *object;

		stage_open_growing(&s, kind, 0, MOST, 3);
		require_counts(s.pool, 0, 0);
		assert_int_equal(s.created + s.destroyed, 0);
		lfpool_cache_t *cache = lfpool_cache_create(s.pool);

		assert_non_null(object = take_by(way, s.pool, cache));
		assert_int_equal(lfpool_capacity(s.pool), 3);
		assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
		assert_int_equal(lfpool_shrink(s.pool, 3), 3);
		require_counts(s.pool, 0, 0);
		assert_int_equal(lfpool_grow(s.pool, 2), 2);
		assert_non_null(object = take_by(way, s.pool, cache));
		assert_int_equal(lfpool_capacity(s.pool), 2);
		assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
		lfpool_cache_destroy(cache);
		stage_close(&s);
	}
}

/* ---- Memory ---- */

/* The search for an idle object begins where the last one was found, beyond the last committed page.  It must find
 * removed slots at the other end.  (Prefaulted pages are committed one by one.) */
TEST(growth_reuses_removed_slots_before_unopened_pages)
{
	enum { OBJECTS = 100, SOME = 10, BYTES = 4096 };
	lfpool_t *pool = POOL_OF(BYTES, OBJECTS - SOME, .max_capacity = MOST, .flags = LFPOOL_PREFAULT);
	void *objects[OBJECTS + 1];

	assert_int_equal(lfpool_grow(pool, SOME), SOME);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(acquire_all(pool, objects, OBJECTS + 1), OBJECTS);
		assert_true(sort_disjoint(objects, OBJECTS, BYTES));
		for (size_t i = 0; i < OBJECTS; i++)
			stamp_write(objects[i], BYTES, i);
		assert_int_equal(lfpool_shrink(pool, SOME), 0);
		release_all(pool, objects, OBJECTS);
		assert_int_equal(lfpool_capacity(pool), OBJECTS - SOME);
		assert_int_equal(lfpool_grow(pool, SOME), SOME);
	}
	pool_close(pool, BYTES);
}

RUN_TESTS()
