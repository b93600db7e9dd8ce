/* SPDX-License-Identifier: MIT */
/*
 * wait.h - wait for objects when none is free: with a timeout, or by a continuation.
 *
 * Waiting calls and continuations share one queue: first come, first served.  A release gives its object to the first
 * of them.  lfpool_acquire() does not queue, and may overtake in the moment between a release and that hand-over.  An
 * object on its way to a waiting call is in the hands of that release: lfpool_acquire() does not see it.  While no call
 * waits, the queue costs a release one load.
 *
 * Threads    Any, as lfpool_acquire().  At most 16,368 objects can be waited for in the queue; a call beyond that looks
 *            for free objects every millisecond, and has no place in the order.
 *            The calls are no cancellation points: after pthread_cancel(3) a thread continues to wait, and ends at a
 *            cancellation point after the call.  It must not have asynchronous cancellation, and hooks and
 *            continuations must not have cancellation points.  docs/full-and-empty.md shows a wait that another thread
 *            can end.
 * Progress   As lfpool_acquire() while objects are free; otherwise the call blocks, in the kernel, until a release, or
 *            another call that makes objects free, gives it one.  In a continuation of the same pool it does not wait
 *            for its turn, because other calls get nothing before the continuation has returned.
 * Cost       Queueing, and serving a waiter in a release, is O(log waiters): 550 and 340 ns with 1,000 waiters, 590 and
 *            500 ns with 16,000 (bench/slots.c).
 */
#ifndef LFPOOL_WAIT_H
#define LFPOOL_WAIT_H

#include "lfpool/config.h"

LFPOOL_C_BEGIN_

/*
 * lfpool_acquire_bulk_wait - acquire several objects, all or none, and return the reason if it fails.
 *
 * With timeout_ns 0 it does not wait: an acquire of several objects, all or none; or of one, with the reason for NULL.
 *
 * A waiting call takes `count` consecutive places in the queue, and keeps them until it returns.  It does not starve,
 * and two such calls do not wait for each other's objects (except in a continuation of the same pool, which must not
 * wait): of two that have some objects, the later one gives them back.  A call keeps the objects given to it even while
 * the pool is too small, so do not ask for more objects than the pool can ever have.  Until the call returns, objects
 * given to it are in its hands; so are, without a wait, those found before one is missing.
 *
 * If hooks.validate finds an object of a waiting call bad, and hooks.create does not rebuild it, the call continues to
 * wait in its place.
 *
 * pool         May be NULL with a cache.
 * cache        The caller's cache of this pool; NULL: the calling thread's.
 * objects_out  Room for `count` pointers: all are set on success; the contents are unspecified on failure.
 * count        Number of objects; 0 does nothing.
 * timeout_ns   Maximum time to wait, in nanoseconds; 0: do not wait; negative: wait for ever.
 * Returns      LFPOOL_OK; LFPOOL_E_EXHAUSTED: fewer objects were free when the time was over; LFPOOL_E_REFUSED: a hook
 *              refused an object; LFPOOL_E_CLOSED: the pool is closed; LFPOOL_E_ARGUMENT: more objects than the pool
 *              can ever have, or NULL.  hooks.exhausted is called for a count of 1 only, and a wait that it asks for
 *              ends when the time is over.  errno is preserved.
 * Progress     Blocks, in the kernel, unless timeout_ns is 0.  A call that was given some of its objects checks every
 *              millisecond whether an earlier call needs them.  A call that was given nothing sleeps.  (Where the
 *              scheme has to be asked, lfpool/retire.h, it wakes to ask.)
 * Cost         O(count) without a wait; otherwise that of `count` calls for one object.
 */
LFPOOL_API lfpool_status_t lfpool_acquire_bulk_wait(lfpool_t *pool, lfpool_cache_t *cache, void **objects_out,
						    size_t count, int64_t timeout_ns);

/*
 * lfpool_acquire_wait, lfpool_cache_acquire_wait - as lfpool_acquire() and lfpool_cache_acquire(), but wait while no
 * object is free.
 *
 * timeout_ns  As for lfpool_acquire_bulk_wait().
 * Returns     An object; NULL when the time is over, and then every object was in use at some moment of the call; or
 *             when a hook refused (it may be called a second time by a call that is still waiting), or the pool is
 *             closed.
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
 * then        Called exactly once, unless it is cancelled.  If an object is free now, this call calls it, on this
 *             thread; otherwise the thread that releases an object does, inside that release.  After lfpool_close() or
 *             lfpool_destroy() a call on the pool calls it with NULL.  It may use the pool: no lock is held.  It must
 *             return (no longjmp, no exception) and must not block: the release waits for it, and so does the rest of
 *             the queue.  Continuations of a pool do not nest: one that is queued by another, or that gets an object
 *             which another releases or adds, runs after that one has returned (so a million need no deep stack).
 *             hooks.exhausted is called, but cannot make this call wait.
 * ticket_out  For lfpool_cancel(); set before `then` can be called; 0 if `then` was called without queueing; may be
 *             NULL.
 * Returns     LFPOOL_OK; LFPOOL_E_ARGUMENT: `then` is NULL; LFPOOL_E_NO_MEMORY: the system refuses memory for a place
 *             in the queue, or all 16,368 are taken; LFPOOL_E_CLOSED: the pool is closed, or being destroyed.  `then`
 *             is not called after an error.
 * Threads     Any.  The child of a fork inherits pending continuations, each in its place, except those that had begun
 *             to run.  Those that can run are called inside fork(), by a handler of pthread_atfork(); they must not
 *             fork.
 * Progress    Lock-free; enters the kernel.
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
