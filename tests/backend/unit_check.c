/* SPDX-License-Identifier: MIT */
/*
 * unit_check.c - lfpool_check(): each thing that can be wrong is made wrong once, and the right invariant is named.
 *
 * Idea         A damage is a function that changes a pool that was intact, and says what `where` must be.
 */
#include "../support/check_scene.h"

/* ---- The damages: each returns what `where` must be ---- */

static size_t free_object_active(struct scene *s)
{
	const uint32_t slot = entry_slot(s, first_of(s, 'f'), 1);

	STORE(state_of(s, slot), LFPOOL_ACTIVE);
	return slot - 1;
}

static size_t active_object_free(struct scene *s)
{
	STORE(state_of(s, slot_out(s)), 0);
	return slot_out(s) - 1;
}

static size_t slot_zero_active(struct scene *s)
{
	STORE(state_of(s, 0), LFPOOL_ACTIVE);
	return SIZE_MAX;
}

static size_t unused_state(struct scene *s)
{
	STORE(state_of(s, 33), 1);
	return 32;
}

static size_t entry_doubled(struct scene *s)
{
	const uint32_t slot = entry_slot(s, first_of(s, 'f'), 0);

	entry_set(s, first_of(s, 'f'), 1, object_of(s, slot));
	return slot - 1;
}

static size_t entry_zero(struct scene *s)
{
	entry_set(s, first_of(s, 'f'), 1, 0);
	return SIZE_MAX;
}

static size_t entry_foreign(struct scene *s)
{
	entry_set(s, first_of(s, 'f'), 1, object_of(s, CAPACITY + 1));
	return CAPACITY;
}

static size_t entry_interior(struct scene *s)
{
	entry_set(s, first_of(s, 'f'), 1, object_of(s, 2) + 1);
	return SIZE_MAX;
}

static size_t entry_never_used(struct scene *s)
{
	entry_set(s, first_of(s, 'f'), 1, object_of(s, CAPACITY));
	return CAPACITY - 1;
}

/* Gone from a magazine that may be partly filled. */
static size_t entry_lost(struct scene *s)
{
	struct lfpool_magazine *m = at(s, first_of(s, 'p'));
	const uint32_t slot = entry_slot(s, first_of(s, 'p'), 0);

	STORE(&m->top, LOAD(&m->top) + 1);
	return slot - 1;
}

static size_t full_not_full(struct scene *s)
{
	struct lfpool_magazine *m = at(s, first_of(s, 'f'));

	STORE(&m->top, LOAD(&m->top) + 1);
	return LOAD(&m->number);
}

/* As full_not_full(), but with thefts that would allow it; far too much is missing for the caches there are. */
static size_t full_all_empty(struct scene *s)
{
	STORE(&s->cache->counts.steals, 1000);
	for (uint32_t number = first_of(s, 'f'); number; number = below(s, number))
		STORE(&at(s, number)->top, LOAD(&at(s, number)->top) + SLOTS);
	return SIZE_MAX;
}

static size_t partial_full(struct scene *s)
{
	struct lfpool_magazine *m = at(s, first_of(s, 'p'));

	STORE(&m->bottom, LOAD(&m->top) + SLOTS);
	return LOAD(&m->number);
}

static size_t empty_not_empty(struct scene *s)
{
	struct lfpool_magazine *m = at(s, first_of(s, 'e'));

	STORE(&m->bottom, LOAD(&m->bottom) + LFPOOL_PUSHED);
	return LOAD(&m->number);
}

static size_t overfull(struct scene *s)
{
	struct lfpool_magazine *m = at(s, first_of(s, 'f'));

	STORE(&m->bottom, LOAD(&m->bottom) + LFPOOL_PUSHED);
	return LOAD(&m->number);
}

static size_t negative(struct scene *s)
{
	struct lfpool_magazine *m = at(s, first_of(s, 'e'));

	STORE(&m->top, LOAD(&m->top) + 1);
	return LOAD(&m->number);
}

static size_t in_two_stacks(struct scene *s)
{
	put_on(s, first_of(s, 'p'), first_of(s, 'f'));
	return first_of(s, 'f');
}

static size_t in_a_stack_and_a_cache(struct scene *s)
{
	STORE(&at(s, first_of(s, 'p'))->next, link_to(2, tagged_number(LOAD(&s->cache->current_word))));
	return tagged_number(LOAD(&s->cache->current_word));
}

static size_t in_two_caches(struct scene *s)
{
	const uint32_t number = tagged_number(LOAD(&s->cache->current_word));

	set_number(&s->given_up->previous, number);
	return number;
}

static size_t circle_of_one(struct scene *s)
{
	put_on(s, first_of(s, 'f'), first_of(s, 'f'));
	return first_of(s, 'f');
}

static size_t circle(struct scene *s)
{
	const uint32_t second = below(s, first_of(s, 'f')), third = below(s, second);

	REQUIRE(third);
	STORE(&at(s, third)->next, link_to(link_depth(LOAD(&at(s, third)->next)), second));
	return second;
}

static size_t chain_cut(struct scene *s)
{
	struct lfpool_magazine *m = at(s, first_of(s, 'f'));
	uint32_t lost = UINT32_MAX;

	for (uint32_t number = below(s, LOAD(&m->number)); number; number = below(s, number))
		lost = number < lost ? number : lost;
	STORE(&m->next, link_to(1, 0));
	return lost;
}

static size_t depth_of_the_top_wrong(struct scene *s)
{
	const uint32_t second = below(s, first_of(s, 'f'));

	STORE(&at(s, first_of(s, 'f'))->next, link_to(1, second));
	return second;
}

static size_t depth_of_another_wrong(struct scene *s)
{
	const uint32_t second = below(s, first_of(s, 'f'));

	STORE(&at(s, second)->next, LOAD(&at(s, second)->next) + link_to(1, 0));
	return second;
}

static size_t depth_of_the_last_wrong(struct scene *s)
{
	STORE(&at(s, first_of(s, 'p'))->next, link_to(2, 0));
	return first_of(s, 'p');
}

static size_t head_to_a_chunk_never_used(struct scene *s)
{
	set_number(&stack_of(s, 'p')->head, CHUNKS);
	return CHUNKS;
}

static size_t head_to_a_cache_never_born(struct scene *s)
{
	const uint32_t number = magazines_extra_number(&s->core->magazines, 0, 1);

	set_number(&stack_of(s, 'e')->head, number);
	return number;
}

static size_t head_to_nowhere(struct scene *s)
{
	set_number(&stack_of(s, 'p')->head, TAGGED_NUMBER_MAX);
	return TAGGED_NUMBER_MAX;
}

static size_t no_current(struct scene *s)
{
	set_number(&s->cache->current_word, 0);
	return 0;
}

static size_t current_exchanged(struct scene *s)
{
	const uint32_t current = tagged_number(LOAD(&s->cache->current_word));
	const uint32_t previous = tagged_number(LOAD(&s->cache->previous));

	set_number(&s->cache->current_word, previous);
	set_number(&s->cache->previous, current);
	return previous;
}

static size_t hand_full(struct scene *s)
{
	set_number(&s->given_up->in_transit, first_of(s, 'f'));
	return first_of(s, 'f');
}

static size_t misnumbered(struct scene *s)
{
	STORE(&at(s, first_of(s, 'f'))->number, LOAD(&at(s, first_of(s, 'f'))->number) + 1);
	return first_of(s, 'f');
}

static size_t claimed_twice(struct scene *s)
{
	STORE(&s->given_up->claimed, 2);
	return SIZE_MAX;
}

static size_t unborn_claimed(struct scene *s)
{
	uint32_t left;

	STORE(&cache_at(s->core, 0, &left)->claimed, 1);
	return SIZE_MAX;
}

static size_t uncounted_holds(struct scene *s)
{
	uint32_t left;

	set_number(&cache_at(s->core, LOT_CACHES - 1, &left)->previous, 1);
	return SIZE_MAX;
}

static size_t cache_of_another_pool(struct scene *s)
{
	s->cache->head.pool = NULL;
	return SIZE_MAX;
}

static size_t count_too_low(struct scene *s)
{
	STORE(&s->core->table.count, 1);
	return SIZE_MAX;
}

static size_t lot_without_magazines(struct scene *s)
{
	STORE(&s->core->magazines.extra_lot[3], (char *)s->core);
	return SIZE_MAX;
}

static size_t carved_too_many(struct scene *s)
{
	STORE(&s->core->depot.carved, CHUNKS + 1);
	return SIZE_MAX;
}

static size_t unused_chunk_touched(struct scene *s)
{
	STORE(&at(s, 9)->bottom, LFPOOL_PUSHED);
	return 9;
}

static size_t unused_chunk_inscribed(struct scene *s)
{
	STORE(&at(s, CHUNKS)->entry[1], 1);
	return CHUNKS;
}

static const struct damage {
	size_t (*commit)(struct scene *s);
	const char *named;
} damages[] = {
	{free_object_active, "A1: an object that is in use lies"},
	{active_object_free, "C1: a free slot lies nowhere"},
	{slot_zero_active, "A1: slot 0"},
	{unused_state, "A1: the state of a slot that was never used"},
	{entry_doubled, "C1: a free slot lies in two places"},
	{entry_zero, "H5:"},
	{entry_foreign, "H5:"},
	{entry_interior, "H5:"},
	{entry_never_used, "C1: a slot that was never used"},
	{entry_lost, "C1: a free slot lies nowhere"},
	{depth_of_the_top_wrong, "D5:"},
	{depth_of_another_wrong, "D5:"},
	{depth_of_the_last_wrong, "D5:"},
	{full_not_full, "D3:"},
	{full_all_empty, "G2: the stacks"},
	{partial_full, "D4: a magazine on a stack of partial"},
	{empty_not_empty, "D4: a magazine on a stack of empty"},
	{overfull, "H1:"},
	{negative, "H1:"},
	{in_two_stacks, "D1: a magazine is in two places"},
	{in_a_stack_and_a_cache, "D1: a magazine is in two places"},
	{in_two_caches, "D1: a magazine is in two places"},
	{circle_of_one, "D1: a stack of the depot runs in a circle"},
	{circle, "D1: a stack of the depot runs in a circle"},
	{chain_cut, "G2: a magazine is nowhere"},
	{head_to_a_chunk_never_used, "D1: a cache or a stack names"},
	{head_to_a_cache_never_born, "D1: a cache or a stack names"},
	{head_to_nowhere, "D1: a cache or a stack names"},
	{no_current, "D1: a cache or a stack names"},
	{current_exchanged, "C5: a cache does not work"},
	{hand_full, "C5: a cache has a magazine in transit"},
	{misnumbered, "G1: a magazine does not bear"},
	{claimed_twice, "T1:"},
	{unborn_claimed, "T3: a cache that was never born"},
	{uncounted_holds, "T2: a cache that is not counted"},
	{cache_of_another_pool, "T3: a cache does not know"},
	{count_too_low, "T2: the count"},
	{lot_without_magazines, "G1: of a lot"},
	{carved_too_many, "D2:"},
	{unused_chunk_touched, "H7:"},
	{unused_chunk_inscribed, "H7:"},
};

TEST(each_damage_is_named)
{
	for (size_t i = 0; i < COUNT(damages); i++) {
		struct scene s = scene_open(0);
		struct core intact = *s.core;
		size_t where = 12345;

		assert_null(lfpool_check(s.pool, &where));
		assert_true(where == SIZE_MAX);
		where = 12345;
		const size_t expected = damages[i].commit(&s);
		const char *violated = lfpool_check(s.pool, &where);

		if (!violated || where != expected || strncmp(violated, damages[i].named, strlen(damages[i].named)) != 0)
			fail_msg("damage %zu: expected \"%s\" at %zu, got \"%s\" at %zu", i, damages[i].named, expected,
				 violated ? violated : "nothing", where);
		/* What destroying it follows. */
		STORE(&s.core->depot.carved, LOAD(&intact.depot.carved));
		STORE(&s.core->table.count, LOAD(&intact.table.count));
		(void)lfpool_destroy(s.pool);
	}
}

RUN_TESTS()
