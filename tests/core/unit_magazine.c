/* SPDX-License-Identifier: MIT */
/* unit_magazine.c - one magazine; one thread acts as owner and thief alternately: the invariants H1 to H7. (H8, and
 * several magazines: verify/fuzz.) */
#include "../support/support.h"

#include "core/magazine.h"

#define SLOTS 8
#define BORN 101 /* the object of the first place at birth; the next one is 1 further */

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

static void make_full(void)
{
	magazine_make_full(m, 1, SLOTS, BORN, 1);
}

static int held(void)
{
	return magazine_count_now(m, SLOTS);
}

/* Makes an empty magazine whose positions begin at `start`. */
static void empty_at(uint64_t start)
{
	magazine_make_empty(m, 1);
	atomic_store(&m->top, start);
	atomic_store(&m->bottom, LFPOOL_POSITION_(start));
}

static uintptr_t take(void)
{
	const uint64_t top = atomic_load(&m->top);

	return magazine_take(m, SLOTS, top, BORN + magazine_place_of(magazine_top(top), SLOTS));
}

static bool push_anywhere(uintptr_t object)
{
	if (held() >= SLOTS)
		return false;
	if (!magazine_push(m, SLOTS, object))
		magazine_push_round(m, SLOTS, object);
	return true;
}

TEST_WITH(zeroed_memory_is_a_full_magazine, setup, teardown)
{
	assert_int_equal(held(), SLOTS);
	make_full();
	assert_int_equal(held(), SLOTS);
	assert_true(magazine_is_home(m, SLOTS));
	assert_false(magazine_push(m, SLOTS, 7));
	for (uint32_t i = 0; i < SLOTS; i++)
		assert_int_equal(magazine_pop(m, SLOTS, true), BORN + SLOTS - 1 - i);
	assert_int_equal(magazine_pop(m, SLOTS, true), 0);
	assert_int_equal(held(), 0);
}

TEST_WITH(first_in_first_stolen_last_in_first_popped, setup, teardown)
{
	magazine_make_empty(m, 1);
	for (uint32_t object = 1; object <= 5; object++)
		assert_true(magazine_push(m, SLOTS, object));
	assert_int_equal(take(), 1);
	assert_int_equal(magazine_pop(m, SLOTS, false), 5);
	assert_int_equal(take(), 2);
	assert_int_equal(magazine_pop(m, SLOTS, true), 4);
	assert_int_equal(held(), 1);
	assert_int_equal(magazine_pop(m, SLOTS, false), 3);
	assert_int_equal(held(), 0);
}

/* The owner takes the last one by CAS, brings the magazine home, and puts other objects at the same places. */
TEST_WITH(thief_with_an_old_note_takes_nothing, setup, teardown)
{
	magazine_make_empty(m, 1);
	assert_true(magazine_push(m, SLOTS, 1));
	uint64_t note = atomic_load(&m->top);

	assert_int_equal(magazine_pop(m, SLOTS, true), 1);
	assert_true(magazine_push(m, SLOTS, 2));
	assert_true(magazine_push(m, SLOTS, 3));
	assert_int_equal(magazine_take(m, SLOTS, note, BORN), 0);
	assert_int_equal(held(), 2);
	note = atomic_load(&m->top);
	assert_int_equal(take(), 2);
	assert_int_equal(take(), 3);
	assert_true(magazine_push(m, SLOTS, 4));
	assert_int_equal(magazine_take(m, SLOTS, note, BORN), 0);
	assert_int_equal(held(), 1);
}

/* An empty magazine comes home at any position; pushes stay counted, and top grows. */
TEST_WITH(empty_magazine_comes_home_at_any_position, setup, teardown)
{
	for (uint64_t start = 0; start < 2 * POSITIONS; start += POSITIONS > 4096 ? 61 : 1) {
		const uint64_t at = start + (UINT64_C(7) << 40);

		empty_at(at);
		atomic_store(&m->bottom, bottom_pushed(atomic_load(&m->bottom), 0) + 5 * POSITIONS);
		magazine_go_home(m);
		assert_true(magazine_is_home(m, SLOTS));
		assert_int_equal(held(), 0);
		assert_int_equal(LFPOOL_POSITION_(atomic_load(&m->bottom)), LFPOOL_HOME_);
		assert_true(atomic_load(&m->top) >= at);
		assert_int_equal(magazine_pushes(atomic_load(&m->bottom)), 5);
	}
}

/* It leaves home only for places that thieves have emptied.  It is not at home until it has lost the objects beyond
 * its end, and hits never see it meanwhile. */
TEST_WITH(magazine_leaves_home_and_returns, setup, teardown)
{
	make_full();
	assert_int_equal(take(), BORN);
	assert_int_equal(take(), BORN + 1);
	assert_true(magazine_is_home(m, SLOTS));
	assert_false(magazine_push(m, SLOTS, 1));
	magazine_push_round(m, SLOTS, 1);
	assert_false(magazine_is_home(m, SLOTS));
	magazine_push_round(m, SLOTS, 2);
	assert_int_equal(held(), SLOTS);
	assert_int_equal(magazine_pop(m, SLOTS, true), 2);
	assert_false(magazine_is_home(m, SLOTS));
	assert_int_equal(magazine_pop(m, SLOTS, true), 1);
	assert_true(magazine_is_home(m, SLOTS));
	for (uint32_t i = SLOTS; i > 2; i--)
		assert_int_equal(magazine_pop(m, SLOTS, true), BORN + i - 1);
	assert_int_equal(held(), 0);
	assert_int_equal(LFPOOL_POSITION_(atomic_load(&m->bottom)), LFPOOL_HOME_);
}

/* H7: a bottom of 0 means "full" only before it was made. */
TEST_WITH(bottom_0_means_full_only_in_an_unmade_magazine, setup, teardown)
{
	magazine_make_empty(m, 1);
	atomic_store(&m->top, UINT64_C(1) << 40);
	atomic_store(&m->bottom, 0);
	assert_int_equal(held(), 0);
	assert_int_equal(take(), 0);
}

TEST_WITH(positions_pass_16_and_32_bits, setup, teardown)
{
	static const uint64_t starts[] = {65536 - 3, (UINT64_C(1) << 32) - 3, (UINT64_C(1) << 48) - 3,
					  UINT64_MAX - 200};

	for (size_t s = 0; s < COUNT(starts); s++) {
		uintptr_t next_in = 1, next_out = 1;
		uint64_t pushes = 0;

		empty_at(starts[s]);
		/* Held objects as a queue: in the order of their acquires. */
		for (int round = 0; round < 40; round++) {
			while (push_anywhere(next_in)) {
				next_in++;
				pushes++;
			}
			assert_int_equal(next_in - next_out, SLOTS);
			assert_int_equal(magazine_pushes(atomic_load(&m->bottom)), pushes & LOW_BITS(PUSHES_BITS));
			for (int i = 0; i < 3; i++)
				assert_int_equal(take(), next_out++);
		}
	}
}

RUN_TESTS()
