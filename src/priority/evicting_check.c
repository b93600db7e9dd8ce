/* SPDX-License-Identifier: MIT */
/*
 * evicting_check.c - lfpool_priority_check(): the invariants of an evicting pool, evaluated.
 *
 * Idea         In this order, so that nothing is followed before it was checked: the pool of records; the stack of free
 *              slots; each slot, and its record; each node, and its record; then the contenders, one by one, against
 *              each node above them (F4).  No call is under way, so every load here is relaxed: the caller's own
 *              synchronisation orders it.
 */
#include "priority/plain.h"

#include "api/check.h"
#include "object/debugging.h"

struct evicting_walk {
	const lfpool_priority_t *pool;
	const struct tournament *tournament;
	struct check check; /* its bits: slots on the stack; records of the pool that a word names */
	size_t named;       /* so many of these                                                    */
	size_t where;
};

/* ---- Records ---- */

static void read_record(const struct evicting_walk *w, const struct place *p, uint32_t number, struct contender *out)
{
	const struct record *r = place_record(&w->tournament->spares, p, number);

	out->key = load_relaxed(&r->key);
	out->stamp = load_relaxed(&r->stamp);
	out->name = load_relaxed(&r->name);
	out->slot = name_slot(out->name);
}

/* The word of a place names this record; 0 is none. */
static const char *meet(struct evicting_walk *w, const struct place *p, uint32_t number)
{
	const struct spares *s = &w->tournament->spares;

	for (uint32_t i = 0; i < OWN_RECORDS; i++)
		if (load_relaxed(&p->used[i]) != (number == i + 1))
			return "PL1: a record of a place is in use and not named, or named and not in use";
	if (number <= OWN_RECORDS)
		return NULL;
	if (number - OWN_RECORDS > lfpool_capacity(s->pool))
		return "PL2: a word names a record that there is not";
	if (!lfpool_in_use(s->pool, place_record(s, p, number)))
		return "PL1: a word names a record that is not in use";
	if (check_mark(w->check.others, number - OWN_RECORDS))
		return "PL1: two words name one record";
	w->named++;
	return NULL;
}

/* ---- Slots ---- */

static const char *walk_stack(struct evicting_walk *w)
{
	const struct free_slots *f = &w->pool->free;
	uint32_t depth = 0, slot = tagged_number(load_relaxed(&f->head));

	while (slot) {
		w->where = (size_t)slot - 1;
		if (slot > w->pool->tournament.count)
			return "FS2: the stack of free slots names a slot that there is not";
		if (check_mark(w->check.slots, slot))
			return "FS2: a slot is on the stack twice";

		const uint64_t link = free_slots_link(f, slot);
		const uint32_t above = depth;

		depth = link_depth(link);
		slot = link_below(link);
		if ((above && depth != above - 1) || (!slot && depth != 1))
			return "FS2: a slot on the stack does not say how many lie from it down";
	}
	return NULL;
}

static const char *walk_quarantine(struct evicting_walk *w)
{
	uint32_t place = 0, slot;

	while ((slot = debug_next_held_back(lifecycle_debug(w->pool->lifecycle), &place))) {
		w->where = (size_t)slot - 1;
		if (check_mark(w->check.slots, slot))
			return "Q2: a slot in quarantine is there twice, or on the stack as well";
	}
	return NULL;
}

static const char *walk_slot(struct evicting_walk *w, uint32_t slot)
{
	const struct place *p = place_of(w->pool, slot);
	const uint64_t state = load_relaxed(&p->word);
	const uint32_t record = state_record(state);
	const bool is_free = !(state & (STATE_ACTIVE | STATE_PINS_MASK));
	struct contender c;

	w->where = (size_t)slot - 1;
	if (is_active(state) && state_pins(state) > PINS_MAX)
		return "P4: an object has more pins than it can have";
	if (!is_active(state) && (state & STATE_PINS_MASK) == STATE_TAKEN)
		return "P4: a slot is taken, though no call is under way";
	if (is_free != check_marked(w->check.slots, slot))
		return is_free ? "P4: a free slot is not on the stack" : "P4: a slot that is in use is on the stack";

	const char *violated = meet(w, p, record);

	if (violated || is_free)
		return violated;
	if (!record)
		return "P4: a slot that is in use has no record";
	read_record(w, p, record, &c);
	if (!(c.stamp & HANDLE_STAMP_MASK) || c.stamp > load_relaxed(&w->pool->stamps))
		return "P4: an object has a stamp that no acquire took";
	if (w->pool->lifecycle && !lifecycle_is_built(w->pool->lifecycle, slot))
		return "K2: an object that is in use is not built";
	return NULL;
}

/* ---- Nodes ---- */

static uint32_t nodes_of(const struct tournament *t, uint32_t level)
{
	return (uint32_t)(((uint64_t)t->count + (UINT64_C(1) << FAN_SHIFT * (level + 1)) - 1) >> FAN_SHIFT * (level + 1));
}

static uint32_t node_above(uint32_t slot, uint32_t level)
{
	return (uint32_t)((uint64_t)(slot - 1) >> FAN_SHIFT * (level + 1));
}

/* What a node names. */
static struct contender name_at(const struct evicting_walk *w, uint32_t level, uint32_t index)
{
	const struct place *node = &w->tournament->nodes[w->tournament->level_at[level] + index];
	const uint32_t number = tagged_number(load_relaxed(&node->word));
	struct contender named = {0};

	if (number)
		read_record(w, node, number, &named);
	return named;
}

/* What the slot contends with.  False: it does not. */
static bool contends(const struct evicting_walk *w, uint32_t slot, struct contender *out)
{
	const struct place *p = place_of(w->pool, slot);
	const uint64_t state = load_relaxed(&p->word);

	if (!state_contends(state))
		return false;
	read_record(w, p, state_record(state), out);
	out->name = name_of(slot, state);
	out->slot = slot;
	return true;
}

static const char *walk_node(struct evicting_walk *w, uint32_t level, uint32_t index)
{
	const struct place *node = &w->tournament->nodes[w->tournament->level_at[level] + index];
	const uint32_t number = tagged_number(load_relaxed(&node->word));

	w->where = w->tournament->level_at[level] + index;

	const char *violated = meet(w, node, number);

	if (violated || !number)
		return violated;

	const struct contender named = name_at(w, level, index);
	struct contender c;

	if (!named.slot || named.slot > w->tournament->count || node_above(named.slot, level) != index)
		return "F6: a node names a slot that is not below it";
	if (contends(w, named.slot, &c) && c.name == named.name && (c.key != named.key || c.stamp != named.stamp))
		return "F6: a node has a current name, and another priority or age than the slot";
	return NULL;
}

static const char *walk_up(struct evicting_walk *w, uint32_t slot)
{
	struct contender c;

	w->where = (size_t)slot - 1;
	for (uint32_t level = 0; contends(w, slot, &c) && level < w->tournament->levels; level++) {
		const struct contender named = name_at(w, level, node_above(slot, level));

		if (goes_before(w->tournament, &c, &named))
			return "F4: what a node above a slot names comes after the slot";
	}
	return NULL;
}

static const char *walk(struct evicting_walk *w)
{
	const struct tournament *t = w->tournament;
	const char *violated = walk_stack(w);

	if (!violated)
		violated = walk_quarantine(w);
	for (uint32_t slot = 1; !violated && slot <= t->count; slot++)
		violated = walk_slot(w, slot);
	for (uint32_t level = 0; level < t->levels; level++)
		for (uint32_t i = 0; !violated && i < nodes_of(t, level); i++)
			violated = walk_node(w, level, i);
	for (uint32_t slot = 1; !violated && slot <= t->count; slot++)
		violated = walk_up(w, slot);
	if (violated)
		return violated;
	w->where = SIZE_MAX;
	return w->named == lfpool_active_count(t->spares.pool) ? NULL : "PL1: a record is in use, and no word names it";
}

const char *lfpool_priority_check(const lfpool_priority_t *pool, size_t *where_out)
{
	struct evicting_walk w = {.pool = pool, .tournament = &pool->tournament, .where = SIZE_MAX};
	const lfpool_t *records = pool->tournament.spares.pool;
	const char *violated = pool->backend ? plain_check(pool, &w.where) : lfpool_check(records, &w.where);

	if (!violated && !pool->backend && !check_open(&w.check, NULL, pool->tournament.count, lfpool_capacity(records), NULL))
		violated = CHECK_NO_MEMORY;
	if (!violated && !pool->backend) {
		violated = walk(&w);
		check_close(&w.check);
	}
	if (where_out)
		*where_out = violated ? w.where : SIZE_MAX;
	return violated;
}
