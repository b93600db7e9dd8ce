/* SPDX-License-Identifier: MIT */
/*
 * stats.c - lfpool_stats(): where the objects are, and how often something other than a hit happened.
 *
 * Idea         Nothing is counted for a hit: it would cost more than the hit.  What hits leave behind is read instead.
 *              The states say which objects are in use.  The magazines say how many objects are free, and how many were
 *              ever pushed: each release pushes one.  The library counts what it pushes without a release, and the few
 *              releases that push nothing; what is retired will be pushed.  An acquire was released, or its object is
 *              in use.  The misses are counted by each cache for itself and added up here.
 * Invariants   I1  capacity = active + retired + cached + shared + untouched, while no call is under way.  `active` comes from
 *                  the states and the others from the magazines, so a lost or doubled object breaks it and shows
 *                  as `unaccounted`.
 * Progress     Wait-free.  O(slots ever used + caches).
 */
#include "backend/stats.h"

#include "base/sized.h"
#include "object/debugging.h"
#include "object/lifecycle.h"
#include "pool/pool.h"
#include "retire/retired.h"
#include "waiting/waiters.h"

void stats_of_slots(const struct arena *arena, size_t used, lfpool_stats_t *stats_out)
{
	for (size_t slot = 1; slot <= used; slot++)
		stats_out->active += arena_is_active(arena, (uint32_t)slot);
}

static size_t at_most(size_t value, size_t limit)
{
	return value < limit ? value : limit;
}

/* relaxed, here and below: a snapshot; a caller that may expect more has it through another edge. */
size_t stats_from_chunks(const struct core *core)
{
	return at_most((size_t)load_relaxed(&core->depot.carved) * core->magazines.slots, (size_t)core->cold->initial);
}

size_t stats_untouched(const struct core *core)
{
	return (size_t)core->cold->initial - stats_from_chunks(core) + cold_allowed(core->cold);
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

size_t stats_in_magazines(const struct core *core, uint64_t *pushes)
{
	const struct magazines *ms = &core->magazines;

	*pushes = 0;
	return in_these(ms, 1, (uint32_t)load_relaxed(&core->depot.carved), pushes) +
	       in_these(ms, ms->chunks + 1, ms->chunks + (uint32_t)load_relaxed(&core->depot.spared), pushes) +
	       cache_table_extra_count(core, pushes);
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
		rested += low_water_least(&core->depot.shard[i].full.least) * slots;
	if (taken > (int64_t)stats->steals)
		taken = (int64_t)stats->steals;
	rested = rested > taken ? rested - taken : 0;
	/* In a moment of change `active` may count what is just going. */
	return warm - rested > (int64_t)stats->active ? (size_t)(warm - rested) : stats->active;
}

void lockfree_stats(const lfpool_t *pool, lfpool_stats_t *stats_out)
{
	const struct core *core = pool->core;
	const size_t used = cold_used(core->cold, stats_from_chunks(core));
	uint64_t pushes;
	/* While others work, what moves may be met twice. */
	const size_t in_magazines = at_most(stats_in_magazines(core, &pushes), used);

	/* Less what cache_table_stats() takes away. */
	stats_out->retired = retired_count(pool->retired, stats_out->capacity);
	stats_out->releases = pushes + stats_out->retired + tally_read(&core->unpushed);
	cache_table_stats(core, stats_out);
	stats_out->cached = at_most(stats_out->cached, in_magazines);
	stats_out->shared = in_magazines - stats_out->cached + debug_held_back(lifecycle_debug(core->lifecycle));
	stats_out->untouched = stats_untouched(core);
	stats_out->exhausted += tally_read(&core->exhausted);
	stats_of_slots(&core->arena, used, stats_out);
	stats_out->high_water = high_water(core, stats_out);
}

/* The most that was told, of what only grows. */
static uint64_t told(_Atomic(uint64_t) *most, uint64_t now)
{
	uint64_t before = tally_read(most);

	/* Repeats only when another thread raised it. */
	while (before < now && !tally_cas(most, &before, now))
		;
	return before < now ? now : before;
}

/* From what the backend has found: releases first, and what is active afterwards.  So while others work they are never too many;
 * and not fewer than were told. */
static void tell_calls(const lfpool_t *pool, lfpool_stats_t *stats)
{
	struct lfpool_pool *p = (struct lfpool_pool *)(uintptr_t)pool;
	const uint64_t releases = (int64_t)stats->releases < 0 ? 0 : stats->releases, before = tally_read(&p->told.releases);

	stats->acquires = told(&p->told.acquires, releases + stats->active);
	(void)told(&p->told.releases, releases);
	stats->releases = before < releases ? releases : before;
	if (stats->releases > stats->acquires)
		stats->releases = stats->acquires;
}

/* The fields that cost O(1). */
static void quick(const lfpool_t *pool, lfpool_stats_t *stats_out)
{
	/* relaxed, all: numbers. */
	stats_out->owed = (size_t)load_relaxed(&pool->waiters.owed);
	stats_out->capacity = cold_capacity(&pool->cold);
	stats_out->backend = pool->backend_kind;
	stats_out->max_capacity = (size_t)load_relaxed(&pool->cold.maximum);
	stats_out->retired = retired_count(pool->retired, stats_out->capacity);
	stats_out->waiting = (uint32_t)waiters_waiting(&pool->waiters);
	stats_out->misuses = load_relaxed(&pool->misuses);
	stats_out->given_back = tally_read(&pool->given_back);
}

lfpool_status_t lfpool_stats(const lfpool_t *pool, lfpool_stats_t *stats_out)
{
	lfpool_stats_t stats = {0};

	if (!stats_out || !sized_fits(stats_out, offsetof(lfpool_stats_t, backend)))
		return LFPOOL_E_ARGUMENT;
	quick(pool, &stats);
	if (stats_out->struct_size > offsetof(lfpool_stats_t, refills)) {
		pool->backend->stats(pool, &stats);
		tell_calls(pool, &stats);
	}
	/* Signed from the beginning: where size_t has 32 bits its difference would not become negative. */
	stats.unaccounted = (int64_t)stats.capacity - (int64_t)stats.active - (int64_t)stats.retired - (int64_t)stats.cached -
			    (int64_t)stats.shared - (int64_t)stats.untouched;
	sized_write(stats_out, &stats, sizeof(stats));
	return LFPOOL_OK;
}
