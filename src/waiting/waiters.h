/* SPDX-License-Identifier: MIT */
/*
 * waiters.h - the demand for objects when none is free: calls that wait, continuations, and a pending shrink.
 *
 * Idea         One word, `wanted`, counts the demand.  Every release loads it after its push.  If it is not 0, the
 *              release calls waiters_serve(), which takes a free object as an acquire does, and gives it to the first
 *              in the queue (cells.h), or to a pending shrink.  A call that does this is a server.
 * Invariants   W1  no wake-up is lost.  A call that waits adds its demand, fences (heavy fence), and serves until an
 *                  exact take finds nothing.  A release pushes, fences, and serves if `wanted` is not 0.  So either
 *                  the waiter's take sees the push, or the releaser sees the demand.  A server that finds no demand for
 *                  its slot puts the slot back as a release does, and checks the demand again.  So whenever an object
 *                  is free and a cell is waiting, some call is about to serve.
 *              W2  a slot that a server took is held by the server until it is given, and then by the waiter.  If the
 *                  server finds that no call needs the slot, it puts the slot back.  Until then an acquire does not see
 *                  it, and may return NULL.
 *              W3, W5  the order of the queue, and which calls wake: cells.h.
 *              W4  a pending shrink comes before calls that wait.  The cold store counts the owed objects, and adds 1
 *                  to `wanted` while there are any (cold.h, O5).
 *              W6  calls in hooks and continuations that a server runs do not serve.  The server does so for them when
 *                  the hook returns, so servers never nest.
 *              W7  no call waits in a closed pool.  A call that is about to wait enlists, fences, serves; closing sets
 *                  `closed`, fences, serves: one of them sees the other.  A server of a closed pool that has no object
 *                  gives SLOT_NONE to calls, and NULL to continuations.
 *              W13 `full` is FULL_KNOWN only if at some moment a search found no free object, and each call that has
 *                  made one free since has not returned yet.  A search sets `full` to its ticket (wanted + 1 before),
 *                  fences, and searches.  If it finds nothing, it changes its ticket to FULL_KNOWN, by CAS.  A call
 *                  that makes an object free fences, loads `wanted`, and sets `full` to FULL_UNKNOWN.  So either the
 *                  search sees the free object, or the call sees the ticket, and the CAS fails.
 * Progress     waiters_serve: lock-free.  It repeats only after it gave an object, another thread changed a cell, or
 *              another call began to wait.  A stopped server holds one object and blocks no call: the next release
 *              serves as well.  Each object given costs an exhausted acquire and a look at the queue (cells.c).
 * Concurrency  No two calls need outside help, from waiters_open() to waiters_free().  The caller of a function with
 *              `head` is the user of that cache.  waiters_forget_calls: the one thread of a child after fork.
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
/* The pool is closed: ends the waits of calls and continuations that wait now. */
void waiters_tell_closed(lfpool_t *pool);
/* Unmaps the cells.  The pool has left the list of live pools, because a fork handler reads the cells of those. */
void waiters_free(struct waiters *d);
#if !EMBEDDED
/* In the child after fork: the calls of other threads are gone. */
void waiters_forget_calls(lfpool_t *pool);
#endif

/* Gives free objects to a pending shrink, and to waiting calls and continuations.  If a call waits and no object is
 * free, the pool grows automatically.  `head`: a cache that the caller uses, or NULL. */
COLD void waiters_serve(lfpool_t *pool, struct cache_head *head);
/* After slots_put(), slots_put_ended(), or a slots_begin() that gave no object: serves calls that want objects (W1). */
static inline void waiters_look(lfpool_t *pool, struct cache_head *head)
{
	/* relaxed: the function that put the slot back has fenced. */
	if (unlikely(load_relaxed(pool->core.arena.wanted)))
		waiters_serve(pool, head);
}

/* slots_begin(), and then waiters_look(), because it may have put slots back.  False: SLOT_USED_UP. */
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

/* Does this thread run a hook or continuation of a call that serves this pool?  Then waiters_serve() leaves the work to
 * that call (W6).  In an embedded build also true while another thread runs one. */
bool waiters_is_serving(const lfpool_t *pool);
/* Calls `then` with its object, and then serves for it (W6). */
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

/* True: at some moment during the call nothing was free. */
static inline bool waiters_know_full(const struct waiters *d)
{
	/* acquire: the caller's later operations happen after the search that found nothing. */
	return load_acquire(&d->full) == FULL_KNOWN;
}

/* Does a call wait, or is a shrink pending?  (`full` adds 1 to `wanted` too.)  relaxed, both: a call that comes at the
 * same instant may be first or second. */
static inline bool waiters_any(const struct waiters *d)
{
	return load_relaxed(d->wanted) > (load_relaxed(&d->full) != FULL_UNKNOWN);
}

/* Before an exact take (W13); `ticket` (1 or above) is unique to the caller. */
void waiters_search(struct waiters *d, uint64_t ticket);
/* After that take found nothing. */
void waiters_found_nothing(struct waiters *d, uint64_t ticket);

/* ---- resize.c: growing and shrinking ---- */

/* Objects became free without a release: serves the calls that wait for them.  `head` NULL: the thread's cache. */
void resize_serve_if_wanted(lfpool_t *pool, struct cache_head *head);

/* The pool had `seen` objects, and none was free: grows by one step, if the pool has a growth step.  True if an object
 * may be free now.  Does not serve: waiting calls grow the pool themselves. */
bool resize_by_itself(lfpool_t *pool, size_t seen);

/* As lfpool_shrink(), but no memory goes back to the system. */
size_t resize_shrink(lfpool_t *pool, struct cache_head *head, size_t count);

/* Closes the pool, and removes the objects that are free. */
void resize_close(lfpool_t *pool, struct cache_head *head);

/* Pays the pending shrink with a free slot that the caller took: hooks.destroy, then the cold store. */
void resize_pay(lfpool_t *pool, uint32_t slot);

#endif
