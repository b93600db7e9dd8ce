/* SPDX-License-Identifier: MIT */
/* test_high_water.c - the high-water mark: at least the most objects in use at once, and above it by at most the
 * objects that caches can hold; and its reset.  (With threads that rob each other: lfpool-stress.) */
#include "../support/support.h"

enum { SIZE = 32, CAPACITY = 4096 };

/* Moves up and down; after each step the mark is compared with the exact value. */
static void one_thread(lfpool_backend_t backend, uint32_t flags, size_t cache_capacity)
{
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .backend = backend, .flags = flags, .cache_capacity = cache_capacity,
				 .depot_shards = 1);
	/* Hidden in two magazines, and in one of the depot that is partly full. */
	const size_t hidden = cache_capacity + cache_capacity / 2;
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

TEST(high_water_marks_follow_one_thread)
{
	for (unsigned backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++)
		for (size_t cache_capacity = 2; cache_capacity <= 512; cache_capacity *= 4)
			one_thread((lfpool_backend_t)backend, 0, cache_capacity);
	one_thread(LFPOOL_BACKEND_LOCKFREE, LFPOOL_ZERO | LFPOOL_CHECK_RACES, 8);
}

RUN_TESTS()
