/* SPDX-License-Identifier: MIT */
/*
 * unit_magazine.c - one magazine, one thread playing owner and thief in turn: the invariants H1 to H7.
 */
#include "support.h"

#include "magazine.h"

#define SLOTS 8
#define FIRST 101 /* the slot at position 0 by birth */

static struct lfpool_magazine *m;

static int setup(__attribute__((unused)) void **state)
{
	m = aligned_alloc(CACHE_LINE_PAIR, magazine_bytes(SLOTS));
	REQUIRE(m);
	memset((void *)m, 0, magazine_bytes(SLOTS));
	return 0;
}

static int teardown(__attribute__((unused)) void **state)
{
	free(m);
	return 0;
}

static int held(void)
{
	return magazine_owner_count(m, SLOTS);
}

/* An empty magazine whose positions begin at `start`. */
static void empty_at(uint64_t start)
{
	atomic_store(&m->top, start);
	atomic_store(&m->bottom, start - SLOTS);
}

static uint32_t take(void)
{
	return magazine_take(m, SLOTS, atomic_load(&m->top), FIRST);
}

TEST(zeroed_memory_is_a_full_magazine)
{
	assert_int_equal(held(), SLOTS);
	assert_false(magazine_push(m, SLOTS, 7));
	magazine_inscribe(m, SLOTS, FIRST);
	for (uint32_t i = 0; i < SLOTS; i++)
		assert_int_equal(magazine_pop(m, SLOTS, true), FIRST + SLOTS - 1 - i);
	assert_int_equal(magazine_pop(m, SLOTS, true), SLOT_NONE);
	assert_int_equal(held(), 0);
}

/* Takes `count` at once, the newest last, into slots_out. */
static uint32_t pop_many(uint32_t count, uint32_t *slots_out)
{
	uint64_t first = 0;
	uint32_t taken = magazine_pop_many(m, SLOTS, true, count, &first);

	for (uint32_t i = 0; i < taken; i++)
		slots_out[i] = magazine_slot_at(m, SLOTS, first + i);
	return taken;
}

static uint32_t push_many(const uint32_t *slots, uint32_t count)
{
	uint64_t first;
	uint32_t room = magazine_room(m, SLOTS, &first);

	if (count > room)
		count = room;
	for (uint32_t i = 0; i < count; i++)
		magazine_place(m, SLOTS, first + i, slots[i]);
	magazine_push_placed(m, first, count);
	return count;
}

TEST(many_come_and_go_at_once)
{
	static const uint32_t given[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

	/* Every offset in the ring, every number that is there, every number that is wanted. */
	for (uint64_t start = 0; start < 2 * SLOTS; start++) {
		for (uint32_t there = 0; there <= SLOTS + 2; there++) {
			for (uint32_t wanted = 0; wanted <= SLOTS + 2; wanted++) {
				uint32_t got[SLOTS + 2];
				const uint32_t put = there < SLOTS ? there : SLOTS, taken = wanted < put ? wanted : put;

				empty_at(start);
				assert_int_equal(push_many(given, there), put);
				assert_int_equal(held(), put);
				assert_int_equal(pop_many(wanted, got), taken);
				for (uint32_t i = 0; i < taken; i++)
					assert_int_equal(got[i], given[put - taken + i]);
				assert_int_equal(held(), put - taken);
				for (uint32_t i = put - taken; i > 0; i--)
					assert_int_equal(magazine_pop(m, SLOTS, true), given[i - 1]);
				assert_int_equal(held(), 0);
			}
		}
	}
}

TEST(many_count_as_pushes)
{
	static const uint32_t given[] = {1, 2, 3};

	empty_at(5);
	uint64_t before = atomic_load(&m->bottom);
	(void)push_many(given, 3);
	assert_int_equal(atomic_load(&m->bottom) - before, 3 * LFPOOL_PUSHED);
}

TEST(a_thief_needs_no_inscription)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		if (i == 3)
			magazine_inscribe(m, SLOTS, FIRST);
		assert_int_equal(take(), FIRST + i);
	}
	assert_int_equal(take(), SLOT_NONE);
}

TEST(first_in_first_stolen_last_in_first_popped)
{
	empty_at(0);
	for (uint32_t slot = 1; slot <= 5; slot++)
		assert_true(magazine_push(m, SLOTS, slot));
	assert_int_equal(take(), 1);
	assert_int_equal(magazine_pop(m, SLOTS, false), 5);
	assert_int_equal(take(), 2);
	assert_int_equal(magazine_pop(m, SLOTS, true), 4);
	assert_int_equal(held(), 1);
	assert_int_equal(magazine_pop(m, SLOTS, false), 3);
	assert_int_equal(held(), 0);
}

TEST(an_old_note_takes_nothing)
{
	empty_at(0);
	assert_true(magazine_push(m, SLOTS, 1));
	uint64_t note = atomic_load(&m->top);

	/* The owner takes the last one by CAS and puts another at the same place. */
	assert_int_equal(magazine_pop(m, SLOTS, true), 1);
	assert_true(magazine_push(m, SLOTS, 2));
	assert_true(magazine_push(m, SLOTS, 3));
	assert_int_equal(magazine_take(m, SLOTS, note, FIRST), SLOT_NONE);
	assert_int_equal(held(), 2);
}

TEST(looking_into_an_empty_one_leaves_no_trace)
{
	empty_at(77);
	uint64_t bottom = atomic_load(&m->bottom), top = atomic_load(&m->top);

	assert_int_equal(magazine_pop(m, SLOTS, true), SLOT_NONE);
	assert_int_equal(magazine_pop(m, SLOTS, false), SLOT_NONE);
	assert_int_equal(atomic_load(&m->bottom), bottom);
	assert_int_equal(atomic_load(&m->top), top);
}

TEST(bottom_counts_the_pushes)
{
	empty_at(0);
	uint64_t before = atomic_load(&m->bottom);

	for (int i = 0; i < 1000; i++) {
		assert_true(magazine_push(m, SLOTS, 1));
		assert_true(magazine_push(m, SLOTS, 2));
		assert_int_equal(magazine_pop(m, SLOTS, true), 2);
		assert_int_equal(i % 2 ? magazine_pop(m, SLOTS, true) : take(), 1);
	}
	/* 2000 pushes; the position moved up with each object that left at the top, last ones included: 1000. */
	assert_int_equal(atomic_load(&m->bottom) - before, 2000 * (LFPOOL_PUSHED - 1) + 1000);
}

TEST(positions_run_over_sixteen_and_thirty_two_bits)
{
	static const uint64_t starts[] = {65536 - 3, (UINT64_C(1) << 32) - 3, (UINT64_C(1) << 48) - 3, UINT64_MAX - 100};

	for (size_t s = 0; s < COUNT(starts); s++) {
		empty_at(starts[s] & ~(uint64_t)(SLOTS - 1));
		/* Held objects as a queue: taken in the order they came. */
		uint32_t next_in = 1, next_out = 1;

		for (int round = 0; round < 40; round++) {
			while (magazine_push(m, SLOTS, next_in))
				next_in++;
			assert_int_equal(next_in - next_out, SLOTS);
			for (int i = 0; i < 3; i++)
				assert_int_equal(take(), next_out++);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(zeroed_memory_is_a_full_magazine, setup, teardown),
		cmocka_unit_test_setup_teardown(many_come_and_go_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(many_count_as_pushes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_thief_needs_no_inscription, setup, teardown),
		cmocka_unit_test_setup_teardown(first_in_first_stolen_last_in_first_popped, setup, teardown),
		cmocka_unit_test_setup_teardown(an_old_note_takes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(looking_into_an_empty_one_leaves_no_trace, setup, teardown),
		cmocka_unit_test_setup_teardown(bottom_counts_the_pushes, setup, teardown),
		cmocka_unit_test_setup_teardown(positions_run_over_sixteen_and_thirty_two_bits, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
