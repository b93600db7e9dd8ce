/* SPDX-License-Identifier: MIT */
/*
 * census.c - how many slots are in each place; see cache.h.
 *
 * Idea         Nothing is counted for a hit: it would cost more than the hit.  The traces of hits are read instead.
 *              The states say which objects are in use.  The magazines say how many objects are free, and how many were
 *              ever pushed: each release pushes one.  The misses are counted by each cache for itself and added up
 *              here.
 * Progress     Wait-free.  O(slots ever used + caches).
 */
#include "core/cache.h"

static size_t at_most(size_t value, size_t limit)
{
	return value < limit ? value : limit;
}

/* relaxed, here and below: a snapshot; a caller that may expect more has it through another edge. */
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

/* Free slots in magazines number first .. last, and to *pushes what was pushed on them. */
static size_t in_these(const struct magazines *ms, uint32_t first, uint32_t last, uint64_t *pushes)
{
	size_t objects = 0;

	for (uint32_t number = first; number <= last; number++) {
		const int count = magazines_count(ms, number);

		/* A spare whose taker has not made it yet would read as full.  relaxed: a snapshot. */
		if (number > ms->chunks && !load_relaxed(&magazines_at(ms, number)->number))
			continue;
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
 * In use at once, at the most since the last reset.  What lay at the bottom of a stack of full magazines all the time
 * was free; what caches and partly filled magazines held counts as in use.  Of the full ones thieves may have taken,
 * but never more than was stolen at all, and one magazine for each cache (docs/design.md, "Release never fails").
 */
static size_t high_water(const struct core *core, const lfpool_stats_t *stats)
{
	const int64_t slots = core->magazines.slots;
	/* Chunks only come into use: as many as now. */
	const int64_t warm = (int64_t)at_most((size_t)((int64_t)census_carved(core) + cold_most_out(&core->cold)),
					      cold_opened(&core->cold));
	int64_t rested = (int64_t)cache_table_rested(core) * slots, taken = stats->caches * slots;

	for (uint32_t i = 0; i < core->depot.shards; i++)
		rested += low_water_least(&core->depot.shard[i].full.least) * slots;
	if (taken > (int64_t)stats->steals)
		taken = (int64_t)stats->steals;
	rested = rested > taken ? rested - taken : 0;
	/* In a moment of change `active` may count what is just going. */
	return warm - rested > (int64_t)stats->active ? (size_t)(warm - rested) : stats->active;
}

void census_lists(const struct core *core, lfpool_stats_t *stats_out)
{
	uint64_t pushes;
	/* While others work, what moves may be met twice. */
	const size_t in_magazines = at_most(census_in_magazines(core, &pushes), census_used(core));

	/* Less what cache_table_stats() takes away. */
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
	for (uint32_t i = 0; i < core->depot.shards; i++)
		stack_reset_least(&core->depot.shard[i].full, &core->magazines);
	cache_table_reset_least(core);
	cold_reset_most(&core->cold);
}
