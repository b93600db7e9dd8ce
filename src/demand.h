/* SPDX-License-Identifier: MIT */
/*
 * demand.h - who wants objects that are not there: calls that wait, continuations, and a shrink that is owed some.
 *
 * Idea         One word, `wanted`, says how many they are.  Every release, after its push, looks at it; while it is not 0 the
 *              release goes on with demand_serve(), which takes a free object out of the pool, as an acquire does, and
 *              gives it to the first in the queue.  A place in the queue is a cell: one word {ticket:29, phase:3, slot:32},
 *              which a give changes by one CAS.  Cells are never freed, only vacated; new ones come in lots that
 *              double.
 *                  vacant -> claimed    CAS, by who wants to wait; it is his until he vacates it
 *                  claimed -> waiting   with a ticket; wanted + 1 before
 *                  waiting -> given     CAS, by a server, with the slot: from then on the slot is the waiter's
 *                  given -> woken       CAS, by a server that has called os_wake()
 *                  waiting -> claimed   CAS, at the timeout, or by lfpool_cancel()
 *                  -> vacant            wanted - 1 after
 * Invariants   W1  no wake-up is lost.  Who waits: makes his demand known; heavy fence; serves, which ends when an exact
 *                  take finds nothing.  Who releases: pushes; fence; looks at `wanted`, and if it is not 0, serves.  So
 *                  either the waiter's take sees the push, or the releaser sees the demand.  A server that has nobody to
 *                  give to puts the slot back as a releaser does, and looks again.  So whenever an object is free and
 *                  a cell is waiting, some call is on its way that will serve.
 *              W2  a slot that a server holds, or that was given, is in the hands of a call: the server's, then the
 *                  waiter's.  A server may find that nobody needs it any more, and put it back: until then an
 *                  acquire does not see it, and may say NULL.
 *              W3  a slot goes to a cell only if no cell with a smaller ticket has been waiting all the time since the
 *                  server began to look: first come, first served.
 *              W4  what is owed comes before what waits.
 *              W5  a call that was given something wakes, even if the server that gave stops before it has woken it:
 *                  whoever looks at the queue wakes those that are given and not woken.
 * Progress     demand_serve: lock-free: it goes round again only after it gave, or another thread changed a cell, or came
 *              to wait.  A server stopped anywhere holds one object and nobody else: the next release serves as well.
 *              Its cost is that of an exhausted acquire and O(cells ever used at once) for each object given.
 *              A pool in a buffer (lfpool/buffer.h) has the first lot alone, and who waits there does not sleep: he
 *              looks again and again.
 * Edges        QUEUE: a cell's word, each change of it -> who reads it.   CELL: the mapper of a lot -> who reads its
 *              address.
 */
#ifndef LFPOOL_DEMAND_H
#define LFPOOL_DEMAND_H

#include "atomics.h"
#include "base.h"

#include "lfpool/lfpool.h"

#define CELL_LOT 16
#define CELL_LOT_COUNT 10
#define CELLS_MAX (CELL_LOT * ((1 << CELL_LOT_COUNT) - 1))

struct arena;
struct handle;

struct cell {
	_Alignas(CACHE_LINE_PAIR / 2) _Atomic(uint64_t) word;
	_Atomic(uint64_t) ticket;     /* all of its bits                                     */
	/* Written while claimed; read before the CAS that shows whether what was read is right. */
	_Atomic(lfpool_continuation_t) then; /* NULL: a call waits                           */
	_Atomic(void *) context;
};

struct demand {
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint32_t) wanted; /* cells that are waiting or soon will be, + owed      */
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint32_t) owed;   /* objects that are to go when they come back          */
	_Atomic(uint32_t) cells;                            /* cells that were ever used; only grows               */
	_Atomic(uint64_t) tickets;                          /* the last that was given out                         */
	_Atomic(char *) lot[CELL_LOT_COUNT];                /* lot k: CELL_LOT * 2^k cells                         */
	const struct arena *arena;                          /* the pool's                                          */
	struct cell first[CELL_LOT];
};

void demand_open(struct demand *d, const struct arena *arena);
/* Calls the continuations that are left, with NULL, and unmaps the cells. */
void demand_close(lfpool_t *pool);
/* In the child after fork: the calls that waited are gone. */
void demand_forget_calls(lfpool_t *pool);

/* Gives what is free to those who want it.  `handle`: a cache of the caller's, or NULL. */
void demand_serve(lfpool_t *pool, struct handle *handle);
/* After a release on this thread, `wanted` being not 0: as demand_serve(), but for a release by a continuation, after
 * which whoever called that goes on serving. */
COLD void demand_serve_after_release(lfpool_t *pool, struct handle *handle);

/* Waits for an object until `deadline_ns` on the clock of os_now_ns(). NULL: the time is over, or a hook refused. */
void *demand_wait(lfpool_t *pool, struct handle *handle, uint64_t deadline_ns);

/* Objects that are to go when they come back, at most as many as there are: adds to them; looks at that again, after the
 * capacity was lowered; takes up to `count` away, and says how many. */
void demand_owe(lfpool_t *pool, size_t count);
void demand_owe_no_more(lfpool_t *pool);
uint32_t demand_forgive(struct demand *d, size_t count);

/* Calls and continuations that wait now; a snapshot. */
size_t demand_waiting(const struct demand *d);

#endif
