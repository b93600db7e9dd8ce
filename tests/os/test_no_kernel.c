/* SPDX-License-Identifier: MIT */
/* test: threads native */
/*
 * test_no_kernel.c - two threads that rob each other, and wait for each other, in a pool in a buffer make no system
 * call.  Nor, in any pool, does a thread with an existing cache, if there is headroom for everything that all caches
 * can hold (docs/audio.md), whatever other threads do.
 *
 * (Every function of every such pool, by one thread: tests/real_time, by_buffer(), which also tests that the trap
 * catches system calls.)
 */
#include "../support/no_kernel.h"

#include <sched.h>
#include <stdatomic.h>

enum { SIZE = 40, FEW = 64, TURNS = 200 };

static _Alignas(LFPOOL_BUFFER_ALIGNMENT) unsigned char memory[1 << 16];

static _Atomic(int) shut, ended;
static _Atomic(lfpool_t *) shared;
static _Atomic(unsigned) turn;

/* The threads alternate in acquiring everything, which is in the other's cache.  Then both at once: one waits for the
 * other's objects. */
static void rob(lfpool_t *pool, unsigned self)
{
	lfpool_cache_t *cache = lfpool_cache_create(pool);
	void *mine[FEW + 1];

	MUST(cache);
	for (unsigned i = 0; i < TURNS; i++) {
		while (atomic_load(&turn) % 2 != self)
			;
		MUST(lfpool_cache_acquire_bulk(cache, mine, FEW + 1) == FEW);
		MUST(lfpool_cache_release_bulk(cache, mine, FEW) == FEW);
		atomic_fetch_add(&turn, 1);
	}
	while (atomic_load(&turn) < 2 * TURNS)
		;
	for (unsigned i = 0; i < 20000; i++) {
		void *waited = i % 16 ? lfpool_acquire(pool) : lfpool_cache_acquire_wait(cache, -1);

		MUST(waited || i % 16);
		MUST(lfpool_cache_release(cache, waited) == LFPOOL_OK);

		const size_t count = lfpool_cache_acquire_bulk(cache, mine, FEW);

		for (size_t k = 0; k < count; k++)
			MUST(lfpool_release(pool, mine[k]) == LFPOOL_OK);
	}
	lfpool_cache_destroy(cache);
}

static void *second_thread(void *unused)
{
	lfpool_t *pool;

	(void)unused;
	shut_filter();
	atomic_store(&shut, 1);
	while (!(pool = atomic_load(&shared)))
		;
	rob(pool, 1);
	atomic_store(&ended, 1);
	end_thread(0);
}

static void by_two_threads(void)
{
	const lfpool_config_t config = CONFIG_OF(SIZE, FEW, .cache_capacity = 2 * FEW);
	lfpool_stats_t stats;
	void *objects[FEW + 1];
	pthread_t thread;
	lfpool_t *pool;

	thread_start(&thread, second_thread, NULL);
	while (!atomic_load(&shut))
		;
	shut_filter();
	MUST(lfpool_create_in(&pool, &config, memory, sizeof(memory)) == LFPOOL_OK);
	atomic_store(&shared, pool);
	rob(pool, 0);
	while (!atomic_load(&ended))
		;
	MUST(lfpool_stats(pool, &stats) == LFPOOL_OK);
	MUST(stats.steals > 0 && stats.exhausted > 0);
	MUST(acquire_all(pool, objects, FEW + 1) == FEW);
	release_all(pool, objects, FEW);
	MUST(!lfpool_check(pool, NULL));
	MUST(lfpool_destroy(pool) == 0);
}

TEST(two_threads_steal_without_system_calls)
{
	assert_int_equal(run_in_process(by_two_threads), 0);
}

/* ---- Headroom ---- */

enum { OTHERS = 3, SHARE = 20, CACHE = 64, ROUNDS = 100000 };

static uint64_t seed;
static _Atomic(unsigned) jugglers;

/* Holds at most SHARE objects, often exactly SHARE, or none. */
static size_t juggle(lfpool_cache_t *cache, struct random *random, void **held, size_t count)
{
	const uint32_t drawn = random_below(random, 3 * SHARE);
	const size_t wanted = drawn < SHARE ? drawn : drawn % 2 * SHARE;

	while (count < wanted)
		MUST(held[count++] = lfpool_cache_acquire(cache));
	while (count > wanted)
		MUST(lfpool_cache_release(cache, held[--count]) == LFPOOL_OK);
	return count;
}

static void *be_other(void *cache)
{
	struct random random = random_for(seed, atomic_fetch_add(&jugglers, 1));
	void *held[SHARE];

	for (size_t count = 0; !atomic_load(&ended);)
		count = juggle(cache, &random, held, count);
	return NULL;
}

static void *be_realtime(void *cache)
{
	struct random random = random_for(seed, atomic_fetch_add(&jugglers, 1));
	void *held[SHARE];
	size_t count = 0;

	shut_filter();
	for (int round = 0; round < ROUNDS; round++)
		count = juggle(cache, &random, held, count);
	atomic_store(&ended, 1);
	end_thread(0);
}

static void with_room_for_all(void)
{
	lfpool_t *pool = POOL_OF(64, (OTHERS + 1) * (SHARE + CACHE), .cache_capacity = CACHE, .flags = LFPOOL_PREFAULT);
	pthread_t thread;

	for (int i = 0; i <= OTHERS; i++)
		thread_start(&thread, i < OTHERS ? be_other : be_realtime, lfpool_cache_create(pool));
	while (!atomic_load(&ended))
		sched_yield();
	_exit(0);
}

/* (The control that a steal is noticed: tests/real_time.) */
TEST(with_headroom_no_system_call)
{
	seed = test_seed("with_headroom_no_system_call");
	assert_int_equal(run_in_process(with_room_for_all), 0);
}

RUN_TESTS()
