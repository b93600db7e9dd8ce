/* SPDX-License-Identifier: MIT */
/*
 * cache.c - take and put through a cache: the misses of lfpool/inline.h.
 *
 * The four moves, each in a function of its own; E is an empty magazine, F a full one (docs/design.md draws them):
 *   swap back    current E, previous P        ->  current P, previous E
 *   adopt        current E, depot has P       ->  current P; E becomes previous if there is none, else to the depot
 *   swap over    current F, previous P        ->  current P, previous F             (P has room)
 *   drain        current F, previous Q        ->  current E, previous F; Q goes to the depot, E comes from there
 * While a move is under way a magazine may be named by two words; nobody acts as its owner then but the one who ends
 * up with it.
 */
#include "core/cache.h"

#include "base/probes.h"

/* What the hits work on: the current magazine while it is at home (H8). */
static void offer(struct cache *c)
{
	if (c->core->hits)
		c->head.face.hot = magazine_is_home(c->current, c->core->magazines.slots) ? c->current : cache_closed(c);
}

/* The three names of the current magazine change together: the published word, our pointer, and what the hits work
 * on. */
static void work_on(struct cache *c, uint32_t number)
{
	struct lfpool_magazine *m = magazines_at(&c->core->magazines, number);

	tagged_set(&c->current_word, number);
	c->current = m;
	offer(c);
}

void cache_install(struct cache *c, uint32_t number)
{
	work_on(c, number);
	tagged_set(&c->in_transit, 0);
}

/*
 * Exchanges what `previous` names for the current magazine; on success what it named is announced in `in_transit` and ours
 * alone.  False when a thief took it: then `previous` is clear, and stays so.
 */
static bool exchange_previous(struct cache *c, uint64_t previous)
{
	/* relaxed: it is ours. */
	const uint32_t current = load_relaxed(&c->current->number);

	tagged_set(&c->in_transit, tagged_number(previous));
	/* release, edge SHOW: publishes the announcement with the change.  Fails only if a thief took the
	 * magazine. */
	if (cas_release(&c->previous, &previous, tagged_next(previous, current)))
		return true;
	tagged_set(&c->in_transit, 0);
	return false;
}

/* Puts a magazine into `previous`, which is clear, so that nobody else writes it (C2). */
static void fill_previous(struct cache *c, uint32_t number)
{
	/* acquire, edge SHOW: if a thief has cleared it, a thread that sees our store sees where the thief announced what it took. */
	const uint64_t clear = load_acquire(&c->previous);

	/* release, edge SHOW: as tagged_set(). */
	store_release(&c->previous, tagged_next(clear, number));
}

static bool swap_back(struct cache *c)
{
	/* relaxed: our own last store; or a thief has cleared it, and there is nothing to see. */
	uint64_t previous = load_relaxed(&c->previous);
	uint32_t number = tagged_number(previous);

	if (!number || magazines_count(&c->core->magazines, number) <= 0 || !exchange_previous(c, previous))
		return false;
	cache_install(c, number);
	return true;
}

void cache_adopt(struct cache *c, uint32_t number)
{
	struct lfpool_magazine *empty = c->current;

	cache_install(c, number);
	/* relaxed: only we ever set it; if a thief clears it meanwhile we merely miss the chance. */
	if (tagged_number(load_relaxed(&c->previous)))
		depot_put_empty(&c->core->depot, &c->core->magazines, empty);
	else
		/* relaxed: it is ours. */
		fill_previous(c, load_relaxed(&empty->number));
}

/* `current` is empty: bring home a magazine with something in it, without robbing anybody; a chunk that was never used only
 * if `carve`. */
static bool refill(struct cache *c, bool carve)
{
	struct core *core = c->core;
	uint32_t number;

	if (swap_back(c)) {
		tally(&c->counts.refills);
		probe_miss(core->pool, core->name, PROBE_ACQUIRE);
		return true;
	}
	number = depot_pop_filled(&core->depot, &core->magazines, &c->in_transit);
	if (number) {
		tally(&c->counts.trips);
		probe_trip(core->pool, core->name, PROBE_ACQUIRE);
	} else if (carve) {
		number = depot_carve(&core->depot, &core->magazines, &c->in_transit);
	}
	if (!number) {
		/* A pop that lost its magazine to another has left it announced.  Only then: if every vain look
		 * changed this word, two threads in an empty pool would each see the other's change and look again,
		 * for ever. */
		if (tagged_number(load_relaxed(&c->in_transit)))
			tagged_set(&c->in_transit, 0);
		return false;
	}
	cache_adopt(c, number);
	tally(&c->counts.refills);
	probe_miss(core->pool, core->name, PROBE_ACQUIRE);
	return true;
}

/* A free slot out of `current`, or SLOT_NONE. */
static inline uint32_t pop(struct cache *c)
{
	const struct core *core = c->core;

	ASSERT("H8",
	       c->head.face.hot == cache_closed(c) ||
		       magazine_words_home(peek(&c->head.face.hot->top), peek(&c->head.face.hot->bottom), core->magazines.slots));
	const uintptr_t object = magazine_pop(c->current, core->magazines.slots, core->asymmetric);

	/* Without its newest object it may be at home. */
	if (unlikely(c->head.face.hot != c->current))
		offer(c);
	return arena_slot(&core->arena, object);
}

/* A free slot out of `current`, after a refill if there is none; SLOT_NONE when there is nothing except in other caches. */
static inline uint32_t take_near(struct cache *c, bool empty)
{
	uint32_t slot = empty ? SLOT_NONE : pop(c);

	/* Repeats only after a refill, whose magazine thieves emptied before we looked: their success. */
	while (!slot && refill(c, true))
		slot = pop(c);
	return slot;
}

uint32_t cache_take_idle(struct cache *c)
{
	/* Repeats only after a refill, as above. */
	do {
		const uint32_t slot = pop(c);

		if (slot)
			return slot;
	} while (refill(c, false) || cache_rob(c));
	return SLOT_NONE;
}

uint32_t cache_take(struct cache *c, bool empty)
{
	/* Repeats only if something moved while cache_steal() looked: another thread's success. */
	for (;; empty = false) {
		uint32_t slot = take_near(c, empty);

		if (!slot)
			slot = cold_take(&c->core->cold);
		if (slot)
			return slot;
		switch (cache_steal(c, &slot)) {
		case STEAL_GOT:
			tally(&c->counts.steals);
			probe_steal(c->core->pool, c->core->name, false);
			return slot;
		case STEAL_EXHAUSTED: return SLOT_NONE;
		case STEAL_AGAIN: break;
		}
	}
}

/* A magazine with room; if it holds anything, announced in `in_transit`. */
static uint32_t pop_room(struct cache *c)
{
	struct core *core = c->core;

	/* At every instant there is a spare, or one of the stacks of empty and partial ones has a magazine (G2;
	 * docs/design.md, "Release never fails"), so missing all means that others moved some: lock-free. */
	for (;;) {
		uint32_t number = depot_pop_room(&core->depot, &core->magazines, &c->in_transit);

		if (number)
			return number;
		cpu_relax();
	}
}

/* `current` is full: afterwards it has room. */
static void make_room(struct cache *c)
{
	struct core *core = c->core;
	const uint32_t slots = core->magazines.slots;
	/* relaxed: our own last store; or a thief has cleared it, and there is nothing to see. */
	uint64_t previous = load_relaxed(&c->previous);
	uint32_t number = tagged_number(previous);
	uint64_t first;

	tally(&c->counts.drains);
	probe_miss(core->pool, core->name, PROBE_RELEASE);
	if (number && exchange_previous(c, previous)) {
		/* `previous` now names the full one as well as `current`; the old previous is in our hand. */
		if (magazine_room(magazines_at(&core->magazines, number), slots, &first)) {
			cache_install(c, number);
			return;
		}
		depot_put(&core->depot, &core->magazines, magazines_at(&core->magazines, number));
	} else {
		/* None there, or stolen under our eyes. */
		/* relaxed: it is ours. */
		fill_previous(c, load_relaxed(&c->current->number));
	}
	tally(&c->counts.trips);
	probe_trip(core->pool, core->name, PROBE_RELEASE);
	cache_install(c, pop_room(c));
}

void cache_put(struct cache *c, uint32_t slot)
{
	const uint32_t slots = c->core->magazines.slots;
	const uintptr_t object = (uintptr_t)arena_object(&c->core->arena, slot);

	if (likely(magazine_push(c->current, slots, object)))
		return;
	make_room(c);
	if (unlikely(!magazine_push(c->current, slots, object))) {
		/* The depot has no other: this one has room where thieves took, so it leaves home. */
		magazine_push_round(c->current, slots, object);
		offer(c);
	}
}

void cache_flush(struct cache *c)
{
	struct core *core = c->core;
	/* relaxed: our own last store; or a thief has cleared it, and there is nothing to see. */
	uint64_t previous = load_relaxed(&c->previous);
	uint32_t number = tagged_number(previous);

	if (number) {
		tagged_set(&c->in_transit, number);
		/* release, edge SHOW: publishes the announcement with the change.  Fails only if a thief took it. */
		if (cas_release(&c->previous, &previous, tagged_next(previous, 0)))
			depot_put(&core->depot, &core->magazines, magazines_at(&core->magazines, number));
	}
	if (magazine_count_now(c->current, core->magazines.slots) > 0) {
		struct lfpool_magazine *given = c->current;

		number = depot_pop_empty(&core->depot, &core->magazines, &c->in_transit);
		if (number) {
			/* Empty, so it need not be announced; the one that goes must. */
			/* relaxed: it is ours. */
			tagged_set(&c->in_transit, load_relaxed(&given->number));
			work_on(c, number);
			depot_put(&core->depot, &core->magazines, given);
		}
		/* Else it stays here, where others can rob it. */
	}
	tagged_set(&c->in_transit, 0);
}
