/* SPDX-License-Identifier: MIT */
/*
 * cold.h - the cold store: slots that are in no magazine, because they were never used, or were taken out of use.
 *
 * Idea         A bit for each slot says whether it is cold, and one word counts: {capacity, allowed}.  `allowed` of the
 *              cold slots may be taken; they are free objects like any others, only that an acquire takes them last.
 *              The other cold slots are room to grow.  The counts say how many, the bits say which; no bit says what
 *              its slot is.
 *                  take       allowed - 1, then any bit              an acquire
 *                  put        a bit, then allowed + 1                lfpool_trim()
 *                  withdraw   a bit, then capacity - 1               lfpool_shrink()
 *                  forbid     allowed - n, capacity - n              lfpool_shrink(), of what is cold already
 *                  grow       allowed + n, capacity + n              after opening pages
 *                  borrow     capacity + n, then bits; and back      lfpool_trim(), of what is not allowed
 *              Slots go one at a time, straight to the caller, so nothing is out of sight but what is in a call's hands.
 *              Addresses beyond the first `capacity` slots have no access; `opened` says how far they have by now.
 * Invariants   O1  among slots 1 .. opened: cold ones >= allowed.  A taker takes a count first, and so finds a bit; a giver
 *                  sets the bit first.
 *              O2  allowed <= capacity <= opened; capacity = slots that are in use, in magazines, in never-used chunks, or
 *                  in a call's hands, + allowed.
 *              O3  a cold slot's object is not built (lifecycle.h), and nobody's.
 * Progress     Lock-free.  A search for a bit repeats only when others took or gave some.  Growing enters the
 *              kernel to open pages.
 * Edges        COLD: a slot is made cold -> it is taken.   SHOW: changes of `counts` -> readers, and the collect.
 *              OPEN: pages are opened -> a slot on them is taken.
 */
#ifndef LFPOOL_COLD_H
#define LFPOOL_COLD_H

#include "base/atomics.h"
#include "base/base.h"
#include "base/low_water.h"
#include "core/arena.h"

struct cold {
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) counts; /* {capacity:32, allowed:32}                         */
	_Atomic(uint64_t) maximum; /* of the capacity: lfpool_max_capacity()                                     */
	_Atomic(uint64_t) opened;  /* slots 1 .. this have their pages; only grows                               */
	_Atomic(uint64_t) room;    /* COLD_ROOM, less slots that were taken out, and more those that were put in     */
	low_water_word least_room; /* of `room`: when most were out                                            */
	_Atomic(uint64_t) hint;    /* the word of `bits` where the next search begins                            */
	/* Fixed. */
	uint64_t initial;  /* slots that magazines are born with (or the mutex backend counts up)        */
	uint64_t reserved; /* slots there are addresses for                                              */
	const struct arena *arena;
	_Atomic(uint64_t) *bits; /* of slot s: bit (s - 1) % 64 of word (s - 1) / 64: is it cold?  Up to `initial` 1 says
	                              yes, beyond it 0 does: so zeroed memory says what is so at the beginning */
};

/* What the word holds. */
static inline size_t cold_capacity_in(uint64_t counts)
{
	return (size_t)(counts >> 32);
}

static inline uint32_t cold_allowed_in(uint64_t counts)
{
	return (uint32_t)counts;
}

/* Bytes of the bits of `reserved` slots. */
static inline size_t cold_bytes(size_t reserved)
{
	return round_up((reserved + 63) / 64 * sizeof(uint64_t), CACHE_LINE_PAIR);
}

/* `memory`: cold_bytes(), zeroed. */
void cold_open(struct cold *c, const struct arena *arena, size_t capacity, size_t reserved, void *memory);

/* Objects there are; and those of them that are free, and cold.  relaxed: a caller that may expect a change has it through
 * another edge. */
static inline size_t cold_capacity(const struct cold *c)
{
	return cold_capacity_in(load_relaxed(&c->counts));
}

static inline size_t cold_allowed(const struct cold *c)
{
	return cold_allowed_in(load_relaxed(&c->counts));
}

/* Slots that were taken out of the store, less those that were put in; at the most since the last cold_reset_most(). */
#define COLD_ROOM (INT64_C(1) << 31)

static inline int64_t cold_out(const struct cold *c)
{
	/* relaxed: a snapshot. */
	return COLD_ROOM - (int64_t)load_relaxed(&c->room);
}

static inline int64_t cold_most_out(const struct cold *c)
{
	const int64_t most = COLD_ROOM - (int64_t)low_water_least(&c->least_room);

	/* While it is reset nothing is known; then: all. */
	return most < COLD_ROOM ? most : (int64_t)load_relaxed(&c->opened);
}

void cold_reset_most(struct cold *c);

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

COLD uint32_t cold_take_slow(struct cold *c);

/* A cold slot for an acquire, or SLOT_NONE. */
static inline uint32_t cold_take(struct cold *c)
{
	/* relaxed: a look; a call that takes looks again. */
	return likely(!cold_allowed(c)) ? SLOT_NONE : cold_take_slow(c);
}

/* The slot's holder puts it into the store: for the next acquire; or out of the pool. */
void cold_put(struct cold *c, uint32_t slot);
void cold_withdraw(struct cold *c, uint32_t slot);

/* Up to `count` of the cold slots leave the pool, or come into it; say how many.  To grow: only if there are `from` objects
 * now (COLD_ANY: however many); COLD_CHANGED if there are not. */
size_t cold_forbid(struct cold *c, size_t count);
size_t cold_grow(struct cold *c, size_t count, size_t from);
#define COLD_ANY SIZE_MAX
#define COLD_CHANGED SIZE_MAX

/* ---- The counts, for the calls that give memory back (pages.c) and for checks ---- */

void cold_allowed_add(struct cold *c, uint32_t count);
/* Up to `count` of them; says how many. */
uint32_t cold_allowed_take(struct cold *c, size_t count);

/* The right to take up to `count` slots that are cold and not allowed; says how many.  They count as objects until they are
 * given back, in the hands of the caller. */
uint32_t cold_borrow(struct cold *c, uint32_t count);
void cold_give_back(struct cold *c, uint32_t count);

/* ---- The bits ---- */

/* Which of a word's slots seem cold.  A look. */
uint64_t cold_look(const struct cold *c, uint64_t word);
/* Makes `bits` of a word, whose slots are the caller's, cold. */
void cold_give_bits(struct cold *c, uint64_t word, uint64_t bits);
/* Takes all of `bits`, if they are cold. */
bool cold_take_bits(struct cold *c, uint64_t word, uint64_t bits);
/* A thread that has taken a count finds a slot (O1). */
uint32_t cold_take_any(struct cold *c);

#endif
