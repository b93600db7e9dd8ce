/* SPDX-License-Identifier: MIT */
/* test: threads no-tsan */
/*
 * test_signals.c - signal handlers with caches of their own use the pool, wherever they meet threads that use it.
 *
 * Idea         Threads acquire, stamp, look and release, through their own caches or one that they borrow; a storm of signals
 *              reaches them meanwhile, and the handler does the same through a cache that was made for it.  The pool is
 *              so small that who finds nothing robs the cache of the call that it has interrupted.
 */
#include "../support/signal_storm.h"

enum { SIZE = 40, CAPACITY = 24, MOST = 6, SIGNALS = 100 };

static lfpool_t *pool;

/* Holds some objects, each its own, for a moment. */
static void hold_some(lfpool_cache_t *cache, size_t wanted, uint64_t stamp)
{
	void *objects[MOST];
	size_t count = 0;

	while (count < wanted && (objects[count] = cache ? lfpool_cache_acquire(cache) : lfpool_acquire(pool)))
		count++;
	for (size_t i = 0; i < count; i++)
		stamp_write(objects[i], SIZE, stamp + i);
	for (size_t i = 0; i < count; i++)
		REQUIRE(lfpool_in_use(pool, objects[i]) && stamp_holds(objects[i], SIZE, stamp + i));
	while (count-- > 0)
		REQUIRE((cache ? lfpool_cache_release(cache, objects[count]) : lfpool_release(pool, objects[count])) ==
			LFPOOL_OK);
}

static void on_signal(int number)
{
	const int errno_before = errno;

	(void)number;
	handlers_stamp += MOST;
	hold_some(handlers_cache, 1 + handlers_stamp / MOST % MOST, handlers_stamp);
	REQUIRE(errno == errno_before);
	/* relaxed: a number. */
	(void)atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed);
}

static void *work(void *argument)
{
	const struct storm_worker *w = argument;
	uint64_t stamp = w->stamp;

	storm_ready(w, pool);
	/* relaxed: nothing follows from it. */
	for (size_t i = 0; !atomic_load_explicit(&stop, memory_order_relaxed); i++, stamp += MOST)
		hold_some(NULL, 1 + i % MOST, stamp);
	return NULL;
}

static void storm_on(size_t cache_capacity, uint32_t flags)
{
	pool = POOL_OF(SIZE, CAPACITY, .cache_capacity = cache_capacity, .flags = flags);
	storm(work, SIGNALS);
	assert_int_equal(lfpool_misuse_count(pool), 0);
	require_whole(pool, SIZE);
	assert_int_equal(lfpool_destroy(pool), 0);
}

TEST(caches)
{
	storm_on(0, 0);
	storm_on(4, 0);
}

TEST(borrowed_caches)
{
	storm_on(LFPOOL_CACHE_NONE, 0);
}

TEST(zeroing_and_races_checked)
{
	storm_on(4, LFPOOL_CHECK_RACES);
	storm_on(4, LFPOOL_ZERO);
}

int main(void)
{
	storm_handler(on_signal);
	return tests_run(NULL, NULL);
}
