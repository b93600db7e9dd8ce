/* SPDX-License-Identifier: MIT */
/* test: threads */
/* test_thread_life.c - any number of threads, without registration: a thousand at once, thousands one after the
 * other, whose memory is reused; and the largest number of caches. */
#include "../support/support.h"

#include <stdatomic.h>

enum { SIZE = 40, ALIVE = TIMES(1000, 300) };

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
		thread_start_small(&threads[i], hold_one, &crowd);
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
	pool_close(crowd.pool, SIZE);
}

/* One object per thread, while every thread has a cache: no cache may keep one back. */
TEST(thousand_threads_hold_an_object_each)
{
	a_thousand_at_once(0);
	/* ThreadSanitizer's work grows with the square of the threads: only once with it. */
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

TEST(short_lived_threads_reuse_caches)
{
	enum { TOGETHER = 4 };
	int threads = TIMES(25000, 600), warm = threads / 50;
	lfpool_t *pool = pool_of(SIZE, TOGETHER * 5);
	size_t before = 0, mapped_before = 0;
	pthread_t together[TOGETHER];

	for (int i = 0; i < threads; i++) {
		if (i >= TOGETHER)
			pthread_join(together[i % TOGETHER], NULL);
		if (i == warm) {
			before = resident_bytes();
			mapped_before = mapped_bytes();
		}
		thread_start_small(&together[i % TOGETHER], come_and_go, pool);
	}
	for (int i = 0; i < TOGETHER; i++)
		pthread_join(together[i], NULL);
	size_t grown = growth(before, resident_bytes());
	print_message("    resident memory grew by %zu KiB\n", grown / 1024);
	assert_in_range(grown, 0, TIMES(MIB, 64 * MIB));
	if (!SANITIZED)
		assert_in_range(growth(mapped_before, mapped_bytes()), 0, 70 * MIB);
	pool_close(pool, SIZE);
}

static void *come_late(void *argument)
{
	for (int i = 0; i < TIMES(200, 30); i++)
		(void)come_and_go(argument);
	return NULL;
}

/* Every cache that the library can make is taken, and each can reach the objects of all; further threads still work. */
TEST(threads_work_when_all_caches_exist)
{
	enum { WANTED = 17000, LATE = 8, ALL = LATE * 5 };
	lfpool_t *pool = pool_of(SIZE, ALL);
	lfpool_cache_t **caches = calloc(WANTED, sizeof(*caches));
	void *objects[ALL];
	size_t made = 0;

	assert_non_null(caches);
	while (made < WANTED && (caches[made] = lfpool_cache_create(pool)))
		made++;
	/* As the header says. */
	assert_int_equal(made, 8172);
	for (size_t i = 0; i < ALL; i++)
		assert_non_null(objects[i] = lfpool_cache_acquire(caches[i * (made - 1) / (ALL - 1)]));
	assert_null(lfpool_cache_acquire(caches[made - 1]));
	assert_true(sort_disjoint(objects, ALL, SIZE));
	for (size_t i = 0; i < ALL; i++)
		assert_int_equal(lfpool_cache_release(caches[i * (made - 1) / (ALL - 1)], objects[i]), LFPOOL_OK);
	threads_run(LATE, come_late, pool, 0);
	require_whole(pool, SIZE);
	for (size_t i = 0; i < made; i += 2)
		lfpool_cache_destroy(caches[i]);
	require_whole(pool, SIZE);
	lfpool_cache_destroy(lfpool_cache_create(pool));
	/* The other caches do not have to be destroyed first. */
	assert_int_equal(lfpool_destroy(pool), 0);
	free(caches);
}

RUN_TESTS()
