/* SPDX-License-Identifier: MIT */
/* test: threads once wrap=thread_cache_remembered */
/*
 * unit_turns.c - threads that alternate between many pools find their caches without the library's slow path, by call
 * and inlined; and the cache found belongs to the right pool.
 *
 * Idea         The linker puts a counter in front of thread_cache_remembered(), which each slow path calls.
 */
#include "../support/workers.h"

#include "pool/threads.h"

#include "lfpool/inline.h"

enum { SIZE = 40, CAPACITY = 40, PLACES = TABLE_ENTRIES_MIN, POOLS = 3 * PLACES, THREADS = 3 };

static __thread unsigned slow;

struct cache_head *__real_thread_cache_remembered(struct lfpool_t *pool);
struct cache_head *__wrap_thread_cache_remembered(struct lfpool_t *pool);
struct cache_head *__wrap_thread_cache_remembered(struct lfpool_t *pool)
{
	slow++;
	return __real_thread_cache_remembered(pool);
}

/* The library's functions, which no compiler can inline here. */
static void *(*volatile acquire_called)(lfpool_t *pool) = lfpool_acquire;
static lfpool_status_t (*volatile release_called)(lfpool_t *pool, void *object) = lfpool_release;
static lfpool_status_t (*volatile release_owned_called)(lfpool_t *pool, void *object) = lfpool_release_if_owned;

/* One object of this pool; `draw` chooses the calls. */
static void use(lfpool_t *pool, uint32_t draw)
{
	void *object = draw & 1 ? acquire_called(pool) : lfpool_acquire(pool);
	lfpool_status_t status;

	REQUIRE(object && lfpool_owns(pool, object) && lfpool_in_use(pool, object));
	memset(object, (int)draw, SIZE);
	if (draw & 4)
		status = draw & 2 ? release_owned_called(pool, object) : lfpool_release_if_owned(pool, object);
	else
		status = draw & 2 ? release_called(pool, object) : lfpool_release(pool, object);
	REQUIRE(status == LFPOOL_OK && !lfpool_in_use(pool, object));
}

static lfpool_t *pools[POOLS];

static void make(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		pools[i] = pool_of(SIZE, CAPACITY);
}

static void destroy(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		pool_close(pools[i], SIZE);
}

/* In order, and then in random order. */
static void use_all(struct random *random, size_t count)
{
	for (size_t i = 0; i < 4 * count; i++)
		use(pools[i % count], random_below(random, 8));
	for (size_t i = 0; i < 20 * count; i++)
		use(pools[random_below(random, (uint32_t)count)], random_below(random, 8));
}

static void take_turns(struct worker *me)
{
	slow = 0;
	use_all(&me->random, PLACES);
	REQUIRE(slow == PLACES);
	use_all(&me->random, PLACES);
	REQUIRE(slow == PLACES);
}

TEST(a_thread_enters_the_slow_path_once_for_each_pool)
{
	struct workers workers;

	make(0, PLACES);
	workers_start(&workers, THREADS, take_turns, NULL,
		      test_seed("a_thread_enters_the_slow_path_once_for_each_pool"));
	(void)workers_join(&workers);
	destroy(0, PLACES);
}

/* A new pool takes the place of one that the thread remembers, and of one in its table. */
TEST(new_pool_in_an_old_place_is_not_mistaken)
{
	struct random random = random_for(test_seed("new_pool_in_an_old_place_is_not_mistaken"), 0);

	make(0, PLACES);
	use_all(&random, PLACES);
	slow = 0;
	for (unsigned i = 0; i < 200; i++) {
		const size_t old = random_below(&random, PLACES);

		use(pools[random_below(&random, 2) ? old : random_below(&random, PLACES)], i);
		destroy(old, old + 1);
		make(old, old + 1);
		use(pools[old], random_below(&random, 8));
		REQUIRE(slow == i + 1);
		use_all(&random, 8);
		slow = i + 1;
	}
	destroy(0, PLACES);
}

/* Pools beyond the last place share the offset of another pool.  They are found as long as they are the last one
 * used. */
TEST(pools_beyond_the_last_place_are_found_while_last_used)
{
	struct random random = random_for(test_seed("pools_beyond_the_last_place_are_found_while_last_used"), 0);

	make(0, POOLS);
	lfpool_t *shared = POOL_OF(SIZE, CAPACITY, .cache_capacity = LFPOOL_CACHE_NONE);

	use_all(&random, POOLS);
	for (size_t i = PLACES; i < POOLS; i++) {
		use(pools[i % PLACES], random_below(&random, 8));
		slow = 0;
		use(pools[i], random_below(&random, 8));
		use(pools[i], random_below(&random, 8));
		REQUIRE(slow == 1);
		/* Both calls are slow, and the last pool stays the last. */
		use(shared, random_below(&random, 8));
		use(pools[i], random_below(&random, 8));
		REQUIRE(slow == 3);
		use(pools[i % PLACES], random_below(&random, 8));
		use(pools[i], random_below(&random, 8));
		REQUIRE(slow == 4);
	}
	destroy(0, POOLS);
	pool_close(shared, SIZE);
}

RUN_TESTS()
