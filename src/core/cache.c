/* SPDX-License-Identifier: MIT */
/*
 * cache.c - take and put through a cache (the slow paths of lfpool/inline.h), and the table of all caches of a pool.
 *
 * Two functions replace the current magazine; E is an empty magazine, F a full one (docs/design.md has a drawing):
 *   refill    current E   ->  current F, from the cache's own stack, the depot or an unused chunk; E is put on a stack
 *   drain     current F   ->  current E, from the cache's own stack, the depot or another cache; F is put on a stack
 *
 * The table    A cache is claimed for a thread, as an explicit cache, or for a single call, and is never freed.  When a
 *              cache is given up, any thread can claim it.  A thread without a cache of its own, because it is exiting
 *              or because of LFPOOL_CACHE_NONE, claims a cache for each call.  New caches are mapped in lots.  If
 *              several threads need a missing lot at once, each maps one, and all but the first unmap theirs again.
 *              The first lot is part of the pool's own mapping.
 * Invariants   T1  a cache has a user exactly while `claimed` is 1.
 *              T2  table.count includes a cache before the cache holds anything.
 *              T3  the first user of a cache makes its extra magazines before it uses the cache.  From then on the
 *                  cache counts as born.
 * Progress     The table is lock-free: a failed claim means that another thread's claim has succeeded.
 * Edges        CLAIM: cache_unclaim -> cache_claim.   LOT: the mapper of a lot -> readers of its address.
 */
#include "core/cache.h"

#include "base/probes.h"
#include "os/os.h"

/* Fast paths work on the current magazine only while it is at home (H8). */
void cache_offer(struct cache *c)
{
	if (c->core->hits)
		c->head.face.hot = magazine_is_home(c->current, c->core->magazines.slots) ? c->current
											  : cache_closed(c);
}

/* Changes the three names of the current magazine: the published word, our pointer, and the fast paths' `hot`. */
static void work_on(struct cache *c, uint32_t number)
{
	struct lfpool_magazine *m = magazines_at(&c->core->magazines, number);

	tagged_set(&c->current_word, number);
	c->current = m;
	cache_offer(c);
}

/* Makes `number` the current magazine and clears `in_transit`. */
static void install(struct cache *c, uint32_t number)
{
	work_on(c, number);
	tagged_set(&c->in_transit, 0);
}

/* ---- Moving magazines ---- */

/* Puts a magazine that this cache owns on a stack.  The number of its objects decides whether this is a stack of full,
 * partial or empty magazines.  Resets an empty magazine first.  `current_word` or `in_transit` names the magazine until
 * this function returns, so other threads can find its objects at every moment.  `keep`: a full or empty magazine goes
 * on this cache's stack if the stack has room.  All other magazines go on the depot's stacks. */
static void shelve(struct cache *c, struct lfpool_magazine *m, bool keep)
{
	const struct magazines *ms = &c->core->magazines;
	struct shard *shard = shard_at(&c->core->depot, c->index);
	const uint32_t bound = keep ? c->core->bound : 0;
	const int count = magazine_count_now(m, ms->slots);

	if (count >= (int)ms->slots) {
		if (!stack_push_within(&c->full, ms, m, bound))
			stack_push(&shard->full, ms, m);
	} else if (count > 0) {
		stack_push(&shard->partial, ms, m);
	} else {
		magazine_go_home(m);
		if (!stack_push_within(&c->empty, ms, m, bound))
			stack_push(&shard->empty, ms, m);
	}
}

/* Takes a magazine with objects, and announces it in `in_transit`.  `carve`: if neither this cache nor the depot has
 * one, takes an unused chunk.  0: there was none. */
static uint32_t pop_filled(struct cache *c, bool carve)
{
	struct core *core = c->core;
	const struct magazines *ms = &core->magazines;
	uint32_t number = stack_pop(&c->full, ms, &c->in_transit);

	if (number)
		return number;
	number = depot_pop_filled(&core->depot, c->index, ms, &c->in_transit);
	if (number) {
		tally(&c->counts.trips);
		probe_trip(core->pool, core->name, PROBE_ACQUIRE);
	} else if (carve) {
		number = depot_carve(&core->depot, c->index, ms, &c->in_transit);
	}
	return number;
}

/* Takes an empty magazine from this cache's stack or from the depot; returns its number, or 0. */
static uint32_t pop_empty(struct cache *c)
{
	const uint32_t number = stack_pop(&c->empty, &c->core->magazines, &c->in_transit);

	return number ? number : depot_pop_empty(&c->core->depot, c->index, &c->core->magazines, &c->in_transit);
}

/* Takes an empty magazine from another cache's stack; returns its number, or 0. */
static uint32_t pop_empty_of_others(struct cache *c)
{
	const struct core *core = c->core;
	/* acquire, edge LOT: sees the caches that it counts. */
	const uint32_t count = load_acquire(&core->table.count);
	uint32_t number = 0, left;

	for (uint32_t i = 1; i < count && !number; i++)
		number = stack_pop(&cache_at(core, (c->index + i) % count, &left)->empty, &core->magazines,
				   &c->in_transit);
	return number;
}

/* Takes a magazine with room, and announces it in `in_transit` if it has objects. */
static uint32_t pop_room(struct cache *c)
{
	struct core *core = c->core;
	uint32_t number = stack_pop(&c->empty, &core->magazines, &c->in_transit);

	if (likely(number))
		return number;
	tally(&c->counts.trips);
	probe_trip(core->pool, core->name, PROBE_RELEASE);
	/* At every instant there is an unused spare, or a magazine on a stack of empty or partial magazines (G2;
	 * docs/design.md, "Release never fails").  So a round that finds no magazine means that other threads moved
	 * magazines: lock-free. */
	while (!(number = depot_pop_room(&core->depot, c->index, &core->magazines, &c->in_transit)) &&
	       !(number = pop_empty_of_others(c)))
		cpu_relax();
	return number;
}

void cache_adopt(struct cache *c, uint32_t number)
{
	struct lfpool_magazine *empty = c->current;

	install(c, number);
	shelve(c, empty, true);
}

/* Replaces an empty `current` by a magazine with objects from this cache's stack or from the depot.  `carve`: an unused
 * chunk may replace it too.  False: there is no such magazine. */
static bool refill(struct cache *c, bool carve)
{
	const uint32_t number = pop_filled(c, carve);

	if (!number) {
		/* A pop that lost a magazine to another thread may have left its announcement, which must be cleared.
		 * Without an announcement, `in_transit` must not change: otherwise two threads in an empty pool would
		 * see each other's changes, and repeat their collects forever. */
		if (tagged_number(load_relaxed(&c->in_transit)))
			tagged_set(&c->in_transit, 0);
		return false;
	}
	cache_adopt(c, number);
	tally(&c->counts.refills);
	probe_miss(c->core->pool, c->core->name, PROBE_ACQUIRE);
	return true;
}

static inline uint32_t pop(struct cache *c)
{
	const struct core *core = c->core;

	ASSERT("H8", c->head.face.hot == cache_closed(c) ||
			     magazine_words_home(peek(&c->head.face.hot->top), peek(&c->head.face.hot->bottom),
						 core->magazines.slots));
	const uintptr_t object = magazine_pop(c->current, core->magazines.slots, core->asymmetric);

	/* The pop may have reset the magazine. */
	if (unlikely(c->head.face.hot != c->current))
		cache_offer(c);
	return arena_slot(&core->arena, object);
}

/* A free slot from `current`, after a refill if `current` is empty.  SLOT_NONE: the refill found no magazine. */
static inline uint32_t take_near(struct cache *c, bool empty)
{
	uint32_t slot = empty ? SLOT_NONE : pop(c);

	/* Repeats only if thieves emptied the new magazine before our pop. */
	while (!slot && refill(c, true))
		slot = pop(c);
	return slot;
}

uint32_t cache_take_idle(struct cache *c)
{
	uint32_t slot = pop(c);

	/* Repeats only if thieves emptied the new magazine before our pop. */
	while (!slot) {
		if (refill(c, false)) {
			slot = pop(c);
			continue;
		}
		switch (cache_steal(c, &slot, false)) {
		case STEAL_GOT: tally(&c->counts.steals); return slot;
		case STEAL_HOME: slot = pop(c); break;
		default: return SLOT_NONE;
		}
	}
	return slot;
}

/* A free slot from this cache, the depot, an unused chunk or another cache; `cold`: also from the cold store. */
static inline uint32_t take(struct cache *c, bool empty, bool cold)
{
	/* Repeats only if cache_steal() took a magazine, which is now `current`, or returned STEAL_AGAIN. */
	for (;; empty = false) {
		uint32_t slot = take_near(c, empty);

		if (!slot && cold && !c->core->existing_first)
			slot = cold_take(&c->core->cold);
		if (slot)
			return slot;
		switch (cache_steal(c, &slot, cold)) {
		case STEAL_GOT:
			tally(&c->counts.steals);
			probe_steal(c->core->pool, c->core->name, false);
			return slot;
		case STEAL_EXHAUSTED: return SLOT_NONE;
		case STEAL_HOME: break;
		case STEAL_AGAIN:
			if (cold && c->core->existing_first && (slot = cold_take(&c->core->cold)))
				return slot;
			break;
		}
	}
}

uint32_t cache_take(struct cache *c, bool empty)
{
	return take(c, empty, true);
}

uint32_t cache_take_existing(struct cache *c)
{
	return take(c, false, false);
}

/*
 * Puts `current` on a stack, and makes `number` the new `current`.  If `number` has objects, `in_transit` names it
 * already, so other threads can find both magazines at every moment.  After the push another thread may own the old
 * magazine, although current_word still names it, so this user does not touch it again (C3).
 */
static void replace(struct cache *c, uint32_t number, bool keep)
{
	shelve(c, c->current, keep);
	install(c, number);
}

/* Replaces a full `current` by a magazine with room. */
static void drain(struct cache *c)
{
	tally(&c->counts.drains);
	probe_miss(c->core->pool, c->core->name, PROBE_RELEASE);
	replace(c, pop_room(c), true);
}

void cache_put(struct cache *c, uint32_t slot)
{
	const uint32_t slots = c->core->magazines.slots;
	const uintptr_t object = (uintptr_t)arena_object(&c->core->arena, slot);

	if (likely(magazine_push(c->current, slots, object))) {
		/* The push may have reset the magazine, if thieves had emptied it while it was not at home. */
		if (unlikely(c->head.face.hot != c->current))
			cache_offer(c);
		return;
	}
	drain(c);
	if (unlikely(!magazine_push(c->current, slots, object))) {
		/* The magazine that pop_room() found has room only in entries that thieves have emptied, so the push
		 * takes it away from home. */
		magazine_push_round(c->current, slots, object);
		cache_offer(c);
	}
}

/* Moves objects one by one from `current` to a partial magazine that this cache owns, each by a pop and a push.
 * Returns whether any object was moved. */
static bool pour(struct cache *c, struct lfpool_magazine *to)
{
	const struct core *core = c->core;
	const uint32_t slots = core->magazines.slots;
	bool any = false;
	uint64_t first;

	while (magazine_room(to, slots, &first)) {
		const uintptr_t object = magazine_pop(c->current, slots, core->asymmetric);

		if (!object)
			break;
		/* Counted before the push, so that the statistic `releases` is never too large. */
		tally(&c->counts.returned);
		magazine_place(to, slots, first, object);
		magazine_push_placed(to, first, 1);
		any = true;
	}
	return any;
}

/* Gives `current` to the depot, if it has objects.  If no empty magazine can replace it, gives only its objects. */
static void give_current(struct cache *c)
{
	struct core *core = c->core;
	bool poured = true;

	while (poured && magazine_count_now(c->current, core->magazines.slots) > 0) {
		uint32_t number = pop_empty(c);

		if (number || (number = pop_empty_of_others(c))) {
			replace(c, number, false);
			return;
		}
		/* Each round fills a partial magazine, or empties `current`. */
		number = stack_pop(&shard_at(&core->depot, c->index)->partial, &core->magazines, &c->in_transit);
		poured = number && pour(c, magazines_at(&core->magazines, number));
		if (number)
			shelve(c, magazines_at(&core->magazines, number), false);
	}
	cache_offer(c);
}

void cache_flush(struct cache *c)
{
	const struct magazines *ms = &c->core->magazines;
	uint32_t number;

	/* The loop ends, because only this call could push on this stack (C2), and here it pushes on the depot's. */
	while ((number = stack_pop(&c->full, ms, &c->in_transit)))
		shelve(c, magazines_at(ms, number), false);
	give_current(c);
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
	/* relaxed: the caller has acquired edge LOT, with the count or in lot_ensure(). */
	char *caches = load_relaxed(&core->table.lot[lot]);

	plain_read(caches);
	return (struct cache *)(void *)caches + place;
}

void cache_table_open(struct core *core, char *memory, uint32_t in_buffer)
{
	core->table.most = in_buffer ? in_buffer : CACHES_MAX;
	core->table.for_calls = in_buffer ? (in_buffer + 3) / 4 : CACHES_FOR_CALLS;
	/* relaxed, all three: no other thread has the pool yet. */
	store_relaxed(&core->magazines.extra_lot[0],
		      memory + (in_buffer ? in_buffer : LOT_CACHES) * sizeof(struct cache));
	store_relaxed(&core->table.lot[0], memory);
	store_relaxed(&core->table.count, core->table.for_calls);
}

void cache_table_close(struct core *core)
{
	for (unsigned lot = 1; lot < LOT_COUNT; lot++) {
		/* relaxed: no other thread uses the pool now. */
		char *memory = load_relaxed(&core->table.lot[lot]);

		if (!EMBEDDED && memory)
			os_unmap(memory, cache_lot_bytes(core->magazines.bytes, (uint32_t)LOT_CACHES << lot));
	}
}

size_t cache_table_extra_count(const struct core *core, uint64_t *pushes)
{
	const struct magazines *ms = &core->magazines;
	/* acquire, edge LOT: sees the caches that it counts. */
	uint32_t caches = load_acquire(&core->table.count);
	size_t free_slots = 0;

	for (uint32_t index = 0; index < caches; index++) {
		uint32_t left;

		/* acquire, edge CLAIM: sees the initialised magazines of the cache. */
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

/* The number of free slots in the magazines that a cache names, or has on its stack of full magazines.  Counts each
 * magazine once; a snapshot. */
static size_t cached_count(const struct magazines *ms, const struct cache *c)
{
	/* acquire, all, edges SHOW and PUT: see the magazines, which may be in a lot that was mapped after this
	 * cache's. */
	const uint32_t moving = tagged_number(load_acquire(&c->in_transit)),
		       current = tagged_number(load_acquire(&c->current_word));
	const int in_transit = moving ? magazines_count(ms, moving) : 0,
		  in_current = current && current != moving ? magazines_count(ms, current) : 0;
	const size_t stacked = depth_below(ms, load_acquire(&c->full.head));

	return stacked * ms->slots + (size_t)(in_transit > 0 ? in_transit : 0) +
	       (size_t)(in_current > 0 ? in_current : 0);
}

void cache_table_stats(const struct core *core, lfpool_stats_t *stats_out)
{
	const struct depot *depot = &core->depot;
	/* acquire, edge LOT: sees the caches that it counts. */
	const uint32_t caches = load_acquire(&core->table.count);
	uint32_t left = 0;

	for (uint32_t i = 0; i < depot->shards; i++)
		stats_out->retries += tally_read(&depot->shard[i].full.retries) +
				      tally_read(&depot->shard[i].partial.retries) +
				      tally_read(&depot->shard[i].empty.retries);
	for (uint32_t index = 0; index < caches; index++) {
		const struct cache *c = cache_at(core, index, &left);
		const struct counts *counts = &c->counts;

		/* relaxed, both: statistics; a cache not yet born has no objects. */
		const uint32_t born = load_relaxed(&c->born);

		stats_out->caches += born;
		stats_out->caches_in_use += born & load_relaxed(&c->claimed);
		stats_out->cached += cached_count(&core->magazines, c);
		stats_out->retries += tally_read(&c->full.retries) + tally_read(&c->empty.retries);
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

	/* acquire, edge LOT: sees the memory of the lot. */
	if (EMBEDDED || load_acquire(&core->table.lot[lot]))
		return true;

	/* relaxed, here and below: only the number matters, and a lost decrement does no harm. */
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
	/* Stores the address of the magazines first, so that a thread that sees the caches also sees their magazines.
	 * If several threads have mapped the lot, each of them stores the address of the first thread's lot. */
	char *lot_won = mapped;

	plain_written(mapped);
	plain_written(mapped + caches * sizeof(struct cache));
	/* acq_rel, edge LOT: publishes our mapping, or after a failure acquires the mapping of the first thread. */
	if (!cas_acq_rel(&core->magazines.extra_lot[lot], &none, mapped + caches * sizeof(struct cache))) {
		os_unmap(mapped, cache_lot_bytes(core->magazines.bytes, caches));
		lot_won = none - caches * sizeof(struct cache);
	}
	none = NULL;
	/* release, edge LOT: publishes the lot.  A failure means that another thread has written the same value. */
	(void)cas_release(&core->table.lot[lot], &none, lot_won);
	return true;
}

/* On the first use of a cache (T3): makes its extra magazines, which are empty.  The first of them becomes
 * `current`. */
static void give_birth(struct core *core, struct cache *c, uint32_t index)
{
	const struct magazines *ms = &core->magazines;

	c->head.pool = core->pool;
	c->head.face = core->arena.face;
	c->head.face.hot = cache_closed(c);
	/* relaxed, both: no other thread uses this magazine.  It is both empty and full (cache_closed()). */
	store_relaxed(&c->head.face.hot->top, c->head.face.limit);
	store_relaxed(&c->head.face.hot->bottom, c->head.face.limit);
	c->core = core;
	c->index = index;
	for (uint32_t which = 0; which < EXTRA_PER_CACHE; which++) {
		const uint32_t number = magazines_extra_number(ms, index, which);

		magazine_make_empty(magazines_at(ms, number), number);
	}
	install(c, magazines_extra_number(ms, index, 0));
	/* release, edge CLAIM: publishes the magazines, for cache_table_extra_count(), and `current_word`, for a round
	 * of LFPOOL_IDLE (C5).  Stored before the magazines are on a stack, because from there other threads can take
	 * and fill them, and the count must not miss these objects. */
	store_release(&c->born, 1);
	for (uint32_t which = 1; which < EXTRA_PER_CACHE; which++)
		shelve(c, magazines_at(ms, magazines_extra_number(ms, index, which)), true);
}

static bool claim(struct cache *c)
{
	uint32_t unclaimed = 0;

	/* relaxed: a first look, so that a search does not write to claimed caches.  acquire, edge CLAIM: sees the last
	 * user's writes. */
	return load_relaxed(&c->claimed) == 0 && cas_acquire(&c->claimed, &unclaimed, 1);
}

/* Claims cache `index` and makes sure that it is born; NULL if another thread has it. */
static struct cache *claim_at(struct core *core, uint32_t index)
{
	uint32_t left;
	struct cache *c = cache_at(core, index, &left);

	if (!claim(c))
		return NULL;
	/* For the explorer, `core` represents all fields that only the user accesses. */
	plain_written(&c->core);
	/* relaxed: ordered by the claim. */
	if (!load_relaxed(&c->born)) {
		/* relaxed: a first guess. */
		uint32_t count = load_relaxed(&core->table.count);

		/* release, edge LOT: publishes the lot (T2).  Repeats only when another thread raised the count. */
		while (count <= index && !cas_weak_release(&core->table.count, &count, index + 1))
			;
		give_birth(core, c, index);
	}
	return c;
}

struct cache *cache_claim(struct core *core, enum cache_term term, uint32_t hint)
{
	/* acquire, edge LOT: sees the caches that it counts. */
	const uint32_t count = load_acquire(&core->table.count);
	const uint32_t first = term == CACHE_FOR_LONG ? core->table.for_calls : 0;
	struct cache *c;

	for (uint32_t i = first; i < count; i++) {
		c = claim_at(core, first + (hint + i) % (count - first));
		if (c)
			return c;
	}
	/* All counted caches are taken, so this loop adds one.  Repeats only when another thread claimed the new cache
	 * first. */
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
	/* release, edge CLAIM: publishes all writes of this user to the cache. */
	store_release(&c->claimed, 0);
}
