/* SPDX-License-Identifier: MIT */
/*
 * census.c - counts the slots by place: in use, in magazines, cold or unused; see cache.h.
 *
 * Idea         A fast path counts nothing, because a counter would cost more than the fast path.  So all numbers are
 *              derived from other data.  The states show which objects are in use.  The magazines show how many objects
 *              are free, and how many were ever pushed: each release pushes its object.  Each cache counts its misses,
 *              which are added up here.
 * Progress     Wait-free.  O(slots ever used + caches).
 */
#include "core/cache.h"

/* Begins a loop over the first `count` caches. */
#define EACH_CACHE(core, c, count) \
	for (uint32_t index_ = 0, left_; index_ < (count) && ((c) = cache_at(core, index_, &left_)); index_++)

/* relaxed, here and below: the result is a snapshot.  A caller that must see a change has acquired it by another
 * edge. */
size_t census_carved(const struct core *core)
{
	const struct depot *d = &core->depot;
	const size_t slots = core->magazines.slots, initial = (size_t)core->cold.initial;
	size_t carved = 0;

	for (uint32_t i = 0; i < d->shards; i++) {
		const struct shard *s = &d->shard[i];
		const size_t first = s->before * slots, end = (s->before + (size_t)load_relaxed(&s->carved)) * slots;

		/* The last chunk may be short. */
		carved += at_most(end, initial) - at_most(first, initial);
	}
	return carved;
}

uint64_t census_chunks(const struct core *core)
{
	uint64_t chunks = 0;

	for (uint32_t i = 0; i < core->depot.shards; i++)
		chunks += load_relaxed(&core->depot.shard[i].carved);
	return chunks;
}

size_t census_untouched(const struct core *core)
{
	return (size_t)core->cold.initial - census_carved(core) + cold_allowed(&core->cold);
}

size_t census_run(const struct core *core, size_t slot, size_t *end_out)
{
	const size_t slots = core->magazines.slots, initial = (size_t)core->cold.initial;

	for (uint32_t i = 0; i < core->depot.shards; i++) {
		const struct shard *s = &core->depot.shard[i];
		const size_t carved = (size_t)load_relaxed(&s->carved), first = s->before * slots + 1;

		*end_out = at_most((s->before + carved) * slots, initial) + 1;
		if (carved && slot < *end_out)
			return slot < first ? first : slot;
	}
	*end_out = cold_reached(&core->cold) + 1;
	return slot > initial ? slot : initial + 1;
}

size_t census_used(const struct core *core)
{
	const size_t slots = core->magazines.slots;
	size_t used = cold_reached(&core->cold);

	for (uint32_t i = core->depot.shards; i-- > 0 && !used;) {
		const struct shard *s = &core->depot.shard[i];
		const size_t carved = (size_t)load_relaxed(&s->carved);

		if (carved)
			used = at_most((s->before + carved) * slots, (size_t)core->cold.initial);
	}
	return used;
}

/* Counts the free slots in magazines first .. last, and adds the pushes on these magazines to *pushes. */
static size_t in_these(const struct magazines *ms, uint32_t first, uint32_t last, uint64_t *pushes)
{
	size_t objects = 0;

	for (uint32_t number = first; number <= last; number++) {
		/* A spare that is not initialised yet would read as full.  relaxed: a snapshot. */
		if (number > ms->chunks && !load_relaxed(&magazines_at(ms, number)->number))
			continue;

		const int count = magazines_count(ms, number);

		objects += count > 0 ? (size_t)count : 0;
		*pushes += magazines_pushes(ms, number);
	}
	return objects;
}

size_t census_in_magazines(const struct core *core, uint64_t *pushes)
{
	const struct magazines *ms = &core->magazines;

	*pushes = 0;
	size_t objects = in_these(ms, ms->chunks + 1, ms->chunks + (uint32_t)load_relaxed(&core->depot.spared),
				  pushes) +
			 cache_table_extra_count(core, pushes);

	for (uint32_t i = 0; i < core->depot.shards; i++) {
		const struct shard *s = &core->depot.shard[i];

		objects += in_these(ms, s->before + 1, s->before + (uint32_t)load_relaxed(&s->carved), pushes);
	}
	return objects;
}

/*
 * The maximum number of slots in use since the last reset.  Only objects in magazines that were on a stack of full
 * magazines since then count as free.  Thieves may have taken objects from these magazines: at most `steals` objects,
 * and at most `slots` objects per cache (docs/design.md, "Release never fails").
 */
static size_t high_water(const struct core *core, const lfpool_stats_t *stats)
{
	const int64_t slots = core->magazines.slots;
	/* The number of used chunks only grows, so the present number is the maximum since the reset. */
	const int64_t warm = (int64_t)at_most((size_t)((int64_t)census_carved(core) + cold_most_out(&core->cold)),
					      cold_opened(&core->cold));
	int64_t rested = 0, taken = stats->caches * slots;
	const struct cache *c;

	for (uint32_t i = 0; i < core->depot.shards; i++)
		rested += low_water_least(&core->depot.shard[i].full.least) * slots;
	/* acquire, edge LOT: sees the caches that it counts. */
	EACH_CACHE(core, c, load_acquire(&core->table.count))
	{
		rested += low_water_least(&c->full.least) * slots;
	}
	if (taken > (int64_t)stats->steals)
		taken = (int64_t)stats->steals;
	rested = rested > taken ? rested - taken : 0;
	/* `active` may be greater, because it may count objects that are being released now. */
	return warm - rested > (int64_t)stats->active ? (size_t)(warm - rested) : stats->active;
}

void census_lists(const struct core *core, lfpool_stats_t *stats_out)
{
	uint64_t pushes;
	/* Objects that move during the count may be counted twice. */
	const size_t in_magazines = at_most(census_in_magazines(core, &pushes), census_used(core));

	/* cache_table_stats() subtracts the pushes that were not releases. */
	stats_out->releases = pushes + tally_read(&core->unpushed);
	cache_table_stats(core, stats_out);
	stats_out->cached = at_most(stats_out->cached, in_magazines);
	stats_out->shared = in_magazines - stats_out->cached;
	stats_out->untouched = census_untouched(core);
	stats_out->exhausted += tally_read(&core->exhausted);
}

void census_states(const struct core *core, lfpool_stats_t *stats_out)
{
	size_t end, used = census_used(core);

	for (size_t slot = census_run(core, 1, &end); slot <= used; slot = census_run(core, end, &end))
		for (; slot < end; slot++)
			stats_out->active += arena_is_active(&core->arena, (uint32_t)slot);
	stats_out->high_water = high_water(core, stats_out);
}

void census_reset_high_water(struct core *core)
{
	struct cache *c;

	for (uint32_t i = 0; i < core->depot.shards; i++) {
		struct stack *full = &core->depot.shard[i].full;

		stack_reset(full, &full->least, &core->magazines);
	}
	/* acquire, both: edge LOT, for the counted caches; edge CLAIM, for their magazines.  A cache that is born later
	 * needs no reset, because its stack is empty and its mark is 0. */
	EACH_CACHE(core, c, load_acquire(&core->table.count))
	{
		if (load_acquire(&c->born))
			stack_reset(&c->full, &c->full.least, &core->magazines);
	}
	cold_reset_most(&core->cold);
}

/* ---- Objects that were free all the time: LFPOOL_IDLE ---- */

uint64_t census_steals(const struct core *core)
{
	uint64_t steals = 0;
	const struct cache *c;

	/* acquire, edge LOT: sees the caches that it counts. */
	EACH_CACHE(core, c, load_acquire(&core->table.count))
	{
		steals += tally_read(&c->counts.steals);
	}
	return steals;
}

/* The number of objects in a cache's current magazine, or 0 if the magazine was replaced or pushed on since the last
 * round.  The counted objects were in the magazine all the time (SV3 in steal.c). */
static size_t idle_in_current(const struct core *core, const struct cache *c)
{
	/* acquire, edge SHOW: sees the magazine.  relaxed: `rested_word` and `rested_pushes` are only compared. */
	const uint64_t word = load_acquire(&c->current_word);
	const uint32_t number = tagged_number(word);

	if (!number || word != load_relaxed(&c->rested_word))
		return 0;

	const int count = magazines_count(&core->magazines, number);

	return magazines_pushes(&core->magazines, number) == load_relaxed(&c->rested_pushes) && count > 0
		       ? (size_t)count
		       : 0;
}

/* The number of objects in the magazines on a shard's stack `partial`; 0 if the head of the stack has changed. */
static size_t idle_in_partial(const struct core *core, const struct shard *s)
{
	/* acquire, edge PUT: sees the links. */
	const uint64_t head = load_acquire(&s->partial.head);
	uint32_t number = tagged_number(head);
	size_t objects = 0;

	/* relaxed: `rested` is only compared.  The links are loaded relaxed too: the last line detects a stale link. */
	if (head != load_relaxed(&s->rested))
		return 0;
	for (uint32_t depth = depth_below(&core->magazines, head); depth && number; depth--) {
		const int count = magazines_count(&core->magazines, number);

		objects += count > 0 ? (size_t)count : 0;
		number = link_below(load_relaxed(&magazines_at(&core->magazines, number)->next));
	}
	return load_acquire(&s->partial.head) == head ? objects : 0;
}

size_t census_idle(const struct core *core, uint64_t stolen)
{
	const size_t slots = core->magazines.slots;
	/* acquire, edge LOT: sees the caches that it counts. */
	const uint32_t caches = load_acquire(&core->table.count);
	size_t full = 0, others = 0;
	const struct cache *c;

	for (uint32_t i = 0; i < core->depot.shards; i++) {
		full += low_water_least(&core->depot.shard[i].full.idle) * slots;
		others += idle_in_partial(core, &core->depot.shard[i]);
	}
	EACH_CACHE(core, c, caches)
	{
		full += low_water_least(&c->full.idle) * slots;
		others += idle_in_current(core, c);
	}

	/* Thieves may have taken objects from the full magazines, as in high_water(). */
	const size_t taken = at_most((size_t)stolen, caches * slots);

	return others + (full > taken ? full - taken : 0);
}

void census_reset_idle(struct core *core)
{
	const struct magazines *ms = &core->magazines;
	struct cache *c;

	for (uint32_t i = 0; i < core->depot.shards; i++) {
		struct shard *s = &core->depot.shard[i];

		stack_reset(&s->full, &s->full.idle, ms);
		/* relaxed: `rested` is only compared. */
		store_relaxed(&s->rested, load_relaxed(&s->partial.head));
	}
	/* acquire, both: edge LOT, for the counted caches; edge CLAIM, for their magazines. */
	EACH_CACHE(core, c, load_acquire(&core->table.count))
	{
		if (!load_acquire(&c->born))
			continue;
		stack_reset(&c->full, &c->full.idle, ms);
		/* acquire, edge SHOW: sees the magazine; its pushes are read later.  relaxed: the stored values are
		 * only compared. */
		const uint64_t word = load_acquire(&c->current_word);

		store_relaxed(&c->rested_word, word);
		store_relaxed(&c->rested_pushes, magazines_pushes(ms, tagged_number(word)));
	}
}
