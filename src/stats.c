/* SPDX-License-Identifier: MIT */
/*
 * stats.c - lfpool_stats(): where the objects are, and how often something other than a hit happened.
 *
 * Idea         Nothing is counted for a hit: it would cost more than the hit.  What hits leave behind is read instead.
 *              The state words say which objects are in use, and their generations how often each was acquired; a
 *              release is an acquire whose object is not in use.  The magazines say how many objects are free.  The
 *              misses are counted by each cache for itself and added up here.
 * Invariants   I1  capacity = active + retired + cached + shared + untouched, while no call is under way.  `active` comes from
 *                  the state words and the others from the magazines, so a lost or doubled object breaks it and shows
 *                  as `unaccounted`.  (LFPOOL_UNTRACKED: active is what is left over.)
 * Progress     Wait-free.  O(slots ever used + caches).
 */
#include "pool.h"

#include <string.h>

void stats_of_slots(const struct arena *arena, size_t used, lfpool_stats_t *stats_out)
{
	if (!arena->face.state)
		return;
	for (size_t slot = 1; slot <= used; slot++) {
		uint64_t acquires;
		const bool active = arena_read(arena, (uint32_t)slot, &acquires) & LFPOOL_IN_USE;

		stats_out->active += active;
		stats_out->acquires += acquires;
		stats_out->releases += acquires - active;
	}
}

static size_t at_most(size_t value, size_t limit)
{
	return value < limit ? value : limit;
}

/* relaxed, here and below: a snapshot; whoever may expect more has it through an edge of his own. */
size_t stats_from_chunks(const struct core *core)
{
	return at_most((size_t)load_relaxed(&core->depot.carved) * core->magazines.slots, (size_t)core->cold->initial);
}

size_t stats_untouched(const struct core *core)
{
	return (size_t)core->cold->initial - stats_from_chunks(core) + cold_allowed(core->cold);
}

/* Free slots in magazines number first .. last. */
static size_t in_these(const struct magazines *ms, uint32_t first, uint32_t last)
{
	size_t objects = 0;

	for (uint32_t number = first; number <= last; number++) {
		const int count = magazines_count(ms, number);

		/* A spare whose taker has not made it yet would read as full.  relaxed: a snapshot. */
		if (number > ms->chunks && !load_relaxed(&magazines_at(ms, number)->number))
			continue;
		objects += count > 0 ? (size_t)count : 0;
	}
	return objects;
}

size_t stats_in_magazines(const struct core *core)
{
	const struct magazines *ms = &core->magazines;

	return in_these(ms, 1, (uint32_t)load_relaxed(&core->depot.carved)) +
	       in_these(ms, ms->chunks + 1, ms->chunks + (uint32_t)load_relaxed(&core->depot.spared)) +
	       cache_table_extra_count(core);
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
	const int64_t warm = (int64_t)at_most((size_t)((int64_t)stats_from_chunks(core) + cold_most_out(core->cold)),
					      cold_opened(core->cold));
	int64_t rested = 0, taken = stats->caches * slots;

	for (uint32_t i = 0; i < core->depot.shards; i++)
		rested += mark_least(&core->depot.shard[i].full.least) * slots;
	if (taken > (int64_t)stats->steals)
		taken = (int64_t)stats->steals;
	rested = rested > taken ? rested - taken : 0;
	/* In a moment of change `active` may count what is just going. */
	return warm - rested > (int64_t)stats->active ? (size_t)(warm - rested) : stats->active;
}

void stats_of_core(const struct core *core, lfpool_stats_t *stats_out)
{
	const size_t used = cold_used(core->cold, stats_from_chunks(core));
	/* While others work, what moves may be met twice. */
	const size_t in_magazines = at_most(stats_in_magazines(core), used);

	cache_table_stats(core, stats_out);
	stats_out->cached = at_most(stats_out->cached, in_magazines);
	stats_out->shared = in_magazines - stats_out->cached + care_held_back(core->care);
	stats_out->untouched = stats_untouched(core);
	stats_out->exhausted += tally_read(&core->exhausted);
	stats_of_slots(&core->arena, used, stats_out);
	if (!core->arena.face.state)
		stats_out->active = stats_out->capacity - at_most(in_magazines + stats_out->untouched, stats_out->capacity);
	stats_out->high_water = high_water(core, stats_out);
}

/* An older caller's struct is shorter, a newer one's longer: it reads what both know. */
static bool is_struct_size(size_t size)
{
	return size >= offsetof(lfpool_stats_t, refills) && size <= STRUCT_SIZE_MAX;
}

lfpool_status_t stats_give(lfpool_stats_t *stats_out, const lfpool_stats_t *stats)
{
	const size_t size = stats_out ? stats_out->struct_size : 0;

	if (!is_struct_size(size))
		return LFPOOL_E_ARGUMENT;
	memset(stats_out, 0, size);
	memcpy(stats_out, stats, size < sizeof(*stats) ? size : sizeof(*stats));
	stats_out->struct_size = size;
	return LFPOOL_OK;
}

lfpool_status_t lfpool_stats(const lfpool_t *pool, lfpool_stats_t *stats_out)
{
	lfpool_stats_t stats = {0};

	if (!stats_out || !is_struct_size(stats_out->struct_size))
		return LFPOOL_E_ARGUMENT;
	stats.capacity = cold_capacity(&pool->cold);
	stats.misuses = lfpool_misuse_count(pool);
	stats.max_capacity = lfpool_max_capacity(pool);
	stats.owed = lfpool_shrink_owed(pool);
	stats.waiting = demand_waiting(&pool->demand);
	stats.given_back = tally_read(&pool->given_back);
	stats.retired = limbo_count(pool->limbo, stats.capacity);
	pool->backend->stats(pool, &stats);
	/* Signed from the beginning: where size_t has 32 bits its difference would not become negative. */
	stats.unaccounted = (int64_t)stats.capacity - (int64_t)stats.active - (int64_t)stats.retired -
			    (int64_t)stats.cached - (int64_t)stats.shared - (int64_t)stats.untouched;
	return stats_give(stats_out, &stats);
}
