/* SPDX-License-Identifier: MIT */
/*
 * check.c - lfpool_check(): evaluates many of the invariants that the files of src/ name.
 *
 * Idea         A walk over the core finds the free slots.  All other slots that were ever handed out must be in use.
 *              The numbers in a damaged pool may be wrong, so the walk checks each number before it uses the number as
 *              an index.  The walk visits the caches, then the stacks of the depot, each magazine and its entries, the
 *              slots that are in no magazine, the objects of malloc mode, and the unused chunks.  The walk ends when it
 *              finds a magazine or a slot a second time, as in a circular list.  After the walk, check_sums() compares
 *              totals: the identity of lfpool_stats() must hold, and its sum of active and retired objects must be
 *              lfpool_active_count(), which does not read the states.  A check returns NULL, or the invariant that is
 *              violated; in that case `where` is the slot or the magazine.  Every load here is relaxed, because no call
 *              is under way: the caller's synchronisation orders the loads.
 * Steals       A magazine is full when it is pushed to a `full` stack, but a thief that noted the magazine earlier may
 *              still take objects from it there.  Each theft is counted, so all magazines on `full` stacks together
 *              lack no more objects than were ever stolen.  Together they also lack at most one magazine of objects per
 *              cache; docs/design.md, "Release never fails", relies on that.
 */
#include "api/api.h"

#include "core/cache.h"
#include "core/cold.h"
#include "evict/order.h"
#include "object/debugging.h"
#include "object/aside.h"
#include "object/lifecycle.h"
#include "object/quarantine.h"
#include "os/os.h"
#include "pool/heap.h"
#include "pool/open.h"
#include "pool/slots.h"
#include "retire/retired.h"
#include "waiting/waiters.h"

#include <string.h>

#define CHECK_NO_MEMORY "no memory for the check"

struct check {
	const struct arena *arena;
	size_t used; /* slots above this were never handed out */
	const struct core *core;
	unsigned char *slots, *others; /* one bit per slot; one bit per magazine              */
	bool of_heap;                  /* the bits are allocated for this check               */
	size_t where;
};

/* ---- Bits ---- */

static bool check_open(struct check *c, const struct core *core, size_t others, unsigned char *bits)
{
	const size_t used = census_used(core);
	const size_t bytes = check_bytes(used, others);

	*c = (struct check){.arena = &core->arena, .core = core, .used = used, .slots = bits, .of_heap = !bits};
	if (c->of_heap)
		c->slots = os_heap_aligned(_Alignof(max_align_t), bytes);
	if (!c->slots)
		return false;
	memset(c->slots, 0, bytes);
	c->others = c->slots + check_slot_bytes(used);
	return true;
}

static void check_close(struct check *c)
{
	if (c->of_heap)
		os_heap_free(c->slots);
}

static bool check_marked(const unsigned char *bits, size_t index)
{
	return bits[index / 8] >> index % 8 & 1;
}

/* Sets a bit; true if it was set before. */
static bool check_mark(unsigned char *bits, size_t index)
{
	const bool before = check_marked(bits, index);

	bits[index / 8] = (unsigned char)(bits[index / 8] | 1u << index % 8);
	return before;
}

/* ---- Slots ---- */

static const char *check_free(struct check *c, uint32_t slot)
{
	c->where = (size_t)slot - 1;
	if (slot < 1 || slot > c->arena->slots)
		return "H5: an entry that is listed as free names no slot";
	if (slot > c->used)
		return "C1: a slot that was never used is listed as free";
	if (check_mark(c->slots, slot))
		return "C1: a free slot is listed twice";
	if (arena_is_active(c->arena, slot))
		return "A1: an object in use is listed as free";
	return NULL;
}

/* Checks the slots in quarantine, and the slots that are set aside. */
static const char *check_held_back(struct check *c, const lfpool_t *pool)
{
	const char *violated = NULL;
	uint32_t place = 0, slot;

	while (!violated && pool->quarantine && (slot = quarantine_next(pool->quarantine, &place)))
		violated = check_free(c, slot);
	place = 0;
	while (!violated && pool->aside && (slot = aside_next(pool->aside, &place)))
		violated = check_free(c, slot);
	return violated;
}

/* Checks a list of `count` slots from `first` on.  The link of the last slot must be SLOT_NONE. */
static const char *check_retired_list(struct check *c, const struct retired *retired, uint32_t first, uint32_t count)
{
	uint32_t slot = first;

	for (uint32_t left = count; left; left--) {
		const char *violated = check_free(c, slot);

		if (violated)
			return violated;
		if (!retired_has(retired, slot))
			return "R1: the link of a retired slot does not mark it as retired";
		slot = retired_below(retired, slot);
	}
	return slot ? "R1: a list of retired slots is longer than its count" : NULL;
}

/* Checks the retired slots.  Runs after the free slots were found, because no slot may be both free and retired. */
static const char *check_retired(struct check *c, const struct retired *retired)
{
	const char *violated = NULL;
	size_t left = 0;

	for (uint32_t i = 0; retired && i < retired->shards && !violated; i++) {
		const struct retired_shard *shard = &retired->shard[i];
		/* relaxed, here and below: no call is under way. */
		const uint64_t word = load_relaxed(&shard->word);
		const uint32_t with_scheme = load_relaxed(&shard->with_scheme);

		c->where = SIZE_MAX;
		if (!shard_phase(word) && (word || with_scheme))
			return "R2: an idle shard has retired slots";
		violated = check_retired_list(c, retired, (uint32_t)word, shard_count(word));
		if (!violated && with_scheme)
			violated = check_retired_list(c, retired, shard->batch.first, with_scheme);
		left += (size_t)shard_count(word) + with_scheme;
	}
	for (size_t slot = 1; retired && slot <= c->used && !violated; slot++)
		left -= retired_has(retired, (uint32_t)slot);
	c->where = violated ? c->where : SIZE_MAX;
	return violated || !left ? violated : "R1: more slots are marked as retired than are listed";
}

/* Is this slot unused: in an unused chunk, or never handed out by the cold store?  `slot` is at most c->used. */
static bool check_is_unused(const struct check *c, size_t slot)
{
	size_t end;

	return census_run(c->core, slot, &end) != slot;
}

/* Checks the cold store.  c->slots has no bits for slots above c->used, which were never handed out. */
static const char *check_cold(struct check *c, const struct cold *cold)
{
	/* relaxed, here and below: no call is under way. */
	const uint64_t opened = load_relaxed(&cold->opened), capacity = cold_capacity(cold);
	const char *violated = NULL;
	uint64_t found = 0;

	for (uint64_t word = 0; word < (opened + 63) / 64; word++) {
		uint64_t bits = cold_look(cold, word);

		if (word == opened / 64)
			bits &= (UINT64_C(1) << opened % 64) - 1;
		for (; bits && !violated; bits &= bits - 1, found++) {
			const uint64_t slot = word * 64 + (unsigned)__builtin_ctzll(bits) + 1;

			if (slot <= c->used || slot <= cold->initial)
				violated = check_free(c, (uint32_t)slot);
		}
		if (violated)
			return violated;
	}
	c->where = SIZE_MAX;
	if (opened > cold->reserved || capacity > opened)
		return "O2: capacity <= opened <= reserved does not hold";
	return found == cold_allowed(cold) + opened - capacity
		       ? NULL
		       : "O1: the cold store has more or fewer slots than it counts";
}

/* A1: up to slot `last`, the state of each granule in which no object begins must be 0.  relaxed: no call is under
 * way. */
static bool check_between(const struct arena *arena, size_t last)
{
	const uintptr_t end = lfpool_granule_of_(&arena->face, arena_object(arena, (uint32_t)last)) + 1;
	size_t states = 0;

	for (uintptr_t granule = 0; last && granule < end; granule++)
		states += load_relaxed(&arena->face.state[granule]) != 0;
	for (size_t slot = 1; slot <= last; slot++)
		states -= arena_is_active(arena, (uint32_t)slot);
	return !states;
}

/* Called after all free slots were found.  All other used slots must be in use, and the states and generations of
 * unused slots must be 0. */
static const char *check_rest(struct check *c)
{
	const struct arena *arena = c->arena;
	/* Reads at most c->used + 1 unused slots, so that the cost is proportional to the number of used slots. */
	const size_t unused = (size_t)arena->slots - c->used, look = unused < c->used + 1 ? unused : c->used + 1;

	for (size_t slot = 1; slot <= c->used; slot++) {
		/* relaxed: no call is under way. */
		const uintptr_t state = load_relaxed(arena_state(arena, (uint32_t)slot));

		c->where = slot - 1;
		if (state > LFPOOL_MARKED_ && state != arena_active(arena, (uint32_t)slot))
			return "A1: a state is invalid";
		const uint64_t word = arena_generation(arena, (uint32_t)slot);
		const bool pending = generation_is_pending(word);

		if (generation_phase(word) >= GENERATION_LEAVING)
			return "A3: a generation is leaving, although no call is under way";
		if (state == LFPOOL_MARKED_ && !generation_is_live(word) && !pending)
			return "A3: an object is marked, but its generation is dead";
		if (pending && (state != LFPOOL_MARKED_ || !generation_pins(word)))
			return "A4: an object that was released while it was pinned has no pins left, or is free";
		if (generation_phase(word) == GENERATION_DEAD && generation_pins(word))
			return "A4: a dead generation has pins";
		if (!check_marked(c->slots, slot) && !arena_is_active(arena, (uint32_t)slot) &&
		    !check_is_unused(c, slot))
			return "C1: a free slot is not listed anywhere";
	}
	for (size_t slot = c->used + 1; slot <= c->used + look; slot++) {
		c->where = slot - 1;
		/* relaxed, both: no call is under way. */
		if (load_relaxed(arena_state(arena, (uint32_t)slot)) || load_relaxed(&arena->generation[slot]))
			return "A1: a slot that was never used has a state or a generation";
	}
	c->where = SIZE_MAX;
	return check_between(arena, c->used + look) ? NULL : "A1: there is a state where no object begins";
}

/* ---- The core ---- */

struct walk {
	struct check check;
	const lfpool_t *pool;
	const struct core *core;
	uint64_t chunks, spared; /* chunks and spare magazines in use */
	uint32_t caches;         /* made so far    */
	size_t born;
	uint64_t steals;
	uint64_t missing; /* objects that the magazines on `full` stacks lack     */
};

enum kind { FULL, PARTIAL, EMPTY };

/* ---- Magazines, by number ---- */

static size_t bit_of_chunk(const struct walk *w, uint32_t number)
{
	const struct depot *d = &w->core->depot;
	size_t bit = 0;

	for (uint32_t i = 0; i < d->shards; i++) {
		const struct shard *s = &d->shard[i];
		const uint64_t carved = load_relaxed(&s->carved);

		if (number <= s->before + s->chunks)
			return number <= s->before + carved ? bit + (number - s->before) : 0;
		bit += (size_t)carved;
	}
	return 0;
}

/* The index of a magazine's bit.  The bits of the used chunks come first, then those for the used spares, then those
 * for the extra magazines.  0: no magazine in use has this number. */
static size_t bit_of(const struct walk *w, uint32_t number)
{
	const struct magazines *ms = &w->core->magazines;
	const uint32_t chunks = ms->chunks, before = chunks + ms->spares;
	uint32_t left;

	if (number <= chunks)
		return bit_of_chunk(w, number);
	if (number <= before)
		return number - chunks <= w->spared ? (size_t)w->chunks + (number - chunks) : 0;
	if (number - before - 1 >= w->caches * EXTRA_PER_CACHE ||
	    !load_relaxed(&cache_at(w->core, (number - before - 1) / EXTRA_PER_CACHE, &left)->born))
		return 0;
	return (size_t)w->chunks + (size_t)w->spared + (number - before);
}

static int count_of(const struct walk *w, uint32_t number)
{
	return magazines_count(&w->core->magazines, number);
}

/* Checks a magazine that a cache or a stack names. */
static const char *meet(struct walk *w, uint32_t number)
{
	const size_t bit = bit_of(w, number);
	int count;

	w->check.where = number;
	if (!bit)
		return "D1: a cache or a stack names a magazine that is not in use";
	if (check_mark(w->check.others, bit))
		return "D1: a magazine is in two places";
	if (load_relaxed(&magazines_at(&w->core->magazines, number)->number) != number)
		return "G1: a magazine has a wrong number";
	count = count_of(w, number);
	if (count < 0 || count > (int)w->core->magazines.slots)
		return "H1: a magazine's count is negative, or above its capacity";
	return NULL;
}

/* ---- Stacks ---- */

static uint32_t below(const struct walk *w, uint32_t number)
{
	return link_below(load_relaxed(&magazines_at(&w->core->magazines, number)->next));
}

static uint32_t depth_of(const struct walk *w, uint32_t number)
{
	return link_depth(load_relaxed(&magazines_at(&w->core->magazines, number)->next));
}

/* Is the magazine reset, so that all its entries can be used? */
static bool is_reset(const struct walk *w, uint32_t number)
{
	return LFPOOL_POSITION_(load_relaxed(&magazines_at(&w->core->magazines, number)->bottom)) == LFPOOL_HOME_;
}

/* Do the links of this stack lead from magazine `number` to itself? */
static bool runs_in_a_circle(const struct walk *w, const struct stack *stack, uint32_t number)
{
	uint32_t at = tagged_number(load_relaxed(&stack->head));
	size_t steps = 0;

	/* The loop ends, because the walk from the head has met `number`. */
	while (at != number)
		at = below(w, at);
	do {
		at = below(w, at);
		steps++;
	} while (at != number && bit_of(w, at) && steps <= w->chunks + w->spared + w->caches * EXTRA_PER_CACHE);
	return at == number;
}

static const char *walk_stack(struct walk *w, const struct stack *stack, enum kind kind, uint32_t most)
{
	const uint32_t slots = w->core->magazines.slots;
	uint32_t number = tagged_number(load_relaxed(&stack->head)), above = 0;

	for (; number; number = below(w, number)) {
		const char *violated = meet(w, number);

		if (violated && bit_of(w, number) && runs_in_a_circle(w, stack, number))
			return "D1: a stack is circular";
		if (violated)
			return violated;

		const uint32_t depth = depth_of(w, number);

		if (!depth || (above && depth != above - 1) || (depth > 1 && !below(w, number)))
			return "D5: a magazine on a stack records a wrong depth";
		if (!above && depth > most)
			return "C6: a stack of a cache has more magazines than its bound";
		above = depth;

		const uint32_t count = (uint32_t)count_of(w, number);

		if (kind == EMPTY && (count || !is_reset(w, number)))
			return "D4: a magazine on a stack of empty ones is not empty, or not reset";
		if (kind == PARTIAL && count == slots)
			return "D4: a magazine on a stack of partial ones is full";
		if (kind == FULL)
			w->missing += slots - count;
		if (w->missing > w->steals)
			return "D3: the stacks of full magazines lack more objects than were stolen";
	}
	return NULL;
}

static const char *walk_depot(struct walk *w)
{
	const struct depot *depot = &w->core->depot;
	const char *violated = NULL;

	for (uint32_t i = 0; i < depot->shards && !violated; i++) {
		violated = walk_stack(w, &depot->shard[i].full, FULL, UINT32_MAX);
		if (!violated)
			violated = walk_stack(w, &depot->shard[i].partial, PARTIAL, UINT32_MAX);
		if (!violated)
			violated = walk_stack(w, &depot->shard[i].empty, EMPTY, UINT32_MAX);
	}
	if (violated)
		return violated;
	w->check.where = SIZE_MAX;
	if (w->missing > w->born * w->core->magazines.slots)
		return "G2: the stacks of full magazines lack more than one magazine of objects per cache";
	return NULL;
}

/* ---- Caches ---- */

/* Has no thread used the cache yet? */
static bool is_fresh(const struct cache *c)
{
	return !(load_relaxed(&c->born) || load_relaxed(&c->claimed) || load_relaxed(&c->current_word) ||
		 load_relaxed(&c->in_transit) || load_relaxed(&c->full.head) || load_relaxed(&c->empty.head));
}

static const char *walk_cache(struct walk *w, uint32_t index)
{
	const struct core *core = w->core;
	uint32_t left;
	const struct cache *c = cache_at(core, index, &left);
	const uint32_t current = tagged_number(load_relaxed(&c->current_word));
	const char *violated;

	w->check.where = SIZE_MAX;
	if (!load_relaxed(&c->born))
		return is_fresh(c) ? NULL : "T3: an unused cache has a user, or is not empty";
	w->born++;
	if (load_relaxed(&c->claimed) > 1)
		return "T1: a cache is claimed more than once";
	if (c->core != core || c->index != index || c->head.pool != core->pool)
		return "T3: a cache names a wrong pool or a wrong place";
	violated = meet(w, current);
	if (!violated)
		violated = walk_stack(w, &c->full, FULL, core->bound);
	if (!violated)
		violated = walk_stack(w, &c->empty, EMPTY, core->bound);
	if (violated)
		return violated;
	w->check.where = tagged_number(load_relaxed(&c->in_transit));
	if (w->check.where)
		return "C5: a cache has a magazine in transit, although no call is under way";
	w->check.where = current;
	if (c->current != magazines_at(&core->magazines, current))
		return "C5: a cache works on a magazine that its word does not name";
	if ((c->head.face.hot == c->current) != (core->hits && magazine_is_home(c->current, core->magazines.slots)))
		return "H8: a cache's fast path is on for a magazine that is not reset, or off for one that is";
	return NULL;
}

static const char *walk_caches(struct walk *w)
{
	const struct core *core = w->core;
	const char *violated = NULL;
	uint32_t left = 0;

	for (uint32_t index = 0; index < w->caches; index++)
		w->steals += tally_read(&cache_at(core, index, &left)->counts.steals);
	for (uint32_t index = 0; index < w->caches && !violated; index++)
		violated = walk_cache(w, index);
	if (violated)
		return violated;
	w->check.where = SIZE_MAX;
	for (unsigned lot = 0; lot < LOT_COUNT; lot++) {
		/* The first cache of the lot. */
		const uint32_t first = LOT_CACHES * ((1u << lot) - 1);
		const uint32_t full = first + ((uint32_t)LOT_CACHES << lot);
		const uint32_t end = full < core->table.most ? full : core->table.most;

		if (!load_relaxed(&core->table.lot[lot]) != !load_relaxed(&core->magazines.extra_lot[lot]))
			return "G1: a lot of caches exists without its magazines, or they without it";
		if (!load_relaxed(&core->table.lot[lot]))
			continue;
		for (uint32_t index = first < w->caches ? w->caches : first; index < end; index++)
			if (!is_fresh(cache_at(core, index, &left)))
				return "T2: a cache beyond the count has a user, or is not empty";
	}
	return NULL;
}

/* ---- Entries ---- */

/* The slot of an entry, or a number that no slot has (SLOT_NONE, or one beyond the last). */
static uint32_t slot_of_entry(const struct walk *w, uintptr_t entry)
{
	const uint64_t slot = arena_slot_of(&w->core->arena, (const void *)entry);

	return !entry ? SLOT_NONE : slot < UINT32_MAX ? (uint32_t)slot : SLOT_NONE;
}

static const char *walk_magazine(struct walk *w, uint32_t number)
{
	const uint32_t slots = w->core->magazines.slots;
	const struct lfpool_magazine *m = magazines_at(&w->core->magazines, number);
	const uint64_t top = load_relaxed(&m->top);
	const int count = magazine_count(top, load_relaxed(&m->bottom));
	const char *violated = NULL;

	w->check.where = number;
	if (!check_marked(w->check.others, bit_of(w, number)))
		return "G2: a magazine in use is in no cache and on no stack";
	for (int i = 0; i < count && !violated; i++)
		violated = check_free(&w->check, slot_of_entry(w, magazine_at(m, slots, top + (unsigned)i)));
	return violated;
}

static const char *walk_magazines(struct walk *w)
{
	const struct magazines *ms = &w->core->magazines;
	const char *violated = NULL;
	uint32_t left;

	for (uint32_t number = 1; number <= ms->chunks && !violated; number++)
		if (bit_of_chunk(w, number))
			violated = walk_magazine(w, number);
	for (uint32_t index = 0; index < w->caches && !violated; index++) {
		const bool born = load_relaxed(&cache_at(w->core, index, &left)->born);

		for (uint32_t which = 0; born && which < EXTRA_PER_CACHE && !violated; which++)
			violated = walk_magazine(w, magazines_extra_number(ms, index, which));
	}
	for (uint64_t spare = 1; spare <= load_relaxed(&w->core->depot.spared) && !violated; spare++)
		violated = walk_magazine(w, ms->chunks + (uint32_t)spare);
	if (!violated)
		violated = check_held_back(&w->check, w->pool);
	if (!violated)
		violated = check_retired(&w->check, w->pool->retired);
	if (!violated)
		violated = check_cold(&w->check, &w->core->cold);
	return violated ? violated : check_rest(&w->check);
}

/* Malloc mode: an active slot and its object refer to each other; a free slot has no object. */
static const char *walk_cells(struct walk *w)
{
	const struct core *core = w->core;

	for (size_t slot = 1; w->pool->heap && slot <= w->check.used; slot++) {
		const void *object = heap_object_at(w->pool, (uint32_t)slot);
		/* An unused slot may be between used ones. */
		const bool fresh = check_is_unused(&w->check, slot);

		w->check.where = slot - 1;
		/* A retired slot still has its object. */
		if (fresh || (check_marked(w->check.slots, slot) && !retired_has(w->pool->retired, (uint32_t)slot))) {
			if (object)
				return "E1: a free slot of malloc mode has an object";
		} else if (!object || heap_label(object) != arena_object(&core->arena, (uint32_t)slot)) {
			return "E1: an active slot and its object do not refer to each other";
		}
	}
	return NULL;
}

/* Reads at most `carved` + 1 unused chunks of a region, so that the cost is proportional to the number of used
 * chunks. */
static const char *walk_unused(struct walk *w, const struct shard *s)
{
	const struct magazines *ms = &w->core->magazines;
	const uint32_t short_of = (uint32_t)(w->core->cold.initial % ms->slots);
	const uint64_t carved = load_relaxed(&s->carved), end = s->before + s->chunks;

	for (uint64_t number = s->before + carved + 1; number <= end && number <= s->before + 2 * carved + 1;
	     number++) {
		const struct lfpool_magazine *m = magazines_at(ms, (uint32_t)number);
		const uint64_t born = number == ms->chunks && short_of ? magazine_limit(short_of) : 0;

		w->check.where = (size_t)number;
		if (load_relaxed(&m->number) || load_relaxed(&m->top) || load_relaxed(&m->bottom) != born ||
		    load_relaxed(&m->next))
			return "H7: the magazine of an unused chunk has changed";
		for (uint32_t i = 0; i < ms->slots; i++)
			if (load_relaxed(&m->entry[i]))
				return "H7: the magazine of an unused chunk has an entry";
	}
	return NULL;
}

static const char *walk_all(struct walk *w)
{
	const char *violated = walk_caches(w);

	if (!violated)
		violated = walk_depot(w);
	if (!violated)
		violated = walk_magazines(w);
	if (!violated)
		violated = walk_cells(w);
	for (uint32_t i = 0; i < w->core->depot.shards && !violated; i++)
		violated = walk_unused(w, &w->core->depot.shard[i]);
	return violated;
}

/* All checks except check_sums() and order_check().  *where_out: as in lfpool_check(). */
static const char *check_core(const lfpool_t *pool, size_t *where_out)
{
	const struct core *core = &pool->core;
	struct walk w = {.pool = pool, .core = core};
	const char *violated;

	w.chunks = census_chunks(core);
	w.spared = load_relaxed(&core->depot.spared);
	w.caches = load_relaxed(&core->table.count);
	for (uint32_t i = 0; i < core->depot.shards; i++)
		if (load_relaxed(&core->depot.shard[i].carved) > core->depot.shard[i].chunks)
			return "D6: more chunks of a region are in use than exist";
	if (w.spared > core->magazines.spares)
		return "G2: more spare magazines are in use than exist";
	if (w.caches < core->table.for_calls || w.caches > core->table.most)
		return "T2: the number of caches is out of range";
	if (!check_open(&w.check, core, check_others((size_t)w.chunks + (size_t)w.spared, w.caches), pool->check_bits))
		return CHECK_NO_MEMORY;
	violated = walk_all(&w);
	*where_out = w.check.where;
	check_close(&w.check);
	return violated;
}

/* ---- The whole check ---- */

static const char *check_sums(const lfpool_t *pool)
{
	lfpool_stats_t stats;

	(void)lfpool_stats(pool, &stats);
	if (stats.unaccounted)
		return "I1: capacity = active + retired + cached + shared + untouched does not hold";
	if (stats.active + stats.retired != slots_out(pool))
		return "I1: the states and lfpool_active_count() do not agree";
	if (stats.caches_in_use > stats.caches)
		return "T1: more caches are in use than exist";
	if (waiters_know_full(&pool->waiters) && stats.cached + stats.shared + stats.untouched)
		return "W13: the pool is known to be full, but has free objects";
	return NULL;
}

const char *lfpool_check(const lfpool_t *pool, size_t *where_out)
{
	size_t where = SIZE_MAX;
	const char *violated = check_core(pool, &where);

	if (!violated) {
		where = SIZE_MAX;
		violated = check_sums(pool);
	}
	if (!violated && pool->order)
		violated = order_check(pool->order, &where);
	if (where_out)
		*where_out = where;
	return violated;
}

void check_last(lfpool_t *pool)
{
	const struct debug_home home = misuse_home(pool);
	size_t where = SIZE_MAX;
	const char *violated = lfpool_check(pool, &where);

	if (violated && strcmp(violated, CHECK_NO_MEMORY) != 0)
		misuse_invariant(&home, violated, where);
}
