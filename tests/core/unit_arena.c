/* SPDX-License-Identifier: MIT */
/*
 * unit_arena.c - address to slot and back: exact for every stride; the state word.
 *
 * The claim to test is arithmetic: lfpool_slot_of_() lies in 1 .. slots exactly when p is the start of an object.  The
 * witness divides.
 */
#include "../support/support.h"

#include "core/arena.h"
#include "os/os.h"

static struct arena arena;

static void *opened(size_t size, size_t alignment, size_t capacity)
{
	void *room = arena_open(&arena, &(struct arena_plan){.room_bytes = 100,
							     .object_size = size,
							     .object_alignment = alignment,
							     .capacity = capacity,
							     .reserved = capacity});

	assert_non_null(room);
	/* The state of slot 1, with which a chunk begins, begins a pair of lines; so does the word of demand. */
	assert_int_equal((uintptr_t)&arena.face.state[1] % CACHE_LINE_PAIR + (uintptr_t)arena.wanted % CACHE_LINE_PAIR,
			 0);
	return room;
}

/* What division says of the same address. */
static lfpool_status_t by_division(uintptr_t address, uint32_t *slot_out)
{
	uintptr_t offset = address - (arena.face.zero + arena.face.stride);

	if (offset >= arena.face.slots * arena.face.stride)
		return LFPOOL_E_FOREIGN;
	if (offset % arena.face.stride)
		return LFPOOL_E_INTERIOR;
	*slot_out = (uint32_t)(offset / arena.face.stride) + 1;
	return LFPOOL_OK;
}

static void compare_at(uintptr_t address)
{
	uint32_t slot = 0, expected = 0;
	lfpool_status_t status = arena_locate(&arena, (const void *)address, &slot);

	assert_int_equal(status, by_division(address, &expected));
	assert_int_equal(slot, expected);
}

static void compare_around(uintptr_t address)
{
	for (uintptr_t i = 0; i < 40; i++)
		compare_at(address - 20 + i);
}

TEST(every_stride_is_exact)
{
	struct random r = {2026};

	print_message("seed 2026\n");
	for (size_t size = 1; size <= MIB; size = size < 3000 ? size + 1 : size + 1 + random_below(&r, 20000)) {
		/* With addresses of 32 bits, as many as a part of them has room for. */
		const size_t most = SIZE_MAX / 32 / size;
		size_t capacity = 1 + random_below(&r, most < 100000 ? (uint32_t)most : 100000);
		void *room = opened(size, 1, capacity);

		compare_around(arena.face.zero);
		compare_around(arena.face.zero + arena.face.stride);
		compare_around(arena.face.zero + (uintptr_t)(capacity + 1) * arena.face.stride);
		for (int i = 0; i < 200; i++) {
			compare_around(arena.face.zero +
				       (uintptr_t)random_below(&r, (uint32_t)capacity + 2) * arena.face.stride);
			compare_at((uintptr_t)random_next(&r));
			/* Multiples of the stride far outside, and the same modulo 2^64. */
			compare_at(arena.face.zero + (uintptr_t)random_next(&r) * arena.face.stride);
		}
		arena_close(room, arena.mapped_bytes);
	}
}

#if SIZE_MAX > UINT32_MAX
TEST(two_to_the_31_slots)
{
	void *room = opened(24, 8, (size_t)1 << 31);

	compare_around(arena.face.zero + ((uintptr_t)1 << 31) * arena.face.stride);
	compare_around((uintptr_t)arena_object(&arena, UINT32_C(1) << 31));
	compare_around(arena.face.zero + (((uintptr_t)1 << 31) + 1) * arena.face.stride);
	arena_close(room, arena.mapped_bytes);
}
#endif

TEST(generation_counts_marked_uses)
{
	void *room = opened(8, 8, 3);

	for (uint64_t marked = 0; marked < 3; marked++) {
		for (int plain = 0; plain < 2; plain++) {
			arena_activate(&arena, 1);
			assert_int_equal(arena_leave_active(&arena, 1, plain, GENERATION_RELEASED), LEAVE_NOW);
			assert_int_equal(arena_generation(&arena, 1), marked * GENERATION_ONE);
		}
		arena_activate(&arena, 1);
		/* Twice is once. */
		assert_int_equal(arena_mark(&arena, 1, GENERATION_LIVE), marked * GENERATION_ONE + GENERATION_LIVE);
		assert_int_equal(arena_mark(&arena, 1, GENERATION_LIVE), marked * GENERATION_ONE + GENERATION_LIVE);
		assert_int_equal(load_relaxed(&arena.face.state[1]), LFPOOL_MARKED_);
		assert_true(arena_is_active(&arena, 1));
		/* Of several releases one succeeds, however they come. */
		if (marked)
			assert_int_equal(arena_leave_active(&arena, 1, marked == 2, GENERATION_RELEASED), LEAVE_NOW);
		else
			assert_true(arena_unmark(&arena, 1, marked * GENERATION_ONE + GENERATION_LIVE));
		assert_int_equal(arena_leave_active(&arena, 1, false, GENERATION_RELEASED), LEAVE_REFUSED);
		assert_int_equal(arena_leave_from(&arena, 1, LFPOOL_MARKED_, GENERATION_RELEASED), LEAVE_REFUSED);
		assert_false(arena_unmark(&arena, 1, marked * GENERATION_ONE + GENERATION_LIVE));
		assert_int_equal(load_relaxed(&arena.face.state[1]), 0);
		assert_int_equal(arena_generation(&arena, 1), (marked + 1) * GENERATION_ONE);
		assert_int_equal(arena_mark(&arena, 1, GENERATION_LIVE), 0);
	}
	/* Other slots are none the wiser. */
	assert_int_equal(arena_generation(&arena, 2), 0);
	arena_close(room, arena.mapped_bytes);
}

/* Where pools of all colours begin: offsets in the page, in lines; and the largest mapping. */
struct spread {
	uint64_t rooms, objects;
	size_t most;
};

static void open_in_colour(struct spread *spread, const struct arena_plan *plan)
{
	char *room = arena_open(&arena, plan);

	assert_non_null(room);
	const uintptr_t first = (uintptr_t)arena_object(&arena, 1);
	const size_t stride = arena.face.stride;

	assert_int_equal((uintptr_t)room % CACHE_LINE_PAIR + first % plan->object_alignment, 0);
	/* Every byte of the room and of the objects can be used, and the states are on other bytes. */
	memset(room, 0xff, plan->room_bytes);
	memset(arena_object(&arena, 1), 0xff, plan->capacity * stride);
	assert_true(arena_extend(&arena, plan->capacity, plan->reserved));
	memset(arena_object(&arena, (uint32_t)plan->reserved), 0xff, stride);
	assert_false(arena_is_active(&arena, 1) || arena_is_active(&arena, (uint32_t)plan->reserved));
	compare_around(first);
	compare_around(first + plan->reserved * stride);
	spread->rooms |= UINT64_C(1) << (uintptr_t)room % 4096 / 64;
	spread->objects |= UINT64_C(1) << first % 4096 / 64;
	spread->most = arena.mapped_bytes > spread->most ? arena.mapped_bytes : spread->most;
	arena_close(room, arena.mapped_bytes);
}

static struct spread spread_of(size_t alignment, bool plain, size_t colours)
{
	struct spread spread = {0};

	for (size_t colour = 0; colour < colours; colour++)
		open_in_colour(&spread, &(struct arena_plan){.room_bytes = 5000,
							     .object_size = 64,
							     .object_alignment = alignment,
							     .plain_stride = plain,
							     .capacity = 100,
							     .reserved = 200,
							     .colour = colour});
	return spread;
}

/* Pools of one configuration do not compete for the same lines of a cache. */
TEST(colours_spread_pools_over_their_pages)
{
	const struct spread one = spread_of(64, false, 1), all = spread_of(64, false, 100);

	assert_int_equal(__builtin_popcountll(all.rooms), 32);
	assert_int_equal(__builtin_popcountll(all.objects), 64);
	/* A page for the room at most, and one for the objects. */
	assert_in_range(all.most - one.most, 0, 2 * os_page_bytes());
	assert_int_equal(__builtin_popcountll(spread_of(1024, false, 100).objects), 4);
	/* On pages that the program counts. */
	assert_int_equal(spread_of(8192, false, 100).objects, 1);
	assert_int_equal(spread_of(64, true, 100).objects, 1);
}

TEST(a_generation_wraps_without_a_trace)
{
	void *room = opened(8, 8, 3);

	store_relaxed(&arena.generation[1], UINT64_MAX - (GENERATION_ONE - 1));
	arena_activate(&arena, 1);
	const uint64_t word = arena_mark(&arena, 1, GENERATION_LIVE);

	assert_true(word == UINT64_MAX - (GENERATION_ONE - 1) + GENERATION_LIVE && arena_pin(&arena, 1, word));
	assert_int_equal(arena_leave(&arena, 1, word, GENERATION_RELEASED), LEAVE_LATER);
	bool ended;

	assert_true(arena_unpin(&arena, 1, arena_generation(&arena, 1), &ended) ==
		    word - GENERATION_LIVE + GENERATION_RELEASED + GENERATION_PIN);
	assert_true(ended);
	assert_int_equal(arena_generation(&arena, 1), 0);
	assert_int_equal(load_relaxed(&arena.face.state[1]), 0);
	arena_close(room, arena.mapped_bytes);
}

RUN_TESTS()
