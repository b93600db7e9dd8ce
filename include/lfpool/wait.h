/* SPDX-License-Identifier: MIT */
/*
 * wait.h - wait for objects when none is free: with a timeout, or by a continuation.
 *
 * Waiting calls and continuations share one queue: first come, first served.  A release gives its object to the first
 * of them.  lfpool_acquire() does not queue.  It may take a released object before the release takes that object
 * back for a waiting call.  While no call waits, the queue costs a release one load.
 *
 * Threads    Any, as lfpool_acquire().  The queue has 16,368 places, one per object that a call waits for.  A call that
 *            gets no place looks for free objects every millisecond instead.  The calls are not cancellation points:
 *            after pthread_cancel(3) a thread continues to wait, and ends at a cancellation point after the call.  The
 *            thread must not enable asynchronous cancellation, and hooks and continuations must not have cancellation
 *            points.  docs/full-and-empty.md shows how another thread can end a wait.
 * Progress   As lfpool_acquire() while objects are free; otherwise the call blocks, in the kernel, until another call
 *            makes an object free and gives it one.  Inside a continuation of the same pool a call does not wait for
 *            its turn, because the queue is served only after the continuation has returned.
 * Cost       Queueing, and serving a waiter in a release, is O(log waiters): 550 and 340 ns with 1,000 waiters
 *            (docs/full-and-empty.md).
 */
#ifndef LFPOOL_WAIT_H
#define LFPOOL_WAIT_H

#include "lfpool/config.h"

LFPOOL_C_BEGIN_

/*
 * lfpool_acquire_bulk_wait - acquire several objects, all or none, and return the reason if it fails.
 *
 * A waiting call takes `count` consecutive places in the queue, and keeps them until it returns, so it does not starve.
 * Objects given to it count as in use.  If each of two such calls holds objects that the other needs, the later call
 * gives its objects back.  (Inside a continuation of the same pool, which must not wait, these rules do not hold.)
 *
 * If hooks.validate rejects an object that was given to a waiting call, and hooks.create cannot rebuild it, the call
 * waits again in its place.
 *
 * pool         May be NULL with a cache.
 * cache        The caller's cache of this pool; NULL: the calling thread's.
 * objects_out  Room for `count` pointers: all are set on success; the contents are unspecified on failure.
 * count        0 does nothing.  Do not ask for more objects than the pool will have: the call would keep those that it
 *              has, and wait.
 * timeout_ns   Maximum time to wait, in nanoseconds; 0: do not wait; negative: no limit.
 * Returns      LFPOOL_OK; LFPOOL_E_EXHAUSTED: fewer objects were free when the time was over; LFPOOL_E_REFUSED: a hook
 *              refused an object; LFPOOL_E_CLOSED: the pool is closed; LFPOOL_E_ARGUMENT: more objects than the pool
 *              can ever have, or a NULL pointer.  errno is preserved.  hooks.exhausted is called only with `count` 1.
 * Progress     Blocks, in the kernel, unless timeout_ns is 0.  A call that has some of its objects wakes every
 *              millisecond, to see whether an earlier call needs them.  A call that has none sleeps, or wakes to ask
 *              the scheme (lfpool/retire.h).
 * Cost         O(count) without a wait; otherwise that of `count` calls for one object.
 */
LFPOOL_API lfpool_status_t lfpool_acquire_bulk_wait(lfpool_t *pool, lfpool_cache_t *cache, void **objects_out,
						    size_t count, int64_t timeout_ns);

/*
 * lfpool_acquire_wait, lfpool_cache_acquire_wait - as lfpool_acquire() and lfpool_cache_acquire(), but wait while no
 * object is free.
 *
 * timeout_ns  As for lfpool_acquire_bulk_wait().
 * Returns     An object; NULL: the pool is closed, a hook refused, or the time is over (at some moment of the call
 *             every object was in use).  (If a hook refuses and time is left, the call may call that hook a second
 *             time.)
 */
LFPOOL_INLINE_ void *lfpool_acquire_wait(lfpool_t *pool, int64_t timeout_ns)
{
	void *object;

	return lfpool_acquire_bulk_wait(pool, LFPOOL_NULL_, &object, 1, timeout_ns) == LFPOOL_OK ? object
												 : LFPOOL_NULL_;
}
LFPOOL_INLINE_ void *lfpool_cache_acquire_wait(lfpool_cache_t *cache, int64_t timeout_ns)
{
	void *object;

	return lfpool_acquire_bulk_wait(LFPOOL_NULL_, cache, &object, 1, timeout_ns) == LFPOOL_OK ? object
												  : LFPOOL_NULL_;
}

/* A continuation.  object: acquired, owned by the continuation; NULL: a hook refused it, or the pool is closed. */
typedef void (*lfpool_continuation_t)(void *context, lfpool_t *pool, void *object);
typedef uint64_t lfpool_ticket_t; /* identifies a continuation until it has run; 0 is never valid */

/*
 * lfpool_acquire_async - acquire without blocking the worker: `then` is called with an object as soon as one is free.
 *
 * If an object is free now, this call calls `then`, on this thread.  Otherwise the thread that releases an object calls
 * it, inside that release.  After lfpool_close() or lfpool_destroy() it is called with NULL.  Continuations of a pool
 * do not nest: if a running one releases an object or queues another continuation, the next one runs after the running
 * one has returned.  So a chain of a million needs no deep stack.
 *
 * then        Called exactly once, unless it is cancelled.  It may use the pool: no lock is held.  It must return (no
 *             longjmp, no exception) and must not block, because the release and the rest of the queue wait for it.
 * ticket_out  For lfpool_cancel(); set before `then` can be called; 0 if `then` was called without queueing; may be
 *             NULL.
 * Returns     LFPOOL_OK; LFPOOL_E_ARGUMENT: `then` is NULL; LFPOOL_E_NO_MEMORY: the system refuses memory for a place
 *             in the queue, or all 16,368 places are taken; LFPOOL_E_CLOSED: the pool is closed or being destroyed.
 *             After an error `then` is not called.
 * Threads     Any.  The child of a fork inherits pending continuations, except those that had begun to run.  The
 *             library's pthread_atfork() handler calls those that can run, inside fork(), so they must not fork.
 * Progress    Lock-free; enters the kernel.  Calls hooks.exhausted, which cannot make this call wait.
 */
LFPOOL_API lfpool_status_t lfpool_acquire_async(lfpool_t *pool, lfpool_continuation_t then, void *context,
						lfpool_ticket_t *ticket_out);

/*
 * lfpool_cancel - cancel a continuation.
 *
 * ticket    From lfpool_acquire_async(); any value.
 * Returns   true: the continuation will not be called.  false: it was called, is running, or is about to run.
 * Threads   Any, also inside the continuation itself.
 * Progress  Lock-free.
 * Cost      O(1).
 */
LFPOOL_API bool lfpool_cancel(lfpool_t *pool, lfpool_ticket_t ticket);

LFPOOL_C_END_

#endif
