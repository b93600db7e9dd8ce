/* SPDX-License-Identifier: MIT */
/*
 * waiters.h - who wants objects that are not there: calls that wait, continuations, and a shrink that is owed some.
 *
 * Idea         One word, `wanted`, says how many they are.  Every release, after its push, looks at it; while it is not
 *              0 the release goes on with waiters_serve(), which takes a free object out of the pool, as an acquire
 *              does, and gives it to the first in the queue (cells.h), or pays what is owed with it.
 * Invariants   W1  no wake-up is lost.  A call that waits makes its demand known; heavy fence; serves, until an exact
 *                  take finds nothing.  A release pushes; fence; looks at `wanted`, and if it is not 0, serves.  So
 *                  either the waiter's take sees the push, or the releaser sees the demand.  A server that has no one
 *                  to give to puts the slot back as a releaser does, and looks again.  So whenever an object is free
 *                  and a cell is waiting, some call is on its way that will serve.
 *              W2  a slot that a server holds, or that was given, is in the hands of a call: the server's, then the
 *                  waiter's.  A server may find that nobody needs it any more, and put it back: until then an
 *                  acquire does not see it, and may say NULL.
 *              W3, W5  the order of the queue, and who wakes: cells.h.
 *              W4  a pending shrink comes before calls that wait.  The cold store counts the objects that it is owed,
 *                  and adds 1 to `wanted` while there are any (cold.h, O5).
 *              W6  hooks and continuations that a server runs leave what they would serve to it, and it looks again
 *                  when they return: so they do not nest, however many there are.
 *              W7  no call waits in a closed pool.  A call that comes to wait enlists, fences, serves; closing sets
 *                  `closed`, fences, serves: one of them sees the other.  A server of a closed pool that has no object
 *                  gives SLOT_NONE to calls, and NULL to continuations.
 *              W13 `full` is FULL_KNOWN only if at some moment a search found nothing free, and each call that has made
 *                  something free since is still on its way.  A search sets `full` to its ticket (wanted + 1 before),
 *                  fences, and looks.  If it finds nothing, it changes its ticket to FULL_KNOWN, by CAS.  A call that
 *                  makes something free fences, looks at `wanted`, and sets `full` to FULL_UNKNOWN.  So either the
 *                  search sees the free object, or the call sees the ticket, and the CAS fails.
 * Progress     waiters_serve: lock-free: it repeats only after it gave, or another thread changed a cell, or came
 *              to wait.  A server stopped anywhere holds one object and nobody else: the next release serves as well.
 *              Its cost is that of an exhausted acquire and of a look at the queue (cells.c) for each object given.
 */
#ifndef LFPOOL_WAITERS_H
#define LFPOOL_WAITERS_H

#include "core/cells.h"
#include "os/os.h"
#include "pool/slots.h"

#include "lfpool/wait.h"

void waiters_open(struct waiters *d, const struct arena *arena);
/* From now on waiting calls return without an object, and continuations are called with NULL (W7). */
void waiters_close(struct waiters *d);
/* The pool is closed: tells those that wait now. */
void waiters_tell_closed(lfpool_t *pool);
/* Unmaps the cells.  The registry has the pool no more: a child of fork looks at the cells of all that it has. */
void waiters_free(struct waiters *d);
#if !EMBEDDED
/* In the child after fork: the calls of other threads are gone. */
void waiters_forget_calls(lfpool_t *pool);
#endif

/* Gives what is free to those who want it; and as long as a call waits and nothing is free, the pool grows by itself.
 * `head`: a cache of the caller's, or NULL. */
COLD void waiters_serve(lfpool_t *pool, struct cache_head *head);
/* After slots_put(), slots_put_ended(), or a slots_begin() that gave no object: serves calls that want objects (W1). */
static inline void waiters_look(lfpool_t *pool, struct cache_head *head)
{
	/* relaxed: the function that put the slot back has fenced. */
	if (unlikely(load_relaxed(pool->core.arena.wanted)))
		waiters_serve(pool, head);
}

/* slots_begin(), and slots that it put back are offered to calls that wait.  False: SLOT_USED_UP. */
static inline bool waiters_begin(lfpool_t *pool, struct cache_head *head, uint32_t slot, void **object_out)
{
	const bool decided = slots_begin(pool, head, slot, object_out) != SLOT_USED_UP;

	/* A hook may have refused others before this one. */
	if (unlikely(!*object_out || pool->each_call))
		waiters_look(pool, head);
	return decided;
}

/* A slot has just been made free: ends the use of its object, puts a slot back, and serves. */
static inline void waiters_put(lfpool_t *pool, struct cache_head *head, uint32_t slot, void *object)
{
	slots_put_ended(pool, head, slots_end(pool, slot, object));
	waiters_look(pool, head);
}

/* Has a call of this thread that serves this pool called us?  Then waiters_serve() leaves it to that call (W6).  In an
 * embedded build also: is another thread in a continuation? */
bool waiters_is_serving(const lfpool_t *pool);
/* Calls `then` with its object, and then serves what that would have. */
void waiters_continue(lfpool_t *pool, lfpool_continuation_t then, void *context, void *object);

/* Which thread a call that waits is of; the same in the child of its fork. */
static inline void *this_thread(void)
{
	return (void *)os_thread_self();
}

/* Calls and continuations that wait now; a snapshot. */
size_t waiters_waiting(const struct waiters *d);

/* ---- Is the pool full?  W13 ---- */

enum fullness { FULL_UNKNOWN, FULL_KNOWN };

static inline uint64_t full_ticket(uint64_t ticket)
{
	return ticket << 1;
}

/* True: at some moment during the call nothing was free. */
static inline bool waiters_know_full(const struct waiters *d)
{
	/* acquire: nothing that follows says more than the search that found it so. */
	return load_acquire(&d->full) == FULL_KNOWN;
}

/* Does a call wait, or is a shrink pending?  (Each of these, and `full`, adds 1 to `wanted`.)  relaxed, both: a call
 * that comes at the same instant may be first or second. */
static inline bool waiters_any(const struct waiters *d)
{
	return load_relaxed(d->wanted) > (load_relaxed(&d->full) != FULL_UNKNOWN);
}

/* The caller is about to look for something free, through an exact take; `ticket` is its own, from 1 on. */
void waiters_search(struct waiters *d, uint64_t ticket);
/* It found nothing. */
void waiters_found_nothing(struct waiters *d, uint64_t ticket);

/* ---- resize.c: growing and shrinking ---- */

/* Objects became free without a release: a call may wait for them.  Through the caller's cache (NULL: the thread's). */
void resize_serve_if_wanted(lfpool_t *pool, struct cache_head *head);

/* There were `seen` objects, none of them free: grows by itself; true if there may be one free now.  A call that waits
 * does so itself; so a call that grew need serve only those that it knows. */
bool resize_by_itself(lfpool_t *pool, size_t seen);

/* As lfpool_shrink(), but the system gets nothing back. */
size_t resize_shrink(lfpool_t *pool, struct cache_head *head, size_t count);

/* Closes the pool, and removes the objects that are free. */
void resize_close(lfpool_t *pool, struct cache_head *head);

/* Removes a slot that was taken free, for the pending shrink: hooks.destroy, then the cold store. */
void resize_pay(lfpool_t *pool, uint32_t slot);

/* After a step of lfpool_trim(): its slots are free again. */
void resize_swept(lfpool_t *pool);

#endif
