/* SPDX-License-Identifier: MIT */
/*
 * evict.c - lfpool/evict.h: an acquire that evicts, and priorities.
 *
 * Acquire      An acquire takes a free slot.  If there is none, the call grows the pool.  If the pool cannot grow, the
 *              call takes the slot of a victim.  Then the object becomes active as in every acquire.  The object also
 *              gets a rank and a pin, so it is no candidate for eviction until it is unpinned.  After a search has
 *              found the pool full, the pool is not searched again until an object becomes free (W13, waiters.h).
 * Shrink       A pending shrink gets the slot of a victim, and the acquire then evicts another object.
 * Eviction     The use of a victim ends like the use of a released object (A3, arena.h): by a CAS of the slot's word.
 *              The CAS expects the value that the search saw, which had no pins.  If the CAS fails, another thread has
 *              pinned, released or evicted the object, and the search begins again.  Lock-free, except for the hooks.
 */
#include "evict/order.h"
#include "pool/handles.h"
#include "pool/slots.h"
#include "pool/threads.h"
#include "retire/retired.h"
#include "waiting/waiters.h"

#include "lfpool/evict.h"
#include "lfpool/handle.h"

/* ---- The victim ---- */

/* Evicts the candidate with the least rank, if that candidate gives way to an object with the priority *newcomer.  If
 * `newcomer` is NULL, every candidate gives way.  False: no object gave way.  *slot_out is the victim's slot, which is
 * free now.  In a pool with a quarantine the victim's slot enters the quarantine, and *slot_out is the slot that left
 * the quarantine, or SLOT_NONE. */
static bool evict_least(lfpool_t *pool, const uint64_t *newcomer, uint32_t *slot_out)
{
	struct order *order = pool->order;

	/* Repeats only after another thread pinned, released or evicted the least candidate, or changed its
	 * priority. */
	for (;;) {
		const struct least least = order_least(order);

		if (!least.slot || (newcomer && !order_gives_way(order, least.rank.priority, *newcomer)))
			return false;
		if (order_priority(order, least.slot) != least.rank.priority ||
		    !arena_unmark(&pool->core.arena, least.slot, least.word))
			continue;
		order_raise(order, least.slot, (struct rank){least.rank.priority, least.rank.stamp + 1});

		void *object = pool_object(pool, least.slot);

		if (pool->hooks.evict)
			pool->hooks.evict(pool->hooks.context, object, handle_with(pool, least.slot, least.word),
					  least.rank.priority);
		*slot_out = slots_end(pool, least.slot, object);
		return true;
	}
}

/* ---- Acquire ---- */

/* Takes a free slot.  SLOT_NONE: at some moment during the call no slot was free.  `ticket` is unique to the call. */
static uint32_t take_free(lfpool_t *pool, struct cache_head *head, uint64_t ticket)
{
	struct waiters *d = &pool->waiters;
	uint32_t slot;

	if (waiters_know_full(d))
		return SLOT_NONE;
	if ((slot = slots_take(pool, head)))
		return slot;
	slots_exhausted(pool, head);
	/* Repeats only after a batch was reclaimed, or the pool has grown. */
	for (;;) {
		const size_t seen = cold_capacity(&pool->core.cold);

		waiters_search(d, ticket);
		if ((slot = slots_take(pool, head)))
			return slot;
		if (retired_poll(pool->retired, head))
			continue;
		if (!resize_by_itself(pool, seen))
			break;
		resize_serve_if_wanted(pool, head);
	}
	waiters_found_nothing(d, ticket);
	return SLOT_NONE;
}

/* Puts a victim's slot back, when no new object takes the slot.  `slot` may be SLOT_NONE. */
static void put_victim(lfpool_t *pool, struct cache_head *head, uint32_t slot)
{
	tally_shared(&pool->order->released, 1);
	slots_put_ended(pool, head, slot);
	waiters_look(pool, head);
}

/* Takes a slot for the new object.  SLOT_NONE: no object gave way. */
static uint32_t take_for(lfpool_t *pool, struct cache_head *head, uint64_t priority, uint64_t ticket)
{
	uint32_t slot;

	/* Repeats only after an eviction whose slot went to the quarantine, or to a pending shrink. */
	while (!(slot = take_free(pool, head, ticket))) {
		if (!evict_least(pool, &priority, &slot))
			return SLOT_NONE;
		if (slot && !cold_owes(&pool->core.cold)) {
			tally_shared(&pool->order->handed_over, 1);
			return slot;
		}
		put_victim(pool, head, slot);
	}
	return slot;
}

void *lfpool_acquire_evicting(lfpool_t *pool, uint64_t priority, lfpool_handle_t *handle_out)
{
	struct order *order = pool->order;
	void *object = NULL;
	uint32_t slot;

	if (!handle_out)
		return NULL;
	*handle_out = 0;
	if (!order || waiters_closed(&pool->waiters))
		return NULL;

	struct cache_head *head = thread_cache(pool);
	const struct rank rank = {priority, order_stamp(order)};

	/* Repeats only if the slot's object was released twice in a race (SLOT_USED_UP). */
	do {
		slot = take_for(pool, head, priority, rank.stamp);
	} while (slot && !waiters_begin(pool, head, slot, &object));
	if (!object) {
		tally_shared(&order->not_evicted, !slot);
		return NULL;
	}
	/* If a hook refused the object in that slot, `object` is in another slot. */
	if (pool_in_place(pool))
		slot = arena_slot(&pool->core.arena, (uintptr_t)object);
	order_enter(order, slot, rank);
	*handle_out = handle_live(pool, slot,
				  arena_mark(&pool->core.arena, slot, GENERATION_CANDIDATE + GENERATION_PIN));
	/* The handle is 0 if another thread has already released the object, by lfpool_release_all(). */
	return *handle_out ? object : NULL;
}

/* ---- Priorities ---- */

/* The slot of the handle's object if the object is active and has a priority, otherwise SLOT_NONE. */
static uint32_t find_candidate(const lfpool_t *pool, lfpool_handle_t handle, uint64_t *word_out)
{
	const uint32_t slot = handle_find(pool, handle, word_out);

	return slot && generation_phase(*word_out) == GENERATION_CANDIDATE ? slot : SLOT_NONE;
}

lfpool_status_t lfpool_set_priority(lfpool_t *pool, lfpool_handle_t handle, uint64_t priority)
{
	uint64_t word;

	const uint32_t slot = find_candidate(pool, handle, &word);

	if (!slot || !arena_pin(&pool->core.arena, slot, word))
		return handle_refuse_evicted(pool, handle);
	order_set_priority(pool->order, slot, priority);
	return handle_unpin(pool, handle, slot, word + GENERATION_PIN);
}

bool lfpool_get_priority(const lfpool_t *pool, lfpool_handle_t handle, uint64_t *priority_out)
{
	uint64_t word;

	const uint32_t slot = find_candidate(pool, handle, &word);

	if (!slot)
		return false;

	const uint64_t priority = order_priority(pool->order, slot);

	/* The priority belongs to this use only if the use has not ended yet (order_set_priority()). */
	if (!find_candidate(pool, handle, &word))
		return false;
	*priority_out = priority;
	return true;
}

lfpool_handle_t lfpool_least(lfpool_t *pool, uint64_t *priority_out)
{
	if (!pool->order)
		return 0;

	struct least least;

	/* order_least() may pair the slot's word with the priority of the slot's next object.  The condition's first
	 * load acquires, so in that case its second load sees a changed word.  Repeats only after another thread has
	 * changed the candidate. */
	do {
		least = order_least(pool->order);
	} while (least.slot && (order_priority(pool->order, least.slot) != least.rank.priority ||
				arena_generation(&pool->core.arena, least.slot) != least.word));
	if (least.slot && priority_out)
		*priority_out = least.rank.priority;
	return least.slot ? handle_with(pool, least.slot, least.word) : 0;
}

size_t lfpool_release_least(lfpool_t *pool, size_t count)
{
	size_t released = 0;
	uint32_t slot;

	while (pool->order && released < count && evict_least(pool, NULL, &slot)) {
		put_victim(pool, thread_cache(pool), slot);
		released++;
	}
	return released;
}
