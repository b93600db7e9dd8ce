/* SPDX-License-Identifier: MIT */
/*
 * wait.h - wait for an object when there is none: with a timeout, or by a continuation.  Included by lfpool.h.
 *
 * Calls that wait, and continuations, stand in one queue: first come, first served, in the order in which they were
 * found to wait.  A release gives its object to the first of them.  lfpool_acquire() does not queue, and may overtake
 * in the moment between a release and that.  An object on its way to a call that waits is in the hands of that release:
 * lfpool_acquire() does not see it.  While no call waits, a release looks at one word, and that is all.
 */
#ifndef LFPOOL_WAIT_H
#define LFPOOL_WAIT_H

#include "lfpool/lfpool.h"

LFPOOL_C_BEGIN_

/*
 * lfpool_acquire_wait, lfpool_cache_acquire_wait - as lfpool_acquire() and lfpool_cache_acquire(), but wait while there is
 * nothing.
 *
 * timeout_ns  Nanoseconds to wait at most; 0: not at all; negative: for ever.
 * Returns     An object; NULL when the time is over, and then every object was in use at some moment of the call; or when a
 *             hook refused: a call that then still waits may ask it once more.  errno is left alone.
 * Threads     Any, as lfpool_acquire().  At most 16,368 calls and continuations queue; a call beyond them looks again
 *             every millisecond, and has no place in the order.
 * Progress    As lfpool_acquire() while there are objects; else it blocks, in the kernel, until a release, or what
 *             makes objects free in another way, gives it one.  In a continuation of the same pool it does not wait its
 *             turn, since others get nothing before that has returned.
 * Cost        To queue, and for a release to serve, grows with the logarithm of how many wait: 550 and 340 ns with 1,000, 590 and
 *             500 with 16,000 (bench/slots.c).
 */
LFPOOL_API void *lfpool_acquire_wait(lfpool_t *pool, int64_t timeout_ns);
LFPOOL_API void *lfpool_cache_acquire_wait(lfpool_cache_t *cache, int64_t timeout_ns);

/*
 * lfpool_acquire_bulk_wait - acquire several objects, all or none, and say why not.
 *
 * With timeout_ns 0 it does not wait: that is an acquire of several, all or none; and of one, with the reason for NULL.
 *
 * A call that waits is in the queue like that many calls for one object, next to each other: it does not starve, and two such
 * calls do not wait for each other's objects (except in a continuation of the same pool, which must not wait).  It keeps its place
 * and what it was given also while the pool is too small for it: let it want no more than there can be.  What it has been given,
 * while it waits for the rest, is in the hands of this call; so is, without a wait, what it has found before it misses one.
 *
 * objects_out  Room for `count` pointers; all are set, or what is in them does not matter.
 * count        How many; 0 does nothing.
 * timeout_ns   As for lfpool_acquire_wait().
 * Returns      LFPOOL_OK; LFPOOL_E_EXHAUSTED: when the time is over fewer are free; LFPOOL_E_REFUSED: a hook refused one;
 *              LFPOOL_E_CLOSED: lfpool_close() was called; LFPOOL_E_ARGUMENT: more than the pool can ever have, or NULL.
 *              hooks.exhausted is not asked.  errno is left alone.
 * Threads      Any, as lfpool_acquire_wait(); each object takes a place in the queue.
 * Progress     As lfpool_acquire_wait().  While it waits for more than one it looks every millisecond whether a call that
 *              came earlier needs what it was given.
 * Cost         O(count) without a wait; with one, that of `count` calls of lfpool_acquire_wait().
 */
LFPOOL_API lfpool_status_t lfpool_acquire_bulk_wait(lfpool_t *pool, void **objects_out, size_t count, int64_t timeout_ns);

/* A continuation.  object: acquired, the continuation's from here on; NULL: a hook refused it, or the pool is closed. */
typedef void (*lfpool_continuation_t)(void *context, lfpool_t *pool, void *object);
typedef uint64_t lfpool_ticket_t; /* names a continuation until it has run; 0 is never valid */

/*
 * lfpool_acquire_async - acquire without blocking the worker: `then` is called with an object as soon as there is one.
 *
 * then        Called exactly once, unless it is cancelled: by this call, on this thread, if there is an object now; else
 *             by whichever thread releases one, inside that release; with NULL, by a call on the pool, once lfpool_close() or
 *             lfpool_destroy() was called.  No lock
 *             is held; it may use the pool.  It must return (not by longjmp or an exception), and must not block: the release
 *             waits for it, and so does the next in the queue.  Continuations of a pool do not nest: one that is handed in by another, or that gets what another
 *             releases or adds, is called when that has returned.  (However many; a million need no deeper stack than two.)
 * ticket_out  For lfpool_cancel(); set before `then` can be called; 0 if it was called without queueing; may be NULL.
 * Returns     LFPOOL_OK; LFPOOL_E_ARGUMENT: `then` is NULL; LFPOOL_E_NO_MEMORY: the system refuses a place in the queue, or
 *             all 16,368 are taken; LFPOOL_E_CLOSED: the pool is closed, or being destroyed.  `then` is not called then.
 * Threads     Any.  The child of a fork has the continuations that were not called yet, each in its place.  Those that can be
 *             are called inside fork(), by a handler of pthread_atfork(); they must not fork.
 * Progress    Lock-free; enters the kernel.
 * Cost        As lfpool_acquire_wait().
 */
LFPOOL_API lfpool_status_t lfpool_acquire_async(lfpool_t *pool, lfpool_continuation_t then, void *context,
						lfpool_ticket_t *ticket_out);

/*
 * lfpool_cancel - take a continuation back.
 *
 * ticket    From lfpool_acquire_async(); any value.
 * Returns   true: the continuation will not be called.  false: it was, is being, or is about to be.
 * Threads   Any, also inside the continuation itself.  Lock-free, O(1).
 */
LFPOOL_API bool lfpool_cancel(lfpool_t *pool, lfpool_ticket_t ticket);

LFPOOL_C_END_

#endif
