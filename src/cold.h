/* SPDX-License-Identifier: MIT */
/*
 * cold.h - the cold store: slots that are in no magazine, because they were never used, or were taken out of use.
 *
 * Idea         A bit for each slot: 1, it is cold.  And two counts.  `allowed`: so many cold slots may be taken; they
 *              are free objects like any others, only that an acquire takes them last.  `spare`: so many may not, until
 *              the pool grows.  The counts say how many, the bits say which; no bit says what its slot is.
 *                  take       allowed - 1, then any bit                 an acquire
 *                  put        a bit, then allowed + 1                   lfpool_trim()
 *                  withdraw   a bit, then capacity - 1, spare + 1       lfpool_shrink()
 *                  forbid     allowed - n, capacity - n, spare + n      lfpool_shrink(), of what is cold already
 *                  allow      capacity + n, spare - n, allowed + n      lfpool_grow()
 *              Slots go one at a time, straight to the caller, so nothing is out of sight but what is in a call's hands.
 *              Addresses beyond the first `capacity` slots have no access; `opened` says how far they have by now.
 * Invariants   O1  bits >= allowed + spare: who takes takes a count first, and so finds a bit; who gives sets the bit
 *                  first.
 *              O2  capacity = slots that are in use, in magazines, in never-used chunks, or in a call's hands + allowed.
 *              O3  a cold slot's object is not built (care.h), and nobody's.
 *              O4  every change of `allowed` advances the upper half of the word: so, as an integer, it only grows (S1,
 *                  tagged.h), and a collect can read it like a head of the depot.  It wraps after 2^32 changes.
 * Progress     Lock-free.  A search for a bit goes round again only when others took or gave some.  Growing enters the
 *              kernel to open pages.
 * Edges        COLD: who sets a bit -> who clears it.   SHOW: put, allow -> the collect.
 */
#ifndef LFPOOL_COLD_H
#define LFPOOL_COLD_H

#include "arena.h"
#include "atomics.h"
#include "base.h"

struct cold {
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) allowed; /* {changes:32, count:32}, O4                  */
	_Atomic(uint64_t) spare;
	_Atomic(uint64_t) capacity; /* objects, active and free: lfpool_capacity()                        */
	_Atomic(uint64_t) maximum;  /* of `capacity`: lfpool_max_capacity()                               */
	_Atomic(uint64_t) opened;   /* slots 1 .. this have their pages, and were counted; only grows     */
	_Atomic(uint64_t) hint;     /* the word of `bits` where the next search begins                    */
	/* Fixed. */
	uint64_t initial;           /* slots that magazines are born with (or the mutex backend counts up) */
	uint64_t reserved;          /* slots there are addresses for                                      */
	const struct arena *arena;
	_Atomic(uint64_t) *bits;    /* of slot s: bit (s - 1) % 64 of word (s - 1) / 64                   */
};

/* Bytes of the bits of `reserved` slots. */
static inline size_t cold_bytes(size_t reserved)
{
	return round_up((reserved + 63) / 64 * sizeof(uint64_t), CACHE_LINE_PAIR);
}

/* `memory`: cold_bytes(), zeroed. */
void cold_open(struct cold *c, const struct arena *arena, size_t capacity, size_t reserved, void *memory);

static inline uint32_t cold_count(uint64_t allowed)
{
	return (uint32_t)allowed;
}

/* Objects there are.  relaxed: whoever may expect a change has it through an edge of his own. */
static inline size_t cold_capacity(const struct cold *c)
{
	return (size_t)load_relaxed(&c->capacity);
}

/* Objects that are free, and cold. */
static inline size_t cold_allowed(const struct cold *c)
{
	/* relaxed: a snapshot. */
	return cold_count(load_relaxed(&c->allowed));
}

/* Slots 1 .. this can be accessed. */
static inline size_t cold_opened(const struct cold *c)
{
	/* relaxed: as cold_capacity(). */
	return (size_t)load_relaxed(&c->opened);
}

/* Slots 1 .. this have been handed out, if `from_chunks` is how many of the first ones were. */
static inline size_t cold_used(const struct cold *c, size_t from_chunks)
{
	/* relaxed: as cold_capacity(). */
	const uint64_t opened = load_relaxed(&c->opened);

	return opened > c->initial ? (size_t)opened : from_chunks;
}

COLD uint32_t cold_take_allowed(struct cold *c);

/* A cold slot for an acquire, or SLOT_NONE. */
static inline uint32_t cold_take(struct cold *c)
{
	/* relaxed: a look; who takes looks again. */
	return likely(!cold_count(load_relaxed(&c->allowed))) ? SLOT_NONE : cold_take_allowed(c);
}

/* The slot's holder puts it into the store: for the next acquire; or out of the pool. */
void cold_put(struct cold *c, uint32_t slot);
void cold_withdraw(struct cold *c, uint32_t slot);

/* Up to `count` of the cold slots leave the pool, or come into it; say how many. */
size_t cold_forbid(struct cold *c, size_t count);
/* from: only if there are so many objects now; COLD_ANY: however many there are. */
#define COLD_ANY SIZE_MAX
size_t cold_allow(struct cold *c, size_t count, size_t from);

#endif
