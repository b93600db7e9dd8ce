/* SPDX-License-Identifier: MIT */
/* test: once */
/* test_large.c - every size crossed with every alignment, up to the limits of both: aligned, disjoint from the first
 * byte to the last, found by their address, and only the program's own accesses touch a byte. */
#include "../support/support.h"

#define FRAME ((size_t)1920 * 1080 * 4)
#define HUGE_PAGE ((size_t)2 << 20)
#define HAS_ROOM (SIZE_MAX > UINT32_MAX)
/* AddressSanitizer marks every eighth byte. */
#define LARGEST (HAS_ROOM && !UNDER_ASAN ? GIB : FRAME)

/* A mark at both ends of an object. */
static void ends_write(void *object, size_t size, unsigned char mark)
{
	((unsigned char *)object)[0] = ((unsigned char *)object)[size - 1] = mark;
}

static bool ends_hold(const void *object, size_t size, unsigned char mark)
{
	return ((const unsigned char *)object)[0] == mark && ((const unsigned char *)object)[size - 1] == mark;
}

/* All `count` objects, none of which is held yet. */
static void use_all(lfpool_t *pool, size_t size, size_t alignment, size_t count)
{
	void **objects = pointers_new(count + 1);

	assert_int_equal(acquire_all(pool, objects, count + 1), count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal((uintptr_t)objects[i] % alignment, 0);
		ends_write(objects[i], size, (unsigned char)(i + 1));
	}
	for (size_t i = 0; i < count; i++) {
		assert_true(ends_hold(objects[i], size, (unsigned char)(i + 1)));
		assert_true(lfpool_in_use(pool, objects[i]));
		assert_false(lfpool_owns(pool, moved(objects[i], 1)));
		assert_int_equal(lfpool_release(pool, moved(objects[i], (ptrdiff_t)(size + 1) / 2)), LFPOOL_E_INTERIOR);
	}
	assert_true(sort_disjoint(objects, count, size));
	release_all(pool, objects, count);
	free(objects);
}

static void check(const lfpool_config_t *given, size_t alignment)
{
	lfpool_config_t config = *given;

	config.object_alignment = alignment;
	config.hooks.misuse = expected_misuse;
	config.max_capacity = 2 * config.capacity;

	lfpool_t *pool = pool_with(&config);
	const size_t before = resident_bytes();

	use_all(pool, config.object_size, alignment, config.capacity);
	assert_int_equal(lfpool_grow(pool, config.capacity), config.capacity);
	use_all(pool, config.object_size, alignment, 2 * config.capacity);
	/* Two ends of each, and the side arrays; poison and zeroing fill everything. */
	if (!SANITIZED && !config.debug && !(config.flags & (LFPOOL_ZERO | LFPOOL_PREFAULT | LFPOOL_HUGE_PAGES)))
		assert_true(growth(before, resident_bytes()) < 4 * MIB);
	while (lfpool_trim(pool, 0, SIZE_MAX))
		;
	use_all(pool, config.object_size, alignment, 2 * config.capacity);
	assert_int_equal(lfpool_destroy(pool), 0);
}

TEST(small_objects_of_every_alignment)
{
	for (size_t size = 1; size <= 4097; size += size < 130 ? TIMES(1, 7) : 83)
		/* One-byte objects one byte apart: no address is interior. */
		for (size_t alignment = size > 1 ? 1 : 2; alignment <= 4096; alignment *= 2)
			check(&CONFIG_OF(size, 35, .name = "small"), alignment);
}

TEST(large_objects_of_every_alignment)
{
	static const size_t sizes[] = {MIB + 1, HUGE_PAGE, FRAME, LARGEST / 2 + 77, LARGEST};
	static const size_t alignments[] = {16, 4096, 8192, HUGE_PAGE, HAS_ROOM ? GIB : HUGE_PAGE};

	for (size_t i = 0; i < COUNT(sizes); i++)
		for (size_t k = 0; k < COUNT(alignments); k++)
			check(&CONFIG_OF(sizes[i], 3, .name = "large"), alignments[k]);
}

TEST(objects_have_alignments_up_to_16_huge_pages)
{
	for (size_t alignment = 8192; alignment <= 16 * HUGE_PAGE; alignment *= 2) {
		check(&CONFIG_OF(1, 5, .name = "small"), alignment);
		check(&CONFIG_OF(40, 5, .flags = LFPOOL_HUGE_PAGES), alignment);
	}
}

TEST(large_objects_in_every_kind_of_pool)
{
	check(&CONFIG_OF(FRAME, 3, .flags = LFPOOL_ZERO), 64);
	check(&CONFIG_OF(FRAME, 2, .flags = LFPOOL_PREFAULT), 8192);
	check(&CONFIG_OF(FRAME, 3, .flags = LFPOOL_HUGE_PAGES), HUGE_PAGE);
	check(&CONFIG_OF(FRAME, 3, .flags = LFPOOL_PLAIN_STRIDE), 4096);
	check(&CONFIG_OF(FRAME, 2, .debug = "poison,guard,quarantine=1,owner"), HUGE_PAGE);
	check(&CONFIG_OF(FRAME, 3, .backend = LFPOOL_BACKEND_MUTEX), HUGE_PAGE);
}

#if HAS_ROOM
/* An address maps to its slot exactly, for every stride, even if the objects span terabytes. */
TEST(many_large_objects_are_found_by_address)
{
	enum { OBJECTS = 10000 };
	static const size_t sizes[] = {GIB, GIB - 1, GIB / 2 + 12345, 700000001, 300000007};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		lfpool_t *pool = POOL_OF(sizes[i], OBJECTS, .flags = i % 2 ? LFPOOL_PLAIN_STRIDE : 0);

		for (uint32_t index = 0; index < OBJECTS; index += 7) {
			void *object = lfpool_object_at(pool, index);

			assert_non_null(object);
			assert_int_equal(lfpool_index_of(pool, object), index);
			assert_false(lfpool_owns(pool, moved(object, 1)));
			assert_false(lfpool_owns(pool, moved(object, -1)));
		}
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}
#endif

RUN_TESTS()
