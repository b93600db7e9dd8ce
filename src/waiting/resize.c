/* SPDX-License-Identifier: MIT */
/*
 * resize.c - lfpool/resize.h: grow and shrink.  (api/trim.c returns the memory of removed objects.)
 *
 * Idea         The cold store (cold.h) counts the slots that may be used, and the objects that a shrink is still owed.
 *              The functions here change these counts, and serve the calls that wait for objects (waiters.h).
 * Invariants   Z1  capacity + room to grow is at most `reserved`, also while calls overlap (O1).
 *              Z2  a pool with a growth step grows by one step each time it is found exhausted.  If several calls find
 *                  the pool exhausted at the same capacity, one of them grows the pool, and the others try again.
 */
#include "waiting/waiters.h"

#include "base/probes.h"
#include "core/cold.h"
#include "object/lifecycle.h"
#include "pool/slots.h"
#include "pool/threads.h"

#include "lfpool/resize.h"

void resize_serve_if_wanted(lfpool_t *pool, struct cache_head *head)
{
	/* W1 (waiters.h): free objects are visible before this call looks at the demand. */
	full_fence();
	/* relaxed: after the fence. */
	if (load_relaxed(pool->waiters.wanted))
		waiters_serve(pool, head ? head : thread_cache(pool));
}

/* ---- Growing ---- */

size_t lfpool_grow(lfpool_t *pool, size_t count)
{
	const size_t added = cold_grow(&pool->core.cold, count, COLD_ANY);

	if (added)
		probe_grow(pool, pool->name, added);
	/* Serves even if the call has only cancelled a pending shrink, because from now on the pool can grow for
	 * waiting calls (O4, cold.h). */
	resize_serve_if_wanted(pool, NULL);
	return added;
}

lfpool_status_t lfpool_limit(lfpool_t *pool, size_t max_capacity)
{
	if (max_capacity > pool->core.cold.reserved)
		return LFPOOL_E_CONFIG_MAX_CAPACITY;
	if (waiters_closed(&pool->waiters))
		return LFPOOL_E_CLOSED;
	/* relaxed: a fence follows (O4, cold.h).  With a higher limit the pool may be able to grow for waiting calls,
	 * so this call serves after the fence. */
	store_relaxed(&pool->core.cold.maximum, max_capacity);
	resize_serve_if_wanted(pool, NULL);
	return LFPOOL_OK;
}

/* ---- Shrinking ---- */

/* Runs hooks.destroy for the slot's object, before the slot becomes cold. */
static void destroy_cooled(lfpool_t *pool, uint32_t slot)
{
	if (pool_in_place(pool) && !pool->disowned)
		lifecycle_cool(pool->lifecycle, slot, arena_object(&pool->core.arena, slot));
}

void resize_pay(lfpool_t *pool, uint32_t slot)
{
	destroy_cooled(pool, slot);
	cold_put(&pool->core.cold, slot);
	/* W1: the pool may be able to grow again now, so the caller looks at the queue after this fence. */
	full_fence();
}

/* Removes up to `count` objects that are free now; returns their number. */
static size_t remove_free(lfpool_t *pool, struct cache_head *head, size_t count)
{
	size_t gone = cold_forbid(&pool->core.cold, count);
	uint32_t slot;

	for (; gone < count && (slot = slots_take(pool, head)); gone++) {
		destroy_cooled(pool, slot);
		cold_withdraw(&pool->core.cold, slot);
	}
	return gone;
}

size_t resize_shrink(lfpool_t *pool, struct cache_head *head, size_t count)
{
	/* The call removes free objects first.  If objects were owed before that, other calls might remove these free
	 * objects, and `gone` would not count them. */
	size_t gone = remove_free(pool, head, count);

	if (gone < count) {
		gone += cold_owe(&pool->core.cold, count - gone);
		/* Makes the owed objects visible in `wanted` before this call looks for free objects again (W1). */
		arena_heavy_fence(&pool->core.arena);
	}
	probe_shrink(pool, pool->name, count, gone);
	/* Calls may wait for objects that were released meanwhile, or for growth that is possible again. */
	resize_serve_if_wanted(pool, head);
	return gone;
}

void resize_close(lfpool_t *pool, struct cache_head *head)
{
	waiters_close(&pool->waiters);
	cold_close(&pool->core.cold);
	/* W7 needs this fence, and so does W1, because all objects are owed now. */
	arena_heavy_fence(&pool->core.arena);
	(void)remove_free(pool, head, SIZE_MAX);
	waiters_serve(pool, head);
}

size_t lfpool_shrink_cancel(lfpool_t *pool)
{
	const size_t forgiven = cold_forgive(&pool->core.cold);

	resize_serve_if_wanted(pool, NULL);
	return forgiven;
}

/* ---- Growing when a call finds nothing ---- */

bool resize_by_itself(lfpool_t *pool, size_t seen)
{
	const size_t added = pool->growth_step ? cold_grow(&pool->core.cold, pool->growth_step, seen) : 0;

	if (added && added != COLD_CHANGED)
		probe_grow(pool, pool->name, added);
	return added != 0;
}
