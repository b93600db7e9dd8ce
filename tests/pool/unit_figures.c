/* SPDX-License-Identifier: MIT */
/*
 * unit_figures.c - the bytes of the parts of a pool, as docs/memory.md and docs/design.md have them.
 */
#include "../support/support.h"

#include "core/cache.h"
#include "core/magazine.h"
#include "pool/pool.h"

enum { SLOTS = 256 };

static size_t kib(size_t bytes)
{
	return (bytes + 512) / 1024;
}

TEST(documents_state_the_bytes_of_a_pool)
{
	if (sizeof(void *) != 8)
		SKIP("the figures are of 64-bit processors");
	/* "8.5 in a magazine": 8, and a share of 128. */
	assert_int_equal(magazine_bytes(SLOTS), 8 * SLOTS + 128);
	/* "Each cache: 7 KiB with magazines of 256 objects." */
	assert_int_equal(kib(cache_lot_bytes(magazine_bytes(SLOTS), LOT_CACHES) / LOT_CACHES), 7);
	/* "The first 16 exist from the beginning." */
	assert_int_equal(LOT_CACHES, 16);
	/* "The pool itself: 3 KiB, and 384 bytes per shard of the depot." */
	assert_int_equal(kib(POOL_OF_SHARDS(0)), 3);
	assert_int_equal(POOL_OF_SHARDS(2) - POOL_OF_SHARDS(1), 384);
}

RUN_TESTS()
