/* SPDX-License-Identifier: MIT */
/*
 * unit_arena.c - address to slot and back, address to state, exact for every stride; and the generations.
 *
 * Two claims are arithmetic.  arena_slot_of() is in 1 .. slots exactly when p is the start of an object.  The test in
 * a hit, lfpool_is_active_at_(), accepts exactly the starts of active objects, and reads no word beyond the states.
 * The tests compare them with a division.
 */
#include "../support/support.h"

#include "core/arena.h"
#include "os/os.h"

static struct arena arena;

static void *opened_behind(size_t front, size_t size, size_t alignment, size_t capacity)
{
	void *room = arena_open(&arena, &(struct arena_plan){.room_bytes = 100,
							     .object_size = size,
							     .object_alignment = alignment,
							     .front_bytes = front,
							     .capacity = capacity,
							     .reserved = capacity});

	assert_non_null(room);
	/* The state of slot 1, the first of a chunk, begins a pair of lines; so does the demand word. */
	assert_int_equal((uintptr_t)arena_state(&arena, 1) % CACHE_LINE_PAIR, 0);
	assert_int_equal((uintptr_t)arena.wanted % CACHE_LINE_PAIR, 0);
	return room;
}

static void *opened(size_t size, size_t alignment, size_t capacity)
{
	return opened_behind(0, size, alignment, capacity);
}

/* The same by a division. */
static lfpool_status_t by_division(uintptr_t address, uint32_t *slot_out)
{
	uintptr_t offset = address - (arena.zero + arena.stride);

	if (offset >= arena.slots * arena.stride)
		return LFPOOL_E_FOREIGN;
	if (offset % arena.stride)
		return LFPOOL_E_INTERIOR;
	*slot_out = (uint32_t)(offset / arena.stride) + 1;
	return LFPOOL_OK;
}

/* Would the fast path of a release accept it? */
static bool is_hit(uintptr_t address)
{
	const void *object = (const void *)address;

	return lfpool_is_active_at_(&arena.face, arena.face.state, lfpool_granule_of_(&arena.face, object), object);
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
		/* With 32-bit addresses, as many as fit into a part of them. */
		const size_t most = SIZE_MAX / 32 / size;
		size_t capacity = 1 + random_below(&r, most < 100000 ? (uint32_t)most : 100000);
		void *room = opened(size, 1, capacity);

		compare_around(arena.zero);
		compare_around(arena.zero + arena.stride);
		compare_around(arena.zero + (uintptr_t)(capacity + 1) * arena.stride);
		for (int i = 0; i < 200; i++) {
			compare_around(arena.zero + (uintptr_t)random_below(&r, (uint32_t)capacity + 2) * arena.stride);
			compare_at((uintptr_t)random_next(&r));
			/* Multiples of the stride far outside, including those that wrap modulo 2^64. */
			compare_at(arena.zero + (uintptr_t)random_next(&r) * arena.stride);
		}
		arena_close(room, arena.mapped_bytes);
	}
}

/* Every address from one stride before the first object to one stride behind the last, for every stride up to 4096,
 * and for every offset of the first object in its granule; with all objects active, and with one of them free. */
TEST(a_hit_accepts_the_starts_of_active_objects_only)
{
	enum { OBJECTS = 3 };

	for (size_t stride = 1; stride <= 4096; stride += TIMES(1, 7)) {
		void *room = opened_behind(stride % 5 * (stride / 16), stride - stride % 5 * (stride / 16), 1, OBJECTS);
		const size_t step = arena.stride;
		const uint32_t idle = 1 + (uint32_t)(stride % OBJECTS);

		for (uint32_t slot = 1; slot <= OBJECTS; slot++)
			arena_activate(&arena, slot);
		for (size_t at = 0; at < (OBJECTS + 2) * step; at++) {
			const bool starts = at % step == 0 && at / step >= 1 && at / step <= OBJECTS;

			REQUIRE(is_hit(arena.zero + at) == starts);
		}
		REQUIRE(arena_leave_active(&arena, idle, false, GENERATION_RELEASED) == LEAVE_NOW);
		REQUIRE(arena_mark(&arena, idle % OBJECTS + 1, GENERATION_LIVE));
		for (uint32_t slot = 1; slot <= OBJECTS; slot++)
			REQUIRE(is_hit((uintptr_t)arena_object(&arena, slot)) ==
				(slot != idle && slot != idle % OBJECTS + 1));
		arena_close(room, arena.mapped_bytes);
	}
}

/* The word behind the states is not read, even if it equals the address. */
TEST(a_hit_reads_no_word_beyond_the_states)
{
	for (size_t stride = 8; stride <= 4096; stride += 72) {
		void *room = opened(stride, 8, 5);

		/* Generations follow the states. */
		const uintptr_t granule = (uintptr_t)arena.generation / sizeof(uintptr_t) -
					  (uintptr_t)arena.face.state / sizeof(uintptr_t);
		const uintptr_t address = (arena.face.first + granule) << arena.face.grain;

		assert_true(granule >= arena.face.granules);
		store_relaxed((_Atomic(uintptr_t) *)(void *)arena.generation, address);
		assert_false(is_hit(address));
		assert_false(is_hit(0));
		assert_false(is_hit(UINTPTR_MAX));
		arena_close(room, arena.mapped_bytes);
	}
}

/* 8 to 16 bytes apart on a 64-bit processor. */
TEST(states_are_one_or_two_words_apart)
{
	enum { OBJECTS = 1000 };
	struct random r = {2027};

	print_message("seed 2027\n");
	for (size_t size = 1; size <= MIB; size = size < 4200 ? size + 1 : size + 1 + random_below(&r, 20000)) {
		void *room = opened(size, size % 2 ? 1 : 2, OBJECTS);
		uintptr_t before = (uintptr_t)arena_state(&arena, 1);

		for (uint32_t slot = 2; slot <= OBJECTS; slot++) {
			const uintptr_t at = (uintptr_t)arena_state(&arena, slot);

			REQUIRE(at - before == sizeof(uintptr_t) || at - before == 2 * sizeof(uintptr_t));
			before = at;
		}
		assert_true(before < (uintptr_t)&arena.face.state[arena.face.granules]);
		for (uintptr_t granule = 0; granule < arena.face.granules; granule++) {
			const uint32_t slot = arena_slot_in(&arena, granule);
			const uintptr_t begins = lfpool_granule_of_(&arena.face, arena_object(&arena, slot));

			REQUIRE(begins == granule || begins + 1 == granule);
		}
		arena_close(room, arena.mapped_bytes);
	}
}

#if SIZE_MAX > UINT32_MAX
TEST(addresses_of_slots_around_2_31_are_exact)
{
	void *room = opened(24, 8, (size_t)1 << 31);

	compare_around(arena.zero + ((uintptr_t)1 << 31) * arena.stride);
	compare_around((uintptr_t)arena_object(&arena, UINT32_C(1) << 31));
	compare_around(arena.zero + (((uintptr_t)1 << 31) + 1) * arena.stride);
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
		/* A second mark changes nothing. */
		assert_int_equal(arena_mark(&arena, 1, GENERATION_LIVE), marked * GENERATION_ONE + GENERATION_LIVE);
		assert_int_equal(arena_mark(&arena, 1, GENERATION_LIVE), marked * GENERATION_ONE + GENERATION_LIVE);
		assert_int_equal(load_relaxed(arena_state(&arena, 1)), LFPOOL_MARKED_);
		assert_true(arena_is_active(&arena, 1));
		/* Exactly one of several releases succeeds, of any kind. */
		if (marked)
			assert_int_equal(arena_leave_active(&arena, 1, marked == 2, GENERATION_RELEASED), LEAVE_NOW);
		else
			assert_true(arena_unmark(&arena, 1, marked * GENERATION_ONE + GENERATION_LIVE));
		assert_int_equal(arena_leave_active(&arena, 1, false, GENERATION_RELEASED), LEAVE_REFUSED);
		assert_int_equal(arena_leave_from(&arena, 1, LFPOOL_MARKED_, GENERATION_RELEASED), LEAVE_REFUSED);
		assert_false(arena_unmark(&arena, 1, marked * GENERATION_ONE + GENERATION_LIVE));
		assert_int_equal(load_relaxed(arena_state(&arena, 1)), 0);
		assert_int_equal(arena_generation(&arena, 1), (marked + 1) * GENERATION_ONE);
		assert_int_equal(arena_mark(&arena, 1, GENERATION_LIVE), 0);
	}
	/* Other slots are unchanged. */
	assert_int_equal(arena_generation(&arena, 2), 0);
	arena_close(room, arena.mapped_bytes);
}

/* Where pools of all colours begin: offsets within the page, in lines; and the largest mapping. */
struct spread {
	uint64_t rooms, objects;
	size_t most;
};

static void open_in_colour(struct spread *spread, const struct arena_plan *plan)
{
	char *room = arena_open(&arena, plan);

	assert_non_null(room);
	const uintptr_t first = (uintptr_t)arena_object(&arena, 1);
	const size_t stride = arena.stride;

	assert_int_equal((uintptr_t)room % CACHE_LINE_PAIR + first % plan->object_alignment, 0);
	/* Every byte of the room and of the objects is usable, and the states use other bytes. */
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

/* Pools of one configuration do not compete for the same cache lines. */
TEST(colours_spread_pools_over_their_pages)
{
	const struct spread one = spread_of(64, false, 1), all = spread_of(64, false, 100);

	assert_int_equal(__builtin_popcountll(all.rooms), 32);
	assert_int_equal(__builtin_popcountll(all.objects), 64);
	/* At most one page for the room, and one for the objects. */
	assert_in_range(all.most - one.most, 0, 2 * os_page_bytes());
	assert_int_equal(__builtin_popcountll(spread_of(1024, false, 100).objects), 4);
	/* On pages that the program may count. */
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
	assert_int_equal(load_relaxed(arena_state(&arena, 1)), 0);
	arena_close(room, arena.mapped_bytes);
}

RUN_TESTS()
