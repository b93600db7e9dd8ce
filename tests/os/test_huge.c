/* SPDX-License-Identifier: MIT */
/* test: once */
/* test_huge.c - the largest pools: 2^31 - 1 objects are created at once, and cost memory only when touched.  (The
 * arithmetic at their far end: core/unit_arena.c.) */
#include "../support/support.h"

#define CAPACITY (((size_t)1 << 31) - 1)

/* Measured with all tables: far below one byte per object, which would be 2 GiB. */
static const size_t small_change = TIMES(4 * MIB, 64 * MIB);

static void create_use_destroy(size_t object_size, uint32_t flags, size_t taken)
{
	const size_t before = resident_bytes();
	lfpool_t *pool = POOL_OF(object_size, CAPACITY, .flags = flags);
	void **objects = pointers_new(taken);

	assert_in_range(growth(before, resident_bytes()), 0, small_change);
	assert_int_equal(lfpool_available_count(pool), CAPACITY);
	assert_int_equal(acquire_all(pool, objects, taken), taken);
	for (size_t i = 0; i < taken; i++)
		stamp_write(objects[i], object_size, i);
	const size_t used = growth(before, resident_bytes());

	/* The objects, 8.5 bytes for each, and a little. */
	assert_true(used + small_change >= taken * object_size);
	assert_true(used <= taken * (object_size + 9) * TIMES(1, 8) + 2 * small_change);
	for (size_t i = 0; i < taken; i++)
		assert_true(stamp_holds(objects[i], object_size, i) && lfpool_in_use(pool, objects[i]));
	assert_int_equal(lfpool_available_count(pool), CAPACITY - taken);
	release_all(pool, objects, taken / 2);
	assert_int_equal(lfpool_destroy(pool), taken - taken / 2);
	assert_in_range(growth(before, resident_bytes()), 0, small_change);
	free(objects);
}

TEST(memory_is_used_as_objects_are_touched)
{
	create_use_destroy(1, 0, 1000);
	create_use_destroy(64, 0, 1000);
	create_use_destroy(64, LFPOOL_CHECK_RACES, 1000);
	create_use_destroy(256, 0, 100000);
}

/* Room for that many, which exist only on request.  (A sanitizer has to know about each object that exists.) */
TEST(pool_grows_to_its_maximum_and_shrinks_again)
{
	const size_t wanted = TIMES(SIZE_MAX, (size_t)1 << 20);

	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		lfpool_config_t config = config_of(64, 10);
		void *objects[1000];

		config.backend = (lfpool_backend_t)backend;
		for (size_t most = CAPACITY - 1; most <= CAPACITY; most++) {
			size_t before = resident_bytes();

			config.max_capacity = most;
			lfpool_t *pool = pool_with(&config);

			assert_int_equal(lfpool_quick_stats(pool).max_capacity, most);
			const size_t added = lfpool_grow(pool, wanted);

			assert_int_equal(added, SANITIZED ? wanted : most - 10);
			assert_int_equal(lfpool_capacity(pool), 10 + added);
			assert_int_equal(lfpool_grow(pool, 1), SANITIZED);
			assert_int_equal(acquire_all(pool, objects, COUNT(objects)), COUNT(objects));
			assert_int_equal(lfpool_available_count(pool), lfpool_capacity(pool) - COUNT(objects));
			assert_int_equal(lfpool_release_bulk(pool, objects, COUNT(objects)), COUNT(objects));
			assert_int_equal(lfpool_shrink(pool, SIZE_MAX), 10 + added + SANITIZED);
			assert_int_equal(lfpool_capacity(pool), 0);
			assert_in_range(growth(before, resident_bytes()), 0, 2 * small_change);
			assert_int_equal(lfpool_destroy(pool), 0);
		}
	}
}

RUN_TESTS()
