/* SPDX-License-Identifier: MIT */
/* test: debug threads */
/*
 * test_debug_quarantine.c - the mode quarantine: what is released comes back late, and never is missing.
 */
#include "../support/workers.h"

#define THREADS 4

static lfpool_t *pool_that(int backend, size_t capacity, size_t cache_capacity, unsigned quarantine)
{
	char words[40];

	snprintf(words, sizeof(words), "poison,quarantine=%u", quarantine);
	return POOL_OF(24, capacity, .backend = (lfpool_backend_t)backend, .cache_capacity = cache_capacity, .debug = words);
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

/* Holds at most one object at a time, or two in one call. */
static void work(struct worker *me)
{
	for (int i = 0; i < TIMES(40000, 4000); i++) {
		void *objects[2];
		const size_t wanted = random_below(&me->random, 2) + 1;

		REQUIRE(lfpool_acquire_bulk(me->scene, objects, wanted) == wanted);
		for (size_t n = 0; n < wanted; n++)
			stamp_write(objects[n], 24, me->random.state);
		for (size_t n = 0; n < wanted; n++) {
			REQUIRE(stamp_holds(objects[n], 24, me->random.state));
			REQUIRE(lfpool_release(me->scene, objects[n]) == LFPOOL_OK);
		}
	}
}

/* Two for each thread's hands, and one for each release that may be under way: so there is always one more. */
TEST(never_null_while_something_is_free)
{
	const uint64_t seed = test_seed("never_null_while_something_is_free");

	FOR_ALL(backend, caches) {
		for (unsigned quarantine = 1; quarantine <= 64; quarantine *= 4) {
			lfpool_t *pool = pool_that(backend, 3 * THREADS, caches, quarantine);

			workers_run(THREADS, work, pool, seed);
			assert_int_equal(lfpool_misuse_count(pool), 0);
			pool_close(pool, 24);
		}
	}
}

RUN_TESTS()
