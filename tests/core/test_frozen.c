/* SPDX-License-Identifier: MIT */
/* test: threads no-tsan */
/*
 * test_frozen.c - a thread stopped at any instruction of acquire or release holds up nobody, and takes nothing with
 * it but what it was handed.
 *
 * Idea         Two threads acquire and release as fast as they can.  A signal freezes both wherever they are, mostly
 *              in the middle of a call, perhaps moving a magazine from here to there.  While they stand, this thread
 *              takes all there is: it must get everything but what the two can hold, an object on its way in or out
 *              included; then gives it back.  Thousands of times. The handler calls nothing of the pool.
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "../support/freezing.h"

#include "lfpool/inline.h"

#include <stdatomic.h>

enum { VICTIMS = 2, MOST = 6, SIZE = 40 };

struct victim {
	lfpool_t *pool;
	lfpool_cache_t *cache; /* NULL: the thread's own */
	struct random random;
};

static _Atomic(bool) stop;

static void *run(void *argument)
{
	struct victim *v = argument;
	void *objects[MOST];

	/* relaxed: a sign only. */
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		uint32_t count = 1 + random_below(&v->random, MOST);

		for (uint32_t i = 0; i < count; i++) {
			objects[i] = v->cache ? lfpool_cache_acquire_inline(v->cache) : lfpool_acquire(v->pool);
			/* All may be in the hands of the thread that checks. */
			if (!objects[i])
				continue;
			memset(objects[i], (int)i + 1, SIZE);
		}
		for (uint32_t i = 0; i < count; i++) {
			REQUIRE(!objects[i] || all_bytes_are(objects[i], SIZE, (unsigned char)(i + 1)));
			lfpool_status_t status = v->cache ? lfpool_cache_release_inline(v->cache, objects[i])
							  : lfpool_release(v->pool, objects[i]);

			REQUIRE(status == LFPOOL_OK);
		}
	}
	return NULL;
}

static void freeze_once(const struct threads *victims, lfpool_t *pool, void **objects, bool bulk)
{
	size_t capacity = lfpool_capacity(pool), got;

	for (int i = 0; i < VICTIMS; i++)
		REQUIRE(pthread_kill(victims->thread[i], SIGUSR1) == 0);
	for (int i = 0; i < VICTIMS; i++)
		while (sem_wait(&frozen))
			;
	got = bulk ? lfpool_acquire_bulk(pool, objects, capacity) : acquire_all(pool, objects, capacity);
	REQUIRE(got >= capacity - VICTIMS * MOST);
	REQUIRE(lfpool_active_count(pool) <= capacity && lfpool_available_count(pool) <= VICTIMS * MOST);
	REQUIRE(sort_disjoint(objects, got, SIZE));
	/* Half of it goes back while they stand; the other half they do without for a while. */
	release_all(pool, objects, got / 2);
	for (int i = 0; i < VICTIMS; i++)
		REQUIRE(pthread_kill(victims->thread[i], SIGUSR2) == 0);
	REQUIRE(lfpool_release_bulk(pool, objects + got / 2, got - got / 2) == got - got / 2);
}

static void freeze_often(size_t capacity, size_t cache_capacity, uint32_t flags, bool explicit_caches)
{
	void **objects = pointers_new(capacity);
	struct random r = random_for(test_seed("frozen"), VICTIMS);
	struct victim victims[VICTIMS];

	lfpool_t *pool = POOL_OF(SIZE, capacity, .cache_capacity = cache_capacity, .flags = flags);
	for (unsigned i = 0; i < VICTIMS; i++) {
		victims[i] = (struct victim){.pool = pool, .random = {random_next(&r)}};
		if (explicit_caches)
			assert_non_null(victims[i].cache = lfpool_cache_create(pool));
	}
	atomic_store(&stop, false);
	const struct threads threads = threads_start(VICTIMS, run, victims, sizeof(victims[0]));

	for (int round = 0; round < TIMES(1000, 300); round++) {
		/* Let them run for up to 30 microseconds: where the signal meets them is a matter of chance. */
		for (uint64_t until = now_ns() + random_below(&r, 30000); now_ns() < until;)
			;
		freeze_once(&threads, pool, objects, round % 3 == 0);
	}
	atomic_store(&stop, true);
	threads_join(&threads);
	for (int i = 0; i < VICTIMS; i++)
		lfpool_cache_destroy(victims[i].cache);
	assert_int_equal(lfpool_misuse_count(pool), 0);
	require_whole(pool, SIZE);
	lfpool_destroy(pool);
	free(objects);
}

TEST(with_caches_of_their_own)
{
	freeze_often(32, 0, 0, false);
	freeze_often(32, 2, 0, false);
	freeze_often(200, 8, 0, false);
	freeze_often(32, 4, LFPOOL_CHECK_RACES, false);
}

TEST(with_explicit_caches)
{
	freeze_often(32, 0, 0, true);
	freeze_often(32, 2, 0, true);
	freeze_often(64, 4, LFPOOL_ZERO, true);
}

TEST(without_caches)
{
	freeze_often(32, LFPOOL_CACHE_NONE, 0, false);
}

int main(void)
{
	prepare_signals();
	return tests_run(NULL, NULL);
}
