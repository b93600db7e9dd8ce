/* SPDX-License-Identifier: MIT */
/* test_flush.c - lfpool_cache_flush(): the pool gets the cache's objects, the cache still works, and no object is
 * lost.  (While other threads rob it: the programs flush-*, destroy-* and claim-* of verify/explore.) */
#include "../support/support.h"

enum { SIZE = 40 };

/* Random acquires and releases by one cache, compared with a list of the objects in use; after each flush the cache
 * is empty.  With the thread's own cache (NULL) or a handle, with hooks, with debug modes, few objects and many. */
static void sequences(lfpool_t *pool, bool by_handle, uint64_t seed)
{
	lfpool_cache_t *cache = by_handle ? lfpool_cache_create(pool) : NULL;
	const size_t capacity = lfpool_capacity(pool);
	void **held = pointers_new(capacity);
	struct random random = {seed};
	size_t count = 0, flushes = 0;

	for (int step = 0; step < TIMES(20000, 2000); step++) {
		const bool acquires = random_below(&random, 2);
		size_t times = random_below(&random, (uint32_t)capacity + 1);

		for (; times && (acquires ? count < capacity : count > 0); times--) {
			if (acquires)
				assert_non_null(held[count++] = cache ? lfpool_cache_acquire(cache)
								      : lfpool_acquire(pool));
			else
				assert_int_equal(cache ? lfpool_cache_release(cache, held[--count])
						       : lfpool_release(pool, held[--count]),
						 LFPOOL_OK);
		}
		if (random_below(&random, 3) == 0) {
			lfpool_cache_flush(pool, cache);
			assert_int_equal(stats_of(pool).cached, 0);
			flushes++;
		}
		assert_int_equal(lfpool_active_count(pool), count);
	}
	assert_true(flushes > 100);
	require_intact(pool);
	release_all(pool, held, count);
	lfpool_cache_destroy(cache);
	pool_close(pool, SIZE);
	free(held);
}

TEST(flush_empties_a_cache_and_leaves_it_usable)
{
	static const size_t capacities[] = {1, 2, 30, 700};

	for (size_t i = 0; i < COUNT(capacities); i++) {
		for (int by_handle = 0; by_handle < 2; by_handle++) {
			sequences(pool_of(SIZE, capacities[i]), by_handle, i + 1);
			sequences(POOL_OF(SIZE, capacities[i], .cache_capacity = 8), by_handle, i + 2);
			sequences(POOL_OF(SIZE, capacities[i], .debug = "check,poison,guard"), by_handle, i + 3);
		}
	}
}

/* Flush creates no cache for a thread without one, and ignores a pool without caches. */
BACKEND_TEST(flush_creates_no_cache, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = POOL_OF(SIZE, 100, .backend = backend);

	lfpool_cache_flush(pool, NULL);
	/* In mutex mode there is one, shared by all calls. */
	assert_int_equal(stats_of(pool).caches_in_use, backend == LFPOOL_BACKEND_MUTEX);
	if (backend != LFPOOL_BACKEND_LOCKFREE) {
		lfpool_cache_t *cache = lfpool_cache_create(pool);

		assert_int_equal(lfpool_cache_release(cache, lfpool_cache_acquire(cache)), LFPOOL_OK);
		assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
		lfpool_cache_flush(pool, cache);
		lfpool_cache_flush(pool, NULL);
		assert_int_equal(stats_of(pool).cached != 0, backend == LFPOOL_BACKEND_MUTEX);
		lfpool_cache_destroy(cache);
	}
	pool_close(pool, SIZE);
}

#ifndef LFPOOL_EMBEDDED
/* LFPOOL_CACHE_NONE: a call leaves nothing in the cache that it borrowed. */
TEST(without_caches_nothing_is_cached)
{
	lfpool_t *pool = POOL_OF(SIZE, 1000, .cache_capacity = LFPOOL_CACHE_NONE);
	void *objects[1000];

	for (size_t i = 0; i < COUNT(objects); i++) {
		assert_non_null(objects[i] = lfpool_acquire(pool));
		assert_int_equal(stats_of(pool).cached, 0);
	}
	for (size_t i = 0; i < COUNT(objects); i++) {
		assert_int_equal(lfpool_release(pool, objects[i]), LFPOOL_OK);
		assert_int_equal(stats_of(pool).cached, 0);
	}
	pool_close(pool, SIZE);
}
#endif

RUN_TESTS()
