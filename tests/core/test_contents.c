/* SPDX-License-Identifier: MIT */
/*
 * test_contents.c - the pool never reads or writes an object, active or free.
 *
 * Idea         Writes are seen by comparing whole objects.  Reads are seen by taking the pages of the objects away
 *              with mprotect(): the pool is then exercised in every way, and one load would end the program.
 */
#include "../support/support.h"

#include <sys/mman.h>

/* Each object carries a stamp of its own address; whoever acquires it finds it whole, however it travelled. */
static void expect_stamps(void **objects, size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++)
		assert_true(stamp_holds(objects[i], size, (uintptr_t)objects[i]));
}

TEST(contents_survive_release_and_acquire)
{
	enum { CAPACITY = TIMES(2000, 1200) };
	static const size_t sizes[] = {1, 8, 24, 100, 4096};
	static const uint32_t flags[] = {0, LFPOOL_CHECK_RACES, LFPOOL_PREFAULT};
	struct random r = random_for(test_seed("contents_survive_release_and_acquire"), 0);

	for (size_t i = 0; i < COUNT(sizes) * COUNT(flags); i++) {
		size_t size = sizes[i % COUNT(sizes)];
		void *objects[CAPACITY];
		lfpool_t *pool = POOL_OF(size, CAPACITY, .flags = flags[i / COUNT(sizes)]);
		assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
		for (size_t k = 0; k < CAPACITY; k++) {
			/* Never used before. */
			assert_true(all_bytes_are(objects[k], size, 0));
			stamp_write(objects[k], size, (uintptr_t)objects[k]);
		}
		for (int round = 0; round < TIMES(4, 1); round++) {
			size_t out = random_below(&r, CAPACITY);

			assert_int_equal(lfpool_release_bulk(pool, objects + out, CAPACITY - out), CAPACITY - out);
			assert_int_equal(acquire_all(pool, objects + out, CAPACITY - out), CAPACITY - out);
			expect_stamps(objects, CAPACITY, size);
			release_all(pool, objects, CAPACITY);
			assert_int_equal(lfpool_acquire_bulk(pool, objects, CAPACITY), CAPACITY);
			expect_stamps(objects, CAPACITY, size);
		}
		lfpool_destroy(pool);
	}
}

static void *take_and_give_back(void *pool)
{
	void *objects[100];
	size_t count = lfpool_acquire_bulk(pool, objects, 100);

	REQUIRE(count > 0);
	release_all(pool, objects, count);
	return NULL;
}

/* Every path: hits, refills, spills, exhaustion, stealing from another thread's and from a cache of one's own,
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

TEST(objects_without_access_do_not_matter)
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
		expect_stamps(objects, 1000, page);
		assert_int_equal(lfpool_destroy(pool), 1000);
	}
}

RUN_TESTS()
