/* SPDX-License-Identifier: MIT */
/*
 * test_shrink.c - a pool gives up objects: a pending shrink takes exactly the released objects, whatever call
 * releases them.
 *
 * (Any sequence of calls that resize, against a model: verify/fuzz, verify/pairs.  With threads: the stress scenario
 * `resize`.)
 */
#include "../support/kinds.h"
#include "../support/ways.h"

enum { FIRST = 40, MOST = 300 };

/* Like require_counts(), with `owed` objects pending removal. */
static void require_owes(const lfpool_t *pool, size_t capacity, size_t active, size_t owed)
{
	require_counts(pool, capacity, active);
	REQUIRE(lfpool_quick_stats(pool).owed == owed);
}

/* ---- Pending shrinks ---- */

KIND_TEST(pending_shrink_falls_with_each_release)
{
	for (enum way_back way = 0; way < WAYS_BACK; way++) {
		struct stage s;
		void *objects[FIRST];

		stage_open(&s, kind, FIRST, 0);
		lfpool_cache_t *cache = lfpool_cache_create(s.pool);

		assert_int_equal(acquire_all(s.pool, objects, FIRST), FIRST);
		assert_int_equal(lfpool_shrink(s.pool, 25), 0);
		require_owes(s.pool, FIRST, FIRST, 25);
		for (size_t back = 0; back < FIRST;) {
			back += give_back_by(way, s.pool, cache, objects[back]);
			const size_t paid = back < 25 ? back : 25;

			require_owes(s.pool, FIRST - paid, FIRST - back, 25 - paid);
			if (kind->hooks && kind->backend != LFPOOL_BACKEND_MALLOC)
				assert_int_equal(s.destroyed, paid);
		}
		lfpool_cache_destroy(cache);
		stage_close(&s);
	}
}

KIND_TEST(no_automatic_growth_while_a_shrink_is_pending)
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
	/* Complete: from now on it does. */
	assert_non_null(objects[0] = lfpool_acquire(s.pool));
	require_owes(s.pool, FIRST + 2, FIRST - 1, 0);
	release_all(s.pool, objects, 1);
	release_all(s.pool, objects + 2, FIRST - 2);
	stage_close(&s);
}

RUN_TESTS()
