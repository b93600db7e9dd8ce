/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_exhaustion.c - NULL means that every object was in use.  Idle objects in other threads' caches are free,
 * whatever those threads do and whatever state the caches are in.
 *
 * (Threads that run freely, with exactly enough objects: the stress scenario `exhaustion`. Threads that stop
 * anywhere: verify/step.)
 */
#include "../support/support.h"

#include <semaphore.h>

enum { CAPACITY = 32, SIZE = 40 };

static const struct kind {
	size_t cache_capacity;
	uint32_t flags;
	unsigned rounds;
} kinds[] = {
	{0, 0, TIMES(20000, 1500)},
	{1, 0, TIMES(3000, 300)},
	{8192, 0, TIMES(3000, 300)},
	{LFPOOL_CACHE_NONE, 0, TIMES(3000, 300)},
	{0, LFPOOL_CHECK_RACES, TIMES(3000, 300)},
	{0, LFPOOL_ZERO, TIMES(3000, 300)},
};

static lfpool_t *pool_of_kind(const struct kind *kind, size_t capacity)
{
	return POOL_OF(SIZE, capacity, .cache_capacity = kind->cache_capacity, .flags = kind->flags);
}

/* Two threads that alternate. */
struct turns {
	lfpool_t *pool;
	unsigned rounds;
	sem_t mine, yours;
	void *objects[CAPACITY];
};

static struct threads turns_start(struct turns *t, void *(*other)(void *))
{
	sem_init(&t->mine, 0, 0);
	sem_init(&t->yours, 0, 0);
	return threads_start(1, other, t, 0);
}

static void *take_the_other_31(void *argument)
{
	struct turns *t = argument;
	void *objects[CAPACITY];

	for (unsigned round = 0; round < t->rounds; round++) {
		sem_wait(&t->yours);
		REQUIRE(acquire_all(t->pool, objects, CAPACITY) == CAPACITY - 1);
		REQUIRE(lfpool_acquire(t->pool) == NULL);
		release_all(t->pool, objects, CAPACITY - 1);
		sem_post(&t->mine);
	}
	return NULL;
}

/* 32 objects, two threads: while one thread holds an object, the other gets exactly 31. */
TEST(a_thread_gets_all_31_free_objects_of_32)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct turns t = {.pool = pool_of_kind(&kinds[i], CAPACITY), .rounds = kinds[i].rounds};
		const struct threads other = turns_start(&t, take_the_other_31);
		void *objects[CAPACITY];

		for (unsigned round = 0; round < t.rounds; round++) {
			/* In every second round all objects first pass through this thread's cache. */
			size_t count = acquire_all(t.pool, objects, round % 2 ? CAPACITY : 1);

			REQUIRE(count == (round % 2 ? CAPACITY : 1));
			release_all(t.pool, objects + 1, count - 1);
			stamp_write(objects[0], SIZE, round);
			sem_post(&t.yours);
			sem_wait(&t.mine);
			REQUIRE(stamp_holds(objects[0], SIZE, round));
			REQUIRE(lfpool_release(t.pool, objects[0]) == LFPOOL_OK);
		}
		threads_join(&other);
		require_whole(t.pool, SIZE);
		lfpool_destroy(t.pool);
	}
}

/* ---- Acquired here, released there ---- */

static void *release_what_comes(void *argument)
{
	struct turns *t = argument;

	for (unsigned round = 0; round < t->rounds; round++) {
		sem_wait(&t->yours);
		release_all(t->pool, t->objects, CAPACITY);
		sem_post(&t->mine);
	}
	return NULL;
}

/* Objects do not pile up in the cache of a thread that only releases: only a few more are touched than are active. */
TEST(remote_releases_return_to_the_acquiring_thread)
{
	enum { MANY = 100000 };

	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct turns t = {.pool = pool_of_kind(&kinds[i], MANY), .rounds = TIMES(2000, 200)};
		const struct threads other = turns_start(&t, release_what_comes);

		for (unsigned round = 0; round < t.rounds; round++) {
			REQUIRE(acquire_all(t.pool, t.objects, CAPACITY) == CAPACITY);
			sem_post(&t.yours);
			sem_wait(&t.mine);
		}
		threads_join(&other);
		assert_true(stats_of(t.pool).untouched >= MANY - MANY / 4);
		require_whole(t.pool, SIZE);
		lfpool_destroy(t.pool);
	}
}

RUN_TESTS()
