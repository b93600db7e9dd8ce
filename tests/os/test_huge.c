/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_huge.c - the largest pools: 2^31 objects are created at once, cost memory only as they are touched, and the
 * arithmetic is right at their far end.
 */
#include "../support/support.h"

#define CAPACITY ((size_t)1 << 31)

/* Measured with tables and all: far below one byte per object, which would be 2 GiB. */
static const size_t small_change = TIMES(4 * MIB, 64 * MIB);

static void create_use_destroy(size_t object_size, uint32_t flags)
{
	const size_t before = resident_bytes();
	lfpool_t *pool = POOL_OF(object_size, CAPACITY, .flags = flags);
	void *objects[1000];

	assert_in_range(growth(before, resident_bytes()), 0, small_change);
	assert_int_equal(lfpool_available_count(pool), CAPACITY);
	assert_int_equal(acquire_all(pool, objects, COUNT(objects)), COUNT(objects));
	for (size_t i = 0; i < COUNT(objects); i++)
		stamp_write(objects[i], object_size, i);
	for (size_t i = 0; i < COUNT(objects); i++)
		assert_true(stamp_holds(objects[i], object_size, i) && lfpool_in_use(pool, objects[i]));
	assert_int_equal(lfpool_available_count(pool), CAPACITY - COUNT(objects));
	release_all(pool, objects, COUNT(objects) / 2);
	assert_in_range(growth(before, resident_bytes()), 0, 2 * small_change);
	assert_int_equal(lfpool_destroy(pool), COUNT(objects) - COUNT(objects) / 2);
	assert_in_range(growth(before, resident_bytes()), 0, small_change);
}

TEST(objects_of_1_and_64_bytes)
{
	create_use_destroy(1, 0);
	create_use_destroy(64, 0);
	create_use_destroy(64, LFPOOL_CHECK_RACES);
}

/* A pool of 2^31 objects knows exactly that many addresses; the last one is as good as the first. */
TEST(the_far_end)
{
	static const size_t sizes[] = {1, 24, 64};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		lfpool_t *pool = pool_of(sizes[i], CAPACITY);
		char *object = lfpool_acquire(pool);
		assert_non_null(object);
		ptrdiff_t stride = (ptrdiff_t)stride_of(pool, object);
		size_t below = owned_beyond(pool, object, -stride), above = owned_beyond(pool, object, stride);

		assert_int_equal(below + 1 + above, CAPACITY);
		char *first = moved(object, -(ptrdiff_t)below * stride), *last = moved(object, (ptrdiff_t)above * stride);
		assert_true(lfpool_owns(pool, first) && lfpool_owns(pool, last));
		if (last != object) {
			assert_false(lfpool_in_use(pool, last));
			assert_int_equal(lfpool_release(pool, last), LFPOOL_E_NOT_IN_USE);
		}
		assert_int_equal(lfpool_release(pool, moved(last, 1)), stride > 1 ? LFPOOL_E_INTERIOR : LFPOOL_E_FOREIGN);
		assert_int_equal(lfpool_release(pool, moved(last, stride)), LFPOOL_E_FOREIGN);
		assert_int_equal(lfpool_release(pool, moved(first, -stride)), LFPOOL_E_FOREIGN);
		assert_int_equal(lfpool_release(pool, moved(first, -1)), LFPOOL_E_FOREIGN);
		assert_false(lfpool_owns(pool, moved(last, stride)) || lfpool_owns(pool, moved(first, -stride)));
		assert_int_equal(lfpool_active_count(pool), 1);
		assert_int_equal(lfpool_destroy(pool), 1);
	}
}

TEST(memory_is_used_as_objects_are_touched)
{
	enum { TAKEN = 100000, SIZE = 256 };
	lfpool_t *pool = pool_of(SIZE, CAPACITY);
	void **objects = pointers_new(TAKEN);
	size_t before = resident_bytes();

	assert_int_equal(lfpool_acquire_bulk(pool, objects, TAKEN), TAKEN);
	for (size_t i = 0; i < TAKEN; i++)
		stamp_write(objects[i], SIZE, i);
	size_t used = growth(before, resident_bytes());
	/* The objects, 8.5 bytes for each, and a little. */
	assert_true(used >= (size_t)TAKEN * SIZE / 2);
	assert_true(used <= (size_t)TAKEN * (SIZE + 9) * TIMES(1, 8) + 2 * small_change);
	for (size_t i = 0; i < TAKEN; i++)
		assert_true(stamp_holds(objects[i], SIZE, i));
	assert_int_equal(lfpool_release_bulk(pool, objects, TAKEN), TAKEN);
	assert_int_equal(lfpool_destroy(pool), 0);
	free(objects);
}

/* Room for that many, which are there only when they are asked for.  (A sanitizer is told of each that is there.) */
TEST(growing_to_the_most_there_can_be)
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

			assert_int_equal(lfpool_max_capacity(pool), most);
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
