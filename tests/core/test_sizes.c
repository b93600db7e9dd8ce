/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_sizes.c - every object size crossed with every alignment: aligned, disjoint over the whole size, and every
 * address between two starts is refused as interior.
 */
#include "../support/support.h"

static const size_t large_sizes[] = {100, 127, 128, 129, 1000, 4095, 4096, 4097, 65536, MIB};

/* Offsets into an object to try: all of them while they are few, then a sample that reaches every bit and the
 * neighbourhood of the end. */
static size_t next_offset(size_t offset, size_t stride)
{
	if (offset < 300 || stride - offset <= 100)
		return offset + 1;
	return offset + offset / 3 < stride - 100 ? offset + offset / 3 : stride - 100;
}

static size_t check_interior(lfpool_t *pool, void *object, size_t stride)
{
	size_t refused = 0;

	for (size_t offset = 1; offset < stride; offset = next_offset(offset, stride), refused++) {
		void *inside = moved(object, (ptrdiff_t)offset);

		REQUIRE(!lfpool_owns(pool, inside));
		REQUIRE(!lfpool_in_use(pool, inside));
		REQUIRE(lfpool_release(pool, inside) == LFPOOL_E_INTERIOR);
	}
	return refused;
}

static void check(size_t size, size_t alignment)
{
	size_t capacity = size >= 65536 ? 3 : 70;
	void *objects[71];
	lfpool_t *pool = POOL_OF(size, capacity, .object_alignment = alignment, .hooks.misuse = expected_misuse);
	assert_int_equal(acquire_all(pool, objects, 71), capacity);
	for (size_t i = 0; i < capacity; i++) {
		assert_int_equal((uintptr_t)objects[i] % (alignment ? alignment : _Alignof(max_align_t)), 0);
		stamp_write(objects[i], size, i * 0x0101010101010101);
	}
	for (size_t i = 0; i < capacity; i++)
		assert_true(stamp_holds(objects[i], size, i * 0x0101010101010101));
	assert_true(sort_disjoint(objects, capacity, size));
	/* Ends and middle: the arithmetic that tells them apart has no favourites. */
	size_t stride = stride_of(pool, objects[0]), refused = 0;
	assert_true(stride >= size);
	refused += check_interior(pool, objects[0], stride);
	refused += check_interior(pool, objects[capacity / 2], stride);
	refused += check_interior(pool, objects[capacity - 1], stride);
	assert_int_equal(lfpool_misuse_count(pool), refused);
	release_all(pool, objects, capacity);
	require_whole(pool, size);
	assert_int_equal(lfpool_destroy(pool), 0);
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
