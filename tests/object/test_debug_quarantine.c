/* SPDX-License-Identifier: MIT */
/* test: debug threads */
/*
 * test_debug_quarantine.c - the mode quarantine: what is released comes back late, and never is missing.
 */
#include "../support/support.h"

#include <pthread.h>

#define THREADS 4

static lfpool_t *pool_that(int backend, size_t capacity, size_t cache_capacity, unsigned quarantine)
{
	lfpool_config_t config = config_of(24, capacity);
	char words[40];

	snprintf(words, sizeof(words), "poison,quarantine=%u", quarantine);
	config.backend = (lfpool_backend_t)backend;
	config.cache_capacity = cache_capacity;
	config.debug = words;
	return pool_with(&config);
}

#define FOR_ALL(backend, caches)                                                                \
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MUTEX; backend++) \
		for (size_t caches = 0; caches != 1; caches = caches ? 1 : LFPOOL_CACHE_NONE)

/* While others are free, an object is not handed out again before N others were released. */
TEST(released_objects_come_back_late)
{
	static size_t released_at[500];

	FOR_ALL(backend, caches) {
		for (unsigned quarantine = 1; quarantine <= 100; quarantine += 33) {
			lfpool_t *pool = pool_that(backend, COUNT(released_at), caches, quarantine);
			unsigned char *lowest = NULL;
			void *all[COUNT(released_at)];
			size_t stride;

			assert_int_equal(acquire_all(pool, all, COUNT(all)), COUNT(all));
			assert_true(sort_disjoint(all, COUNT(all), 24));
			lowest = all[0];
			stride = (size_t)((unsigned char *)all[1] - lowest);
			release_all(pool, all, COUNT(all));
			memset(released_at, 0, sizeof(released_at));
			for (size_t releases = 1; releases <= 3000; releases++) {
				unsigned char *object = lfpool_acquire(pool);
				size_t index = (size_t)(object - lowest) / stride;

				assert_true(released_at[index] == 0 || releases - 1 - released_at[index] >= quarantine);
				assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
				released_at[index] = releases;
			}
			lfpool_destroy(pool);
		}
	}
}

/* Quarantines smaller than the pool, as large, larger: everything that is not held can be had, and is counted. */
TEST(everything_can_be_acquired)
{
	static const unsigned quarantines[] = {1, 2, 7, 8, 9, 20, 1000};

	FOR_ALL(backend, caches) {
		for (size_t i = 0; i < COUNT(quarantines); i++) {
			lfpool_t *pool = pool_that(backend, 8, caches, quarantines[i]);
			void *objects[9];

			for (size_t held = 0; held <= 8; held++) {
				for (int round = 0; round < 5; round++) {
					assert_int_equal(acquire_all(pool, objects, held), held);
					assert_int_equal(lfpool_active_count(pool), held);
					assert_int_equal(lfpool_available_count(pool), 8 - held);
					release_all(pool, objects, held);
					assert_int_equal(lfpool_active_count(pool), 0);
				}
				require_whole(pool, 24);
			}
			assert_int_equal(acquire_all(pool, objects, 3), 3);
			assert_int_equal(lfpool_destroy(pool), 3);
		}
	}
}

struct worker {
	lfpool_t *pool;
	pthread_t thread;
	uint64_t seed;
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *state >> 33;
}

/* Holds at most one object at a time, or two in one call. */
static void *work(void *argument)
{
	struct worker *w = argument;

	for (int i = 0; i < TIMES(40000, 4000); i++) {
		void *objects[2];
		const size_t wanted = next_random(&w->seed) % 2 + 1;
		const size_t got = lfpool_acquire_bulk(w->pool, objects, wanted);

		REQUIRE(got == wanted);
		for (size_t n = 0; n < got; n++)
			stamp_write(objects[n], 24, w->seed);
		for (size_t n = 0; n < got; n++) {
			REQUIRE(stamp_holds(objects[n], 24, w->seed));
			REQUIRE(lfpool_release(w->pool, objects[n]) == LFPOOL_OK);
		}
	}
	return NULL;
}

/* Two for each thread's hands, and one for each release that may be under way: so there is always one more. */
TEST(never_null_while_something_is_free)
{
	const uint64_t seed = test_seed("never_null_while_something_is_free");

	FOR_ALL(backend, caches) {
		for (unsigned quarantine = 1; quarantine <= 64; quarantine *= 4) {
			struct worker workers[THREADS];
			lfpool_t *pool = pool_that(backend, 3 * THREADS, caches, quarantine);

			for (unsigned i = 0; i < THREADS; i++) {
				workers[i] = (struct worker){.pool = pool, .seed = seed + i};
				assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
			}
			for (unsigned i = 0; i < THREADS; i++)
				assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
			require_whole(pool, 24);
			assert_int_equal(lfpool_misuse_count(pool), 0);
			assert_int_equal(lfpool_destroy(pool), 0);
		}
	}
}

RUN_TESTS()
