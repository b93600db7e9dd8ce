/* SPDX-License-Identifier: MIT */
/*
 * demand.h - who wants objects that are not there: calls that wait, continuations, and a shrink that is owed some.
 *
 * Idea         One word, `wanted`, says how many they are.  Every release, after its push, looks at it; while it is not 0 the
 *              release goes on with demand_serve(), which takes a free object out of the pool, as an acquire does, and
 *              gives it to the first in the queue (queue.h), or pays what is owed with it.
 * Invariants   W1  no wake-up is lost.  A call that waits makes its demand known; heavy fence; serves, until an exact
 *                  take finds nothing.  A release pushes; fence; looks at `wanted`, and if it is not 0, serves.  So
 *                  either the waiter's take sees the push, or the releaser sees the demand.  A server that has no one to
 *                  give to puts the slot back as a releaser does, and looks again.  So whenever an object is free and
 *                  a cell is waiting, some call is on its way that will serve.
 *              W2  a slot that a server holds, or that was given, is in the hands of a call: the server's, then the
 *                  waiter's.  A server may find that nobody needs it any more, and put it back: until then an
 *                  acquire does not see it, and may say NULL.
 *              W3, W5  the order of the queue, and who wakes: queue.h.
 *              W4  what is owed comes before what waits; it is never more than there is, and adds 1 to `wanted` while
 *                  it is not 0.
 *              W6  hooks and continuations that a server runs leave what they would serve to it, and it looks again
 *                  when they return: so they do not nest, however many there are.
 * Progress     demand_serve: lock-free: it repeats only after it gave, or another thread changed a cell, or came
 *              to wait.  A server stopped anywhere holds one object and nobody else: the next release serves as well.
 *              Its cost is that of an exhausted acquire and O(cells ever used at once) for each object given.
 */
#ifndef LFPOOL_DEMAND_H
#define LFPOOL_DEMAND_H

#include "queue.h"

struct handle;

void demand_open(struct demand *d, const struct arena *arena);
/* Calls the continuations that are left, with NULL. */
void demand_close(lfpool_t *pool);
/* Unmaps the cells.  The registry has the pool no more: a child of fork looks at the cells of all that it has. */
void demand_free(struct demand *d);
/* In the child after fork: the calls of other threads are gone. */
void demand_forget_calls(lfpool_t *pool);

/* Gives what is free to those who want it; and as long as a call waits and nothing is free, the pool grows by itself.
 * `handle`: a cache of the caller's, or NULL. */
COLD void demand_serve(lfpool_t *pool, struct handle *handle);
/* Has a call of this thread's that serves this pool called us?  Then demand_serve() leaves it to that (W6). */
bool demand_is_serving(const lfpool_t *pool);
/* Calls `then` with its object, and then serves what that would have. */
void demand_continue(lfpool_t *pool, lfpool_continuation_t then, void *context, void *object);

/* Waits for an object until `deadline_ns` on the clock of os_now_ns(). NULL: the time is over, or a hook refused. */
void *demand_wait(lfpool_t *pool, struct handle *handle, uint64_t deadline_ns);

/* Objects that are to go when they come back, at most as many as there are (W4): adds to them; looks at that again, after
 * the capacity was lowered, by whatever way; takes up to `count` away, and says how many. */
void demand_owe(lfpool_t *pool, size_t count);
void demand_owe_no_more(lfpool_t *pool);
size_t demand_forgive(struct demand *d, size_t count);

/* Calls and continuations that wait now; a snapshot. */
size_t demand_waiting(const struct demand *d);

#endif
