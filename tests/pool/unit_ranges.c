/* SPDX-License-Identifier: MIT */
/*
 * unit_ranges.c - who owns an address: against a list that is searched from end to end; what happens when memory is
 * refused; and readers beside a writer.
 */
#include "../support/support.h"

#include "os/os.h"
#include "pool/address_map.h"

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

		assert_ptr_equal(address_map_find(ranges, address), address >= WIDTH && i < PLACES && there[i] ? owner_of(i) : NULL);
	}
	assert_null(address_map_find(ranges, UINTPTR_MAX));
}

TEST(like_a_list)
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

TEST(refused_memory_changes_nothing)
{
	static struct address_map ranges;
	bool there[PLACES] = {false};
	size_t refusals = 0, mapped, blocks, blocks_before;

	os_testing_held(&mapped, &blocks_before);
	for (size_t i = 0; i < PLACES; i++) {
		(void)os_testing_refuse(1);
		bool added = address_map_add(&ranges, first_of(i), first_of(i) + WIDTH, owner_of(i));

		if (!added) {
			refusals++;
			require_like(&ranges, there);
			added = address_map_add(&ranges, first_of(i), first_of(i) + WIDTH, owner_of(i));
		}
		(void)os_testing_refuse(0);
		assert_true(added);
		there[i] = true;
		require_like(&ranges, there);
	}
	/* Two arrays for 8, 16, ... 256. */
	assert_int_equal(refusals, 12);
	os_testing_held(&mapped, &blocks);
	assert_int_equal(blocks - blocks_before, 12);
	/* Taking out never asks for memory, in whatever order. */
	(void)os_testing_refuse(1);
	for (size_t i = 0; i < PLACES; i++) {
		const size_t k = i * 77 % PLACES;

		address_map_remove(&ranges, first_of(k));
		there[k] = false;
		require_like(&ranges, there);
	}
	assert_int_equal(os_testing_refuse(0), 0);
}

/* ---- Readers ---- */

static struct address_map shared;
static _Atomic(bool) over;

/* Even places are always there, odd ones come and go. */
static void *look(void *seed)
{
	struct random r = random_for(*(uint64_t *)seed, 1);

	/* relaxed: a sign. */
	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		const size_t i = random_below(&r, PLACES);
		void *owner = address_map_find(&shared, first_of(i) + random_below(&r, WIDTH));

		REQUIRE(owner == owner_of(i) || (i % 2 && !owner));
	}
	return NULL;
}

TEST(readers_beside_a_writer)
{
	uint64_t seed = test_seed("readers_beside_a_writer");
	struct random r = random_for(seed, 0);
	bool there[PLACES] = {false};
	pthread_t threads[3];

	for (size_t i = 0; i < PLACES; i += 2)
		assert_true(address_map_add(&shared, first_of(i), first_of(i) + WIDTH, owner_of(i)));
	for (size_t i = 0; i < 3; i++)
		thread_start(&threads[i], look, &seed);
	for (int step = 0; step < TIMES(100000, 10000); step++) {
		const size_t i = random_below(&r, PLACES) | 1;

		if (there[i])
			address_map_remove(&shared, first_of(i));
		else
			REQUIRE(address_map_add(&shared, first_of(i), first_of(i) + WIDTH, owner_of(i)));
		there[i] = !there[i];
	}
	atomic_store(&over, true);
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_a_list),
		cmocka_unit_test(refused_memory_changes_nothing),
		cmocka_unit_test(readers_beside_a_writer),
	};

	return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
