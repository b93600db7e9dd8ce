/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_exhaustion.c - NULL means that every object was in use, and nothing else: objects that lie idle in other
 * threads' caches are free, whatever those threads are doing, and whatever the caches look like.
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "../support/support.h"

#include "lfpool/inline.h"

#include <semaphore.h>

enum { CAPACITY = 32, SIZE = 40 };

static const struct kind {
	size_t cache_capacity;
	uint32_t flags;
	unsigned rounds;
} kinds[] = {
	{0, 0, TIMES(20000, 3000)},
	{1, 0, TIMES(3000, 600)},
	{8192, 0, TIMES(3000, 600)},
	{LFPOOL_CACHE_NONE, 0, TIMES(3000, 600)},
	{0, LFPOOL_CHECK_RACES, TIMES(3000, 600)},
	{0, LFPOOL_ZERO, TIMES(3000, 600)},
};

static lfpool_t *pool_of_kind(const struct kind *kind, size_t capacity)
{
	return POOL_OF(SIZE, capacity, .cache_capacity = kind->cache_capacity, .flags = kind->flags);
}

/* Two threads that take turns. */
struct turns {
	lfpool_t *pool;
	unsigned rounds;
	sem_t mine, yours;
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

/* 32 objects, two threads: one holds one object, the other gets the other 31 and no more; every time. */
TEST(the_other_31)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct turns t = {.pool = pool_of_kind(&kinds[i], CAPACITY), .rounds = kinds[i].rounds};
		const struct threads other = turns_start(&t, take_the_other_31);
		void *objects[CAPACITY];

		for (unsigned round = 0; round < t.rounds; round++) {
			/* In every second round all objects pass through this thread's cache first. */
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

/* The only free object lies where the other thread has just released it, with the NULLs that came before still
 * warm. */
static void *release_a_little_later(void *argument)
{
	struct turns *t = argument;

	for (unsigned round = 0; round < t->rounds; round++) {
		void *object = lfpool_acquire(t->pool);

		REQUIRE(object && !lfpool_acquire(t->pool));
		sem_post(&t->mine);
		sem_wait(&t->yours);
		REQUIRE(lfpool_release(t->pool, object) == LFPOOL_OK);
		sem_post(&t->mine);
		sem_wait(&t->yours);
	}
	return NULL;
}

TEST(one_release_ends_the_nulls)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		for (size_t capacity = 1; capacity <= 3; capacity++) {
			struct turns t = {.pool = pool_of_kind(&kinds[i], capacity), .rounds = kinds[i].rounds / 10};
			void *objects[3];

			assert_int_equal(acquire_all(t.pool, objects, capacity - 1), capacity - 1);
			const struct threads other = turns_start(&t, release_a_little_later);
			for (unsigned round = 0; round < t.rounds; round++) {
				sem_wait(&t.mine);
				REQUIRE(!lfpool_acquire(t.pool) && !lfpool_acquire(t.pool));
				sem_post(&t.yours);
				sem_wait(&t.mine);
				void *object = lfpool_acquire(t.pool);
				REQUIRE(object && !lfpool_acquire(t.pool));
				REQUIRE(lfpool_release(t.pool, object) == LFPOOL_OK);
				sem_post(&t.yours);
			}
			threads_join(&other);
			assert_int_equal(lfpool_destroy(t.pool), capacity - 1);
		}
}

/* Through an explicit cache, or, if that is NULL, through the thread's own. */
static void *acquire_by(lfpool_cache_t *cache, lfpool_t *pool)
{
	return cache ? lfpool_cache_acquire_inline(cache) : lfpool_acquire(pool);
}

static lfpool_status_t release_by(lfpool_cache_t *cache, lfpool_t *pool, void *object)
{
	return cache ? lfpool_cache_release_inline(cache, object) : lfpool_release(pool, object);
}

/* A thread that fills its caches, keeps `keep` objects and stops for ever. */
struct stopped {
	lfpool_t *pool;
	size_t keep;
	bool explicit_cache;
	sem_t stopped, go_on;
};

static void *drain_and_stop(void *argument)
{
	struct stopped *s = argument;
	void **objects = pointers_new(lfpool_capacity(s->pool));
	lfpool_cache_t *cache = s->explicit_cache ? lfpool_cache_create(s->pool) : NULL;
	size_t count = 0;

	while ((objects[count] = acquire_by(cache, s->pool)))
		count++;
	REQUIRE(count > s->keep);
	while (count > s->keep)
		REQUIRE(release_by(cache, s->pool, objects[--count]) == LFPOOL_OK);
	sem_post(&s->stopped);
	sem_wait(&s->go_on);
	release_all(s->pool, objects, count);
	lfpool_cache_destroy(cache);
	free(objects);
	return NULL;
}

TEST(a_thread_that_stops_keeps_what_it_holds_and_nothing_else)
{
	static const size_t capacities[] = {2, 32, 1000, 5000};

	for (size_t i = 0; i < COUNT(kinds) * COUNT(capacities) * 2; i++) {
		size_t capacity = capacities[i / 2 % COUNT(capacities)], keep = 0;
		struct stopped s[3];
		struct threads threads[3];
		lfpool_t *pool = pool_of_kind(&kinds[i / 2 / COUNT(capacities)], capacity);
		void **objects = pointers_new(capacity);

		/* One after the other, so that each finds all that the ones before it do not hold. */
		for (size_t k = 0; k < COUNT(s); k++) {
			s[k] = (struct stopped){.pool = pool, .keep = (capacity - 1) / 4 * k / 2, .explicit_cache = i % 2};
			keep += s[k].keep;
			sem_init(&s[k].stopped, 0, 0);
			sem_init(&s[k].go_on, 0, 0);
			threads[k] = threads_start(1, drain_and_stop, &s[k], 0);
			sem_wait(&s[k].stopped);
		}
		for (int round = 0; round < 3; round++) {
			assert_int_equal(acquire_all(pool, objects, capacity), capacity - keep);
			assert_int_equal(lfpool_available_count(pool), 0);
			release_all(pool, objects, capacity - keep);
			assert_int_equal(lfpool_available_count(pool), capacity - keep);
		}
		for (size_t k = 0; k < COUNT(s); k++) {
			sem_post(&s[k].go_on);
			threads_join(&threads[k]);
		}
		require_whole(pool, SIZE);
		lfpool_destroy(pool);
		free(objects);
	}
}

/* As many objects as the threads' demands together, everybody running freely: no call ever returns NULL. */
struct demand {
	lfpool_t *pool;
	struct random random;
	size_t most;
	unsigned rounds;
	bool explicit_cache;
};

static void *demand(void *argument)
{
	struct demand *d = argument;
	lfpool_cache_t *cache = d->explicit_cache ? lfpool_cache_create(d->pool) : NULL;
	void *objects[CAPACITY];

	for (unsigned round = 0; round < d->rounds; round++) {
		size_t count = 1 + random_below(&d->random, (uint32_t)d->most);

		for (size_t i = 0; i < count; i++)
			REQUIRE(objects[i] = acquire_by(cache, d->pool));
		for (size_t i = 0; i < count; i++)
			REQUIRE(release_by(cache, d->pool, objects[i]) == LFPOOL_OK);
	}
	lfpool_cache_destroy(cache);
	return NULL;
}

static void meet_demands(const struct kind *kind, const size_t *most, size_t threads, uint64_t seed)
{
	struct demand d[CAPACITY];
	size_t capacity = 0;

	for (size_t i = 0; i < threads; i++)
		capacity += most[i];
	lfpool_t *pool = pool_of_kind(kind, capacity);
	for (size_t i = 0; i < threads; i++)
		d[i] = (struct demand){pool, random_for(seed, (unsigned)i), most[i], kind->rounds, i % 3 == 2};
	threads_run(threads, demand, d, sizeof(d[0]));
	require_whole(pool, SIZE);
	lfpool_destroy(pool);
}

TEST(demands_that_add_up_are_met)
{
	static const size_t two[] = {1, 31}, four[] = {1, 1, 1, 1}, eight[] = {1, 2, 3, 4, 5, 6, 7, 4};
	uint64_t seed = test_seed("demands_that_add_up_are_met");

	for (size_t i = 0; i < COUNT(kinds); i++) {
		meet_demands(&kinds[i], two, COUNT(two), seed);
		meet_demands(&kinds[i], four, COUNT(four), seed);
		if (i)
			meet_demands(&kinds[i], eight, COUNT(eight), seed);
	}
}

RUN_TESTS()
