/* SPDX-License-Identifier: MIT */
/*
 * aside.h - keeps free slots whose objects hooks.activate refused, so that the acquire tries other objects.
 *
 * Idea         A refused object stays built, and its slot must stay free.  If the call put the slot on a magazine, it
 *              would find the slot again at once.  If it kept the slot until it returned, and its thread stopped, no
 *              other thread could get the slot.  So the call sets the slot aside: it draws a ticket and stores it in
 *              the slot's word.  Any thread that has found the free lists empty can take that slot.  Before a call sets
 *              its first slot aside, it reads the number of tickets drawn so far.  From then on it takes only slots
 *              with tickets up to that number, `until`, so it tries each object once.
 * Invariants   AS1 a slot is set aside exactly while its ticket is not 0, and then no thread holds it.  A call holds
 *                  one slot at a time.
 *              AS2 tickets only grow, so a slot that a call has taken gets a ticket above `until` if it is set aside
 *                  again.  A scan that reaches the end has found every slot that had a ticket up to `until` when the
 *                  scan began, except the slots that other calls took.
 *              Before its first refusal a call takes slots with any ticket.  `sets` counts the slots set aside so far.
 *              A call without a refusal returns NULL only if it read `sets`, scanned to the end, found the free lists
 *              exhausted, and found `sets` unchanged, in this order.  In that case no slot was free, except slots that
 *              calls held.  After its first refusal a call skips slots that are set aside later, so it need not compare
 *              `sets` (AS2).  If it then returns NULL, each free slot was set aside by this call or by an overlapping
 *              one.
 * Progress     set, take: lock-free; take is O(slots), and O(1) when no slot is set aside.
 * Concurrency  Any two calls may run at the same time.  The caller of set holds the slot.
 * Edges        KEEP (docs/memory-model.md): set -> take.
 */
#ifndef LFPOOL_ASIDE_H
#define LFPOOL_ASIDE_H

#include "base/atomics.h"
#include "base/base.h"

struct aside {
	_Atomic(uint64_t) tickets; /* drawn so far                                                             */
	_Atomic(uint64_t) sets;    /* slots set aside so far, each counted after its ticket is stored          */
	_Atomic(uint32_t) count;   /* slots that are set aside, or are just being set aside or taken           */
	uint32_t slots;
	_Atomic(uint64_t) ticket[]; /* by slot, from slot 0 on; 0: the slot is not set aside                   */
};

static inline uint64_t aside_tickets(const struct aside *a)
{
	/* relaxed: if one call happens after another, the edge between the two makes the earlier call's tickets
	 * visible. */
	return load_relaxed(&a->tickets);
}

/* `a` may be NULL.  relaxed: as in aside_tickets(). */
static inline uint32_t aside_count(const struct aside *a)
{
	return a ? load_relaxed(&a->count) : 0;
}

static inline uint64_t aside_sets(const struct aside *a)
{
	/* acquire: makes visible the tickets of the slots that `sets` counts. */
	return load_acquire(&a->sets);
}

/* Called by the slot's holder. */
static inline void aside_set(struct aside *a, uint32_t slot)
{
	/* relaxed, both: the store of the ticket publishes both changes, so the count is never too low. */
	(void)fetch_add_relaxed(&a->count, 1);
	const uint64_t ticket = fetch_add_relaxed(&a->tickets, 1) + 1;

	/* release, edge KEEP: publishes the holder's writes to the object. */
	store_release(&a->ticket[slot], ticket);
	/* relaxed: the CAS decides.  release: publishes the ticket to a call that compares `sets`.  Retries only after
	 * another call has set a slot aside. */
	uint64_t sets = load_relaxed(&a->sets);

	while (!cas_weak_release(&a->sets, &sets, sets + 1))
		;
}

/* Takes the first slot from *at on whose ticket is at most `until`.  SLOT_NONE: no slot has such a ticket.  The caller
 * sets *at to 1 before the first call. */
static inline uint32_t aside_take(struct aside *a, uint64_t until, uint32_t *at)
{
	if (!aside_count(a))
		return SLOT_NONE;
	for (; *at <= a->slots; ++*at) {
		/* relaxed: the CAS acquires. */
		uint64_t ticket = load_relaxed(&a->ticket[*at]);

		/* acquire, edge KEEP.  The CAS fails if another thread took the slot. */
		if (!ticket || ticket > until || !cas_acquire(&a->ticket[*at], &ticket, 0))
			continue;
		/* relaxed: a count, lowered only after the slot is taken. */
		(void)fetch_add_relaxed(&a->count, UINT32_MAX);
		return *at;
	}
	return SLOT_NONE;
}

/* The next slot that is set aside, after *at; SLOT_NONE at the end.  The result is a snapshot. */
static inline uint32_t aside_next(const struct aside *a, uint32_t *at)
{
	while (++*at <= a->slots)
		/* relaxed: a snapshot. */
		if (load_relaxed(&a->ticket[*at]))
			return *at;
	return SLOT_NONE;
}

#endif
