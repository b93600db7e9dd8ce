/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_mutex_mode.c - a pool in mutex mode: fork, explicit caches.
 *
 * Tests of other rooms run in mutex mode too: BACKEND_TEST of support.h, kinds.h, and the model of verify/fuzz.
 */
#include "../support/child.h"
#include "../support/workers.h"

enum { SIZE = 32, CAPACITY = 64, HELD = 8, THREADS = 2, FORKS = 100 };

static lfpool_t *mutex_pool(void)
{
	return POOL_OF(SIZE, CAPACITY, .backend = LFPOOL_BACKEND_MUTEX);
}

static void acquire_and_release(struct worker *me)
{
	lfpool_t *pool = me->scene;
	lfpool_cache_t *cache = lfpool_cache_create(pool);

	REQUIRE(cache);
	while (!told_to_end(me)) {
		void *object = lfpool_cache_acquire(cache), *other = lfpool_acquire(pool);

		REQUIRE(object && other);
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
		REQUIRE(lfpool_cache_release(cache, other) == LFPOOL_OK);
	}
	lfpool_cache_destroy(cache);
}

/* In the child, each call that another thread was in costs at most one object. */
static void use_all(void *argument)
{
	lfpool_t *pool = argument;
	void *objects[CAPACITY];
	const size_t free_ones = acquire_all(pool, objects, CAPACITY);

	REQUIRE(free_ones >= CAPACITY - HELD - 2 * THREADS && free_ones <= CAPACITY - HELD);
	REQUIRE(!lfpool_acquire(pool));
	release_all(pool, objects, free_ones);
	REQUIRE(lfpool_destroy(mutex_pool()) == 0);
}

TEST(child_can_use_the_pool_after_fork_in_the_middle_of_calls)
{
	lfpool_t *pool = mutex_pool();
	struct workers workers;
	void *held[HELD];

	if (SANITIZED)
		SKIP("the sanitizers' own allocators are not ready for a fork in the midst of them");
	assert_int_equal(acquire_all(pool, held, HELD), HELD);
	workers_start(&workers, THREADS, acquire_and_release, pool, 0);
	for (int i = 0; i < FORKS; i++)
		child_run(use_all, pool);
	(void)workers_end(&workers);
	release_all(pool, held, HELD);
	pool_close(pool, SIZE);
}

TEST(every_explicit_cache_reaches_every_object)
{
	enum { CACHES = 40 };
	lfpool_t *pool = mutex_pool();
	lfpool_cache_t *cache[CACHES];
	void *objects[CAPACITY];

	for (size_t i = 0; i < CACHES; i++)
		assert_non_null(cache[i] = lfpool_cache_create(pool));
	for (size_t i = 0; i < CACHES; i++) {
		assert_int_equal(lfpool_cache_acquire_bulk(cache[i], objects, CAPACITY), CAPACITY);
		assert_null(lfpool_cache_acquire(cache[(i + 1) % CACHES]));
		assert_int_equal(lfpool_cache_release_bulk(cache[(i + 2) % CACHES], objects, CAPACITY), CAPACITY);
		lfpool_cache_flush(pool, cache[i]);
		require_intact(pool);
	}
	/* All calls share one cache, which has the objects, so no cache is robbed. */
	assert_int_equal(stats_of(pool).steals, 0);
	for (size_t i = 0; i < CACHES; i++)
		lfpool_cache_destroy(cache[i]);
	pool_close(pool, SIZE);
}

RUN_TESTS()
