/* SPDX-License-Identifier: MIT */
/*
 * cache.c - take and put through a cache: the misses of lfpool/inline.h; and the table of all caches of a pool.
 *
 * The four moves, each in a function of its own; E is an empty magazine, F a full one (docs/design.md draws them):
 *   swap back    current E, previous P        ->  current P, previous E
 *   adopt        current E, depot has P       ->  current P; E becomes previous if there is none, else to the depot
 *   swap over    current F, previous P        ->  current P, previous F             (P has room)
 *   drain        current F, previous Q        ->  current E, previous F; Q goes to the depot, E comes from there
 * While a move is under way a magazine may be named by two words; nobody acts as its owner then but the one who ends
 * up with it.
 *
 * The table    A cache is claimed for a thread, for an explicit handle, or for a single call, and never freed.  A cache
 *              that is given up is claimed by the next thread that needs one.  A thread without a cache (it is exiting,
 *              or LFPOOL_CACHE_NONE) claims one for the length of a call.  New caches come in lots.  The first thread
 *              that needs a lot maps it; a thread that loses this race unmaps its own.  The first lot is part of the
 *              pool's own mapping.
 * Invariants   T1  a cache has a user exactly while `claimed` is 1.
 *              T2  table.count includes a cache before the cache holds anything.
 *              T3  a cache is born (its extra magazines made and given out) by its first user, before its first use.
 * Progress     Of the table: lock-free; a failed claim means that another thread's succeeded.
 * Edges        CLAIM: cache_unclaim -> cache_claim.   LOT: the mapper of a lot -> readers of its address.
 */
#include "core/cache.h"

#include "base/probes.h"
#include "os/backing.h"
#include "os/os.h"

/* What the hits work on: the current magazine while it is at home (H8). */
static void offer(struct cache *c)
{
	if (c->core->hits)
		c->head.face.hot = magazine_is_home(c->current, c->core->magazines.slots) ? c->current
											  : cache_closed(c);
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
 * Exchanges what `previous` names for the current magazine; on success what it named is announced in `in_transit` and
 * ours alone.  False when a thief took it: then `previous` is clear, and stays so.
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
	/* acquire, edge SHOW: if a thief has cleared it, a thread that sees our store sees where the thief announced
	 * what it took. */
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

/* `current` is empty: bring home a magazine with something in it, without robbing anybody; a chunk that was never used
 * only if `carve`. */
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

	ASSERT("H8", c->head.face.hot == cache_closed(c) ||
			     magazine_words_home(peek(&c->head.face.hot->top), peek(&c->head.face.hot->bottom),
						 core->magazines.slots));
	const uintptr_t object = magazine_pop(c->current, core->magazines.slots, core->asymmetric);

	/* Without its newest object it may be at home. */
	if (unlikely(c->head.face.hot != c->current))
		offer(c);
	return arena_slot(&core->arena, object);
}

/* A free slot out of `current`, after a refill if there is none; SLOT_NONE when there is nothing except in other
 * caches. */
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

/* ---- The table of caches ---- */

size_t cache_lot_bytes(size_t magazine_bytes_each, uint32_t caches)
{
	return caches * (sizeof(struct cache) + EXTRA_PER_CACHE * magazine_bytes_each);
}

struct cache *cache_at(const struct core *core, uint32_t index, uint32_t *left_out)
{
	uint32_t place;
	unsigned lot = lot_of(index, LOT_CACHES, &place);

	*left_out = ((uint32_t)LOT_CACHES << lot) - place - 1;
	/* relaxed: mapped before the count included it; the count, or lot_ensure(), was an acquire of LOT. */
	char *caches = load_relaxed(&core->table.lot[lot]);

	plain_read(caches);
	return (struct cache *)(void *)caches + place;
}

void cache_table_open(struct core *core, char *memory, uint32_t in_buffer)
{
	core->table.most = in_buffer ? in_buffer : CACHES_MAX;
	core->table.for_calls = in_buffer ? (in_buffer + 3) / 4 : CACHES_FOR_CALLS;
	/* relaxed, all three: the pool is not yet anybody else's. */
	store_relaxed(&core->magazines.extra_lot[0],
		      memory + (in_buffer ? in_buffer : LOT_CACHES) * sizeof(struct cache));
	store_relaxed(&core->table.lot[0], memory);
	store_relaxed(&core->table.count, core->table.for_calls);
}

void cache_table_close(struct core *core)
{
	for (unsigned lot = 1; lot < LOT_COUNT; lot++) {
		/* relaxed: the pool is nobody else's any more. */
		char *memory = load_relaxed(&core->table.lot[lot]);

		if (!EMBEDDED && memory)
			os_unmap(memory, cache_lot_bytes(core->magazines.bytes, (uint32_t)LOT_CACHES << lot));
	}
}

size_t cache_table_extra_count(const struct core *core, uint64_t *pushes)
{
	const struct magazines *ms = &core->magazines;
	/* acquire, edge LOT. */
	uint32_t caches = load_acquire(&core->table.count);
	size_t free_slots = 0;

	for (uint32_t index = 0; index < caches; index++) {
		uint32_t left;

		/* acquire, edge CLAIM: its magazines are initialised. */
		if (!load_acquire(&cache_at(core, index, &left)->born))
			continue;
		for (uint32_t which = 0; which < EXTRA_PER_CACHE; which++) {
			const uint32_t number = magazines_extra_number(ms, index, which);
			int count = magazines_count(ms, number);

			free_slots += count > 0 ? (size_t)count : 0;
			*pushes += magazines_pushes(ms, number);
		}
	}
	return free_slots;
}

/* Free slots in the magazines that a cache names, each magazine once. */
static size_t cached_count(const struct magazines *ms, const struct cache *c)
{
	/* acquire, all three, edge SHOW: a magazine may be an extra one of a cache that was born since. */
	const uint32_t number[] = {tagged_number(load_acquire(&c->in_transit)),
				   tagged_number(load_acquire(&c->current_word)),
				   tagged_number(load_acquire(&c->previous))};
	size_t slots = 0;

	for (unsigned i = 0; i < 3; i++) {
		int count = 0;

		if (number[i] && !(i > 0 && number[i] == number[0]) && !(i > 1 && number[i] == number[1]))
			count = magazines_count(ms, number[i]);
		slots += count > 0 ? (size_t)count : 0;
	}
	return slots;
}

void cache_table_stats(const struct core *core, lfpool_stats_t *stats_out)
{
	const struct depot *depot = &core->depot;
	/* acquire, edge LOT. */
	const uint32_t caches = load_acquire(&core->table.count);
	uint32_t left = 0;

	for (uint32_t i = 0; i < depot->shards; i++)
		stats_out->retries += tally_read(&depot->shard[i].full.retries) +
				      tally_read(&depot->shard[i].partial.retries) +
				      tally_read(&depot->shard[i].empty.retries);
	for (uint32_t index = 0; index < caches; index++) {
		const struct cache *c = cache_at(core, index, &left);
		const struct counts *counts = &c->counts;

		/* relaxed, both: statistics; one that is not born names no magazine. */
		const uint32_t born = load_relaxed(&c->born);

		stats_out->caches += born;
		stats_out->caches_in_use += born & load_relaxed(&c->claimed);
		stats_out->cached += cached_count(&core->magazines, c);
		stats_out->refills += tally_read(&counts->refills);
		stats_out->drains += tally_read(&counts->drains);
		stats_out->releases -= tally_read(&counts->returned);
		stats_out->depot_trips += tally_read(&counts->trips);
		stats_out->steals += tally_read(&counts->steals);
		stats_out->exhausted += tally_read(&counts->exhausted);
	}
}

/* Makes sure that the lot of cache `index` is mapped. */
static bool lot_ensure(struct core *core, uint32_t index, enum cache_term term)
{
	uint32_t place;
	unsigned lot = lot_of(index, LOT_CACHES, &place);
	uint32_t caches = (uint32_t)LOT_CACHES << lot;
	char *none = NULL;

	/* acquire, edge LOT. */
	if (EMBEDDED || load_acquire(&core->table.lot[lot]))
		return true;

	/* relaxed, here and below: a number; that threads lose some of each other's counts does no harm. */
	const uint32_t calls = term == CACHE_FOR_CALL ? load_relaxed(&core->patience) : 0;

	if (calls) {
		store_relaxed(&core->patience, calls - 1);
		return false;
	}

	char *mapped = backing_map(core->arena.backing, cache_lot_bytes(core->magazines.bytes, caches));

	if (!mapped) {
		store_relaxed(&core->patience, PATIENCE);
		return false;
	}
	/* The magazines first: a thread that sees the caches sees them.  Every racer writes the lot that won. */
	char *lot_won = mapped;

	plain_written(mapped);
	plain_written(mapped + caches * sizeof(struct cache));
	/* acq_rel, edge LOT: release our mapping, or on failure acquire that of the first. */
	if (!cas_acq_rel(&core->magazines.extra_lot[lot], &none, mapped + caches * sizeof(struct cache))) {
		os_unmap(mapped, cache_lot_bytes(core->magazines.bytes, caches));
		lot_won = none - caches * sizeof(struct cache);
	}
	none = NULL;
	/* release, edge LOT.  On failure another thread has written the same value. */
	(void)cas_release(&core->table.lot[lot], &none, lot_won);
	return true;
}

/* First use (T3): four empty magazines, one of which is the first `current`. */
static void give_birth(struct core *core, struct cache *c, uint32_t index)
{
	const struct magazines *ms = &core->magazines;

	c->head.pool = core->pool;
	c->head.face = core->arena.face;
	c->head.face.hot = cache_closed(c);
	/* relaxed, both: ours alone.  Empty and full. */
	store_relaxed(&c->head.face.hot->top, c->head.face.limit);
	store_relaxed(&c->head.face.hot->bottom, c->head.face.limit);
	c->core = core;
	c->index = index;
	for (uint32_t which = 0; which < EXTRA_PER_CACHE; which++) {
		const uint32_t number = magazines_extra_number(ms, index, which);

		magazine_make_empty(magazines_at(ms, number), number);
	}
	/* release, edge CLAIM: lfpool_active_count() may look at them now. */
	store_release(&c->born, 1);
	cache_install(c, magazines_extra_number(ms, index, 0));
	for (uint32_t which = 1; which < EXTRA_PER_CACHE; which++)
		depot_put_empty(&core->depot, ms, magazines_at(ms, magazines_extra_number(ms, index, which)));
}

static bool claim(struct cache *c)
{
	uint32_t unclaimed = 0;

	/* relaxed look before the CAS, so that a search writes nothing.  acquire, edge CLAIM: the last user's
	 * fields. */
	return load_relaxed(&c->claimed) == 0 && cas_acquire(&c->claimed, &unclaimed, 1);
}

/* Claims cache `index` and makes sure that it is born; NULL if another thread has it. */
static struct cache *claim_at(struct core *core, uint32_t index)
{
	uint32_t left;
	struct cache *c = cache_at(core, index, &left);

	if (!claim(c))
		return NULL;
	/* Standing for all that is private to the user. */
	plain_written(&c->core);
	/* relaxed: our own doing, or ordered by the claim. */
	if (!load_relaxed(&c->born)) {
		/* relaxed: a number to begin with. */
		uint32_t count = load_relaxed(&core->table.count);

		/* release, edge LOT: T2.  Repeats only when another thread raised it. */
		while (count <= index && !cas_weak_release(&core->table.count, &count, index + 1))
			;
		give_birth(core, c, index);
	}
	return c;
}

struct cache *cache_claim(struct core *core, enum cache_term term, uint32_t hint)
{
	/* acquire, edge LOT: the caches it counts. */
	const uint32_t count = load_acquire(&core->table.count);
	const uint32_t first = term == CACHE_FOR_LONG ? core->table.for_calls : 0;
	struct cache *c;

	for (uint32_t i = first; i < count; i++) {
		c = claim_at(core, first + (hint + i) % (count - first));
		if (c)
			return c;
	}
	/* All taken: a new one.  Goes on only when another thread claimed that one first. */
	for (uint32_t index = count; index < core->table.most; index++) {
		if (!lot_ensure(core, index, term))
			return NULL;
		c = claim_at(core, index);
		if (c)
			return c;
	}
	return NULL;
}

void cache_unclaim(struct cache *c)
{
	plain_written(&c->core);
	/* release, edge CLAIM: all that this user did with the cache. */
	store_release(&c->claimed, 0);
}
