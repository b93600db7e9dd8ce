/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_sizes.c - every object size crossed with every alignment: aligned, and disjoint over the whole size.
 * (Addresses between two starts are refused: core/unit_arena.c, object/test_misuse.c.)
 */
#include "../support/support.h"

static const size_t large_sizes[] = {100, 127, 128, 129, 1000, 4095, 4096, 4097, 65536, MIB};

static void check(size_t size, size_t alignment)
{
	size_t capacity = size >= 65536 ? 3 : 70;
	void *objects[71];
	lfpool_t *pool = POOL_OF(size, capacity, .object_alignment = alignment);
	assert_int_equal(acquire_all(pool, objects, 71), capacity);
	for (size_t i = 0; i < capacity; i++) {
		assert_int_equal((uintptr_t)objects[i] % (alignment ? alignment : _Alignof(max_align_t)), 0);
		stamp_write(objects[i], size, i * 0x0101010101010101);
	}
	for (size_t i = 0; i < capacity; i++)
		assert_true(stamp_holds(objects[i], size, i * 0x0101010101010101));
	assert_true(sort_disjoint(objects, capacity, size));
	release_all(pool, objects, capacity);
	pool_close(pool, size);
}

static void check_alignments(size_t size)
{
	check(size, 0);
	for (size_t alignment = 1; alignment <= 4096; alignment *= 2)
		check(size, alignment);
}

TEST(sizes_1_to_64)
{
	for (size_t size = 1; size <= 64; size++)
		check_alignments(size);
}

TEST(larger_sizes)
{
	for (size_t i = 0; i < COUNT(large_sizes); i++)
		check_alignments(large_sizes[i]);
}

RUN_TESTS()
