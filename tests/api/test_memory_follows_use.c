/* SPDX-License-Identifier: MIT */
/*
 * test_memory_follows_use.c - a pool touches only objects in use and a bound for each cache, and returns free objects
 * on request, wherever they are cached: lfpool_trim(), also with LFPOOL_IDLE, and lfpool_shrink().
 *
 * Idea         Explicit caches represent sleeping threads.
 */
#include "../support/support.h"

enum { CACHES = 8, EACH = 20, ALL = CACHES * EACH };

static int built, destroyed;

static bool on_create(void *context, void *object)
{
	(void)context;
	*(int *)object = ++built;
	return true;
}

static void on_destroy(void *context, void *object)
{
	(void)context, (void)object;
	destroyed++;
}

static lfpool_t *pool_built(size_t capacity)
{
	built = destroyed = 0;
	return POOL_OF(256, capacity, .hooks = {.create = on_create, .destroy = on_destroy});
}

/* With one stack of full magazines in the depot, and at most one in each cache. */
static lfpool_t *pool_in_magazines(size_t capacity, size_t magazine)
{
	built = destroyed = 0;
	return POOL_OF(256, capacity, .cache_capacity = 2 * magazine, .depot_shards = 1,
		       .hooks = {.create = on_create, .destroy = on_destroy});
}

/* Each cache acquires `each`, all at once, and releases them. */
static void burst(lfpool_t *pool, lfpool_cache_t **caches, size_t each, size_t bytes)
{
	void **objects = pointers_new(CACHES * each);

	for (size_t i = 0; i < CACHES * each; i++) {
		if (i < CACHES)
			assert_non_null(caches[i] = lfpool_cache_create(pool));
		assert_non_null(objects[i] = lfpool_cache_acquire(caches[i % CACHES]));
		memset(objects[i], 1, bytes);
	}
	for (size_t i = 0; i < CACHES * each; i++)
		assert_int_equal(lfpool_cache_release(caches[i % CACHES], objects[i]), LFPOOL_OK);
	free(objects);
}

static size_t idle_of(const lfpool_t *pool)
{
	const lfpool_stats_t stats = stats_of(pool);

	return stats.cached + stats.shared;
}

/* ---- Trim and shrink ---- */

TEST(trim_reaches_the_objects_of_caches_that_sleep)
{
	const size_t bytes = 32768;
	lfpool_cache_t *caches[CACHES];
	lfpool_t *pool = POOL_OF(bytes, ALL, .flags = LFPOOL_PLAIN_STRIDE, .debug = "no-tools");

	burst(pool, caches, EACH, bytes);
	while (lfpool_trim(pool, 0, MIB))
		;
	assert_int_equal(stats_of(pool).untouched, ALL);
	assert_true(stats_of(pool).given_back > ALL * bytes / 4 * 3);
	pool_close(pool, bytes);
}

TEST(trim_destroys_idle_objects_of_caches_that_sleep)
{
	lfpool_cache_t *caches[CACHES];
	lfpool_t *pool = pool_built(20);

	burst(pool, caches, 1, sizeof(int));
	while (lfpool_trim(pool, 0, SIZE_MAX))
		;
	assert_int_equal(built, CACHES);
	assert_int_equal(destroyed, built);
	lfpool_destroy(pool);
}

TEST(trim_counts_no_pages_that_were_never_touched)
{
	enum { GROWN = 10000, USED = 3 };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *objects[USED];
	lfpool_t *pool = POOL_OF(page, 1, .max_capacity = GROWN, .object_alignment = page, .debug = "no-tools");

	assert_int_equal(lfpool_grow(pool, SIZE_MAX), GROWN - 1);
	while (lfpool_trim(pool, 0, MIB))
		;
	assert_int_equal(stats_of(pool).given_back, 0);
	assert_int_equal(acquire_all(pool, objects, USED), USED);
	release_all(pool, objects, USED);
	for (int round = 0; round < 2; round++) {
		while (lfpool_trim(pool, 0, MIB))
			;
		assert_int_equal(stats_of(pool).given_back, USED * page);
	}
	lfpool_destroy(pool);
}

TEST(shrink_returns_the_memory_of_removed_objects)
{
	const size_t bytes = 32768;
	lfpool_cache_t *caches[CACHES];
	lfpool_t *pool = POOL_OF(bytes, ALL, .debug = "no-tools");

	burst(pool, caches, EACH, bytes);
	assert_int_equal(lfpool_shrink(pool, ALL), ALL);
	assert_true(stats_of(pool).given_back > ALL * bytes / 4 * 3);
	lfpool_destroy(pool);
}

/* ---- Touched objects ---- */

/* A producer and a consumer: at most IN_FLIGHT are in use, and each cache can hold a bound. */
TEST(large_objects_handed_over_touch_no_more_than_are_in_use_and_cached)
{
	enum { IN_FLIGHT = 6, CAPACITY = 2000 };
	lfpool_t *pool = pool_of(MIB, CAPACITY);
	lfpool_cache_t *from = lfpool_cache_create(pool), *to = lfpool_cache_create(pool);
	lfpool_advice_t advice;
	void *ring[IN_FLIGHT] = {NULL};

	for (size_t i = 0; i < 20000; i++) {
		if (ring[i % IN_FLIGHT])
			assert_int_equal(lfpool_cache_release(to, ring[i % IN_FLIGHT]), LFPOOL_OK);
		assert_non_null(ring[i % IN_FLIGHT] = lfpool_cache_acquire(from));
	}

	const lfpool_stats_t stats = stats_of(pool);
	const size_t bound = stats.caches; /* one object per cache: two do not fit into 256 KiB */

	assert_true(stats.capacity - stats.untouched <= IN_FLIGHT + bound);
	assert_int_equal(lfpool_advise(pool, &advice), LFPOOL_OK);
	assert_true(advice.capacity <= IN_FLIGHT + bound);
	assert_true(advice.headroom <= 2 * bound);
	release_all(pool, ring, IN_FLIGHT);
	lfpool_destroy(pool);
}

/* A pool that grows works like one that was created with its final size. */
TEST(a_pool_that_grows_from_nothing_makes_few_trips_to_the_depot)
{
	enum { MANY = 1 << 16 };
	void **objects = pointers_new(MANY), *few[8];
	lfpool_t *pool = POOL_OF(16, 0, .max_capacity = 1 << 20, .growth_step = 1024);

	assert_int_equal(acquire_all(pool, objects, MANY), MANY);
	release_all(pool, objects, MANY);

	const lfpool_stats_t before = stats_of(pool);

	for (int i = 0; i < 1000; i++) {
		assert_int_equal(acquire_all(pool, few, COUNT(few)), COUNT(few));
		release_all(pool, few, COUNT(few));
	}
	const lfpool_stats_t after = stats_of(pool);

	assert_true((after.depot_trips - before.depot_trips) * 100 <= after.acquires - before.acquires);
	lfpool_destroy(pool);
	free(objects);
}

/* ---- Idle objects ---- */

static void round_of(lfpool_t *pool, size_t keep)
{
	while (lfpool_trim(pool, LFPOOL_IDLE | keep, MIB / 64))
		;
}

TEST(idle_rounds_take_objects_free_since_the_last_round)
{
	lfpool_cache_t *caches[CACHES];
	lfpool_t *pool = pool_built(ALL);

	burst(pool, caches, EACH, sizeof(int));
	/* All of it was in use since the pool's creation. */
	round_of(pool, 0);
	assert_int_equal(destroyed, 0);
	/* And none since. */
	round_of(pool, 0);
	assert_int_equal(destroyed, ALL);
	assert_int_equal(idle_of(pool), 0);
	pool_close(pool, 256);
}

TEST(idle_rounds_keep_a_minimum)
{
	lfpool_cache_t *caches[CACHES];
	lfpool_t *pool = pool_built(ALL);

	burst(pool, caches, EACH, sizeof(int));
	for (int i = 0; i < 5; i++)
		round_of(pool, 15);
	assert_int_equal(destroyed, ALL - 15);
	assert_int_equal(idle_of(pool), 15);
	lfpool_destroy(pool);
}

/* Objects used in each period stay. */
TEST(idle_rounds_leave_used_objects)
{
	enum { USED = 10 };
	void *objects[USED];
	lfpool_cache_t *caches[CACHES];
	lfpool_t *pool = pool_built(ALL);

	burst(pool, caches, EACH, sizeof(int));
	for (int minute = 0; minute < 10; minute++) {
		for (int i = 0; i < 20; i++) {
			assert_int_equal(lfpool_cache_acquire_bulk(caches[0], objects, USED), USED);
			assert_int_equal(lfpool_cache_release_bulk(caches[0], objects, USED), USED);
		}
		round_of(pool, 0);
	}
	/* None of these was rebuilt, and those of the other caches are gone. */
	assert_int_equal(built, ALL);
	assert_in_range(idle_of(pool), USED, EACH + USED);
	lfpool_destroy(pool);
}

/* The caller's cache has objects that were just used.  The idle ones are in the depot, and a round takes those. */
TEST(idle_rounds_leave_the_objects_in_the_callers_cache)
{
	enum { USED = 4, MAGAZINE = 8, MANY = 8 * MAGAZINE };
	void *objects[MANY], *again[USED];
	lfpool_t *pool = pool_in_magazines(MANY, MAGAZINE);

	assert_int_equal(acquire_all(pool, objects, MANY), MANY);
	release_all(pool, objects, MANY);
	round_of(pool, 0);
	assert_int_equal(acquire_all(pool, objects, USED), USED);
	release_all(pool, objects, USED);
	round_of(pool, 0);
	assert_int_equal(destroyed, MANY - MAGAZINE);
	assert_int_equal(acquire_all(pool, again, USED), USED);
	assert_true(sort_disjoint(objects, USED, 256) && sort_disjoint(again, USED, 256));
	assert_memory_equal(again, objects, sizeof(again));
	release_all(pool, again, USED);
	pool_close(pool, 256);
}

/* Thieves may have taken idle objects, so a round takes one object less for each theft since the previous round began.
 * The thefts of earlier periods do not count. */
TEST(idle_rounds_forget_the_thefts_of_earlier_periods)
{
	enum { MAGAZINE = 8, MANY = 8 * MAGAZINE };
	void *objects[MANY];
	lfpool_t *pool = pool_in_magazines(MANY, MAGAZINE);
	lfpool_cache_t *first = lfpool_cache_create(pool), *thief = lfpool_cache_create(pool);

	assert_int_equal(lfpool_cache_acquire_bulk(first, objects, MANY), MANY);
	assert_int_equal(lfpool_cache_release_bulk(first, objects, MANY), MANY);
	assert_int_equal(lfpool_cache_acquire_bulk(thief, objects, MANY), MANY);
	assert_int_equal(lfpool_cache_release_bulk(thief, objects, MANY), MANY);
	assert_true(stats_of(pool).steals > 0);
	for (int i = 0; i < 2; i++)
		round_of(pool, 0);
	assert_int_equal(destroyed, MANY);
	pool_close(pool, 256);
}

/* A round itself steals from caches that sleep.  These thefts do not count either. */
TEST(idle_rounds_forget_their_own_thefts)
{
	enum { MAGAZINE = 8, EACH_CACHE = 2 * MAGAZINE, USERS = 3, MANY = 8 * MAGAZINE, KEPT = 5 * MAGAZINE };
	void *objects[MANY];
	lfpool_cache_t *caches[USERS];
	lfpool_t *pool = pool_in_magazines(MANY, MAGAZINE);

	for (int i = 0; i < USERS; i++)
		assert_non_null(caches[i] = lfpool_cache_create(pool));
	assert_int_equal(lfpool_cache_acquire_bulk(caches[0], objects, MANY), MANY);
	assert_int_equal(lfpool_cache_release_bulk(caches[0], objects, MANY - 2 * EACH_CACHE), MANY - 2 * EACH_CACHE);
	for (int i = 1; i < USERS; i++)
		assert_int_equal(lfpool_cache_release_bulk(caches[i], objects + MANY - i * EACH_CACHE, EACH_CACHE),
				 EACH_CACHE);
	/* The second round takes two magazines of the depot, and one of the three on the stacks of the caches. */
	for (int i = 0; i < 2; i++)
		round_of(pool, KEPT);
	assert_int_equal(destroyed, MANY - KEPT);
	assert_int_equal(stats_of(pool).steals, 1);
	round_of(pool, 0);
	assert_int_equal(destroyed, MANY);
	pool_close(pool, 256);
}

/* They do not affect each other. */
TEST(idle_rounds_and_the_high_water_mark_are_independent)
{
	lfpool_cache_t *caches[CACHES];
	lfpool_t *pool = pool_built(ALL);

	burst(pool, caches, EACH, sizeof(int));
	for (int i = 0; i < 2; i++)
		assert_false(lfpool_trim(pool, LFPOOL_IDLE | ALL, SIZE_MAX));
	assert_true(stats_of(pool).high_water >= ALL);
	assert_int_equal(destroyed, 0);
	/* All of it was used since the last round. */
	burst(pool, caches, EACH, sizeof(int));
	lfpool_high_water_reset(pool);
	round_of(pool, 0);
	assert_in_range(destroyed, 0, ALL / 4);
	lfpool_destroy(pool);
}

/* SIZE_MAX exceeds the number of objects: all stay. */
TEST(keeping_all_keeps_idle_objects)
{
	lfpool_cache_t *caches[CACHES];
	lfpool_t *pool = pool_built(ALL);

	burst(pool, caches, EACH, sizeof(int));
	for (int i = 0; i < 3; i++)
		assert_false(lfpool_trim(pool, SIZE_MAX, SIZE_MAX));
	assert_int_equal(destroyed, 0);
	lfpool_destroy(pool);
}

RUN_TESTS()
