/* SPDX-License-Identifier: MIT */
/*
 * cache_table.c - the caches of a pool: claimed for a thread, for an explicit handle, or for a single call.
 *
 * Idea         A cache is never freed; one that is given up is claimed by the next thread that needs one.  A thread without a
 *              cache of its own (it is exiting, or LFPOOL_CACHE_NONE) claims one for the length of a call.  New ones
 *              come in lots, which the first to need one maps; a thread that loses that race unmaps its own.  The first lot
 *              lies in the pool's own mapping.
 * Invariants   T1  a cache has a user exactly while `claimed` is 1.
 *              T2  a cache is counted by table.count before anything but nothing is in it.
 *              T3  a cache is born (its extra magazines made and given out) by its first user, before its first use.
 * Progress     Lock-free: a failed claim means that another thread's succeeded.
 * Edges        CLAIM: cache_unclaim -> cache_claim.   LOT: the mapper of a lot -> readers of its address.
 */
#include "core/cache.h"

#include "os/backing.h"
#include "os/os.h"

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
	store_relaxed(&core->magazines.extra_lot[0], memory + (in_buffer ? in_buffer : LOT_CACHES) * sizeof(struct cache));
	store_relaxed(&core->table.lot[0], memory);
	store_relaxed(&core->table.count, core->table.for_calls);
}

void cache_table_close(struct core *core)
{
	for (unsigned lot = 1; lot < LOT_COUNT; lot++) {
		/* relaxed: the pool is nobody else's any more. */
		char *memory = load_relaxed(&core->table.lot[lot]);

		if (memory)
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
	const uint32_t number[] = {tagged_number(load_acquire(&c->in_transit)), tagged_number(load_acquire(&c->current_word)),
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
		stats_out->retries += tally_read(&depot->shard[i].full.retries) + tally_read(&depot->shard[i].partial.retries) +
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
	if (load_acquire(&core->table.lot[lot]))
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
