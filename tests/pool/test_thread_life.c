/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_thread_life.c - any number of threads, with no registration: a thousand alive at once, a hundred thousand one
 * after the other; what an exited thread's cache held is there for the others, and its memory is used again.
 */
#include "../support/support.h"

#include <stdatomic.h>

enum { SIZE = 40, ALIVE = 1000 };

/* Small stacks: a thousand of them are to fit anywhere. */
static void start_small(pthread_t *thread, void *(*run)(void *), void *argument)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, TIMES(64, 512) * 1024);
	REQUIRE(pthread_create(thread, &attributes, run, argument) == 0);
	pthread_attr_destroy(&attributes);
}

struct crowd {
	lfpool_t *pool;
	pthread_barrier_t all_hold, all_seen;
	atomic_size_t members; /* so far */
	void *objects[ALIVE];
};

static void *hold_one(void *argument)
{
	struct crowd *c = argument;
	const size_t member = atomic_fetch_add(&c->members, 1);
	void *object = lfpool_acquire(c->pool);

	REQUIRE(object);
	c->objects[member] = object;
	stamp_write(object, SIZE, member * 0x010203);
	pthread_barrier_wait(&c->all_hold);
	pthread_barrier_wait(&c->all_seen);
	REQUIRE(stamp_holds(object, SIZE, member * 0x010203));
	REQUIRE(lfpool_release(c->pool, object) == LFPOOL_OK);
	return NULL;
}

static void a_thousand_at_once(size_t cache_capacity)
{
	static struct crowd crowd;
	static pthread_t threads[ALIVE];

	memset(&crowd, 0, sizeof(crowd));
	crowd.pool = POOL_OF(SIZE, ALIVE, .cache_capacity = cache_capacity);
	pthread_barrier_init(&crowd.all_hold, NULL, ALIVE + 1);
	pthread_barrier_init(&crowd.all_seen, NULL, ALIVE + 1);
	for (size_t i = 0; i < ALIVE; i++)
		start_small(&threads[i], hold_one, &crowd);
	pthread_barrier_wait(&crowd.all_hold);
	assert_int_equal(lfpool_active_count(crowd.pool), ALIVE);
	assert_null(lfpool_acquire(crowd.pool));
	for (size_t i = 0; i < ALIVE; i++)
		assert_true(lfpool_in_use(crowd.pool, crowd.objects[i]));
	assert_true(sort_disjoint(crowd.objects, ALIVE, SIZE));
	pthread_barrier_wait(&crowd.all_seen);
	for (size_t i = 0; i < ALIVE; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&crowd.all_hold);
	pthread_barrier_destroy(&crowd.all_seen);
	require_whole(crowd.pool, SIZE);
	assert_int_equal(lfpool_destroy(crowd.pool), 0);
}

/* As many objects as threads, while every thread has a cache: no cache may keep one back. */
TEST(a_thousand_threads_alive_each_with_an_object)
{
	a_thousand_at_once(0);
	/* ThreadSanitizer's work grows with the square of the threads: once is enough for it. */
	if (!SANITIZED) {
		a_thousand_at_once(8192);
		a_thousand_at_once(LFPOOL_CACHE_NONE);
	}
}

static void *come_and_go(void *argument)
{
	lfpool_t *pool = argument;
	void *objects[5];

	REQUIRE(acquire_all(pool, objects, 5) == 5);
	for (size_t i = 0; i < 5; i++)
		stamp_write(objects[i], SIZE, i);
	for (size_t i = 0; i < 5; i++)
		REQUIRE(stamp_holds(objects[i], SIZE, i));
	release_all(pool, objects, 5);
	return NULL;
}

TEST(thousands_of_threads_come_and_go)
{
	enum { TOGETHER = 4 };
	int threads = TIMES(25000, 600), warm = threads / 50;
	lfpool_t *pool = pool_of(SIZE, TOGETHER * 5);
	size_t before = 0, mapped_before = 0;
	pthread_t together[TOGETHER];

	for (int i = 0; i < threads; i++) {
		if (i >= TOGETHER)
			pthread_join(together[i % TOGETHER], NULL);
		if (i == warm)
			memory_of_process(&mapped_before, &before);
		start_small(&together[i % TOGETHER], come_and_go, pool);
	}
	for (int i = 0; i < TOGETHER; i++)
		pthread_join(together[i], NULL);
	size_t grown = growth(before, resident_bytes());
	print_message("    resident memory grew by %zu KiB\n", grown / 1024);
	assert_in_range(grown, 0, TIMES(MIB, 64 * MIB));
	if (!SANITIZED)
		assert_in_range(growth(mapped_before, mapped_bytes()), 0, 70 * MIB);
	require_whole(pool, SIZE);
	lfpool_destroy(pool);
}

/* Fills its cache with all that there is, and exits. */
static void *fill_cache_and_exit(void *argument)
{
	lfpool_t *pool = argument;
	size_t capacity = lfpool_capacity(pool);
	void **objects = pointers_new(capacity);

	REQUIRE(acquire_all(pool, objects, capacity) == capacity);
	release_all(pool, objects, capacity);
	free(objects);
	return NULL;
}

TEST(what_an_exited_thread_cached_is_handed_back)
{
	static const size_t capacities[] = {1, 2, 32, 1000, 3000}, cache_capacities[] = {0, 2, 8192, LFPOOL_CACHE_NONE};

	for (size_t i = 0; i < COUNT(capacities) * COUNT(cache_capacities); i++) {
		const size_t capacity = capacities[i % COUNT(capacities)];
		lfpool_t *pool = POOL_OF(SIZE, capacity, .cache_capacity = cache_capacities[i / COUNT(capacities)]);

		for (int round = 0; round < 20; round++) {
			threads_run(1, fill_cache_and_exit, pool, 0);
			assert_int_equal(lfpool_available_count(pool), capacity);
			if (round % 3 == 0)
				require_whole(pool, SIZE);
		}
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

/* Every cache that the library can make is taken: threads that come now work all the same, and at once. */
static void *come_late(void *argument)
{
	for (int i = 0; i < TIMES(200, 30); i++)
		(void)come_and_go(argument);
	return NULL;
}

TEST(threads_beyond_the_last_cache)
{
	enum { WANTED = 17000, LATE = 8 };
	lfpool_t *pool = pool_of(SIZE, LATE * 5);
	lfpool_cache_t *cache = lfpool_cache_create(pool);
	size_t made = 1;

	assert_non_null(cache);
	while (made < WANTED && lfpool_cache_create(pool))
		made++;
	threads_run(LATE, come_late, pool, 0);
	require_whole(pool, SIZE);
	lfpool_cache_destroy(cache);
	require_whole(pool, SIZE);
	/* The others need not be destroyed first. */
	assert_int_equal(lfpool_destroy(pool), 0);
}

RUN_TESTS()
