/* SPDX-License-Identifier: MIT */
/*
 * test_caches.c - explicit caches on one thread: same objects, same promises, function or inlined; what a cache holds
 * is never lost.
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "../support/support.h"

#include "lfpool/inline.h"

static const struct way {
	void *(*acquire)(lfpool_cache_t *cache);
	lfpool_status_t (*release)(lfpool_cache_t *cache, void *object);
} ways[] = {
	{lfpool_cache_acquire, lfpool_cache_release},
	{lfpool_cache_acquire_inline, lfpool_cache_release_inline},
	{lfpool_cache_acquire, lfpool_cache_release_inline},
	{lfpool_cache_acquire_inline, lfpool_cache_release},
};

static const size_t cache_capacities[] = {0, 1, 2, 16, 8192, LFPOOL_CACHE_NONE};

static lfpool_t *pool_caching(size_t capacity, size_t cache_capacity)
{
	return POOL_OF(40, capacity, .cache_capacity = cache_capacity);
}

static void drains_and_fills(const struct way *way, size_t capacity, size_t cache_capacity)
{
	lfpool_t *pool = pool_caching(capacity, cache_capacity);
	lfpool_cache_t *cache = lfpool_cache_create(pool);
	void **objects = pointers_new(capacity);

	assert_non_null(cache);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < capacity; i++) {
			assert_non_null(objects[i] = way->acquire(cache));
			assert_true(lfpool_in_use(pool, objects[i]));
			stamp_write(objects[i], 40, i);
		}
		assert_null(way->acquire(cache));
		assert_null(lfpool_acquire(pool));
		assert_int_equal(lfpool_active_count(pool), capacity);
		for (size_t i = 0; i < capacity; i++)
			assert_true(stamp_holds(objects[i], 40, i));
		for (size_t i = 0; i < capacity; i++) {
			assert_int_equal(way->release(cache, objects[i]), LFPOOL_OK);
			if (i % (capacity / 50 + 1) == 0)
				assert_int_equal(lfpool_available_count(pool), i + 1);
		}
		assert_int_equal(way->release(cache, NULL), LFPOOL_OK);
	}
	/* All lies in the cache or behind it; the thread's own layer gets it all the same. */
	require_whole(pool, 40);
	lfpool_cache_destroy(cache);
	require_whole(pool, 40);
	assert_int_equal(lfpool_destroy(pool), 0);
	free(objects);
}

TEST(a_cache_drains_and_fills_the_pool)
{
	static const size_t capacities[] = {1, 2, 3, 32, 100, 1500};

	for (size_t w = 0; w < COUNT(ways); w++)
		for (size_t c = 0; c < COUNT(capacities); c++)
			for (size_t k = 0; k < COUNT(cache_capacities); k++)
				drains_and_fills(&ways[w], capacities[c], cache_capacities[k]);
}

/* Released through one, acquired through another: each of several caches reaches every free object, wherever it
 * lies. */
TEST(caches_share_one_pool)
{
	for (size_t k = 0; k < COUNT(cache_capacities); k++) {
		enum { CAPACITY = 200, CACHES = 5 };
		lfpool_t *pool = pool_caching(CAPACITY, cache_capacities[k]);
		lfpool_cache_t *caches[CACHES];
		void *objects[CAPACITY];

		for (int c = 0; c < CACHES; c++)
			assert_non_null(caches[c] = lfpool_cache_create(pool));
		for (int round = 0; round < 4 * CACHES; round++) {
			const struct way *way = &ways[round % (int)COUNT(ways)];

			for (int i = 0; i < CAPACITY; i++)
				assert_non_null(objects[i] = way->acquire(caches[round % CACHES]));
			for (int c = 0; c < CACHES; c++)
				assert_null(way->acquire(caches[c]));
			for (int i = 0; i < CAPACITY; i++)
				assert_int_equal(way->release(caches[i % CACHES], objects[i]), LFPOOL_OK);
		}
		/* Objects that are out when their cache goes are released through any other way. */
		for (int i = 0; i < CAPACITY; i++)
			assert_non_null(objects[i] = lfpool_cache_acquire_inline(caches[0]));
		for (int c = 0; c < CACHES; c += 2)
			lfpool_cache_destroy(caches[c]);
		assert_int_equal(lfpool_active_count(pool), CAPACITY);
		release_all(pool, objects, CAPACITY);
		require_whole(pool, 40);
		/* Two caches still exist: they need not be destroyed first. */
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

/* Each gives back what it held: one object, and from time to time all there are. */
TEST(created_and_destroyed_for_ever_memory_is_flat)
{
	lfpool_t *pool = pool_caching(300, 0);
	size_t before = 0;

	for (int i = 0; i < 50000; i++) {
		const int count = i % 250 ? 1 : 300;
		void *objects[300];

		if (i == 1000)
			before = resident_bytes();
		lfpool_cache_t *cache = lfpool_cache_create(pool);
		assert_non_null(cache);
		for (int k = 0; k < count; k++)
			assert_non_null(objects[k] = lfpool_cache_acquire_inline(cache));
		for (int k = 0; k < count; k++)
			assert_int_equal(lfpool_cache_release_inline(cache, objects[k]), LFPOOL_OK);
		lfpool_cache_destroy(cache);
		if (count > 1)
			assert_int_equal(lfpool_available_count(pool), 300);
	}
	assert_in_range(growth(before, resident_bytes()), 0, TIMES(MIB, 32 * MIB));
	require_whole(pool, 40);
	lfpool_destroy(pool);
}

/* As many caches as one can get: then NULL, and the pool stays whole. */
TEST(more_caches_than_anyone_needs)
{
	enum { WANTED = 17000 };
	lfpool_t *pool = pool_caching(64, 0);
	lfpool_cache_t **caches = calloc(WANTED, sizeof(*caches));
	size_t made = 0;
	void *objects[64];

	assert_non_null(caches);
	while (made < WANTED && (caches[made] = lfpool_cache_create(pool)))
		made++;
	/* The header says so. */
	assert_int_equal(made, 8172);
	for (size_t i = 0; i < 64; i++)
		assert_non_null(objects[i] = lfpool_cache_acquire(caches[i * (made - 1) / 63]));
	assert_null(lfpool_cache_acquire(caches[made - 1]));
	assert_true(sort_disjoint(objects, 64, 40));
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(lfpool_cache_release(caches[i * (made - 1) / 63], objects[i]), LFPOOL_OK);
	require_whole(pool, 40);
	for (size_t i = 0; i < made; i += 2)
		lfpool_cache_destroy(caches[i]);
	require_whole(pool, 40);
	lfpool_cache_t *again = lfpool_cache_create(pool);
	assert_non_null(again);
	lfpool_cache_destroy(again);
	assert_int_equal(lfpool_destroy(pool), 0);
	free(caches);
}

RUN_TESTS()
