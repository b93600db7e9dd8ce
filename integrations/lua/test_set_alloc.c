/* SPDX-License-Identifier: MIT */
/* test_set_alloc.c - set_alloc keeps the contract of lua_Alloc: contents survive a change of size, a block that shrinks
 * never fails, and every block goes back where it came from. */
#include "../../tests/support/set_support.h"
#include "set_alloc.h"

#include <string.h>

static bool malloc_refuses;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return malloc_refuses ? NULL : __real_malloc(size);
}

static bool is_pooled(const lfpool_set_t *set, const void *block)
{
	return lfpool_set_pool_of(set, block, NULL) != NULL;
}

TEST(contents_survive)
{
	enum { BLOCKS = 64, STEPS = 20000, LARGEST = 6000 };
	unsigned char *blocks[BLOCKS] = {NULL};
	size_t sizes[BLOCKS] = {0};
	struct random random = random_for(test_seed("blocks"), 0);
	lfpool_set_t *set = set_alloc_open();

	assert_non_null(set);
	for (int step = 0; step < STEPS; step++) {
		const size_t i = random_below(&random, BLOCKS);
		const size_t size = random_below(&random, 4) ? random_below(&random, LARGEST) : 0;
		unsigned char *block = set_alloc(set, blocks[i], sizes[i], size);

		assert_int_equal(block != NULL, size != 0);
		for (size_t j = 0; j < size && j < sizes[i]; j++)
			assert_int_equal(block[j], i);
		if (size)
			memset(block, (int)i, size);
		blocks[i] = block;
		sizes[i] = size;
	}
	for (size_t i = 0; i < BLOCKS; i++)
		assert_null(set_alloc(set, blocks[i], sizes[i], 0));
	assert_int_equal(lfpool_set_destroy(set), 0);
}

TEST(a_block_moves_when_it_uses_half_of_its_object)
{
	lfpool_set_t *set = set_alloc_open();
	void *block, *moved;

	assert_non_null(set);
	block = set_alloc(set, NULL, 0, 256);

	assert_ptr_equal(set_alloc(set, block, 256, 129), block);
	assert_ptr_equal(set_alloc(set, block, 129, 250), block);
	moved = set_alloc(set, block, 250, 128);
	assert_ptr_not_equal(moved, block);
	assert_true(is_pooled(set, moved));
	assert_null(set_alloc(set, moved, 128, 0));
	/* There is no smaller object. */
	block = set_alloc(set, NULL, 0, 16);
	assert_ptr_equal(set_alloc(set, block, 16, 1), block);
	assert_null(set_alloc(set, block, 1, 0));
	assert_int_equal(lfpool_set_destroy(set), 0);
}

TEST(malloc_serves_large_blocks_and_full_classes)
{
	lfpool_set_t *set = set_of(LFPOOL_BACKEND_LOCKFREE, 100, 1);
	void *small = set_alloc(set, NULL, 0, 50), *second = set_alloc(set, NULL, 0, 50),
	     *large = set_alloc(set, NULL, 0, 200);

	assert_true(is_pooled(set, small));
	assert_false(is_pooled(set, second) || is_pooled(set, large));
	/* Into the pool as soon as there is room. */
	assert_null(set_alloc(set, small, 50, 0));
	large = set_alloc(set, large, 200, 50);
	assert_true(is_pooled(set, large));
	assert_null(set_alloc(set, large, 50, 0));
	assert_null(set_alloc(set, second, 50, 0));
	assert_int_equal(lfpool_set_destroy(set), 0);
}

TEST(without_memory_a_block_does_not_grow_but_shrinks)
{
	lfpool_set_t *set = set_of(LFPOOL_BACKEND_LOCKFREE, 100, 1);
	void *last = set_alloc(set, NULL, 0, 50), *large = set_alloc(set, NULL, 0, 200);

	memset(large, 7, 200);
	malloc_refuses = true;
	assert_null(set_alloc(set, NULL, 0, 50));
	assert_null(set_alloc(set, last, 50, 200));
	assert_ptr_equal(set_alloc(set, large, 200, 50), large);
	malloc_refuses = false;
	for (size_t i = 0; i < 50; i++)
		assert_int_equal(((unsigned char *)large)[i], 7);
	assert_null(set_alloc(set, large, 50, 0));
	assert_null(set_alloc(set, last, 50, 0));
	assert_int_equal(lfpool_set_destroy(set), 0);
}

RUN_TESTS()
