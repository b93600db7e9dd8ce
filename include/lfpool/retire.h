/* SPDX-License-Identifier: MIT */
/*
 * retire.h - deferred release: an object becomes free when nobody can be reading it any more.  Included by lfpool.h.
 *
 *     config.scheme = lfpool_rcu_scheme(&urcu_memb_flavor);     // lfpool/rcu.h; or lfpool/epoch.h; or one's own
 *     ...
 *     cds_lfht_del(table, &node->link);                         // readers may still be looking at it
 *     lfpool_retire(pool, node);                                // free after a grace period
 *
 * A node that was taken out of a lock-free structure must not be handed out again while a reader may still hold it.
 * When that is, a *scheme* of safe memory reclamation knows: RCU, epochs, hazard pointers, quiescent states.  lfpool
 * collects retired objects into batches and asks the scheme about batches, never about single objects.
 *
 * What happens to an object.  lfpool_retire() ends its use as lfpool_release() does: its handles go stale, a walk does
 * not visit it, a second release or retire is refused.  But it is not free: what is in it stays as it is, readable, and
 * no call gets it.  When the scheme says that its batch may be reused, it is *reclaimed*: hooks.deactivate is called, debug
 * modes do what they do at a release, and it is free.  Nothing is stored in the object.
 *
 * Batches.  The retired objects of a pool wait in a few places, chosen by thread.  In each at most one batch is with the
 * scheme.  The first object that is retired while none is goes there at once, alone; what is retired meanwhile waits, and is
 * the next batch, as soon as the former is reclaimed.  So there is one grace period after the other while there is
 * something to reclaim, and none otherwise; a batch is as large as what is retired during one, so under load a call to
 * the scheme is shared by thousands of objects; and no object waits for more than two grace periods.  No batch is ever
 * half full and left lying: a thread that exits leaves nothing behind, and there is nothing to flush.
 *
 * The backlog is bounded by the pool: retired objects are objects of its capacity.  (What call_rcu() and free() have in
 * flight is bounded by nothing.)  lfpool_retired_count() tells how many they are now.  So size a pool for what is in use,
 * and what is retired during two grace periods (docs/deferred-release.md has figures).
 *
 * When the pool runs dry.  lfpool_acquire() never waits for a grace period: it returns NULL only if at some moment during
 * the call every object was in use, or retired and not yet reclaimed.  With a scheme that is asked (`ready`) it asks before
 * it says so.  lfpool_acquire_wait() waits for the backlog as it waits for a release.
 */
#ifndef LFPOOL_RETIRE_H
#define LFPOOL_RETIRE_H

#include "lfpool/lfpool.h"

LFPOOL_C_BEGIN_

/*
 * lfpool_retire - release an object as soon as nobody can be reading it.
 *
 * object    An active object, which the caller has made unreachable for readers that begin from now on; NULL is fine
 *           and does nothing.
 * Returns   LFPOOL_OK; LFPOOL_E_FOREIGN, LFPOOL_E_INTERIOR, LFPOOL_E_NOT_IN_USE (a double release, also of two retires at
 *           the same instant: exactly one succeeds), LFPOOL_E_NO_SCHEME: refused, reported to the misuse hook, nothing
 *           changed.
 * Threads   Any that may call the scheme's `begin`: see rcu.h, epoch.h.  Inside a read-side section too.
 * Progress  Lock-free, except the scheme's `begin`, which the first call calls after a time without retired objects.
 *           Never fails for want of memory, never waits.
 * Cost      O(1): two locked instructions.  With a scheme that is asked, a call asks now and then, see below.
 * Source    A Treiber stack (1986) that is only pushed to and taken whole.
 */
LFPOOL_API lfpool_status_t lfpool_retire(lfpool_t *pool, void *object);

/*
 * lfpool_retire_bulk - as lfpool_retire(), for many at once.
 *
 * objects   `count` pointers.  NULLs are passed over; what is refused is reported, and the rest is retired nevertheless.
 * count     How many pointers there are.
 * Returns   How many were retired: they are one piece of one batch.
 * Threads, progress   As lfpool_retire().
 * Cost      O(count): one locked instruction for each, and one for all.
 */
LFPOOL_API size_t lfpool_retire_bulk(lfpool_t *pool, void *const *objects, size_t count);

/*
 * lfpool_retired_count - objects that are retired and not yet free.
 *
 * Returns   How many; 0 without a scheme.  Exact while no other thread is inside a call on the pool, and none is
 *           reclaiming; else a snapshot.
 * Threads   Any.  Wait-free.
 */
LFPOOL_API size_t lfpool_retired_count(const lfpool_t *pool);

/*
 * lfpool_retire_poll - ask the scheme about each batch now.
 *
 * Returns   Whether a batch was reclaimed meanwhile, by this call or another.  Schemes that are not asked, like RCU: false.
 * Threads   Any that may call the scheme's functions.  Lock-free, except those.
 */
LFPOOL_API bool lfpool_retire_poll(lfpool_t *pool);

/*
 * lfpool_scheme - the scheme that the pool was made with.
 *
 * Returns   config.scheme; all NULL if it has none.
 * Threads   Any.  Wait-free.
 */
LFPOOL_API lfpool_scheme_t lfpool_scheme(const lfpool_t *pool);

/*
 * lfpool_drain - wait until everything that was retired before the call is free.
 *
 * Returns   LFPOOL_OK, at once if nothing is retired; LFPOOL_E_IN_SECTION: the caller is inside a read-side section, for
 *           which it would wait.
 * Threads   Any, but not inside a read-side section (not each scheme can tell; then the call never returns), and not from a
 *           hook that runs while a batch is reclaimed.
 * Progress  Blocks until the readers of that time have ended their sections.
 *
 * lfpool_destroy() drains first, until hooks retire nothing more.  Where that is refused, so is it: it reports
 * LFPOOL_E_IN_SECTION to the misuse hook and returns SIZE_MAX, and the pool lives on.
 */
LFPOOL_API lfpool_status_t lfpool_drain(lfpool_t *pool);

/* ---- For schemes: lfpool_scheme_t, in lfpool.h --------------------------------------------------------------- */

/*
 * A scheme is one to three functions, each called with its `context`:
 *
 *   begin   The batch is with the scheme now: a thread that can still reach an object of it was inside a read-side
 *           section before this call.  Called by the thread whose lfpool_retire() found no batch there, or by the one that
 *           has reclaimed the batch before.  May be NULL if there is `ready`.
 *   ready   May the objects of this batch be reused?  true: the caller reclaims them at once.  Called by one thread at a
 *           time for a batch, any number of times after `begin` has returned, but not after it has said true.
 *   wait    Block until the batches that are with the scheme now were reclaimed, or are ready, or at least for a while;
 *           false: this thread must not wait.  NULL: lfpool_drain() asks again and again, with pauses.
 *
 * A scheme with `ready` is asked: by an lfpool_retire() that brings what waits in its place to a multiple of 64, by an
 * acquire that finds nothing, by waiting calls each millisecond, by lfpool_retire_poll() and lfpool_drain().  (So until
 * then up to 63 objects may lie in each place although they could be reused; and a continuation of lfpool_acquire_async()
 * may wait until a thread calls one of those.)  One without it calls lfpool_batch_reclaim() for each batch itself, once, from
 * any thread, but not from `begin`, which must have happened before, in the sense of C11: through a lock, a queue, or what else
 * brought the batch there.
 *
 * A thread that is stopped inside `begin` or `ready`, or while it reclaims, holds up what was retired in that place.  Where
 * the scheme is asked, later calls of lfpool_retire() pass over that place.  lfpool_drain() and lfpool_destroy() wait for it; in the
 * child after fork such threads have stopped for ever.  (liburcu has rules of its own, see rcu.h.)
 */

/* At most so many batches of a pool are with the scheme at once: one for each place. */
#define LFPOOL_PLACES_MAX 64
/* Bytes that a batch has for the scheme. */
#define LFPOOL_BATCH_ROOM 64

/*
 * lfpool_batch_place, lfpool_batch_count, lfpool_batch_room - a batch's place, how many objects it has, and memory for the
 * scheme.
 *
 * batch     With the scheme.
 * Returns   The place: 0 .. LFPOOL_PLACES_MAX - 1.  Objects: at least 1.  The memory: LFPOOL_BATCH_ROOM bytes, aligned to
 *           16, for the scheme to use from `begin` until the batch is reclaimed; then they may be another batch's.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API size_t lfpool_batch_place(const lfpool_batch_t *batch);
LFPOOL_API size_t lfpool_batch_count(const lfpool_batch_t *batch);
LFPOOL_API void *lfpool_batch_room(lfpool_batch_t *batch);

/*
 * lfpool_batch_of - the batch that this room belongs to.
 *
 * room      What lfpool_batch_room() has returned.
 * Returns   The batch.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API lfpool_batch_t *lfpool_batch_of(void *room);

/*
 * lfpool_batch_next - a batch's objects, one after the other.
 *
 * batch     With the scheme.
 * cursor    Where the walk is; 0 at first.
 * Returns   An object, which may be read, not written; NULL: the one before was the last.
 * Threads   Any, each with a cursor of its own.  Wait-free, O(1).
 */
LFPOOL_API const void *lfpool_batch_next(const lfpool_batch_t *batch, uint32_t *cursor);

/*
 * lfpool_batch_reclaim - the objects of the batch may be reused: they become free, and the next batch begins.
 *
 * batch     With the scheme.
 * Threads   Any, once for each batch.  It may call hooks, continuations, and `begin`.
 * Progress  Lock-free, except those.  O(objects in the batch).
 */
LFPOOL_API void lfpool_batch_reclaim(lfpool_batch_t *batch);

LFPOOL_C_END_

#endif
