/* SPDX-License-Identifier: MIT */
/*
 * test_advice.c - lfpool_advise(): a run that follows the advice always finds an object, rarely goes to the depot,
 * and robs no caches.
 *
 * Idea         One thread alternates between several caches, so that the same workload has the same needs again.
 */
#include "../support/support.h"

enum { SIZE = 32, CACHES = 4, WARM = 10, BURSTS = 200 };

struct workload {
	uint64_t seed;
	unsigned caches;
	uint32_t least, most; /* objects in a burst: acquired, then all but some released */
	uint32_t kept;        /* the most kept between bursts */
};

/* Objects that one cache has out. */
struct user {
	lfpool_cache_t *cache;
	void **held;
	size_t count;
};

static void burst(const struct workload *l, struct random *r, struct user *u)
{
	const size_t wanted = l->least + random_below(r, l->most - l->least + 1), kept = random_below(r, l->kept + 1);
	void *object;

	while (u->count < wanted && (object = lfpool_cache_acquire(u->cache)))
		u->held[u->count++] = object;
	while (u->count > kept)
		REQUIRE(lfpool_cache_release(u->cache, u->held[--u->count]) == LFPOOL_OK);
}

struct outcome {
	uint64_t acquires, trips, steals, exhausted;
	lfpool_advice_t advice;
};

static lfpool_advice_t advice_of(const lfpool_t *pool)
{
	lfpool_advice_t advice;

	REQUIRE(lfpool_advise(pool, &advice) == LFPOOL_OK);
	REQUIRE(strlen(advice.reason) > 0 && strlen(advice.reason) < sizeof(advice.reason) - 1);
	return advice;
}

/* From the end of the warm-up to the end. */
static struct outcome run(const struct workload *workload, lfpool_backend_t backend, size_t capacity,
			  size_t cache_capacity)
{
	lfpool_t *pool = POOL_OF(SIZE, capacity, .backend = backend, .cache_capacity = cache_capacity);
	struct random random = random_for(workload->seed, 0);
	struct user users[CACHES] = {0};
	lfpool_stats_t before;

	for (unsigned k = 0; k < workload->caches; k++)
		users[k] = (struct user){.cache = lfpool_cache_create(pool), .held = pointers_new(workload->most)};
	for (unsigned i = 0; i < WARM + BURSTS; i++) {
		if (i == WARM) {
			lfpool_high_water_reset(pool);
			before = stats_of(pool);
		}
		for (unsigned k = 0; k < workload->caches; k++)
			burst(workload, &random, &users[k]);
	}

	const lfpool_stats_t after = stats_of(pool);
	const struct outcome outcome = {after.acquires - before.acquires, after.depot_trips - before.depot_trips,
					after.steals - before.steals, after.exhausted - before.exhausted,
					advice_of(pool)};

	for (unsigned k = 0; k < workload->caches; k++) {
		release_all(pool, users[k].held, users[k].count);
		lfpool_cache_destroy(users[k].cache);
		free(users[k].held);
	}
	pool_close(pool, SIZE);
	return outcome;
}

static bool seldom(uint64_t times, uint64_t acquires)
{
	return times <= acquires / LFPOOL_ADVICE_SELDOM;
}

/* Each refused call wanted one more object, so the advice has one for each. */
BACKEND_TEST(advised_capacity_covers_the_refused_calls, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = POOL_OF(SIZE, 1000, .backend = backend);
	void **objects = pointers_new(1500);

	assert_int_equal(acquire_all(pool, objects, 1500), 1000);
	for (int i = 0; i < 300; i++)
		assert_null(lfpool_acquire(pool));
	/* 301 calls. */
	assert_int_equal(advice_of(pool).capacity, 1301);
	for (int i = 0; i < 3000; i++)
		assert_null(lfpool_acquire(pool));
	/* At most twice the capacity. */
	assert_int_equal(advice_of(pool).capacity, 2000);
	assert_non_null(strstr(advice_of(pool).reason, "3301 calls found all 1000 objects in use"));
	/* Starts a new period. */
	lfpool_high_water_reset(pool);
	assert_int_equal(advice_of(pool).capacity, 1000);
	release_all(pool, objects, 1000);
	lfpool_destroy(pool);
	free(objects);
}

/* For every workload: the advice on capacity, headroom and caches holds exactly. */
TEST(advice_holds_when_the_workload_runs_again)
{
	const uint64_t seed = test_seed("advice_holds_when_the_workload_runs_again");
	struct random r = random_for(seed, 1000);

	for (int i = 0; i < TIMES(60, 6); i++) {
		static const size_t caches[] = {2, 8, 16, 32, 64, 128, 256, 512};
		const uint32_t least = random_below(&r, 2) ? 0 : random_below(&r, 600);
		const struct workload workload = {
			.seed = seed + (uint64_t)i,
			.caches = 1 + random_below(&r, CACHES),
			.least = least,
			.most = least + 1 + random_below(&r, random_below(&r, 2) ? 20 : 800),
			.kept = random_below(&r, 2) ? 0 : random_below(&r, least + 1),
		};
		const lfpool_backend_t backend = (lfpool_backend_t)random_below(&r, 3);
		const size_t capacity = (size_t)workload.caches * workload.most * (1 + random_below(&r, 3)) + 1;
		const size_t cache_capacity = caches[random_below(&r, COUNT(caches))];
		const struct outcome before = run(&workload, backend, capacity, cache_capacity);
		const lfpool_advice_t *const advised = &before.advice;
		const size_t room = advised->capacity + advised->headroom;
		const struct outcome after = run(&workload, backend, room, advised->cache_capacity);

		/* The capacity sufficed. */
		assert_int_equal(before.exhausted, 0);
		assert_true(before.advice.capacity <= capacity);
		assert_int_equal(after.exhausted, 0);
		assert_int_equal(after.steals, 0);
		if (backend == LFPOOL_BACKEND_MUTEX) {
			assert_int_equal(before.advice.cache_capacity + before.advice.headroom, 0);
			continue;
		}
		assert_true(before.advice.cache_capacity >= cache_capacity);
		/* 256 certainly suffices.  The advice on smaller caches is an estimate, and the size of the pool
		 * changed too. */
		const uint64_t trips = before.advice.cache_capacity < 256 ? after.trips / 2 : after.trips;

		if (!seldom(trips, after.acquires) && after.acquires >= 1000)
			fail_msg("run %d: cache_capacity %zu: %s as advised, %zu: %s", i, cache_capacity,
				 before.advice.reason, before.advice.cache_capacity, after.advice.reason);
		else if (seldom(before.trips, before.acquires))
			assert_int_equal(before.advice.cache_capacity, cache_capacity);
		/* The advice must be to change it. */
		if (before.acquires >= 1000 && before.advice.cache_capacity != cache_capacity)
			assert_non_null(strstr(before.advice.reason, "Larger caches"));
	}
}

/* After a reset, acquires, trips and thefts count from zero. */
static void require_nothing_of_before(lfpool_t *pool, lfpool_cache_t *cache)
{
	void *object = lfpool_cache_acquire(cache);

	for (int i = 0; i <= 1000; i++) {
		assert_int_equal(lfpool_cache_release(cache, object), LFPOOL_OK);
		if (i == 0)
			lfpool_high_water_reset(pool);
		if (i < 1000)
			assert_non_null(object = lfpool_cache_acquire(cache));
	}
	assert_non_null(strstr(advice_of(pool).reason, " 1000 acquires made 0 trips to the depot: few enough."));
	assert_null(strstr(advice_of(pool).reason, "robbed"));
}

/* A pool so small that its caches rob each other constantly; with the headroom none does. */
TEST(advised_headroom_ends_steals)
{
	enum { CACHE = 32, HELD = 16 };
	size_t capacity = 2 * HELD + 4;

	for (int again = 0; again < 2; again++) {
		void *held[2][HELD];
		lfpool_cache_t *caches[CACHES];
		lfpool_t *pool = POOL_OF(SIZE, capacity, .cache_capacity = CACHE);

		for (int i = 0; i < CACHES; i++)
			caches[i] = lfpool_cache_create(pool);
		/* Two caches acquire, and the other two release. */
		for (int round = 0; round < 200; round++) {
			for (int i = 0; i < 2; i++)
				assert_int_equal(lfpool_cache_acquire_bulk(caches[i], held[i], HELD), HELD);
			for (int i = 0; i < 2; i++)
				assert_int_equal(lfpool_cache_release_bulk(caches[i + 2], held[i], HELD), HELD);
		}

		const lfpool_stats_t stats = stats_of(pool);
		const lfpool_advice_t advice = advice_of(pool);

		print_message("%s\n", advice.reason);
		assert_int_equal(stats.exhausted, 0);
		if (again)
			assert_int_equal(stats.steals, 0);
		else
			assert_false(seldom(stats.steals, stats.acquires));
		assert_true(!strstr(advice.reason, "headroom") == (again == 1));
		assert_int_equal(advice.headroom, CACHES * advice.cache_capacity);
		capacity = advice.capacity + advice.headroom;
		require_nothing_of_before(pool, caches[0]);
		for (int i = 0; i < CACHES; i++)
			lfpool_cache_destroy(caches[i]);
		/* For all existing caches, not only those in use. */
		assert_int_equal(advice_of(pool).headroom, CACHES * CACHE);
		lfpool_destroy(pool);
	}
}

TEST(advice_without_calls_keeps_the_configuration)
{
	lfpool_t *pool = POOL_OF(SIZE, 1000, .cache_capacity = LFPOOL_CACHE_NONE);
	const lfpool_advice_t advice = advice_of(pool);

	assert_int_equal(advice.capacity, 0);
	assert_non_null(strstr(advice.reason, "too few"));
	assert_true(advice.cache_capacity == LFPOOL_CACHE_NONE);
	lfpool_destroy(pool);
}

TEST(advice_for_a_buffer_keeps_its_caches)
{
	static _Alignas(LFPOOL_BUFFER_ALIGNMENT) unsigned char memory[1 << 19];
	const lfpool_config_t config = CONFIG_OF(SIZE, 1000, .cache_capacity = 64);
	lfpool_t *pool;

	assert_int_equal(lfpool_create_in(&pool, &config, memory, sizeof(memory)), LFPOOL_OK);
	lfpool_cache_t *cache = lfpool_cache_create(pool);

	for (int i = 0; i < 5000; i++)
		assert_int_equal(lfpool_cache_release(cache, lfpool_cache_acquire(cache)), LFPOOL_OK);
	assert_int_equal(advice_of(pool).cache_capacity, 64);
	lfpool_destroy(pool);
}

/* The advised cache holds at most 256 KiB. */
TEST(advised_caches_are_bounded_in_bytes)
{
	enum { LARGE = 32768, HELD = 40 };
	lfpool_t *pool = pool_of(LARGE, 1000);
	lfpool_cache_t *cache = lfpool_cache_create(pool);
	void *held[HELD];

	for (int i = 0; i < 100; i++) {
		assert_int_equal(lfpool_cache_acquire_bulk(cache, held, HELD), HELD);
		assert_int_equal(lfpool_cache_release_bulk(cache, held, HELD), HELD);
	}
	assert_true(!seldom(stats_of(pool).depot_trips, stats_of(pool).acquires));
	assert_true(advice_of(pool).cache_capacity * LARGE <= 256 * 1024);
	print_message("%s\n", advice_of(pool).reason);
	lfpool_destroy(pool);
}

RUN_TESTS()
