/* SPDX-License-Identifier: MIT */
/* unit_ranges.c - the owner of an address: compared with a linear search of a list.  (Readers during changes: the
 * programs find-* of verify/explore.  Refused memory: tests/refusals.) */
#include "../support/support.h"

#include "pool/live_pools.h"

enum { PLACES = 100, WIDTH = 10, LEVELS = 3, RANGES = PLACES * LEVELS };

/* Places are adjacent.  Each has up to three ranges, one inside the other: 0 .. 9, 0 .. 5 and 3 .. 4. */
static uintptr_t first_of(size_t i)
{
	static const uintptr_t first[LEVELS] = {0, 0, 3};

	return (i / LEVELS + 1) * WIDTH + first[i % LEVELS];
}

static uintptr_t end_of(size_t i)
{
	static const uintptr_t end[LEVELS] = {WIDTH, 6, 5};

	return (i / LEVELS + 1) * WIDTH + end[i % LEVELS];
}

static void *owner_of(size_t i)
{
	return (void *)(uintptr_t)(1000000 + i);
}

/* Among the ranges with the address, the innermost. */
static void *owner_at(const bool *there, uintptr_t address)
{
	void *owner = NULL;

	for (size_t i = address < WIDTH ? RANGES : (address / WIDTH - 1) * LEVELS, level = 0;
	     i < RANGES && level < LEVELS; level++, i++)
		if (there[i] && first_of(i) <= address && address < end_of(i))
			owner = owner_of(i);
	return owner;
}

static void require_like(const struct address_map *ranges, const bool *there)
{
	for (uintptr_t address = 0; address < (PLACES + 2) * WIDTH; address++)
		assert_ptr_equal(address_map_find(ranges, address), owner_at(there, address));
	assert_null(address_map_find(ranges, UINTPTR_MAX));
}

/* A range is added before those inside it, but removed at any time. */
static bool can_come(const bool *there, size_t i)
{
	for (size_t inside = i + 1; inside % LEVELS; inside++)
		if (there[inside])
			return false;
	return true;
}

TEST(ranges_match_a_list_model)
{
	struct random r = random_for(test_seed("ranges"), 0);
	static struct address_map ranges;
	bool there[RANGES] = {false};

	require_like(&ranges, there);
	for (int step = 0; step < TIMES(3000, 500); step++) {
		/* Many, then few again. */
		const size_t i = random_below(&r, step / 300 % 2 ? RANGES : 12);

		if (there[i])
			address_map_remove(&ranges, first_of(i), owner_of(i));
		else if (can_come(there, i))
			assert_true(address_map_add(&ranges, first_of(i), end_of(i), owner_of(i)));
		else
			continue;
		there[i] = !there[i];
		require_like(&ranges, there);
	}
	for (size_t i = 0; i < RANGES; i++)
		if (there[i])
			address_map_remove(&ranges, first_of(i), owner_of(i));
	memset(there, 0, sizeof(there));
	require_like(&ranges, there);
}

RUN_TESTS()
