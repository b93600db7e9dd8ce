/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_high_water.c - the high-water mark: never below the most objects that were in use at once, not above it by more
 * than the caches can hold; and reset.
 */
#include "../support/support.h"

#include <stdatomic.h>

enum { SIZE = 32, CAPACITY = 4096, WORKERS = 4 };

static lfpool_t *pool_as(lfpool_backend_t backend, uint32_t flags, size_t cache_capacity, size_t capacity)
{
	return POOL_OF(SIZE, capacity, .backend = backend, .flags = flags, .cache_capacity = cache_capacity, .depot_shards = 1);
}

/* Swings up and down; after each step the mark is compared with the truth. */
static void one_thread(lfpool_backend_t backend, uint32_t flags, size_t cache_capacity)
{
	lfpool_t *pool = pool_as(backend, flags, cache_capacity, CAPACITY);
	/* Of two magazines, and one that is partly full in the depot. */
	const size_t hidden = backend == LFPOOL_BACKEND_MUTEX ? 0 : cache_capacity + cache_capacity / 2;
	struct random r = random_for(test_seed("one_thread"), 0);
	void **objects = pointers_new(CAPACITY);
	size_t count = 0, most = 0;

	assert_int_equal(stats_of(pool).high_water, 0);
	for (int step = 0; step < TIMES(2000, 80); step++) {
		const size_t wanted = random_below(&r, step % 100 < 50 ? CAPACITY / 4 : CAPACITY + 1);

		if (wanted > count)
			count += lfpool_acquire_bulk(pool, objects + count, wanted - count);
		most = most < count ? count : most;
		lfpool_release_bulk(pool, objects + wanted, count > wanted ? count - wanted : 0);
		count = wanted;

		const size_t mark = stats_of(pool).high_water;

		assert_true(mark >= most);
		assert_true(mark <= most + hidden);
		if (step % 20 == 19) {
			lfpool_high_water_reset(pool);
			most = count;
			assert_in_range(stats_of(pool).high_water, most, most + hidden);
		}
	}
	assert_int_equal(stats_of(pool).steals, 0);
	require_intact(pool);
	release_all(pool, objects, count);
	lfpool_destroy(pool);
	free(objects);
}

TEST(up_and_down)
{
	for (unsigned backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++)
		for (size_t cache_capacity = 2; cache_capacity <= 512; cache_capacity *= 4)
			one_thread((lfpool_backend_t)backend, 0, cache_capacity);
	one_thread(LFPOOL_BACKEND_LOCKFREE, LFPOOL_ZERO | LFPOOL_CHECK_RACES, 8);
}

/* A pool that grows by itself from nearly nothing: the mark says what it should have begun with. */
BACKEND_TEST(a_pool_that_grows, LFPOOL_BACKEND_MALLOC)
{
	void **objects = pointers_new(CAPACITY);
	lfpool_t *pool = POOL_OF(SIZE, 16, .backend = backend, .cache_capacity = 16, .max_capacity = CAPACITY, .growth_step = 100,
				 .depot_shards = 1);

	assert_int_equal(acquire_all(pool, objects, 1000), 1000);
	assert_int_equal(stats_of(pool).high_water, 1000);
	release_all(pool, objects, 1000);
	assert_int_equal(stats_of(pool).high_water, 1000);
	lfpool_advice_t advice = LFPOOL_ADVICE_INIT;

	assert_int_equal(lfpool_advise(pool, &advice), LFPOOL_OK);
	assert_int_equal(advice.capacity, 1000);
	lfpool_high_water_reset(pool);
	assert_in_range(stats_of(pool).high_water, 0, 16 + 8);
	lfpool_destroy(pool);
	free(objects);
}

/* Objects that come and go, and a pool that does. */
static void size_changes(lfpool_backend_t backend, size_t cache_capacity)
{
	struct random r = random_for(test_seed("size_changes"), 0);
	void **objects = pointers_new(CAPACITY);
	size_t count = 0, most = 0;
	bool smaller = false;
	lfpool_t *pool = POOL_OF(SIZE, 1000, .backend = backend, .cache_capacity = cache_capacity, .max_capacity = CAPACITY,
				 .depot_shards = 1);

	for (int step = 0; step < TIMES(2000, 80); step++) {
		const size_t wanted = random_below(&r, CAPACITY + 1);

		switch (random_below(&r, 8)) {
		case 0: (void)lfpool_grow(pool, random_below(&r, CAPACITY)); break;
		case 1:
			(void)lfpool_shrink(pool, random_below(&r, CAPACITY / 2));
			smaller = true;
			break;
		case 2:
			(void)lfpool_trim(pool, random_below(&r, 1000), SIZE_MAX);
			smaller = true;
			break;
		case 3:
			lfpool_high_water_reset(pool);
			most = count;
			smaller = false;
			break;
		default:
			if (wanted > count)
				count += lfpool_acquire_bulk(pool, objects + count, wanted - count);
			for (most = most < count ? count : most; count > wanted; count--)
				REQUIRE(lfpool_release(pool, objects[count - 1]) == LFPOOL_OK);
		}

		const size_t mark = stats_of(pool).high_water;

		assert_true(mark >= most);
		/* What shrink and trim took counts as in use. */
		if (!smaller)
			assert_true(mark <= most + 2 * cache_capacity);
	}
	require_intact(pool);
	release_all(pool, objects, count);
	lfpool_destroy(pool);
	free(objects);
}

BACKEND_TEST(while_the_size_changes, LFPOOL_BACKEND_MALLOC)
{
	size_changes(backend, 8);
	size_changes(backend, 128);
}

/* A pool that was robbed: full magazines may lack what was taken, and the mark allows for it. */
TEST(after_thefts)
{
	enum { ALL = 64, CACHE = 8, CACHES = 4 };
	lfpool_t *pool = pool_as(LFPOOL_BACKEND_LOCKFREE, 0, CACHE, ALL);
	lfpool_cache_t *caches[CACHES];
	struct random r = random_for(test_seed("after_thefts"), 0);
	void *objects[ALL + 1];
	size_t count = 0, most = 0;

	for (size_t i = 0; i < CACHES; i++)
		caches[i] = lfpool_cache_create(pool);
	for (int step = 0; step < TIMES(200000, 10000); step++) {
		lfpool_cache_t *cache = caches[random_below(&r, CACHES)];

		if (step % 1000 == 0) {
			lfpool_high_water_reset(pool);
			most = count;
		}
		/* Now scarce, now plenty. */
		if (random_below(&r, 64) < (step / 5000 % 2 ? 40u : 24u)) {
			void *object = lfpool_cache_acquire(cache);

			assert_true(object || count == ALL);
			if (object)
				objects[count++] = object;
		} else if (count) {
			const size_t which = random_below(&r, (uint32_t)count);

			REQUIRE(lfpool_cache_release(cache, objects[which]) == LFPOOL_OK);
			objects[which] = objects[--count];
		}
		most = most < count ? count : most;
		assert_true(stats_of(pool).high_water >= most);
	}
	assert_true(stats_of(pool).steals > 0);
	require_intact(pool);
	release_all(pool, objects, count);
	lfpool_destroy(pool);
}

/* ---- While others work ---- */

struct scene {
	lfpool_t *pool;
	uint64_t seed;
	pthread_barrier_t start, quiet;
	atomic_uint workers; /* so far */
};

/* All hold their most at once between the two barriers. */
enum { ROUNDS = 30, SHARE = CAPACITY / WORKERS };

static size_t share_of(uint64_t seed, unsigned round, unsigned worker)
{
	struct random r = random_for(seed, round * WORKERS + worker);

	return random_below(&r, round % 3 ? SHARE / 8 : SHARE + 1);
}

static void *work(void *argument)
{
	struct scene *s = argument;
	const unsigned index = atomic_fetch_add(&s->workers, 1);
	struct random r = random_for(s->seed, 1000000 + index);
	void **held = pointers_new(SHARE);

	for (unsigned round = 0; round < ROUNDS; round++) {
		const size_t share = share_of(s->seed, round, index);
		size_t count = 0;

		pthread_barrier_wait(&s->start);
		for (int swing = 0; swing < 20; swing++) {
			const size_t wanted = swing == 19 ? share : random_below(&r, (uint32_t)share + 1);

			for (; count < wanted; count++)
				REQUIRE((held[count] = lfpool_acquire(s->pool)));
			for (; count > wanted; count--)
				REQUIRE(lfpool_release(s->pool, held[count - 1]) == LFPOOL_OK);
		}
		pthread_barrier_wait(&s->quiet);
		for (; count; count--)
			REQUIRE(lfpool_release(s->pool, held[count - 1]) == LFPOOL_OK);
		pthread_barrier_wait(&s->quiet);
	}
	free(held);
	return NULL;
}

static void workers_at(lfpool_backend_t backend, size_t cache_capacity, uint32_t shards)
{
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .backend = backend, .cache_capacity = cache_capacity, .depot_shards = shards);
	struct scene s = {.pool = pool, .seed = test_seed("workers_at")};

	pthread_barrier_init(&s.start, NULL, WORKERS + 1);
	pthread_barrier_init(&s.quiet, NULL, WORKERS + 1);
	const struct threads threads = threads_start(WORKERS, work, &s, 0);

	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t most = 0;

		for (unsigned i = 0; i < WORKERS; i++)
			most += share_of(s.seed, round, i);
		lfpool_high_water_reset(s.pool);
		pthread_barrier_wait(&s.start);
		/* Read, and reset once more, while they work. */
		for (int i = 0; i < 20; i++)
			REQUIRE(stats_of(s.pool).high_water <= CAPACITY);
		if (round % 2)
			lfpool_high_water_reset(s.pool);
		pthread_barrier_wait(&s.quiet);
		/* Each thread swings below its share, so the sum of the shares is the most there was. */
		const size_t hidden = backend == LFPOOL_BACKEND_MUTEX ? 0 : WORKERS * (cache_capacity + cache_capacity / 2);

		assert_true(stats_of(s.pool).high_water >= most);
		if (shards == 1 && !stats_of(s.pool).steals)
			assert_true(stats_of(s.pool).high_water <= most + hidden);
		pthread_barrier_wait(&s.quiet);
	}
	threads_join(&threads);
	require_whole(s.pool, SIZE);
	lfpool_destroy(s.pool);
}

TEST(while_others_work)
{
	workers_at(LFPOOL_BACKEND_LOCKFREE, 16, 1);
	workers_at(LFPOOL_BACKEND_LOCKFREE, 128, 1);
	workers_at(LFPOOL_BACKEND_LOCKFREE, 16, 4);
	workers_at(LFPOOL_BACKEND_MUTEX, 16, 1);
	workers_at(LFPOOL_BACKEND_MALLOC, 16, 1);
}

RUN_TESTS()
