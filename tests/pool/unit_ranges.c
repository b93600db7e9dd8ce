/* SPDX-License-Identifier: MIT */
/*
 * unit_ranges.c - which pool owns an address: against a list that is searched from end to end.  (Readers beside
 * writers: the programs find-* of verify/explore.  Memory that is refused: tests/refusals.)
 */
#include "../support/support.h"

#include "pool/live_pools.h"

enum { PLACES = 200, WIDTH = 10 };

/* Place i is addresses (i + 1) * WIDTH ... + WIDTH - 1: neighbours touch. */
static uintptr_t first_of(size_t i)
{
	return (i + 1) * WIDTH;
}

static void *owner_of(size_t i)
{
	return (void *)(uintptr_t)(1000000 + i);
}

static void require_like(const struct address_map *ranges, const bool *there)
{
	for (uintptr_t address = 0; address < first_of(PLACES) + WIDTH; address++) {
		const size_t i = address / WIDTH - 1;

		assert_ptr_equal(address_map_find(ranges, address),
				 address >= WIDTH && i < PLACES && there[i] ? owner_of(i) : NULL);
	}
	assert_null(address_map_find(ranges, UINTPTR_MAX));
}

TEST(ranges_match_a_list_model)
{
	struct random r = random_for(test_seed("ranges"), 0);
	static struct address_map ranges;
	bool there[PLACES] = {false};

	require_like(&ranges, there);
	for (int step = 0; step < TIMES(3000, 500); step++) {
		/* Many, and few again. */
		const size_t i = random_below(&r, step / 300 % 2 ? PLACES : 12);

		if (there[i])
			address_map_remove(&ranges, first_of(i));
		else
			assert_true(address_map_add(&ranges, first_of(i), first_of(i) + WIDTH, owner_of(i)));
		there[i] = !there[i];
		require_like(&ranges, there);
	}
	for (size_t i = 0; i < PLACES; i++)
		if (there[i])
			address_map_remove(&ranges, first_of(i));
	memset(there, 0, sizeof(there));
	require_like(&ranges, there);
}

RUN_TESTS()
