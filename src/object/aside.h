/* SPDX-License-Identifier: MIT */
/*
 * aside.h - free slots whose objects hooks.activate refused, so that a call that was refused one finds other objects.
 *
 * Idea         A refused object stays built, and its slot must stay free.  If the call put the slot on a magazine, it
 *              would find the slot again at once.  If it kept the slot until its end, a thread that stops would take
 *              the slot from all others.  So the slot is set aside: its word gets a ticket.  Any thread can take it
 *              there, after it has found the free lists empty.  A call reads the number of tickets before it sets a
 *              slot aside for the first time, and takes only slots with older tickets.  So it tries each object once.
 * Invariants   AS1 a slot is set aside exactly while its ticket is not 0, and then no thread holds it.  A call holds
 *                  one slot at a time.
 *              AS2 tickets only grow, so a slot that a call has taken gets a ticket above `until` if it is set aside
 *                  again.  A scan that reaches the end has found every slot that had a ticket up to `until` when the
 *                  scan began, except the slots that other calls took.
 *              A call that was refused no object takes any ticket.  It returns NULL when it has scanned to the end,
 *              then found the free lists exhausted, and `sets` has not changed meanwhile: then no slot was free, except
 *              slots that calls held.  A call that was refused an object takes only older tickets, so it does not
 *              compare `sets` (AS2).  When it returns NULL, this call or an overlapping one had set each free slot
 *              aside.
 * Progress     set, take: lock-free; take is O(slots), and O(1) when no slot is set aside.
 * Concurrency  No two calls need outside help.  The caller of set holds the slot.
 * Edges        KEEP (docs/memory-model.md): set -> take.
 */
#ifndef LFPOOL_ASIDE_H
#define LFPOOL_ASIDE_H

#include "base/atomics.h"
#include "base/base.h"

struct aside {
	_Atomic(uint64_t) tickets; /* drawn so far                                                             */
	_Atomic(uint64_t) sets;    /* slots set aside so far, each counted when its ticket is stored           */
	_Atomic(uint32_t) count;   /* slots that are set aside, or are just being set aside or taken           */
	uint32_t slots;
	_Atomic(uint64_t) ticket[]; /* of each slot, from 0; zeroed memory: none is set aside                  */
};

static inline uint64_t aside_tickets(const struct aside *a)
{
	/* relaxed: a call that happens after another one sees its tickets by the edge between them. */
	return load_relaxed(&a->tickets);
}

/* relaxed: as above. */
static inline uint32_t aside_count(const struct aside *a)
{
	return load_relaxed(&a->count);
}

static inline uint64_t aside_sets(const struct aside *a)
{
	/* acquire: the tickets that it counts. */
	return load_acquire(&a->sets);
}

/* By the slot's holder. */
static inline void aside_set(struct aside *a, uint32_t slot)
{
	/* relaxed, both: the store of the ticket releases them.  So the count is never too low. */
	(void)fetch_add_relaxed(&a->count, 1);
	const uint64_t ticket = fetch_add_relaxed(&a->tickets, 1) + 1;

	/* release, edge KEEP: the holder's writes to the object. */
	store_release(&a->ticket[slot], ticket);
	/* relaxed: the CAS decides.  release: the ticket, for a call that compares `sets`.  Retries only after another
	 * set. */
	uint64_t sets = load_relaxed(&a->sets);

	while (!cas_weak_release(&a->sets, &sets, sets + 1))
		;
}

/* A slot from *at on with a ticket up to `until`, or SLOT_NONE.  *at begins with 1. */
static inline uint32_t aside_take(struct aside *a, uint64_t until, uint32_t *at)
{
	if (!aside_count(a))
		return SLOT_NONE;
	for (; *at <= a->slots; ++*at) {
		/* relaxed: the CAS acquires. */
		uint64_t ticket = load_relaxed(&a->ticket[*at]);

		/* acquire, edge KEEP.  It fails if another thread took the slot. */
		if (!ticket || ticket > until || !cas_acquire(&a->ticket[*at], &ticket, 0))
			continue;
		/* relaxed: after the slot is taken. */
		(void)fetch_add_relaxed(&a->count, UINT32_MAX);
		return *at;
	}
	return SLOT_NONE;
}

/* The next slot that is set aside, from *at on; SLOT_NONE at the end.  A snapshot. */
static inline uint32_t aside_next(const struct aside *a, uint32_t *at)
{
	while (++*at <= a->slots)
		/* relaxed: as above. */
		if (load_relaxed(&a->ticket[*at]))
			return *at;
	return SLOT_NONE;
}

#endif
