/* SPDX-License-Identifier: MIT */
/*
 * test_signals.c - signal handlers with caches of their own use the pool, wherever they meet threads that use it.
 *
 * Idea         Threads acquire, stamp, look and release, through their own caches or one that they borrow; a storm of signals
 *              reaches them meanwhile, and the handler does the same through a cache that was made for it.  The pool is
 *              so small that who finds nothing robs the cache of the call that it has interrupted.
 */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum { SIZE = 40, CAPACITY = 24, THREADS = 2, MOST = 6, SIGNALS = 100 };

static lfpool_t *pool;
static _Atomic(bool) stop;
static _Atomic(unsigned long) handled;

/* Known to the handler of that thread: written before the first signal. */
static __thread lfpool_cache_t *handlers_cache;
static __thread uint64_t handlers_stamp;

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
		REQUIRE((cache ? lfpool_cache_release(cache, objects[count]) : lfpool_release(pool, objects[count])) == LFPOOL_OK);
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

struct worker {
	pthread_t thread;
	pthread_barrier_t *ready;
	uint64_t stamp;
};

static void *work(void *argument)
{
	const struct worker *w = argument;
	uint64_t stamp = w->stamp;

	handlers_stamp = stamp | UINT64_C(1) << 60;
	handlers_cache = lfpool_cache_create(pool);
	REQUIRE(handlers_cache);
	pthread_barrier_wait(w->ready);
	/* relaxed: nothing follows from it. */
	for (size_t i = 0; !atomic_load_explicit(&stop, memory_order_relaxed); i++, stamp += MOST)
		hold_some(NULL, 1 + i % MOST, stamp);
	return NULL;
}

static void storm(size_t cache_capacity, uint32_t flags)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	pthread_barrier_t ready;
	struct worker workers[THREADS];

	config.cache_capacity = cache_capacity;
	config.flags = flags;
	pool = pool_with(&config);
	atomic_store(&stop, false);
	atomic_store(&handled, 0);
	pthread_barrier_init(&ready, NULL, THREADS + 1);
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.ready = &ready, .stamp = (uint64_t)(i + 1) << 48};
		thread_start(&workers[i].thread, work, &workers[i]);
	}
	pthread_barrier_wait(&ready);
	for (unsigned i = 0; i < SIGNALS; i++) {
		REQUIRE(pthread_kill(workers[i % THREADS].thread, SIGUSR1) == 0);
		/* Two that come at once would be one. */
		while (i % THREADS == THREADS - 1 && atomic_load(&handled) <= i)
			(void)sched_yield();
	}
	atomic_store(&stop, true);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_barrier_destroy(&ready);
	assert_int_equal(lfpool_misuse_count(pool), 0);
	require_whole(pool, SIZE);
	assert_int_equal(lfpool_destroy(pool), 0);
}

TEST(caches)
{
	storm(0, 0);
	storm(4, 0);
}

TEST(borrowed_caches)
{
	storm(LFPOOL_CACHE_NONE, 0);
}

TEST(zeroing_and_races_checked)
{
	storm(4, LFPOOL_CHECK_RACES);
	storm(4, LFPOOL_ZERO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caches),
		cmocka_unit_test(borrowed_caches),
		cmocka_unit_test(zeroing_and_races_checked),
	};
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
	return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
