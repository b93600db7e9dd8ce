/* SPDX-License-Identifier: MIT */
/*
 * cells.h - the places of those who want objects: calls that wait, and continuations; first come, first served.
 *
 * Idea         A place is a cell: one word, which a give changes by one CAS: {ticket:61, phase:3} while it waits, then
 *              {the ticket's last 29 bits, slot:32, phase:3}.  Cells are never freed, only vacated; new ones come in
 *              lots that double.
 *                  vacant -> claimed    by a call that wants to wait and takes it from the stack of vacant cells; its
 *                  own
 *                                       until it vacates it
 *                  claimed -> waiting   with a ticket; wanted + 1 before
 *                  waiting -> given     CAS, by a server, with the slot: from then on the slot is the waiter's
 *                  given -> woken       CAS, by a server that has called os_wake()
 *                  waiting -> claimed   CAS, at the timeout, or by lfpool_cancel()
 *                  -> vacant            wanted - 1 after; a continuation's just before it is called
 *              Who is served next is found without a look at each cell: cells.c.
 * Invariants   (W1, W2, W4: waiters.h)
 *              W3  a slot goes to a cell only if no cell with a smaller ticket has been waiting, and shown, all the
 *                  time since the server began to look: first come, first served.  Shown: cell_enlist() has returned.
 *              W14 a call that wants several objects is given them in the order of its cells, until it gives one back.
 *                  So the cell that the call sleeps on is the first one to be given something.  Cells are enlisted in
 *                  this order, so a look that finds a cell can see whether the previous one still waits.
 *              W5  a call that was given something wakes, even if the server that gave stops before it has woken it:
 *                  every call that looks at the queue wakes those that are given and not woken.
 * Progress     cell_claim, cell_vacate: lock-free, O(1); a claim enters the kernel for a new lot.  cell_enlist,
 *              cells_oldest: lock-free; at most 16 + 32 + 32 + 16 words are looked at, however many wait, and again
 *              after what was found was out of date.  A pool in a buffer (lfpool/buffer.h) has the first lot alone, and
 *              a call that waits there does not sleep: it looks again and again.
 * Edges        QUEUE: a cell's word, each change of it -> who reads it.   CELL: the mapper of a lot -> who reads its
 *              address.   VACANT: push -> pop of a vacant cell.   BOUND: cell_enlist() -> a look.
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

#ifndef CELL_LOT /* a test build has less of all */
#define CELL_LOT 16
#define CELL_LOT_COUNT 10
#define CELL_GROUP 16
#define TOP_GROUPS 32
#endif
#define CELLS_MAX (CELL_LOT * ((1 << CELL_LOT_COUNT) - 1))
_Static_assert(2 * CELL_LOT % CELL_GROUP == 0, "the cells of a group lie side by side");

struct arena;

enum phase { VACANT, CLAIMED, WAITING, GIVEN, WOKEN };

/* The phase is in the half that a call sleeps on. */
#define PHASE_BITS 3
#define SLOT_BITS 32

static inline enum phase cell_phase(uint64_t word)
{
	return (enum phase)(word & ((1 << PHASE_BITS) - 1));
}

/* Words of cells that wait are in the order of their tickets, which last: 2^61 of them, one each nanosecond, take 73
 * years. */
static inline uint64_t cell_waiting(uint64_t ticket)
{
	return (ticket & LOW_BITS(TICKET_BITS)) << PHASE_BITS | WAITING;
}

static inline uint64_t cell_ticket(uint64_t waiting)
{
	return waiting >> PHASE_BITS;
}

/* What becomes of a waiting cell's word. */
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
	_Atomic(uint64_t) ticket; /* in full, for the child of a fork                    */
	/* Written while claimed; read before the CAS that shows whether what was read is right. */
	_Atomic(lfpool_continuation_t) then; /* NULL: a call waits                           */
	_Atomic(void *) context;             /* of a call: which thread's it is                          */
	/* Of a call that wants several objects: the index of its next cell. */
	uint32_t next;
	uint32_t index;           /* its own                                                             */
	_Atomic(uint32_t) before; /* the index + 1 of the call's previous cell, or 0                     */
	_Atomic(uint32_t) below;  /* while vacant: the index + 1 of the next on the stack                */
};

/* Of the cells below it: see cells.c. */
struct branch {
	_Atomic(uint64_t) bound;  /* {ticket:47, some:1, tag:16}: no ticket that waits is smaller         */
	_Atomic(uint32_t) giving; /* servers that are about to give to one of them, or to wake it         */
};

/* CLOSED_EMPTY: and no object is left. */
enum closing { OPEN, CLOSED, CLOSED_EMPTY };

struct waiters {
	/* The arena's word: cells that are waiting or soon will be, + 1 while something is owed (cold.h), + 1 if `full`
	 * is not FULL_UNKNOWN or soon will not be. */
	_Atomic(uint32_t) *wanted;
#if EMBEDDED
	_Atomic(uint32_t) serving; /* hooks and continuations that servers run now (W6) */
#endif
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint32_t) cells; /* cells that were ever used; only grows              */
	tagged_word vacant;                                /* the top of a stack of cells: its index + 1         */
	_Atomic(uint64_t) tickets;                         /* the last that was given out                         */
	_Atomic(char *) lot[CELL_LOT_COUNT];               /* lot k: CELL_LOT * 2^k cells; behind lot 1: branches */
	const struct arena *arena;                         /* the pool's                                          */
	_Atomic(uint64_t) closed;                          /* enum closing; lfpool_close() sleeps on it           */
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) full;  /* enum fullness, or the ticket of a search: W13        */
	struct cell first[CELL_LOT];
};

/* The cell of this index, which was counted. */
static inline struct cell *cell_at(const struct waiters *d, uint32_t index)
{
	uint32_t place;
	const unsigned lot = lot_of(index, CELL_LOT, &place);
	/* relaxed: mapped before `cells` counted it. */
	char *cells = load_relaxed(&d->lot[lot]);

	plain_read(cells);
	return (struct cell *)(void *)cells + place;
}

/* A cell for the caller; NULL when the system refuses memory, or all CELLS_MAX are taken. */
struct cell *cell_claim(struct waiters *d);
/* From claimed back to vacant, by a call that did not come to wait. */
void cell_unclaim(struct waiters *d, struct cell *cell);
/* From claimed to waiting, and shown.  When all its cells are, the caller calls cells_shown(), and serves. */
void cell_enlist(struct waiters *d, struct cell *cell, uint64_t ticket, lfpool_continuation_t then, void *context);
void cells_shown(const struct waiters *d);
/* From claimed, or given, to vacant. */
void cell_vacate(struct waiters *d, struct cell *cell);
/* Wakes the call that was given `word`'s slot, and says that it has (W5).  In a buffer it does not sleep. */
void cell_wake(const struct waiters *d, struct cell *cell, uint64_t word);

/* How many bytes are mapped for a lot. */
size_t lot_bytes(unsigned lot);
/* The bytes of all branches. */
size_t branches_bytes(void);
/* The cell waits, with this ticket: a look that begins from now on finds it. */
void cell_show(const struct waiters *d, const struct cell *cell, uint64_t ticket);
/* Before a server gives to a call's cell: 1; and after it has woken it, or failed: -1 (W5). */
void cell_giving(const struct waiters *d, const struct cell *cell, uint32_t more);
/* The previous cell of the call whose cell waits with *word, and the word of that cell, if it waits too; else NULL. */
static inline struct cell *cell_earlier(const struct waiters *d, const struct cell *cell, uint64_t *word)
{
	/* relaxed: published with the word.  If the cell is another call's by now, the tickets differ. */
	const uint32_t before = load_relaxed(&cell->before);
	struct cell *earlier = before ? cell_at(d, before - 1) : NULL;

	/* relaxed: that cell was enlisted before this one, so its other fields are visible. */
	if (!earlier || load_relaxed(&earlier->word) != cell_waiting(cell_ticket(*word) - 1))
		return NULL;
	*word = cell_waiting(cell_ticket(*word) - 1);
	return earlier;
}

/* The waiting cell with the smallest ticket; NULL if none waits. */
struct cell *cells_oldest(const struct waiters *d, uint64_t *word_out);
/* The first of the next `count` numbers; never 0. */
uint64_t cells_tickets(struct waiters *d, uint32_t count);

/* Has lfpool_close() or lfpool_destroy() been called?  relaxed: a call that must know has fenced (W7). */
static inline bool waiters_closed(const struct waiters *d)
{
	return load_relaxed(&d->closed) != OPEN;
}

/* Adds to `wanted`. */
void waiters_want(struct waiters *d, uint32_t count);

#endif
