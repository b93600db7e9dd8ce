/* SPDX-License-Identifier: MIT */
/*
 * quarantine.h - a ring that keeps released slots for a while, so that a use after release is detected.
 *
 * Idea         Each release puts its slot into the next entry of a ring with N entries, takes out the slot that was put
 *              there N releases ago, and puts that slot on the free lists.  An acquire that finds the free lists empty
 *              takes from the ring, so a quarantine never makes an acquire return NULL.
 * Invariants   Q1  every change of an entry (put or take) raises its version by one.  So if two readings of an entry
 *                  are equal, the entry did not change between them.  If two sums of all versions are equal, no entry
 *                  changed between them.
 *              Q2  a slot is in at most one entry, and then no thread holds it.
 *              An acquire returns NULL only if it found the ring empty, then the free lists exhausted, and then the
 *              ring empty again with the same sum of versions.  By Q1 the ring was then empty all the time between the
 *              two checks.  (A release that is under way may still hold one free slot that has left the ring.)
 * Progress     put, take: lock-free.  take is O(N).
 * Concurrency  Any two calls may run at the same time.  The caller of put holds the slot.
 * Edges        KEEP (docs/memory-model.md): a put -> the take or the put that takes the slot out, and a take -> a call
 *              that finds the entry empty.
 * Wrap         Q1 fails only if one entry is changed 2^32 times between the two readings of an acquire (widths.h).
 */
#ifndef LFPOOL_QUARANTINE_H
#define LFPOOL_QUARANTINE_H

#include "base/atomics.h"
#include "base/base.h"
#include "base/widths.h"

/* {version:32, slot:32} */
typedef _Atomic(uint64_t) quarantine_place;

struct quarantine {
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) next; /* puts so far                       */
	_Alignas(CACHE_LINE_PAIR) uint32_t places;        /* 0: there is no quarantine         */
	quarantine_place *place;                          /* zeroed memory reads as empty      */
};

static inline uint64_t quarantine_changed(uint64_t word, uint32_t slot)
{
	return (((word >> 32) + 1) & LOW_BITS(QUARANTINE_VERSION_BITS)) << 32 | slot;
}

/* Puts `slot` in; returns the slot that leaves instead, or SLOT_NONE. */
static inline uint32_t quarantine_put(struct quarantine *q, uint32_t slot)
{
	/* relaxed: the counter only assigns entries. */
	quarantine_place *place = &q->place[fetch_add_relaxed(&q->next, 1) % q->places];
	/* relaxed: the CAS below acquires. */
	uint64_t word = load_relaxed(place);

	/* acq_rel, edge KEEP: publishes the data of `slot`, and acquires the data of the slot that leaves.  Retries
	 * only after another thread changed this very entry. */
	while (!cas_weak_acq_rel(place, &word, quarantine_changed(word, slot)))
		;
	return (uint32_t)word;
}

/* Takes the oldest slot, or one of the oldest.  SLOT_NONE: each entry was empty when it was read, and *versions_out is
 * the sum of their versions. */
static inline uint32_t quarantine_take(struct quarantine *q, uint64_t *versions_out)
{
	/* relaxed: any entry is a correct beginning. */
	const uint64_t first = load_relaxed(&q->next);

	*versions_out = 0;
	for (uint32_t i = 0; i < q->places; i++) {
		quarantine_place *place = &q->place[(first + i) % q->places];
		/* acquire, edge KEEP: a thread that finds the entry empty sees the earlier writes of the thread that
		 * emptied it. */
		uint64_t word = load_acquire(place);

		/* acq_rel, edge KEEP: acquires the data of the slot, and releases our earlier writes to a call that
		 * finds the entry empty.  Retries only after another thread changed this very entry. */
		while ((uint32_t)word && !cas_weak_acq_rel(place, &word, quarantine_changed(word, SLOT_NONE)))
			;
		if ((uint32_t)word)
			return (uint32_t)word;
		*versions_out += word >> 32;
	}
	return SLOT_NONE;
}

/* Slots in the ring; a snapshot. */
static inline size_t quarantine_count(const struct quarantine *q)
{
	size_t count = 0;

	for (uint32_t i = 0; i < q->places; i++)
		/* relaxed: if the caller can know that a slot was put here, another edge has made that put visible. */
		count += (uint32_t)load_relaxed(&q->place[i]) != SLOT_NONE;
	return count;
}

/* The next slot in the ring, from entry *place on; SLOT_NONE at the end. */
static inline uint32_t quarantine_next(const struct quarantine *q, uint32_t *place)
{
	while (*place < q->places) {
		/* relaxed: as in quarantine_count(). */
		const uint32_t slot = (uint32_t)load_relaxed(&q->place[(*place)++]);

		if (slot)
			return slot;
	}
	return SLOT_NONE;
}

#endif
