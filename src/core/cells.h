/* SPDX-License-Identifier: MIT */
/*
 * cells.h - the queue of waiters: calls that wait, and continuations.  Waiters are served in the order of their
 * tickets.
 *
 * Idea         A cell is a waiter's node.  While the cell waits, its word is {ticket:61, phase:3}.  A server is a call
 *              that hands objects to waiters.  The server gives a cell a slot by one CAS, which changes the word to
 *              {low 29 bits of the ticket, slot:32, phase:3}.  Cells are never freed, only vacated.  New cells are
 *              mapped in lots of doubling size.
 *                  vacant -> claimed    by a call that is about to wait, and owns the cell until it vacates the cell
 *                  claimed -> waiting   with a ticket, after the demand word was raised by 1
 *                  waiting -> given     CAS, by a server, with the slot: from then on the slot is the waiter's
 *                  given -> woken       CAS, by a server that has called os_wake()
 *                  waiting -> claimed   CAS, at the timeout, or by lfpool_cancel()
 *                  -> vacant            then the demand word is lowered by 1; a continuation runs just afterwards
 *              A search finds the next waiter without reading every cell (cells.c).
 * Invariants   (W1, W2, W4: waiters.h)
 *              W3  a server gives a slot to a cell only if no cell with a smaller ticket was both waiting and shown
 *                  during the server's whole search.  A cell is shown when cell_enlist() has returned.
 *              W14 a call that wants several objects gets them in the order of its cells, until the call puts some
 *                  back (W8).  So the call sleeps on its first cell without a slot.  The cells are enlisted in this
 *                  order too, so a search that finds a cell can see whether the call's previous cell still waits.
 *              W5  a call whose cell was given a slot wakes, even if the server stops before it has woken the call.
 *                  Every search of the queue wakes the calls whose cells are given but not woken.
 * Progress     cell_claim, cell_vacate: lock-free, O(1); a claim enters the kernel for a new lot.  cell_enlist,
 *              cells_oldest: lock-free.  However many calls wait, a search reads at most 16 + 32 + 32 + 16 words: the
 *              first lot, the tops, the groups below one top, and the cells of one group (cells.c).  It begins again
 *              only if a bound was out of date.  A pool in a buffer (lfpool/buffer.h) has the first lot only, and its
 *              waiting calls poll instead of sleeping.
 * Concurrency  -: may run at the same time.  O: not on one cell at the same time.  The owner of a cell is the call that
 *              claimed or cancelled it, or the server that gave a slot to its continuation.
 *                                                                              claim  owner's  server's
 *                  cell_claim                                                    -       -        -
 *                  owner's: cell_enlist, cell_show, cell_unclaim, cell_vacate    -       O        -
 *                  server's: cells_oldest, cell_giving, cell_wake                -       -        -
 * Edges        QUEUE: each change of a cell's word -> its readers.   CELL: the mapper of a lot -> readers of its
 *              address.   VACANT: push -> pop of a vacant cell.   BOUND: cell_enlist() -> a search.
 */
#ifndef LFPOOL_CELLS_H
#define LFPOOL_CELLS_H

#include "base/atomics.h"
#include "base/base.h"
#include "base/widths.h"
#include "core/magazine.h"
#include "core/tagged.h"

#include "lfpool/lfpool.h"
#include "lfpool/wait.h"

#ifndef CELL_LOT /* a test build has smaller values */
#define CELL_LOT 16
#define CELL_LOT_COUNT 10
#define CELL_GROUP 16
#define TOP_GROUPS 32
#endif
#define CELLS_MAX (CELL_LOT * ((1 << CELL_LOT_COUNT) - 1))
_Static_assert(2 * CELL_LOT % CELL_GROUP == 0, "the cells of a group lie side by side");

struct arena;

enum phase { VACANT, CLAIMED, WAITING, GIVEN, WOKEN };

/* The phase is in the lower half of the word, because a waiting call sleeps on that half. */
#define PHASE_BITS 3
#define SLOT_BITS 32

static inline enum phase cell_phase(uint64_t word)
{
	return (enum phase)(word & ((1 << PHASE_BITS) - 1));
}

/* The words of waiting cells have the same order as their tickets.  2^61 tickets last 73 years at one per
 * nanosecond. */
static inline uint64_t cell_waiting(uint64_t ticket)
{
	return (ticket & LOW_BITS(TICKET_BITS)) << PHASE_BITS | WAITING;
}

static inline uint64_t cell_ticket(uint64_t waiting)
{
	return waiting >> PHASE_BITS;
}

/* The word of a waiting cell, after the cell is given `slot`. */
static inline uint64_t cell_given(uint64_t waiting, uint32_t slot)
{
	const uint64_t last = cell_ticket(waiting) & LOW_BITS(GIVEN_TICKET_BITS);

	return last << (SLOT_BITS + PHASE_BITS) | (uint64_t)slot << PHASE_BITS | GIVEN;
}

static inline uint32_t cell_slot(uint64_t given)
{
	return (uint32_t)(given >> PHASE_BITS);
}

struct cell {
	_Alignas(CACHE_LINE_PAIR / 2) _Atomic(uint64_t) word;
	_Atomic(uint64_t) ticket; /* the whole ticket, for the child of a fork */
	/* These fields are written while the cell is claimed.  If a field changes after a thread reads it, that
	 * thread's CAS of `word` fails. */
	_Atomic(lfpool_continuation_t) then; /* NULL: a call waits                                       */
	_Atomic(void *) context;             /* the continuation's; for a call, identifies its thread    */
	/* For a call that wants several objects: the index of its next cell. */
	uint32_t next;
	uint32_t index;           /* index of this cell                                        */
	_Atomic(uint32_t) before; /* the index + 1 of the call's previous cell, or 0           */
	_Atomic(uint32_t) below;  /* while vacant: the index + 1 of the next cell on the stack */
};

/* A node of the tree above the cells: a group or a top (cells.c). */
struct branch {
	_Atomic(uint64_t) bound;  /* {ticket:47, some:1, tag:16}: lower bound on the tickets waiting below          */
	_Atomic(uint32_t) giving; /* servers that are about to give a slot to one of the cells, or to wake its call */
};

/* CLOSED_EMPTY: the pool is closed, and has no objects left. */
enum closing { OPEN, CLOSED, CLOSED_EMPTY };

struct waiters {
	/* The demand word in the arena.  It is the number of cells that wait or soon will wait, plus 1 while objects
	 * are owed (cold.h), plus 1 from just before `full` leaves FULL_UNKNOWN until `full` is FULL_UNKNOWN again. */
	_Atomic(uint32_t) *wanted;
#if EMBEDDED
	_Atomic(uint32_t) serving; /* hooks and continuations that servers run now (W6) */
#endif
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint32_t) cells; /* cells that were ever used; only grows           */
	tagged_word vacant;                                /* the stack of vacant cells: index + 1 of its top */
	_Atomic(uint64_t) tickets;                         /* the last ticket assigned                        */
	_Atomic(char *) lot[CELL_LOT_COUNT]; /* lot k has CELL_LOT * 2^k cells; lot 1 also has the branches */
	const struct arena *arena;           /* the pool's arena                                            */
	_Atomic(uint64_t) closed;            /* enum closing; lfpool_close() sleeps on it                   */
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) full; /* enum fullness, or the ticket of a search: W13        */
	struct cell first[CELL_LOT];
};

/* The cell with this index, which must be below `cells`. */
static inline struct cell *cell_at(const struct waiters *d, uint32_t index)
{
	uint32_t place;
	const unsigned lot = lot_of(index, CELL_LOT, &place);
	/* relaxed: the cell was mapped before `cells` counted it. */
	char *cells = load_relaxed(&d->lot[lot]);

	plain_read(cells);
	return (struct cell *)(void *)cells + place;
}

/* Claims a cell for the caller; NULL when the system refuses memory, or all CELLS_MAX cells are taken. */
struct cell *cell_claim(struct waiters *d);
/* Makes a claimed cell vacant again, for a call that will not wait. */
void cell_unclaim(struct waiters *d, struct cell *cell);
/* Makes a claimed cell waiting, and shows it to searches.  After the caller has enlisted its last cell, it calls
 * cells_shown(), and then serves the queue. */
void cell_enlist(struct waiters *d, struct cell *cell, uint64_t ticket, lfpool_continuation_t then, void *context);
void cells_shown(const struct waiters *d);
/* Makes a claimed or given cell vacant, and lowers the demand word. */
void cell_vacate(struct waiters *d, struct cell *cell);
/* Wakes the call that was given the slot in `word`, and records that the call is woken (W5).  In a buffer calls do not
 * sleep, so this function only makes the record. */
void cell_wake(const struct waiters *d, struct cell *cell, uint64_t word);

size_t lot_bytes(unsigned lot);
size_t branches_bytes(void);
/* Makes a waiting cell visible to each search that begins after the return. */
void cell_show(const struct waiters *d, const struct cell *cell, uint64_t ticket);
/* Changes the counters `giving` of the cell's group and top (W12).  `more`: 1 before a server gives a call's cell a
 * slot, -1 after the server has woken the call, or has failed to give the slot. */
void cell_giving(const struct waiters *d, const struct cell *cell, uint32_t more);
/* For a cell that waits with *word: returns the previous cell of the same call, and sets *word to that cell's word.
 * NULL if the previous cell does not wait. */
static inline struct cell *cell_earlier(const struct waiters *d, const struct cell *cell, uint64_t *word)
{
	/* relaxed: published with the word.  If another call owns the previous cell by now, the tickets differ. */
	const uint32_t before = load_relaxed(&cell->before);
	struct cell *earlier = before ? cell_at(d, before - 1) : NULL;

	/* relaxed: the previous cell was enlisted before this cell, so its other fields are visible. */
	if (!earlier || load_relaxed(&earlier->word) != cell_waiting(cell_ticket(*word) - 1))
		return NULL;
	*word = cell_waiting(cell_ticket(*word) - 1);
	return earlier;
}

/* The waiting cell with the smallest ticket; NULL if no cell waits. */
struct cell *cells_oldest(const struct waiters *d, uint64_t *word_out);
/* Draws `count` tickets; returns the first, which is never 0. */
uint64_t cells_tickets(struct waiters *d, uint32_t count);

/* Has lfpool_close() or lfpool_destroy() been called?  relaxed: a call that depends on the answer has fenced before
 * (W7). */
static inline bool waiters_closed(const struct waiters *d)
{
	return load_relaxed(&d->closed) != OPEN;
}

void waiters_want(struct waiters *d, uint32_t count);

#endif
