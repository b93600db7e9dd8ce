/* SPDX-License-Identifier: MIT */
/*
 * stats.c - queries that do not change the pool: lfpool_stats(), single counts, and whether a pointer is an object.
 * Also lfpool_label().
 *
 * Idea         The fast path counts nothing.  The number of releases is computed from the number of pushes, which the
 *              magazines count (census.c).  The two numbers differ by pushes without a release, by releases that push
 *              nothing, and by retired objects, which are pushed later.  The library counts these exceptions.  The
 *              number of acquires is computed as releases + active objects.
 * Invariants   I1  capacity = active + retired + cached + shared + untouched, while no call is under way.  `active` is
 *                  counted from the states, and the other terms from the magazines.  So an object that is lost, or is
 *                  in two places, violates I1 and shows as `unaccounted`.
 * Progress     Lock-free, but not wait-free because of the loop in told().  The cost is O(slots ever used + caches).
 */
#include "base/sized.h"
#include "core/cache.h"
#include "evict/order.h"
#include "object/debugging.h"
#include "object/lifecycle.h"
#include "pool/pool.h"
#include "pool/slots.h"
#include "retire/retired.h"
#include "waiting/waiters.h"

/* The slot of an active or free object (in malloc mode only of an active one).  SLOT_NONE: the pointer is no object. */
static uint32_t slot_of(const lfpool_t *pool, const void *pointer)
{
	uint32_t slot;

	(void)pool_locate(pool, pointer, &slot);
	return slot;
}

bool lfpool_owns(const lfpool_t *pool, const void *pointer)
{
	return slot_of(pool, pointer) != SLOT_NONE;
}

bool lfpool_in_use(const lfpool_t *pool, const void *object)
{
	const uint32_t slot = slot_of(pool, object);

	/* relaxed: see arena_is_active(). */
	return slot && arena_is_in_use(&pool->core.arena, slot, load_relaxed(arena_state(&pool->core.arena, slot)));
}

size_t lfpool_capacity(const lfpool_t *pool)
{
	return cold_capacity(&pool->core.cold);
}

size_t lfpool_active_count(const lfpool_t *pool)
{
	return slots_out(pool);
}

/* ---- The label of an object ---- */

void lfpool_label(lfpool_t *pool, const void *object, const char *label)
{
	struct debug *debug = lifecycle_debug(pool->lifecycle);
	uint32_t slot;

	if (!EMBEDDED && debug && arena_locate(&pool->core.arena, object, &slot) == LFPOOL_OK &&
	    arena_is_active(&pool->core.arena, slot))
		debug_label(debug, slot, label);
}

/* ---- Statistics ---- */

/* A number that only grows must never be reported lower than before.  *most is the largest value reported so far.
 * Returns the larger of *most and `now`, and stores it in *most. */
static uint64_t told(_Atomic(uint64_t) *most, uint64_t now)
{
	uint64_t before = tally_read(most);

	/* Repeats only when another thread raised *most. */
	while (before < now && !tally_cas(most, &before, now))
		;
	return before < now ? now : before;
}

/* The census reads the releases before the active objects, so no use of an object counts both as released and as
 * active.  No number is reported lower than in an earlier call. */
static void tell_calls(const lfpool_t *pool, lfpool_stats_t *stats)
{
	struct lfpool_t *p = (struct lfpool_t *)(uintptr_t)pool;
	const uint64_t releases = (int64_t)stats->releases < 0 ? 0 : stats->releases,
		       before = tally_read(&p->told.releases);

	stats->acquires = told(&p->told.acquires, releases + stats->active);
	(void)told(&p->told.releases, releases);
	stats->releases = before < releases ? releases : before;
	if (stats->releases > stats->acquires)
		stats->releases = stats->acquires;
}

/* Sets the fields that cost O(1). */
static void quick(const lfpool_t *pool, lfpool_stats_t *stats_out)
{
	/* relaxed, all: statistics.  One load reads `owed` and `capacity`, so that they match. */
	const uint64_t counts = load_relaxed(&pool->core.cold.counts);

	stats_out->owed = cold_owed_in(counts);
	stats_out->capacity = cold_capacity_in(counts);
	stats_out->backend = pool->backend_kind;
	stats_out->max_capacity = cold_closed_in(counts) ? 0 : (size_t)load_relaxed(&pool->core.cold.maximum);
	stats_out->retired = retired_count(pool->retired, stats_out->capacity);
	stats_out->waiting = (uint32_t)waiters_waiting(&pool->waiters);
	stats_out->misuses = load_relaxed(&pool->misuses);
	stats_out->given_back = tally_read(&pool->given_back);
}

/* Sets the other fields, in the order that tell_calls() needs. */
static void slow(const lfpool_t *pool, lfpool_stats_t *stats_out)
{
	census_lists(&pool->core, stats_out);
	stats_out->retired = retired_count(pool->retired, stats_out->capacity);
	/* A retired object counts as released now, and is pushed later. */
	stats_out->releases += stats_out->retired;
	if (pool->order) {
		/* A slot that passes from a victim to a new object is not pushed. */
		const uint64_t handed_over = tally_read(&pool->order->handed_over);

		stats_out->releases += handed_over;
		stats_out->evicted = handed_over + tally_read(&pool->order->released);
		stats_out->not_evicted = tally_read(&pool->order->not_evicted);
	}
	stats_out->shared += slots_held_back(pool);
	stats_out->waits = tally_read(&pool->waited.calls);
	stats_out->timeouts = tally_read(&pool->waited.timeouts);
	stats_out->wait_ns = tally_read(&pool->waited.ns);
	stats_out->wait_ns_max = tally_read(&pool->waited.longest_ns);
	census_states(&pool->core, stats_out);
	tell_calls(pool, stats_out);
}

lfpool_status_t lfpool_stats_sized(const lfpool_t *pool, lfpool_stats_t *stats_out, size_t bytes)
{
	lfpool_stats_t stats = {0};

	if (!stats_out)
		return LFPOOL_E_ARGUMENT;
	quick(pool, &stats);
	if (bytes > offsetof(lfpool_stats_t, refills))
		slow(pool, &stats);
	/* The operands are signed, because the difference may be negative. */
	stats.unaccounted = (int64_t)stats.capacity - (int64_t)stats.active - (int64_t)stats.retired -
			    (int64_t)stats.cached - (int64_t)stats.shared - (int64_t)stats.untouched;
	sized_write(stats_out, bytes, &stats, sizeof(stats));
	return LFPOOL_OK;
}
