/* SPDX-License-Identifier: MIT */
/*
 * resize.c - lfpool/resize.h: grow and shrink.  (api/trim.c returns the memory of removed objects.)
 *
 * Idea         The cold store (cold.h) has the slots that are not in use, and counts how many of them may be; the queue
 *              (waiters.h) has the debt of a shrink.  The functions here join the two.
 * Invariants   Z1  capacity + room to grow is at most `reserved`, also while calls overlap (O1).
 *              Z2  a pool with a growth step grows by one step for each time that it was found exhausted: of several
 *                  calls that found it exhausted at one capacity, one grows it, and the others try again.
 */
#include "waiting/waiters.h"

#include "base/probes.h"
#include "core/cold.h"
#include "object/lifecycle.h"
#include "os/os.h"
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

void resize_stay_closed(lfpool_t *pool)
{
	/* A close sets `closed`, fences, and takes all objects out; this call has added some, fences, and looks. */
	full_fence();
	if (unlikely(waiters_closed(&pool->waiters))) {
		/* relaxed: a number. */
		store_relaxed(&pool->core.cold.maximum, 0);
		(void)resize_shrink(pool, SIZE_MAX);
	}
}

size_t lfpool_grow(lfpool_t *pool, size_t count)
{
	if (waiters_closed(&pool->waiters))
		return 0;

	const size_t forgiven = debt_forgive(&pool->waiters, count);
	const size_t added = cold_grow(&pool->core.cold, count - forgiven, COLD_ANY);

	if (added)
		probe_grow(pool, pool->name, added);
	/* Also if it only forgave: the debt kept the pool from growing. */
	resize_serve_if_wanted(pool, NULL);
	resize_stay_closed(pool);
	return forgiven + added;
}

lfpool_status_t lfpool_limit(lfpool_t *pool, size_t max_capacity)
{
	if (max_capacity > pool->core.cold.reserved)
		return LFPOOL_E_CONFIG_MAX_CAPACITY;
	if (waiters_closed(&pool->waiters))
		return LFPOOL_E_CLOSED;
	/* relaxed: a number.  A call that waits may grow it: served after the fence. */
	store_relaxed(&pool->core.cold.maximum, max_capacity);
	resize_serve_if_wanted(pool, NULL);
	resize_stay_closed(pool);
	return LFPOOL_OK;
}

/* ---- Shrinking ---- */

void resize_withdraw(lfpool_t *pool, uint32_t slot)
{
	if (pool_in_place(pool) && !pool->disowned)
		lifecycle_cool(pool->lifecycle, slot, arena_object(&pool->core.arena, slot));
	cold_withdraw(&pool->core.cold, slot);
	/* Another shrink may count this object as owed. */
	debt_limit(pool);
}

size_t resize_shrink(lfpool_t *pool, size_t count)
{
	size_t gone = cold_forbid(&pool->core.cold, count);

	/* Another shrink may count these objects as owed. */
	debt_limit(pool);
	/* This call removes the free objects before it adds a debt, which other calls might pay with them. */
	while (gone < count) {
		const uint32_t slot = slots_take(pool, thread_cache(pool));

		if (!slot)
			break;
		resize_withdraw(pool, slot);
		gone++;
	}
	probe_shrink(pool, pool->name, count, gone);
	if (gone < count)
		debt_add(pool, count - gone);
	/* For calls that wait: objects were released meanwhile, and the pool may grow again. */
	resize_serve_if_wanted(pool, NULL);
	return gone;
}

size_t lfpool_shrink_cancel(lfpool_t *pool)
{
	if (waiters_closed(&pool->waiters))
		return 0;

	const size_t forgiven = debt_forgive(&pool->waiters, SIZE_MAX);

	resize_serve_if_wanted(pool, NULL);
	resize_stay_closed(pool);
	return forgiven;
}

/* ---- Growing when a call finds nothing ---- */

bool resize_by_itself(lfpool_t *pool, size_t seen)
{
	size_t added;

	/* relaxed: a number.  A pool that owes objects to a shrink must not grow. */
	if (!pool->growth_step || waiters_closed(&pool->waiters) || load_relaxed(&pool->waiters.owed) ||
	    !(added = cold_grow(&pool->core.cold, pool->growth_step, seen)))
		return false;
	if (added != COLD_CHANGED) {
		probe_grow(pool, pool->name, added);
		resize_stay_closed(pool);
	}
	return true;
}
