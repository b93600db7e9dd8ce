/* SPDX-License-Identifier: MIT */
/*
 * cold.h - the cold store: slots that are in no magazine, because they are unused or were taken out of use.
 *
 * Idea         Each slot has a bit, which shows whether it is cold.  One word has two counts, {capacity, balance}.  A
 *              balance above 0 is the number of cold slots that are `allowed`: they are free objects, but an acquire
 *              takes them last.  The other cold slots are room to grow.  A balance of -n is a pending shrink: n objects
 *              are `owed`, and leave the pool when they become cold.  In a closed pool every object is owed.  Only
 *              these numbers exist: no slot is marked as allowed or as room to grow.  The operations, their steps and
 *              their callers are:
 *                  take       allowed - 1, then any bit              an acquire
 *                  put        a bit, then balance + 1                lfpool_trim(); releases while objects are owed
 *                  withdraw   a bit, then capacity - 1               lfpool_shrink()
 *                  forbid     allowed - n, capacity - n              lfpool_shrink(), for slots that are cold already
 *                  owe        balance - n                            lfpool_shrink(), for objects in use
 *                  grow       balance + n, capacity + n              growth, after the pages were opened
 *                  borrow     capacity + n, then bits; and back      lfpool_trim(), for slots that are not allowed
 *              If the balance is below 0, a put also lowers the capacity, in the same step.  A call holds each slot
 *              that it has taken, until it hands the slot out or puts it back.  The slots up to `opened` are
 *              accessible.  The pages of later slots are opened when the pool grows.  Memory is returned to the system
 *              in whole pages.  A call that returns memory takes all slots on a run of pages: it first changes the
 *              counts by the number of these slots, and then takes their bits.  If a slot turns out not to be cold, the
 *              call undoes both steps.  Each page has a byte `dirty`, which is 0 if the page has no memory to return.
 * Invariants   O1  at least `allowed` of the slots up to `opened` are cold.  A call that takes a slot lowers `allowed`
 *                  before it searches for a bit, and so finds one.  A call that puts a slot changes the bit before it
 *                  raises `allowed`.
 *              O2  allowed <= capacity <= opened; capacity = allowed + slots that are in use, in magazines, in unused
 *                  chunks, or held by a call.
 *              O4  a closed pool never grows, and a pending shrink is cancelled before the pool grows, because both
 *                  facts are in the word that the growing call changes by CAS.  The maximum is in a separate word.
 *                  lfpool_limit() stores the maximum and fences; a call that has grown the pool fences and loads the
 *                  maximum again.  So either that call sees the new maximum, and removes the surplus, or lfpool_limit()
 *                  sees the capacity to which the pool had grown.
 *              O5  `owed` is at most the capacity.  While objects are owed, or the pool is closed, the arena's word
 *                  `wanted` is higher by 1.
 *              O3  the object of a cold slot is not built (lifecycle.h), and the slot has no holder.
 *              trim.c has TR1 and TR2, the invariants about pages.
 * Progress     Lock-free.  A search for a bit repeats only when other threads changed bits.  Growing enters the kernel
 *              to open pages.
 * Concurrency  After cold_open(), any two calls may run at the same time.  The caller of cold_put, cold_withdraw,
 *              cold_give_bits and pages_mark holds the slots; the caller of pages_mark_clean and pages_let_go holds the
 *              run.
 * Edges        COLD: a slot is made cold -> it is taken.   SHOW: changes of `counts` -> readers, and collects.
 *              OPEN: pages are opened -> a slot on them is taken.
 */
#ifndef LFPOOL_COLD_H
#define LFPOOL_COLD_H

#include "base/atomics.h"
#include "base/base.h"
#include "base/low_water.h"
#include "core/arena.h"

struct cold {
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) counts; /* {capacity:32, balance:32}            */
	_Atomic(uint64_t) maximum;                          /* the maximum capacity: lfpool_limit() */
	_Atomic(uint64_t) opened;  /* slots 1 .. opened are accessible; only grows                               */
	_Atomic(uint64_t) room;    /* COLD_ROOM - slots taken out + slots put in                                 */
	low_water_word least_room; /* the minimum of `room`                                                    */
	_Atomic(uint64_t) hint;    /* the word of `bits` where the next search begins                            */
	_Atomic(uint64_t) reached; /* the highest slot beyond `initial` ever taken out; only grows               */
	/* Never changes: */
	uint64_t initial;  /* slots that are in magazines at the beginning */
	uint64_t reserved; /* slots that have addresses                    */
	const struct arena *arena;
	/* Slot s has bit (s - 1) % 64 of word (s - 1) / 64.  For slots up to `initial` a 1 means cold, for later slots
	 * a 0.  So zeroed memory is a correct initial state. */
	_Atomic(uint64_t) *bits;
};

/* ---- The parts of the word `counts` ---- */

static inline size_t cold_capacity_in(uint64_t counts)
{
	return (size_t)(counts >> 32);
}

static inline int32_t cold_balance_in(uint64_t counts)
{
	return (int32_t)(uint32_t)counts;
}

/* The balance of a closed pool. */
#define COLD_CLOSED INT32_MIN

static inline bool cold_closed_in(uint64_t counts)
{
	return cold_balance_in(counts) == COLD_CLOSED;
}

static inline uint32_t cold_allowed_in(uint64_t counts)
{
	return cold_balance_in(counts) > 0 ? (uint32_t)counts : 0;
}

/* Is a shrink pending, or the pool closed? */
static inline bool cold_owes_in(uint64_t counts)
{
	return cold_balance_in(counts) < 0;
}

static inline size_t cold_owed_in(uint64_t counts)
{
	if (cold_closed_in(counts))
		return cold_capacity_in(counts);
	return cold_owes_in(counts) ? (size_t)-(int64_t)cold_balance_in(counts) : 0;
}

/* The size in bytes of the bits for `reserved` slots. */
static inline size_t cold_bytes(size_t reserved)
{
	return round_up((reserved + 63) / 64 * sizeof(uint64_t), CACHE_LINE_PAIR);
}

/* `memory`: cold_bytes() bytes, zeroed.  Slots 1 .. initial are in magazines; the next slots, up to `capacity`, are
 * cold and allowed. */
void cold_open(struct cold *c, const struct arena *arena, size_t initial, size_t capacity, size_t reserved,
	       void *memory);

/* The number of objects of the pool.  relaxed, here and in cold_allowed(): a caller that may rely on a change sees it
 * by another edge. */
static inline size_t cold_capacity(const struct cold *c)
{
	return cold_capacity_in(load_relaxed(&c->counts));
}

static inline size_t cold_allowed(const struct cold *c)
{
	return cold_allowed_in(load_relaxed(&c->counts));
}

/* cold_most_out(): the maximum, since the last cold_reset_most(), of slots taken out minus slots put in. */
#define COLD_ROOM (INT64_C(1) << 31)

static inline int64_t cold_most_out(const struct cold *c)
{
	const int64_t most = COLD_ROOM - (int64_t)low_water_least(&c->least_room);

	/* During a reset the maximum is unknown, so the result is the number of all accessible slots. */
	return most < COLD_ROOM ? most : (int64_t)load_relaxed(&c->opened);
}

void cold_reset_most(struct cold *c);

static inline bool cold_owes(const struct cold *c)
{
	/* relaxed: a hint. */
	return cold_owes_in(load_relaxed(&c->counts));
}

static inline size_t cold_opened(const struct cold *c)
{
	/* relaxed: as cold_capacity(). */
	return (size_t)load_relaxed(&c->opened);
}

/* The highest slot beyond `initial` that may have been handed out, or 0.  A thread that knows of an object beyond
 * `initial` sees a value that is not below the object's slot. */
static inline size_t cold_reached(const struct cold *c)
{
	/* relaxed: as cold_capacity(). */
	return (size_t)load_relaxed(&c->reached);
}

COLD uint32_t cold_take_slow(struct cold *c);

/* A cold slot for an acquire, or SLOT_NONE. */
static inline uint32_t cold_take(struct cold *c)
{
	/* relaxed: a hint; cold_take_slow() checks again. */
	return likely(!cold_allowed(c)) ? SLOT_NONE : cold_take_slow(c);
}

/* For the slot's holder.  cold_put() puts the slot into the store; the slot becomes allowed, or leaves the pool if a
 * shrink is pending.  cold_withdraw() puts the slot into the store, and removes it from the pool in any case. */
void cold_put(struct cold *c, uint32_t slot);
void cold_withdraw(struct cold *c, uint32_t slot);

/* Adds up to `count` objects to the pool: first owed objects, which then stay, then cold slots.  Returns their number.
 * If `from` is not COLD_ANY, returns 0 if any object is owed, and COLD_CHANGED if the pool no longer has `from`
 * objects, or if lfpool_limit() has lowered the maximum during the call. */
size_t cold_grow(struct cold *c, size_t count, size_t from);
#define COLD_ANY SIZE_MAX
#define COLD_CHANGED SIZE_MAX

/* Removes up to `count` allowed slots from the pool.  Returns their number. */
size_t cold_forbid(struct cold *c, size_t count);
/* Removes `count` objects, or all if there are fewer.  Allowed slots leave at once, and the other objects are owed.
 * Returns the number that left at once.  The caller fences afterwards (W1, waiters.h). */
size_t cold_owe(struct cold *c, size_t count);
/* Cancels a pending shrink, unless the pool is closed.  Returns the number of objects that were owed. */
size_t cold_forgive(struct cold *c);
/* Closes the pool: allowed slots leave it, all other objects are owed, and the pool never grows again. */
void cold_close(struct cold *c);

/* ---- The counts, for calls that return memory to the system, and for checks ---- */

void cold_allowed_add(struct cold *c, uint32_t count);
/* Lowers the count of allowed slots by up to `count`, and returns by how much.  The caller may take that number of
 * bits. */
uint32_t cold_allowed_take(struct cold *c, size_t count);

/* Lets the caller take up to `count` slots that are cold and not allowed; returns their number.  The slots count as
 * objects of the pool until cold_give_back(). */
uint32_t cold_borrow(struct cold *c, uint32_t count);
void cold_give_back(struct cold *c, uint32_t count);

/* ---- The bits ---- */

/* A mask of the cold slots in a word of the bits; a snapshot. */
uint64_t cold_look(const struct cold *c, uint64_t word);
/* For the holder of the slots: makes them cold. */
void cold_give_bits(struct cold *c, uint64_t word, uint64_t bits);
/* Takes the slots of `bits` if all of them are cold. */
bool cold_take_bits(struct cold *c, uint64_t word, uint64_t bits);
/* Takes a cold slot, for a call that has lowered `allowed` (O1). */
uint32_t cold_take_any(struct cold *c);

/* ---- Pages that have only cold slots (trim.c) ---- */

/* A run of pages whose slots seemed cold. */
struct page_run {
	size_t from;                    /* the first page of the search              */
	size_t first_page, pages;       /* `pages` is 0 if the search found no run   */
	uint32_t first_slot, last_slot; /* slots on these pages, in whole or in part */
};

size_t pages_end(const struct cold *c);

/* Searches up to `looks` pages, from *at, for a run of at most `most` pages, and moves *at to where the next search
 * begins.  False: *at was already at the end of all pages. */
bool pages_next_run(const struct cold *c, size_t *at, size_t most, size_t looks, struct page_run *run_out);

struct page_hold {
	uint32_t first_slot, last_slot, allowed, borrowed;
};

/* Takes all slots of the run, or none. */
bool pages_hold(struct cold *c, const struct page_run *run, struct page_hold *hold_out);
void pages_let_go(struct cold *c, const struct page_hold *hold);

/* For the holder of the run, after its pages were returned to the system. */
void pages_mark_clean(struct cold *c, const struct page_run *run);
/* For the holder of the slot: marks its pages dirty, because they may have been touched. */
void pages_mark(struct cold *c, uint32_t slot);

#endif
