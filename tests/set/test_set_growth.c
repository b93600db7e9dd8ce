/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_set_growth.c - classes that grow: each by itself, by bytes or by objects, to its maximum and no further, before the next
 * larger one is asked.  (By hand, shrunk and trimmed, with debug modes: verify/pairs, whose pools may be those of a set.)
 */
#include "../support/set_support.h"

enum { LARGEST = 2000 };

/* The most objects of this size that can be had; all of them are given back. */
static size_t most_of(lfpool_set_t *set, size_t size)
{
	enum { ROOM = 10000 };
	void **objects = pointers_new(ROOM);
	const size_t count = acquire_all_of(set, size, objects, ROOM);

	assert_true(count < ROOM);
	for (size_t i = 0; i < count; i++)
		stamp_write(objects[i], size, i);
	for (size_t i = 0; i < count; i++)
		assert_true(stamp_holds(objects[i], size, i));
	assert_true(sort_disjoint(objects, count, size));
	release_to(set, objects, count);
	free(objects);
	return count;
}

BACKEND_TEST(by_objects, LFPOOL_BACKEND_MALLOC)
{
	lfpool_set_t *set = SET_WITH(.backend = backend, .largest = LARGEST, .capacity = 10, .max_capacity = 100,
				     .growth_step = 7);

	for (size_t i = 0; i < lfpool_set_class_count(set); i++)
		assert_int_equal(most_of(set, lfpool_set_class_size(set, i)), 100);
	set_close(set);
}

BACKEND_TEST(by_bytes, LFPOOL_BACKEND_MALLOC)
{
	lfpool_set_t *set = SET_WITH(.backend = backend, .largest = LARGEST, .class_bytes = 4096, .max_class_bytes = 16384,
				     .growth_bytes = 1000);

	for (size_t i = 0; i < lfpool_set_class_count(set); i++) {
		const size_t size = lfpool_set_class_size(set, i);

		assert_int_equal(lfpool_capacity(lfpool_set_pool(set, i)), 4096 / size);
		assert_int_equal(lfpool_max_capacity(lfpool_set_pool(set, i)), 16384 / size);
		assert_int_equal(most_of(set, size), 16384 / size);
	}
	set_close(set);
}

/* A class grows as far as it may before the next one is asked. */
TEST(before_a_larger_class)
{
	void *objects[11];

	lfpool_set_t *set = SET_WITH(.largest = LARGEST, .capacity = 2, .max_capacity = 5, .growth_step = 1, .larger = 1);

	assert_int_equal(acquire_all_of(set, 64, objects, COUNT(objects)), 10);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(lfpool_set_usable_size(set, objects[i]), i < 5 ? 64 : 80);
	release_to(set, objects, 10);
	assert_int_equal(lfpool_set_destroy(set), 0);
}

RUN_TESTS()
