/* SPDX-License-Identifier: MIT */
/*
 * stats.c - lfpool_stats(): where the objects are, and how often something other than a hit happened.
 *
 * Idea         Nothing is counted for a hit: it would cost more than the hit.  What hits leave behind is read instead.
 *              The state words say which objects are in use, and their generations how often each was acquired; a
 *              release is an acquire whose object is not in use.  The magazines say how many objects are free.  The
 *              misses are counted by each cache for itself and added up here.
 * Invariants   I1  capacity = active + cached + shared + untouched, while no call is under way.  `active` comes from
 *                  the state words and the others from the magazines, so a lost or doubled object breaks it and shows
 *                  as `unaccounted`.  (LFPOOL_UNTRACKED: active is what is left over.)
 * Progress     Wait-free.  O(slots ever used + caches).
 */
#include "pool.h"

#include <string.h>

#define STATS_SIZE_MAX 4096 /* beyond this it is not a size */

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

size_t stats_in_magazines(const struct core *core, uint64_t carved)
{
	size_t objects = cache_table_extra_count(core);

	for (uint32_t number = 1; number <= carved; number++) {
		int count = magazines_count(&core->magazines, number);

		objects += count > 0 ? (size_t)count : 0;
	}
	return objects;
}

static size_t at_most(size_t value, size_t limit)
{
	return value < limit ? value : limit;
}

void stats_of_core(const struct core *core, lfpool_stats_t *stats_out)
{
	const size_t capacity = core->pool->capacity;
	/* relaxed: a snapshot; whoever may expect more has it through an edge of his own. */
	const uint64_t carved = load_relaxed(&core->depot.carved);
	const size_t used = at_most((size_t)carved * core->magazines.slots, capacity);
	/* While others work, what moves may be met twice. */
	const size_t in_magazines = at_most(stats_in_magazines(core, carved), used);

	cache_table_stats(core, stats_out);
	stats_out->cached = at_most(stats_out->cached, in_magazines);
	stats_out->shared = in_magazines - stats_out->cached + care_held_back(core->care);
	stats_out->untouched = capacity - used;
	stats_of_slots(&core->arena, used, stats_out);
	if (!core->arena.face.state)
		stats_out->active = used - in_magazines;
}

lfpool_status_t lfpool_stats(const lfpool_t *pool, lfpool_stats_t *stats_out)
{
	const size_t size = stats_out ? stats_out->struct_size : 0;
	lfpool_stats_t stats = {0};

	/* An older caller's struct is shorter, a newer one's longer: it reads what both know. */
	if (size < offsetof(lfpool_stats_t, refills) || size > STATS_SIZE_MAX)
		return LFPOOL_E_ARGUMENT;
	stats.struct_size = size;
	stats.capacity = pool->capacity;
	stats.misuses = lfpool_misuse_count(pool);
	pool->backend->stats(pool, &stats);
	/* Signed from the beginning: where size_t has 32 bits its difference would not become negative. */
	stats.unaccounted = (int64_t)stats.capacity - (int64_t)stats.active - (int64_t)stats.cached -
			    (int64_t)stats.shared - (int64_t)stats.untouched;
	memset(stats_out, 0, size);
	memcpy(stats_out, &stats, size < sizeof(stats) ? size : sizeof(stats));
	return LFPOOL_OK;
}
