/* SPDX-License-Identifier: MIT */
/*
 * waiters.h - the demand for objects when none is free: calls that wait, continuations, and a pending shrink.
 *
 * Idea         One word, `wanted`, counts the demand.  Every release loads `wanted` after its push.  If `wanted` is not
 *              0, the release calls waiters_serve(), which takes a free object as an acquire does, and gives the object
 *              to the first waiter in the queue (cells.h), or to a pending shrink.  A call that does this is named a
 *              server.
 * Invariants   W1  no wake-up is lost.  A call that waits adds its demand, executes a heavy fence, and serves until
 *                  slots_take() proves that no slot is free.  A release pushes, fences, and serves if `wanted` is not
 *                  0.  So either the waiter's slots_take() sees the push, or the releaser sees the demand.  A server
 *                  that finds no demand for its slot puts the slot back as a release does, and checks the demand again.
 *                  So whenever an object is free and a cell is waiting, some call is about to serve.
 *              W2  a slot that a server took is held by the server until it is given, and then by the waiter.  If the
 *                  server finds that no call needs the slot, it puts the slot back.  Until the slot is given or put
 *                  back, an acquire does not see it, and may return NULL.
 *              W3, W5  are in cells.h: the order of the queue, and which calls wake waiters.
 *              W4  a pending shrink gets free objects before calls that wait.  The cold store counts the owed objects,
 *                  and adds 1 to `wanted` while objects are owed (O5, cold.h).
 *              W6  a call inside a hook or a continuation that a server runs does not serve.  The server serves for
 *                  that call when the hook or continuation returns, so servers never nest.
 *              W7  no call waits in a closed pool.  A call that is about to wait enlists its cell, fences, and serves.
 *                  A call that closes the pool sets `closed`, fences, and serves.  So at least one of the two sees the
 *                  other's change.  When a server of a closed pool finds no object, it gives SLOT_NONE to waiting
 *                  calls, and NULL to continuations.
 *              W13 `full` is FULL_KNOWN only if a search found no free object at some moment, and no call that made an
 *                  object free has returned since.  A search first adds 1 to `wanted` and sets `full` to its ticket.
 *                  Then it fences, and searches.  If it finds nothing, it changes `full` from its ticket to FULL_KNOWN,
 *                  by CAS.  A call that makes an object free fences, loads `wanted`, and sets `full` to FULL_UNKNOWN.
 *                  So either the search sees the free object, or the call sees the ticket, and the CAS fails.
 * Progress     waiters_serve: lock-free.  It repeats only after it gave an object, another thread changed a cell, or
 *              another call began to wait.  A stopped server holds one object and blocks no call: the next release
 *              serves as well.  Each object that a server gives costs an acquire that finds nothing, and a search of
 *              the queue (cells.c).
 * Concurrency  Any two calls may run at the same time, from waiters_open() to waiters_free().  The caller of a function
 *              with `head` is the user of that cache.  waiters_forget_calls() is called by the one thread of a child
 *              after fork.
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
/* Called in a closed pool.  Ends the waits of all calls and continuations that wait now. */
void waiters_tell_closed(lfpool_t *pool);
/* Unmaps the cells.  The caller has removed the pool from the live pools, because a fork handler reads the cells of
 * live pools. */
void waiters_free(struct waiters *d);
#if !EMBEDDED
/* Called in the child after a fork.  Forgets the calls of other threads, which are gone. */
void waiters_forget_calls(lfpool_t *pool);
#endif

/* Gives free objects to a pending shrink, and to waiting calls and continuations.  If a call waits and no object is
 * free, the pool grows automatically.  `head`: a cache that the caller uses, or NULL. */
COLD void waiters_serve(lfpool_t *pool, struct cache_head *head);
/* Called after slots_put(), slots_put_ended(), or a slots_begin() that gave no object.  Serves calls that want objects
 * (W1). */
static inline void waiters_look(lfpool_t *pool, struct cache_head *head)
{
	/* relaxed: the function that put the slot back has fenced. */
	if (unlikely(load_relaxed(pool->core.arena.wanted)))
		waiters_serve(pool, head);
}

/* slots_begin(), and then waiters_look(), because slots_begin() may have put slots back.  False: SLOT_USED_UP. */
static inline bool waiters_begin(lfpool_t *pool, struct cache_head *head, uint32_t slot, void **object_out)
{
	const bool decided = slots_begin(pool, head, slot, object_out) != SLOT_USED_UP;

	/* Slots may have been put back, because a hook refused other objects before this one. */
	if (unlikely(!*object_out || pool->each_call))
		waiters_look(pool, head);
	return decided;
}

/* Called when the object in `slot` has just become free.  Ends its use, puts a slot back, and serves. */
static inline void waiters_put(lfpool_t *pool, struct cache_head *head, uint32_t slot, void *object)
{
	slots_put_ended(pool, head, slots_end(pool, slot, object));
	waiters_look(pool, head);
}

/* Is this thread inside a hook or continuation that a server of this pool runs?  If so, waiters_serve() leaves the work
 * to that server (W6).  In an embedded build the answer is also true while another thread is inside one. */
bool waiters_is_serving(const lfpool_t *pool);
/* Calls `then` with its object.  Afterwards serves the demand of calls inside `then` (W6). */
void waiters_continue(lfpool_t *pool, lfpool_continuation_t then, void *context, void *object);

/* Identifies the thread of a waiting call; a fork keeps the value. */
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

/* True: at some moment during the call no object was free. */
static inline bool waiters_know_full(const struct waiters *d)
{
	/* acquire: the caller's later operations happen after the search that found nothing. */
	return load_acquire(&d->full) == FULL_KNOWN;
}

/* Does a call wait, or is a shrink pending?  While `full` is not FULL_UNKNOWN, `wanted` is higher by 1, which does not
 * count here.  relaxed, both: a call that begins to wait at the same instant may count or not. */
static inline bool waiters_any(const struct waiters *d)
{
	return load_relaxed(d->wanted) > (load_relaxed(&d->full) != FULL_UNKNOWN);
}

/* Called before the search of W13.  `ticket`, at least 1, is unique to the caller. */
void waiters_search(struct waiters *d, uint64_t ticket);
/* Called when that search has found no free slot. */
void waiters_found_nothing(struct waiters *d, uint64_t ticket);

/* ---- resize.c: growing and shrinking ---- */

/* Called when objects became free without a release.  Serves the calls that wait for them.  `head` NULL: the thread's
 * cache. */
void resize_serve_if_wanted(lfpool_t *pool, struct cache_head *head);

/* Called when the pool had `seen` objects, and none was free.  Grows the pool by one step, if the pool has a growth
 * step.  True: an object may be free now.  The caller serves afterwards. */
bool resize_by_itself(lfpool_t *pool, size_t seen);

/* Like lfpool_shrink(), but no memory goes back to the system. */
size_t resize_shrink(lfpool_t *pool, struct cache_head *head, size_t count);

/* Closes the pool, and removes the objects that are free. */
void resize_close(lfpool_t *pool, struct cache_head *head);

/* Gives the pending shrink a free slot that the caller took: runs hooks.destroy, and puts the slot into the cold
 * store. */
void resize_pay(lfpool_t *pool, uint32_t slot);

#endif
