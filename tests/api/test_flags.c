/* SPDX-License-Identifier: MIT */
/*
 * test_flags.c - LFPOOL_PREFAULT, LFPOOL_ZERO and LFPOOL_CHECK_RACES: what each promises, and that it costs no other
 * promise.
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "../support/support.h"

#include "lfpool/inline.h"

#include <sys/resource.h>

/* Inlined through an explicit cache, or, if that is NULL, through the thread's own. */
static lfpool_status_t release_by(lfpool_cache_t *cache, lfpool_t *pool, void *object)
{
	return cache ? lfpool_cache_release_inline(cache, object) : lfpool_release(pool, object);
}

static void *acquire_by(int way, lfpool_cache_t *cache, lfpool_t *pool)
{
	return way == 1 ? lfpool_acquire(pool) : way == 2 ? lfpool_cache_acquire(cache) : lfpool_cache_acquire_inline(cache);
}

TEST(zero_holds_through_every_way_to_acquire)
{
	enum { CAPACITY = 300 };
	static const size_t sizes[] = {1, 3, 8, 100, 5000};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		lfpool_t *pool = POOL_OF(sizes[i], CAPACITY, .flags = LFPOOL_ZERO);
		lfpool_cache_t *cache = lfpool_cache_create(pool);
		void *objects[CAPACITY];

		assert_non_null(cache);
		for (int round = 0; round < 8; round++) {
			if (round % 4 == 0)
				assert_int_equal(lfpool_acquire_bulk(pool, objects, CAPACITY), CAPACITY);
			else
				for (size_t k = 0; k < CAPACITY; k++)
					assert_non_null(objects[k] = acquire_by(round % 4, cache, pool));
			for (size_t k = 0; k < CAPACITY; k++) {
				assert_true(all_bytes_are(objects[k], sizes[i], 0));
				memset(objects[k], 0xa5, sizes[i]);
			}
			for (size_t k = 0; k < CAPACITY; k++)
				assert_int_equal(release_by(k % 2 ? NULL : cache, pool, objects[k]), LFPOOL_OK);
		}
		lfpool_destroy(pool);
	}
}

/* Zeroing one object must not reach into its neighbours. */
TEST(zero_spares_the_neighbours)
{
	for (size_t size = 1; size <= 33; size++) {
		void *objects[64];
		lfpool_t *pool = POOL_OF(size, 64, .flags = LFPOOL_ZERO, .object_alignment = 1);
		assert_int_equal(acquire_all(pool, objects, 64), 64);
		assert_true(sort_disjoint(objects, 64, size));
		for (size_t i = 0; i < 64; i++)
			memset(objects[i], 0xa5, size);
		for (size_t i = 1; i < 63; i++) {
			assert_int_equal(lfpool_release(pool, objects[i]), LFPOOL_OK);
			assert_ptr_equal(lfpool_acquire(pool), objects[i]);
			assert_true(all_bytes_are(objects[i], size, 0));
			assert_true(all_bytes_are(objects[i + 1], size, 0xa5));
			assert_true(all_bytes_are(objects[i - 1], size, i > 1 ? 0x5a : 0xa5));
			memset(objects[i], 0x5a, size);
		}
		lfpool_destroy(pool);
	}
}

static long page_faults(void)
{
	struct rusage usage;

	REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
	return usage.ru_minflt + usage.ru_majflt;
}

static void cycle(lfpool_t *pool, void **objects, size_t count, size_t size)
{
	REQUIRE(acquire_all(pool, objects, count) == count);
	for (size_t i = 0; i < count; i++)
		stamp_write(objects[i], size, i);
	release_all(pool, objects, count);
}

/* What a first use costs in page faults, beside a pool that is not prefaulted; and its memory is there before any
 * use. */
TEST(prefault_touches_all_memory_at_creation)
{
	enum { CAPACITY = 8192, SIZE = 4096 };
	void **objects = pointers_new(CAPACITY);
	long faults[2];

	/* Once through everything: the code and the stack are paged in, the thread is known. */
	lfpool_t *pool = pool_of(SIZE, 10);
	cycle(pool, objects, 10, SIZE);
	lfpool_destroy(pool);
	memset(objects, 0, CAPACITY * sizeof(*objects));
	for (uint32_t prefault = 0; prefault < 2; prefault++) {
		size_t resident_before = resident_bytes();
		pool = POOL_OF(SIZE, CAPACITY, .flags = prefault * LFPOOL_PREFAULT);
		size_t resident = growth(resident_before, resident_bytes());
		if (prefault)
			assert_true(resident >= (size_t)CAPACITY * SIZE);
		else
			assert_true(resident < (size_t)CAPACITY * SIZE / 4);
		/* The thread's first call on the pool may make its cache. */
		assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
		faults[prefault] = page_faults();
		cycle(pool, objects, CAPACITY, SIZE);
		faults[prefault] = page_faults() - faults[prefault];
		assert_int_equal(lfpool_destroy(pool), 0);
	}
	print_message("    page faults: %ld without, %ld with LFPOOL_PREFAULT\n", faults[0], faults[1]);
	/* A sanitizer's shadow of the objects faults either way. */
	assert_true(faults[0] >= 16 + (SANITIZED ? faults[1] : 0));
	assert_true(SANITIZED || faults[1] <= 2);
	free(objects);
}

RUN_TESTS()
