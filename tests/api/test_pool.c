/* SPDX-License-Identifier: MIT */
/*
 * test_pool.c - what a pool is, seen from one thread: exactly capacity objects in one range, counts that are exact at
 * every step, an answer for every kind of pointer, destroy.
 *
 * Each test runs on pools of several shapes: how a pool caches must not show.
 */
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
	lfpool_config_t config = config_of(shape->object_size, shape->capacity);

	config.cache_capacity = shape->cache_capacity;
	config.flags = shape->flags;
	return pool_with(&config);
}

static void capacity_objects_then_null(const struct shape *shape)
{
	lfpool_t *pool = pool_of_shape(shape);
	void **objects = pointers_new(shape->capacity);

	for (int round = 0; round < 3; round++) {
		assert_int_equal(acquire_all(pool, objects, shape->capacity), shape->capacity);
		assert_null(lfpool_acquire(pool));
		assert_null(lfpool_acquire(pool));
		assert_true(sort_disjoint(objects, shape->capacity, shape->object_size));
		/* One more is available as soon as one is released, whichever it is. */
		for (size_t i = 0; i < shape->capacity; i += shape->capacity / 5 + 1) {
			assert_int_equal(lfpool_release(pool, objects[i]), LFPOOL_OK);
			assert_ptr_equal(lfpool_acquire(pool), objects[i]);
			assert_null(lfpool_acquire(pool));
		}
		release_all(pool, objects, shape->capacity);
	}
	assert_int_equal(lfpool_destroy(pool), 0);
	free(objects);
}

/* One contiguous range: the objects lie one stride apart, with nothing between them. */
static void one_range(const struct shape *shape)
{
	lfpool_t *pool = pool_of_shape(shape);
	void **objects = pointers_new(shape->capacity);

	assert_int_equal(acquire_all(pool, objects, shape->capacity), shape->capacity);
	assert_true(sort_disjoint(objects, shape->capacity, shape->object_size));
	if (shape->capacity > 1) {
		size_t stride = stride_of(pool, objects[0]);

		assert_true(stride >= shape->object_size);
		for (size_t i = 1; i < shape->capacity; i++)
			assert_int_equal((uintptr_t)objects[i] - (uintptr_t)objects[i - 1], stride);
	}
	assert_int_equal(lfpool_destroy(pool), shape->capacity);
	free(objects);
}

static void expect_counts(const lfpool_t *pool, size_t active)
{
	assert_int_equal(lfpool_active_count(pool), active);
	assert_int_equal(lfpool_available_count(pool), lfpool_capacity(pool) - active);
}

static void counts_are_exact(const struct shape *shape)
{
	lfpool_t *pool = pool_of_shape(shape);
	void **objects = pointers_new(shape->capacity);
	/* Reading a count may cost O(capacity / magazine): not after every step of a large pool. */
	size_t stepping = shape->capacity / 1000 + 1;

	assert_int_equal(lfpool_capacity(pool), shape->capacity);
	expect_counts(pool, 0);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < shape->capacity; i++) {
			assert_non_null(objects[i] = lfpool_acquire(pool));
			if (i % stepping == 0)
				expect_counts(pool, i + 1);
		}
		assert_null(lfpool_acquire(pool));
		expect_counts(pool, shape->capacity);
		for (size_t i = 0; i < shape->capacity; i++) {
			assert_int_equal(lfpool_release(pool, objects[i]), LFPOOL_OK);
			if (i % stepping == 0)
				expect_counts(pool, shape->capacity - 1 - i);
		}
		assert_int_equal(lfpool_release(pool, NULL), LFPOOL_OK);
		expect_counts(pool, 0);
	}
	lfpool_destroy(pool);
	free(objects);
}

static void owns_and_in_use(const struct shape *shape)
{
	lfpool_t *pool = pool_of_shape(shape), *other = pool_of_shape(shape);
	void *object = lfpool_acquire(pool), *others = lfpool_acquire(other), *heap = malloc(shape->object_size);
	size_t stride = shape->capacity > 1 ? stride_of(pool, object) : shape->object_size;

	assert_true(lfpool_owns(pool, object));
	assert_true(lfpool_in_use(pool, object));
	const void *const strangers[] = {
		NULL, &pool, heap, pool, others, (void *)UINTPTR_MAX, (void *)(uintptr_t)owns_and_in_use,
	};
	for (size_t i = 0; i < COUNT(strangers); i++) {
		assert_false(lfpool_owns(pool, strangers[i]));
		assert_false(lfpool_in_use(pool, strangers[i]));
	}
	for (size_t offset = 1; offset < stride; offset++) {
		assert_false(lfpool_owns(pool, moved(object, (ptrdiff_t)offset)));
		assert_false(lfpool_in_use(pool, moved(object, (ptrdiff_t)offset)));
	}
	/* Every other object of the range is owned, and free though never used. */
	size_t below = owned_beyond(pool, object, -(ptrdiff_t)stride), above = owned_beyond(pool, object, (ptrdiff_t)stride);
	assert_int_equal(below + 1 + above, shape->capacity);
	for (size_t i = 0; i < shape->capacity; i++) {
		void *start = moved(object, ((ptrdiff_t)i - (ptrdiff_t)below) * (ptrdiff_t)stride);

		assert_true(lfpool_owns(pool, start));
		assert_int_equal(lfpool_in_use(pool, start), start == object);
	}
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_true(lfpool_owns(pool, object));
	assert_false(lfpool_in_use(pool, object));
	lfpool_destroy(pool);
	assert_int_equal(lfpool_destroy(other), 1);
	free(heap);
}

static void destroy_counts_what_is_out(const struct shape *shape)
{
	for (size_t out = 0; out <= shape->capacity; out += shape->capacity / 4 + 1) {
		lfpool_t *pool = pool_of_shape(shape);
		void **objects = pointers_new(shape->capacity);

		acquire_all(pool, objects, shape->capacity);
		release_all(pool, objects, shape->capacity - out);
		assert_int_equal(lfpool_destroy(pool), out);
		free(objects);
	}
}

static void errno_is_left_alone(const struct shape *shape)
{
	lfpool_t *pool = pool_of_shape(shape);

	errno = 4711;
	while (lfpool_acquire(pool))
		assert_int_equal(errno, 4711);
	assert_int_equal(errno, 4711);
	assert_int_equal(lfpool_destroy(pool), shape->capacity);
}

static void questions_answer(const struct shape *shape)
{
	lfpool_t *pool = pool_of_shape(shape);

	assert_int_equal(lfpool_backend(pool), LFPOOL_BACKEND_LOCKFREE);
	assert_int_equal(lfpool_misuse_count(pool), 0);
	lfpool_destroy(pool);
}

static void for_every_shape(void (*test)(const struct shape *shape))
{
	for (size_t i = 0; i < COUNT(shapes); i++) {
		print_message("    object_size %zu, capacity %zu, cache_capacity %zu, flags %#x\n", shapes[i].object_size,
			      shapes[i].capacity, shapes[i].cache_capacity, (unsigned)shapes[i].flags);
		test(&shapes[i]);
	}
}

#define SHAPES_TEST(name)                                                                                       \
	TEST(name##_for_every_shape)                                                                            \
	{                                                                                                       \
		for_every_shape(name);                                                                          \
	}

SHAPES_TEST(capacity_objects_then_null)
SHAPES_TEST(one_range)
SHAPES_TEST(counts_are_exact)
SHAPES_TEST(owns_and_in_use)
SHAPES_TEST(destroy_counts_what_is_out)
SHAPES_TEST(errno_is_left_alone)
SHAPES_TEST(questions_answer)

TEST(null_is_fine)
{
	lfpool_t *pool = pool_of(8, 1);

	assert_int_equal(lfpool_destroy(NULL), 0);
	assert_int_equal(lfpool_release(pool, NULL), LFPOOL_OK);
	assert_int_equal(lfpool_misuse_count(pool), 0);
	lfpool_cache_destroy(NULL);
	require_whole(pool, 8);
	lfpool_destroy(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capacity_objects_then_null_for_every_shape),
		cmocka_unit_test(one_range_for_every_shape),
		cmocka_unit_test(counts_are_exact_for_every_shape),
		cmocka_unit_test(owns_and_in_use_for_every_shape),
		cmocka_unit_test(destroy_counts_what_is_out_for_every_shape),
		cmocka_unit_test(errno_is_left_alone_for_every_shape),
		cmocka_unit_test(questions_answer_for_every_shape),
		cmocka_unit_test(null_is_fine),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
