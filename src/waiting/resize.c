/* SPDX-License-Identifier: MIT */
/*
 * resize.c - lfpool/resize.h: grow and shrink; and what happens when a call finds nothing.
 *
 * Idea         The cold store (cold.h) has the slots that are not in use, and counts how many of them may be; the queue
 *              (waiters.h) has the debt of a shrink.  What is here puts the two together.
 * Invariants   Z1  capacity + room to grow is at most what was reserved, whatever happens at the same time (O1).
 *              Z2  a pool that grows by itself grows by one step for each time it was found exhausted: of several calls that
 *                  found it so at one capacity, one grows it, and the others try again.
 */
#include "waiting/waiters.h"

#include "base/probes.h"
#include "core/cold.h"
#include "object/lifecycle.h"
#include "os/os.h"
#include "pool/pool.h"
#include "pool/threads.h"
#include "retire/retired.h"

#include "lfpool/resize.h"

void resize_serve_if_wanted(lfpool_t *pool, struct cache_head *head)
{
	/* W1 (waiters.h): what is free now is visible before we look at the demand. */
	full_fence();
	/* relaxed: after the fence. */
	if (load_relaxed(pool->waiters.wanted))
		waiters_serve(pool, head ? head : thread_cache(pool));
}

/* ---- Growing ---- */

/* A closed pool has no objects but those in use, whatever another thread adds or forgives at the same time. */
static void stay_closed(lfpool_t *pool)
{
	/* Closing sets `closed`, fences, and takes out what there is; we add, fence, and look. */
	full_fence();
	if (unlikely(waiters_closed(&pool->waiters))) {
		/* relaxed: a number. */
		store_relaxed(&pool->cold.maximum, 0);
		(void)lfpool_shrink(pool, SIZE_MAX);
	}
}

size_t lfpool_grow(lfpool_t *pool, size_t count)
{
	if (waiters_closed(&pool->waiters))
		return 0;

	const size_t forgiven = debt_forgive(&pool->waiters, count);
	const size_t added = cold_grow(&pool->cold, count - forgiven, COLD_ANY);

	if (added)
		probe_grow(pool, pool->name, added);
	/* Also if it only forgave: the debt kept the pool from growing by itself. */
	resize_serve_if_wanted(pool, NULL);
	stay_closed(pool);
	return forgiven + added;
}

size_t resize_settled(const lfpool_t *pool)
{
	size_t owed, capacity;

	/* Each retry means that a debt was paid meanwhile.  relaxed, both: a number. */
	do {
		owed = (size_t)load_relaxed(&pool->waiters.owed);
		capacity = cold_capacity(&pool->cold);
	} while (owed != load_relaxed(&pool->waiters.owed));
	return capacity > owed ? capacity - owed : 0;
}

size_t lfpool_reserve(lfpool_t *pool, size_t capacity)
{
	size_t added = 0, more, now;

	/* Once, unless it shrinks meanwhile. */
	while ((now = resize_settled(pool)) < capacity && (more = lfpool_grow(pool, capacity - now)))
		added += more;
	return added;
}

lfpool_status_t lfpool_limit(lfpool_t *pool, size_t max_capacity)
{
	if (max_capacity > pool->cold.reserved)
		return LFPOOL_E_CONFIG_MAX_CAPACITY;
	if (waiters_closed(&pool->waiters))
		return LFPOOL_E_CLOSED;
	/* relaxed: a number.  A call that waits may grow it: served after the fence. */
	store_relaxed(&pool->cold.maximum, max_capacity);
	resize_serve_if_wanted(pool, NULL);
	stay_closed(pool);
	return LFPOOL_OK;
}

/* ---- Shrinking ---- */

void resize_withdraw(lfpool_t *pool, uint32_t slot)
{
	if (pool_in_place(pool))
		lifecycle_cool(pool->lifecycle, slot, arena_object(pool->arena, slot));
	cold_withdraw(&pool->cold, slot);
	/* What shrinks at the same time may be owed it. */
	debt_limit(pool);
}

size_t lfpool_shrink(lfpool_t *pool, size_t count)
{
	size_t gone = cold_forbid(&pool->cold, count);

	/* What it took may have been owed. */
	debt_limit(pool);
	/* What is free now goes by itself, before there is a debt, which others might pay. */
	while (gone < count) {
		const uint32_t slot = pool->backend->take(pool, thread_cache(pool));

		if (!slot)
			break;
		resize_withdraw(pool, slot);
		gone++;
	}
	probe_shrink(pool, pool->name, count, gone);
	if (gone < count)
		debt_add(pool, count - gone);
	/* What came back meanwhile; and it may grow again, for those who wait. */
	resize_serve_if_wanted(pool, NULL);
	return gone;
}

size_t lfpool_shrink_cancel(lfpool_t *pool)
{
	if (waiters_closed(&pool->waiters))
		return 0;

	const size_t forgiven = debt_forgive(&pool->waiters, SIZE_MAX);

	resize_serve_if_wanted(pool, NULL);
	stay_closed(pool);
	return forgiven;
}

/* ---- Closing ---- */

size_t lfpool_close(lfpool_t *pool, int64_t timeout_ns)
{
	struct waiters *d = &pool->waiters;
	struct cache_head *head = thread_cache(pool);
	const uint64_t deadline_ns = timeout_ns ? os_deadline(timeout_ns) : 0;
	size_t left;

	waiters_close(pool, head);
	stay_closed(pool);
	/* Repeats only after a sleep. */
	while ((left = cold_capacity(&pool->cold)) && deadline_ns && (deadline_ns == UINT64_MAX || os_now_ns() < deadline_ns)) {
		/* relaxed: a word to sleep on. */
		const uint64_t seen = load_relaxed(&d->closed);

		/* Once it was empty nobody says so again: what another thread adds too late is gone soon. */
		waiters_doze(d, &d->closed, seen,
			     seen == CLOSED ? waiters_sleep_until(pool, deadline_ns) : waiters_soon(deadline_ns));
		(void)retired_poll(pool->retired, head);
	}
	return left;
}

/* ---- Nothing left ---- */

bool resize_by_itself(lfpool_t *pool, size_t seen)
{
	size_t added;

	/* relaxed: a number.  What was to go shall not come back by itself. */
	if (!pool->growth_step || waiters_closed(&pool->waiters) || load_relaxed(&pool->waiters.owed) ||
	    !(added = cold_grow(&pool->cold, pool->growth_step, seen)))
		return false;
	if (added != COLD_CHANGED) {
		probe_grow(pool, pool->name, added);
		stay_closed(pool);
	}
	return true;
}

void *resize_or_give_up(lfpool_t *pool, struct cache_head *head)
{
	uint32_t attempt = 0;
	void *object = NULL;

	/* Repeats only after it grew, or another thread made it grow, or a batch was reclaimed, or the hook said so. */
	for (;;) {
		const size_t seen = cold_capacity(&pool->cold);
		const uint32_t slot = pool->backend->take(pool, head);
		int64_t wait_ns = 0;

		if (slot && pool->backend->begin(pool, head, slot, &object))
			return object;
		/* What may be reused, before what was never used. */
		if (slot || retired_poll(pool->retired, head))
			continue;
		if (resize_by_itself(pool, seen)) {
			resize_serve_if_wanted(pool, head);
			continue;
		}
		if (waiters_closed(&pool->waiters) || !pool->hooks.exhausted ||
		    !pool->hooks.exhausted(pool->hooks.context, pool, attempt++, &wait_ns))
			return NULL;
		if (wait_ns && (object = waiters_wait(pool, head, os_deadline(wait_ns))))
			return object;
	}
}
