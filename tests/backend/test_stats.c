/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_stats.c - lfpool_stats(): capacity = active + cached + shared + untouched, exactly when all is quiet and
 * within bounds when it is not; acquires and releases are those that succeeded.  And the other questions, while others work.
 *
 * On the other backends: accounts.h of lfpool-stress.
 */
#include "../support/workers.h"

enum { SIZE = 32, CAPACITY = 500, WORKERS = 4, KEPT = 20, EACH = (CAPACITY - 2 * KEPT) / WORKERS };

/* What holds whatever the pool has been through, while it is quiet. */
static lfpool_stats_t settled(const lfpool_t *pool)
{
	lfpool_stats_t stats = stats_of(pool);

	require_intact(pool);
	assert_int_equal(stats.unaccounted, 0);
	assert_int_equal(stats.capacity, lfpool_capacity(pool));
	assert_int_equal(stats.active + stats.cached + stats.shared + stats.untouched, stats.capacity);
	assert_int_equal(stats.active, lfpool_active_count(pool));
	assert_int_equal(stats.misuses, lfpool_misuse_count(pool));
	assert_true(stats.caches_in_use <= stats.caches);
	return stats;
}

TEST(where_the_objects_are)
{
	void *objects[CAPACITY];
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .cache_capacity = 16);
	lfpool_cache_t *cache = lfpool_cache_create(pool), *other;
	lfpool_stats_t stats = settled(pool);

	assert_int_equal(stats.untouched, CAPACITY);
	assert_int_equal(stats.acquires + stats.releases, 0);

	/* One chunk of eight is opened: one object is out, seven lie in the cache. */
	objects[0] = lfpool_cache_acquire(cache);
	stats = settled(pool);

	assert_int_equal(stats.active, 1);
	assert_int_equal(stats.cached, 7);
	assert_int_equal(stats.shared, 0);
	assert_int_equal(stats.untouched, CAPACITY - 8);
	assert_int_equal(stats.caches, 1);
	assert_int_equal(stats.caches_in_use, 1);
	assert_int_equal(stats.refills, 1);

	/* One refill for each chunk of eight, none of them from the depot. */
	assert_int_equal(lfpool_cache_acquire_bulk(cache, objects + 1, CAPACITY - 1), CAPACITY - 1);
	stats = settled(pool);
	assert_int_equal(stats.active, CAPACITY);
	assert_int_equal(stats.refills, (CAPACITY + 7) / 8);
	assert_int_equal(stats.drains + stats.depot_trips + stats.exhausted, 0);
	assert_null(lfpool_cache_acquire(cache));
	assert_int_equal(settled(pool).exhausted, 1);

	/* All come back: two magazines stay in the cache. */
	assert_int_equal(lfpool_cache_release_bulk(cache, objects, CAPACITY), CAPACITY);
	stats = settled(pool);
	assert_int_equal(stats.active + stats.untouched, 0);
	assert_int_equal(stats.refills, (CAPACITY + 7) / 8);
	/* For each magazine that was full when more came; the first time the cache had an empty one. */
	assert_int_equal(stats.drains, (CAPACITY - 1) / 8);
	assert_in_range(stats.cached, 9, 16);
	assert_int_equal(stats.shared, CAPACITY - stats.cached);
	assert_int_equal(stats.steals + stats.retries, 0);

	/* Another cache robs it of those. */
	assert_non_null(other = lfpool_cache_create(pool));
	assert_int_equal(lfpool_cache_acquire_bulk(other, objects, CAPACITY), CAPACITY);
	assert_in_range(settled(pool).steals, 1, 16);
	assert_int_equal(lfpool_cache_release_bulk(cache, objects, CAPACITY), CAPACITY);
	lfpool_cache_destroy(other);

	/* A cache that is given up holds nothing. */
	lfpool_cache_destroy(cache);
	stats = settled(pool);
	assert_int_equal(stats.cached, 0);
	assert_int_equal(stats.shared, CAPACITY);
	assert_int_equal(stats.caches, 2);
	assert_int_equal(stats.caches_in_use, 0);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- While others work ---- */

static void work(struct worker *me)
{
	lfpool_t *pool = me->scene;
	void *held[EACH];
	size_t count = 0;

	while (!told_to_end(me)) {
		const size_t wanted = random_below(&me->random, EACH + 1);

		for (; count < wanted; count++, me->count++)
			REQUIRE(held[count] = lfpool_acquire(pool));
		while (count > wanted)
			REQUIRE(lfpool_release(pool, held[--count]) == LFPOOL_OK);
	}
	/* The others stay out. */
	for (; count > EACH / 2; count--)
		REQUIRE(lfpool_release(pool, held[count - 1]) == LFPOOL_OK);
}

/* Objects that no thread touches answer truly, and counts are possible ones. */
static void ask(const lfpool_t *pool, void *const *kept, void *const *freed)
{
	assert_in_range(lfpool_active_count(pool), 0, CAPACITY);
	assert_in_range(lfpool_available_count(pool), 0, CAPACITY);
	assert_int_equal(lfpool_capacity(pool), CAPACITY);
	for (size_t i = 0; i < KEPT; i++) {
		assert_true(lfpool_in_use(pool, kept[i]));
		assert_true(lfpool_owns(pool, kept[i]) && lfpool_owns(pool, freed[i]));
		assert_false(lfpool_in_use(pool, moved(freed[i], 1)));
		/* In use by now, or free: either answer, but no race. */
		(void)lfpool_in_use(pool, freed[i]);
	}
}

static void while_others_work(size_t cache_capacity, uint32_t flags)
{
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .cache_capacity = cache_capacity, .flags = flags);
	void *kept[KEPT], *freed[KEPT];
	struct workers workers;
	uint64_t before = 0;

	assert_int_equal(acquire_all(pool, kept, KEPT), KEPT);
	assert_int_equal(acquire_all(pool, freed, KEPT), KEPT);
	release_all(pool, freed, KEPT);
	const size_t mine = stats_of(pool).caches_in_use;

	workers_start(&workers, WORKERS, work, pool, test_seed("while_others_work"));
	for (int i = 0; i < TIMES(6000, 600); i++) {
		const lfpool_stats_t stats = stats_of(pool);

		assert_int_equal(stats.capacity, CAPACITY);
		assert_true(stats.active <= CAPACITY && stats.cached <= CAPACITY);
		assert_true(stats.shared <= CAPACITY && stats.untouched <= CAPACITY);
		assert_true(stats.unaccounted >= -CAPACITY && stats.unaccounted <= CAPACITY);
		assert_true(stats.releases <= stats.acquires && stats.acquires >= before);
		assert_true(stats.caches_in_use <= stats.caches);
		before = stats.acquires;
		ask(pool, kept, freed);
	}
	const size_t acquires = workers_end(&workers) + 2 * KEPT;
	const lfpool_stats_t stats = settled(pool);

	assert_in_range(stats.active, KEPT, KEPT + WORKERS * (EACH / 2));
	assert_int_equal(lfpool_available_count(pool), CAPACITY - stats.active);
	assert_int_equal(stats.acquires, acquires);
	assert_int_equal(stats.releases, acquires - stats.active);
	/* Those of the threads are given back. */
	assert_int_equal(stats.caches_in_use, mine);
	assert_int_equal(lfpool_release_all(pool), stats.active);
	pool_close(pool, SIZE);
}

TEST(stats_while_others_work)
{
	while_others_work(0, 0);
	while_others_work(2, 0);
	while_others_work(LFPOOL_CACHE_NONE, 0);
	while_others_work(4, 0);
	while_others_work(4, LFPOOL_CHECK_RACES);
}

RUN_TESTS()
