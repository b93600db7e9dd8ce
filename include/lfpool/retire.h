/* SPDX-License-Identifier: MIT */
/*
 * retire.h - deferred release: an object becomes free once no reader can hold it.
 *
 *     config.scheme = lfpool_rcu_scheme(&urcu_memb_flavor);     // lfpool/rcu.h; or lfpool/epoch.h; or a scheme of
 *     yours ...
 *     cds_lfht_del(table, &node->link);                         // readers may still be looking at it
 *     lfpool_retire(pool, node);                                // free after a grace period
 *
 * A node that was removed from a lock-free structure must not be reused while a reader may hold it.  A *scheme* of safe
 * memory reclamation knows when that is: RCU, epochs, hazard pointers, quiescent states.  lfpool collects retired
 * objects into batches and asks the scheme about batches, not about single objects.
 *
 * Life of a retired object.  lfpool_retire() ends the use of the object as lfpool_release() does: its handles become
 * stale, walks skip it, and a second release or retire is refused.  But it is not free yet: its contents stay readable,
 * and no call gets it.  When the scheme allows reuse of its batch, the object is *reclaimed*: hooks.deactivate is
 * called, debug modes treat it as at a release, and it is free.  The pool stores nothing in the object.
 *
 * Batches.  A pool keeps its retired objects in up to LFPOOL_PLACES_MAX places, chosen by thread.  At most one batch
 * per place is with the scheme.  An object retired while its place has no batch there becomes a batch at once.  Objects
 * retired after that wait, and become the next batch when the current one is reclaimed.  So one grace period follows
 * the other while there are retired objects, a batch has all objects retired during one grace period (thousands, under
 * load), and no object waits for more than two.  No partly filled batch is left behind: there is nothing to flush, and
 * a thread may exit at any time.
 *
 * The backlog is bounded, because retired objects count in the pool's capacity.  (With call_rcu() and free() the
 * number in flight is unbounded.)  `retired` in lfpool_stats_t is their number.  Size a pool for the objects in use
 * plus those retired during two grace periods (docs/deferred-release.md has figures).
 *
 * When the pool runs dry.  lfpool_acquire() never waits for a grace period: it returns NULL only if at some moment
 * during the call every object was in use, or retired and not yet reclaimed.  If the scheme has `ready`, it is asked
 * first.  lfpool_acquire_wait() waits for the backlog as it waits for a release.
 */
#ifndef LFPOOL_RETIRE_H
#define LFPOOL_RETIRE_H

#include "lfpool/config.h"

LFPOOL_C_BEGIN_

/*
 * lfpool_retire - release an object as soon as no reader can hold it.
 *
 * object    An active object that new readers can no longer reach; NULL does nothing.
 * Returns   LFPOOL_OK; LFPOOL_E_FOREIGN, LFPOOL_E_INTERIOR, LFPOOL_E_NOT_IN_USE (a double release; of two retires at
 *           the same instant exactly one succeeds), LFPOOL_E_NO_SCHEME: refused, reported to the misuse hook, and
 *           nothing changed.
 * Threads   Any that may call the scheme's `begin` (rcu.h, epoch.h), also inside a read-side section.
 * Progress  Lock-free, except for the scheme's `begin`, which is called if no batch is with the scheme.  Never fails
 *           for want of memory, never waits.
 * Cost      O(1): two locked instructions.  With `ready`, one call in 64 asks the scheme.
 * Source    A Treiber stack (1986) that is only pushed to, and taken whole.
 */
LFPOOL_API lfpool_status_t lfpool_retire(lfpool_t *pool, void *object);

/*
 * lfpool_retire_bulk - as lfpool_retire(), for several objects.
 *
 * objects   `count` pointers.  NULLs are skipped; refused objects are reported, and the rest is retired nevertheless.
 * count     Length of the array.
 * Returns   Number of retired objects; they are part of one batch.
 * Threads, progress   As lfpool_retire().
 * Cost      O(count): one locked instruction per object, and one for all.
 */
LFPOOL_API size_t lfpool_retire_bulk(lfpool_t *pool, void *const *objects, size_t count);

/*
 * lfpool_retire_poll - ask the scheme about each batch now.
 *
 * Returns   Whether a batch was reclaimed during the call, by any thread.  Always false for schemes without `ready`.
 * Threads   Any that may call the scheme's functions.
 * Progress  Lock-free, except for the scheme's functions.
 */
LFPOOL_API bool lfpool_retire_poll(lfpool_t *pool);

/*
 * lfpool_drain - wait until all objects that were retired before the call are free.
 *
 * lfpool_destroy() drains first, repeatedly while hooks retire objects.  If that is refused, it reports
 * LFPOOL_E_IN_SECTION to the misuse hook and returns SIZE_MAX, and the pool is unchanged.
 *
 * Returns   LFPOOL_OK, at once if no object is retired; LFPOOL_E_IN_SECTION: the caller is inside a read-side section,
 *           for which the call would wait.
 * Threads   Any, but not inside a read-side section (not every scheme can detect that; then the call never returns),
 *           and not from a hook that runs while a batch is reclaimed.
 * Progress  Blocks until the readers of that time have left their sections.
 */
LFPOOL_API lfpool_status_t lfpool_drain(lfpool_t *pool);

/* ---- For schemes: lfpool_scheme_t, in config.h --------------------------------------------------------------- */

/*
 * A scheme is one to three functions, each called with its `context`:
 *
 *   begin   The batch is with the scheme now: a thread that can still reach an object of it was inside a read-side
 *           section before this call.  The caller is an lfpool_retire() that found no batch there, or the thread that
 *           reclaimed the previous batch.  May be NULL if there is `ready`.
 *   ready   May the objects of this batch be reused?  true: the caller reclaims them at once.  Called by one thread at
 *           a time for a batch, any number of times after `begin` has returned, but not after it has returned true.
 *   wait    Block until the batches that are with the scheme now were reclaimed, or are ready, or at least for a while;
 *           false: this thread must not wait.  NULL: lfpool_drain() polls, with pauses.
 *
 * A scheme with `ready` is asked by every 64th lfpool_retire() in a place, by an acquire that finds no object, by
 * waiting calls, by lfpool_retire_poll() and by lfpool_drain().  The call in the n-th place of the queue asks every n
 * milliseconds, but at least every 16: many calls ask little more often than one.  (Until then up to 63 reusable
 * objects may wait in each place, and so may a continuation of lfpool_acquire_async().)  A scheme without `ready` calls
 * lfpool_batch_reclaim() once for each batch, from any thread, but not from `begin`, which must have happened before it
 * in the sense of C11: through a lock, a queue, or the hand-over of the batch.
 *
 * A thread that stops inside `begin` or `ready`, or while it reclaims, keeps the objects of that place.  If the
 * scheme has `ready`, later calls of lfpool_retire() use other places.  lfpool_drain() and lfpool_destroy() wait for
 * that thread; in the child of a fork such threads have stopped for ever.  (For liburcu's rules see rcu.h.)
 */

/* The most batches of a pool that are with the scheme at once: one per place. */
#define LFPOOL_PLACES_MAX 64
/* Bytes that a batch has for the scheme. */
#define LFPOOL_BATCH_ROOM 64

/* A batch of retired objects.  The room comes first: a pointer to it, converted, is a pointer to the batch. */
struct lfpool_batch {
	uint64_t room[LFPOOL_BATCH_ROOM /
		      8]; /* for the scheme, from `begin` until the batch is reclaimed; aligned to 16 */
	size_t place;     /* where the batch is: 0 .. LFPOOL_PLACES_MAX - 1; read only                */
	size_t count;     /* objects in it, at least 1; read only                                     */
};

/*
 * lfpool_batch_next - iterate over the objects of a batch.
 *
 * batch     With the scheme.
 * cursor    State of the iteration; 0 at first.
 * Returns   An object, which may be read but not written; NULL after the last one.
 * Threads   Any, each with its own cursor.  Wait-free, O(1).
 */
LFPOOL_API const void *lfpool_batch_next(const lfpool_batch_t *batch, uint32_t *cursor);

/*
 * lfpool_batch_reclaim - allow reuse of the objects of a batch: they become free, and the next batch begins.
 *
 * batch     With the scheme.
 * Threads   Any, once for each batch.  It may call hooks, continuations, and `begin`.
 * Progress  Lock-free, except for these.  O(objects in the batch).
 */
LFPOOL_API void lfpool_batch_reclaim(lfpool_batch_t *batch);

LFPOOL_C_END_

#endif
