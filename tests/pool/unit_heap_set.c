/* SPDX-License-Identifier: MIT */
/* unit_heap_set.c - the table of a malloc pool's addresses: compared with a list, and when it is full. */
#include "../support/support.h"

#include "pool/heap.h"

enum { ADDRESSES = 300, STEPS = 40000 };

static const void *address(size_t i)
{
	return (const void *)(uintptr_t)(0x10000 + 48 * i);
}

static enum heap_set_answer asked(const struct heap_set *set, size_t i)
{
	uint32_t slot = UINT32_MAX;
	const enum heap_set_answer answer = heap_set_find(set, address(i), &slot);

	assert_int_equal(slot, answer == HEAP_SET_YES ? i : UINT32_MAX);
	return answer;
}

TEST(heap_set_matches_a_list_of_addresses)
{
	struct random random = {test_seed("heap_set_matches_a_list_of_addresses")};
	struct heap_set *set = heap_set_open(ADDRESSES);
	bool in[2 * ADDRESSES] = {false};
	size_t count = 0;

	assert_non_null(set);
	for (int step = 0; step < STEPS; step++) {
		const size_t i = random_below(&random, 2 * ADDRESSES);

		assert_int_equal(asked(set, i), in[i] ? HEAP_SET_YES : HEAP_SET_NO);
		if (in[i])
			heap_set_remove(set, address(i));
		else if (count < ADDRESSES)
			heap_set_add(set, address(i), (uint32_t)i);
		else
			continue;
		count += in[i] ? SIZE_MAX : 1;
		in[i] = !in[i];
	}
	heap_set_close(set);
}

/* With more addresses than places, some are only counted: then it cannot answer no, until they are gone. */
TEST(heap_set_answers_maybe_while_it_is_over_full)
{
	struct heap_set *set = heap_set_open(1);
	const size_t places = set->mask + 1, many = 3 * places;
	size_t maybe = 0;

	for (size_t i = 0; i < many; i++)
		heap_set_add(set, address(i), (uint32_t)i);
	for (size_t i = 0; i < many; i++) {
		assert_int_not_equal(asked(set, i), HEAP_SET_NO);
		maybe += asked(set, i) == HEAP_SET_MAYBE;
	}
	assert_int_equal(maybe, many - places);
	assert_int_equal(asked(set, many), HEAP_SET_MAYBE);
	for (size_t i = 0; i < many; i++)
		heap_set_remove(set, address(i));
	for (size_t i = 0; i <= many; i++)
		assert_int_equal(asked(set, i), HEAP_SET_NO);
	heap_set_close(set);
}

RUN_TESTS()
