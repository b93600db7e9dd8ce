/* SPDX-License-Identifier: MIT */
/*
 * test_contents.c - the pool never reads or writes an object, active or free.
 *
 * Idea         mprotect() removes access to the objects' pages.  Then the pool is used in every way: a single load or
 *              store would end the program.  (verify/fuzz checks for each object that the last holder's contents are
 *              still there.)
 */
#include "../support/support.h"

#include <sys/mman.h>

static void *take_and_give_back(void *pool)
{
	void *objects[100];
	size_t count = lfpool_acquire_bulk(pool, objects, 100);

	REQUIRE(count > 0);
	release_all(pool, objects, count);
	return NULL;
}

/* Every path: hits, refills, spills, exhaustion, stealing from another thread's cache and from an explicit one,
 * refusals, questions. */
static void exercise(lfpool_t *pool, void **objects, size_t capacity)
{
	lfpool_cache_t *cache = lfpool_cache_create(pool);

	REQUIRE(cache);
	for (size_t i = 0; i < capacity / 2; i++)
		REQUIRE(lfpool_cache_release(cache, objects[i]) == LFPOOL_OK);
	release_all(pool, objects + capacity / 2, capacity - capacity / 2);
	threads_run(1, take_and_give_back, pool, 0);
	REQUIRE(acquire_all(pool, objects, capacity) == capacity);
	REQUIRE(lfpool_acquire(pool) == NULL);
	REQUIRE(lfpool_release_bulk(pool, objects, capacity) == capacity);
	REQUIRE(lfpool_release(pool, objects[1]) == LFPOOL_E_NOT_IN_USE);
	REQUIRE(lfpool_release(pool, moved(objects[1], 8)) == LFPOOL_E_INTERIOR);
	REQUIRE(lfpool_owns(pool, objects[0]) && !lfpool_in_use(pool, objects[0]));
	for (size_t i = 0; i < capacity; i++)
		REQUIRE(objects[i] = lfpool_cache_acquire(cache));
	REQUIRE(lfpool_active_count(pool) == capacity);
	lfpool_cache_destroy(cache);
}

TEST(protected_objects_are_never_touched)
{
	static const uint32_t flags[] = {0, LFPOOL_CHECK_RACES, LFPOOL_PREFAULT};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < COUNT(flags); i++) {
		void *objects[1000];
		lfpool_t *pool = POOL_OF(page, 1000, .object_alignment = 4096, .flags = flags[i],
					 .hooks.misuse = expected_misuse);
		assert_int_equal(acquire_all(pool, objects, 1000), 1000);
		for (int k = 0; k < 1000; k++) {
			stamp_write(objects[k], page, (uintptr_t)objects[k]);
			assert_int_equal(mprotect(objects[k], page, PROT_NONE), 0);
		}
		exercise(pool, objects, 1000);
		for (int k = 0; k < 1000; k++)
			assert_int_equal(mprotect(objects[k], page, PROT_READ | PROT_WRITE), 0);
		for (int k = 0; k < 1000; k++)
			assert_true(stamp_holds(objects[k], page, (uintptr_t)objects[k]));
		assert_int_equal(lfpool_destroy(pool), 1000);
	}
}

RUN_TESTS()
