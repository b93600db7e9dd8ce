/* SPDX-License-Identifier: MIT */
/* test: threads */
/* unit_order.c - the least candidate (evict/order.h): compared with a search of all slots, after any history; and
 * with threads that change ranks at the same time, no candidate that stays is overlooked. */
#include "evict/order.h"

#include "../support/support.h"
#include "../support/workers.h"

#include <stdatomic.h>

static struct arena arena;
static struct order *order;
static void *room;

static void open_order(size_t slots, bool (*before)(void *, uint64_t, uint64_t))
{
	const struct arena_plan plan = {
		.object_size = 8, .object_alignment = 8, .capacity = slots, .reserved = slots, .room_bytes = 64};
	const lfpool_config_t config = {.max_capacity = slots, .before = before, .evict = LFPOOL_EVICT_LESS};

	REQUIRE((room = arena_open(&arena, &plan)));
	REQUIRE(order_open(&order, &config, &arena) == LFPOOL_OK);
}

static void close_order(void)
{
	order_close(order);
	arena_close(room, arena.mapped_bytes);
}

static bool is_active(uint32_t slot)
{
	return arena_is_active(&arena, slot);
}

static void unpin(uint32_t slot)
{
	bool ended;
	const uint64_t before = arena_unpin(&arena, slot, arena_generation(&arena, slot), &ended);

	REQUIRE(generation_pins(before) && !ended);
	if (generation_pins(before) == 1)
		order_lower(order, slot);
}

static void enter(uint32_t slot, uint64_t priority)
{
	arena_activate(&arena, slot);
	order_enter(order, slot, (struct rank){priority, order_stamp(order)});
	REQUIRE(arena_mark(&arena, slot, GENERATION_CANDIDATE + GENERATION_PIN));
	unpin(slot);
}

static void pin(uint32_t slot)
{
	REQUIRE(arena_pin(&arena, slot, arena_generation(&arena, slot)));
}

static void set(uint32_t slot, uint64_t priority)
{
	pin(slot);
	order_set_priority(order, slot, priority);
	unpin(slot);
}

/* Looks at all slots. */
static uint32_t plain_least(size_t slots)
{
	uint32_t least = SLOT_NONE;

	for (uint32_t slot = 1; slot <= slots; slot++) {
		const uint64_t word = arena_generation(&arena, slot);
		const uint64_t *key = (void *)order->level[0].priority, *stamp = (void *)order->level[0].stamp;

		if (generation_phase(word) != GENERATION_CANDIDATE || generation_pins(word))
			continue;
		const uint64_t a = key[slot - 1], b = least ? key[least - 1] : 0;
		const bool first = order->before ? order->before(NULL, a, b) : a < b;
		const bool later = order->before ? order->before(NULL, b, a) : b < a;

		if (!least || first || (!later && stamp[slot - 1] < stamp[least - 1]))
			least = slot;
	}
	return least;
}

static void require_least(size_t slots)
{
	const struct least least = order_least(order);

	REQUIRE(least.slot == plain_least(slots));
	if (least.slot)
		REQUIRE(least.word == arena_generation(&arena, least.slot) &&
			least.rank.priority == order_priority(order, least.slot));
}

static bool by_low_digits_down(void *context, uint64_t a, uint64_t b)
{
	(void)context;
	return a % 1000 / 7 > b % 1000 / 7;
}

static void change(struct random *r, uint32_t slot, uint32_t range, bool *pinned)
{
	const uint32_t what = random_below(r, 10);

	if (!is_active(slot))
		enter(slot, random_below(r, range));
	else if (*pinned || what == 0)
		(*pinned ? unpin : pin)(slot), *pinned = !*pinned;
	else if (what == 1)
		REQUIRE(arena_unmark(&arena, slot, arena_generation(&arena, slot)));
	else
		set(slot, random_below(r, range));
}

TEST(the_least_of_all_candidates_whatever_happened_before)
{
	static const size_t counts[] = {1, 2, 31, 32, 33, 200, 511, 513, 9000};
	struct random r = random_for(test_seed("order"), 0);

	for (size_t c = 0; c < COUNT(counts) * 4; c++) {
		const size_t slots = counts[c / 4];
		const uint32_t range = c % 2 ? 5 : UINT32_MAX;
		bool *pinned = calloc(slots + 1, sizeof(*pinned));

		REQUIRE(pinned);
		open_order(slots, c / 2 % 2 ? by_low_digits_down : NULL);
		require_least(slots);
		for (int i = 0; i < TIMES(3000, 300); i++) {
			const struct least least = order_least(order);
			uint32_t slot = 1 + random_below(&r, (uint32_t)slots);

			if (least.slot && random_below(&r, 3) == 0)
				REQUIRE(arena_unmark(&arena, slot = least.slot, least.word));
			change(&r, slot, range, &pinned[slot]);
			require_least(slots);
			size_t where;

			assert_null(order_check(order, &where));
		}
		close_order();
		free(pinned);
	}
}

/* ---- Threads ---- */

enum { SHARED_SLOTS = 640, WORKERS = 3 };

/* Each thread has its own slots.  One slot is raised and lowered: while it is low, no search may return a higher
 * rank. */
static void go_up_and_down(struct worker *me)
{
	const uint32_t mine = SHARED_SLOTS / WORKERS, first = 1 + mine * me->number;

	for (int i = 0; i < TIMES(20000, 2000); i++) {
		const uint32_t slot = first + random_below(&me->random, mine);
		const uint64_t low = random_below(&me->random, 1000);

		set(slot, low);
		REQUIRE(order_least(order).rank.priority <= low);
		set(slot, 1000 + random_below(&me->random, 100000));
		(void)order_least(order);
	}
}

TEST(search_misses_no_candidate_that_stays)
{
	size_t where;

	open_order(SHARED_SLOTS, NULL);
	for (uint32_t slot = 1; slot <= SHARED_SLOTS; slot++)
		enter(slot, 100000);
	(void)workers_run(WORKERS, go_up_and_down, NULL, test_seed("overlooked"));
	assert_null(order_check(order, &where));
	require_least(SHARED_SLOTS);
	close_order();
}

RUN_TESTS()
