/* SPDX-License-Identifier: MIT */
/* test_pool.c - a pool from the view of one thread: exactly capacity objects in one range, and exact counts after
 * every step.  In pools of several shapes: caching must not be visible.  (Which pool owns a pointer, and whether it
 * is in use: verify/fuzz.) */
#include "../support/support.h"

#include <errno.h>

struct shape {
	size_t object_size, capacity, cache_capacity;
	uint32_t flags;
};

static const struct shape shapes[] = {
	{1, 1, 0, 0},
	{8, 2, 0, 0},
	{24, 3, 1, LFPOOL_CHECK_RACES},
	{40, 32, 0, 0},
	{40, 33, 2, 0},
	{40, 100, 8192, 0},
	{40, 100, LFPOOL_CACHE_NONE, 0},
	{64, 1000, 0, LFPOOL_ZERO},
	{100, 1000, 16, 0},
	{100, 5000, 0, LFPOOL_PREFAULT},
	{4096, 513, 64, LFPOOL_PREFAULT | LFPOOL_CHECK_RACES},
	{16, 20000, 0, 0},
};

static lfpool_t *pool_of_shape(const struct shape *shape)
{
	return POOL_OF(shape->object_size, shape->capacity, .cache_capacity = shape->cache_capacity,
		       .flags = shape->flags);
}

static void expect_counts(const lfpool_t *pool, size_t active)
{
	assert_int_equal(lfpool_active_count(pool), active);
	assert_int_equal(lfpool_available_count(pool), lfpool_capacity(pool) - active);
}

/* The objects of a full pool are one stride apart, with no gaps. */
static void expect_one_range(const lfpool_t *pool, const struct shape *shape, void **objects)
{
	assert_true(sort_disjoint(objects, shape->capacity, shape->object_size));
	if (shape->capacity == 1)
		return;
	const size_t stride = stride_of(pool, objects[0]);

	for (size_t i = 1; i < shape->capacity; i++)
		assert_int_equal((uintptr_t)objects[i] - (uintptr_t)objects[i - 1], stride);
}

/* Counts are exact after every step, and errno is unchanged. */
static void check_shape(const struct shape *shape)
{
	lfpool_t *pool = pool_of_shape(shape);
	void **objects = pointers_new(shape->capacity);
	/* A count may cost O(capacity / magazine): not after every step of a large pool. */
	const size_t stepping = shape->capacity / 1000 + 1;

	assert_int_equal(lfpool_quick_stats(pool).backend, LFPOOL_BACKEND_LOCKFREE);
	assert_int_equal(lfpool_capacity(pool), shape->capacity);
	expect_counts(pool, 0);
	errno = 4711;
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < shape->capacity; i++) {
			assert_non_null(objects[i] = lfpool_acquire(pool));
			if (i % stepping == 0)
				expect_counts(pool, i + 1);
		}
		assert_null(lfpool_acquire(pool));
		assert_null(lfpool_acquire(pool));
		expect_counts(pool, shape->capacity);
		expect_one_range(pool, shape, objects);
		/* Any released object makes one more available. */
		for (size_t i = 0; i < shape->capacity; i += shape->capacity / 5 + 1) {
			assert_int_equal(lfpool_release(pool, objects[i]), LFPOOL_OK);
			assert_ptr_equal(lfpool_acquire(pool), objects[i]);
			assert_null(lfpool_acquire(pool));
		}
		assert_int_equal(errno, 4711);
		for (size_t i = 0; i < shape->capacity; i++) {
			assert_int_equal(lfpool_release(pool, objects[i]), LFPOOL_OK);
			if (i % stepping == 0)
				expect_counts(pool, shape->capacity - 1 - i);
		}
		assert_int_equal(lfpool_release(pool, NULL), LFPOOL_OK);
		expect_counts(pool, 0);
	}
	assert_int_equal(lfpool_quick_stats(pool).misuses, 0);
	lfpool_cache_destroy(NULL);
	pool_close(pool, shape->object_size);
	free(objects);
}

TEST(capacity_objects_then_null)
{
	for (size_t i = 0; i < COUNT(shapes); i++) {
		print_message("    %zu of %zu bytes\n", shapes[i].capacity, shapes[i].object_size);
		check_shape(&shapes[i]);
	}
}

RUN_TESTS()
