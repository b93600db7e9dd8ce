/* SPDX-License-Identifier: MIT */
/*
 * retire.h - deferred release: an object becomes free once no reader can hold it.
 *
 *     config.scheme = lfpool_rcu_scheme(&urcu_memb_flavor);     // rcu.h, epoch.h, or your own
 *     ...
 *     cds_lfht_del(table, &node->link);                         // readers may still be looking at it
 *     lfpool_retire(pool, node);                                // free after a grace period
 *
 * A node that was removed from a lock-free structure must not be reused while a reader may hold it.  A *scheme* of safe
 * memory reclamation knows when no reader holds it: RCU, epochs, hazard pointers, quiescent states.  lfpool collects
 * retired objects into batches, and asks the scheme about batches.
 *
 * Life of a retired object.  lfpool_retire() ends the use of the object as lfpool_release() does: its handles become
 * stale, walks skip it, and a second release or retire is refused.  But it is not free yet: its contents stay readable,
 * and no call gets it.  When the scheme allows reuse of its batch, the object is *reclaimed*: hooks.deactivate is
 * called, debug modes treat it as at a release, and it becomes free.  The pool stores nothing in the object.
 *
 * Batches.  A pool has up to LFPOOL_PLACES_MAX places for retired objects; each thread normally uses one of them.  Each
 * place gives one batch at a time to the scheme, at first a single object.  Objects that are retired meanwhile become
 * the next batch, when the present one is reclaimed.  So a batch has all objects that were retired in its place during
 * one grace period (thousands, under load), and no object waits for more than two grace periods.  There is nothing to
 * flush, and a thread may exit at any time.
 *
 * Backlog.  Retired objects count in the pool's capacity, so their number is bounded (`retired` in lfpool_stats_t).
 * Size a pool for the objects in use plus those retired during two grace periods (docs/deferred-release.md).  When all
 * objects are in use or retired, lfpool_acquire() asks the scheme, if the scheme has `ready`.  If no batch is ready,
 * the acquire returns NULL.  It never waits for a grace period; lfpool_acquire_wait() does.
 */
#ifndef LFPOOL_RETIRE_H
#define LFPOOL_RETIRE_H

#include "lfpool/config.h"

LFPOOL_C_BEGIN_

/*
 * lfpool_retire - release an object as soon as no reader can hold it.
 *
 * object    An active object that new readers can no longer reach; NULL does nothing.
 * Returns   LFPOOL_OK; LFPOOL_E_FOREIGN, LFPOOL_E_INTERIOR, LFPOOL_E_NOT_IN_USE, LFPOOL_E_NO_SCHEME: refused, reported
 *           to the misuse hook, and nothing changed.  If two threads retire one object at once, exactly one succeeds.
 * Threads   Any that may call the scheme's `begin` (rcu.h, epoch.h), also inside a read-side section.
 * Progress  Lock-free, except for the scheme's `begin`, which is called if the scheme has no batch of the place.  Never
 *           waits, and never fails for lack of memory.
 * Cost      O(1): two locked instructions.  With `ready`, one call in 64 asks the scheme.
 * Source    A Treiber stack (1986).  Objects are only pushed; the whole stack is taken at once.
 */
LFPOOL_API lfpool_status_t lfpool_retire(lfpool_t *pool, void *object);

/*
 * lfpool_retire_bulk - as lfpool_retire(), for several objects.
 *
 * objects   `count` pointers.  NULLs are skipped; refused objects are reported, and the others are retired.
 * count     Length of the array.
 * Returns   Number of retired objects; they are part of one batch.
 * Threads, progress   As lfpool_retire().
 * Cost      O(count): one locked instruction per object, and one more.
 */
LFPOOL_API size_t lfpool_retire_bulk(lfpool_t *pool, void *const *objects, size_t count);

/*
 * lfpool_retire_poll - ask the scheme about each batch now.
 *
 * Returns   true if any thread reclaimed a batch during the call; false for schemes without `ready`.
 * Threads   Any that may call the scheme's functions.
 * Progress  Lock-free, except for the scheme's functions.
 */
LFPOOL_API bool lfpool_retire_poll(lfpool_t *pool);

/*
 * lfpool_drain - wait until all objects that were retired before the call are free.
 *
 * lfpool_destroy() drains first, repeatedly while hooks retire objects.  If draining is refused, it reports
 * LFPOOL_E_IN_SECTION to the misuse hook and returns SIZE_MAX, and the pool is unchanged.
 *
 * Returns   LFPOOL_OK, at once if no object is retired; LFPOOL_E_IN_SECTION: the caller is inside a read-side section,
 *           for which the call would wait.  A scheme that cannot detect this waits for ever.
 * Threads   Any, but not inside a read-side section, and not from a hook that runs while a batch is reclaimed.
 * Progress  Blocks for up to two grace periods, until readers have left their sections.
 */
LFPOOL_API lfpool_status_t lfpool_drain(lfpool_t *pool);

/* ---- For schemes: lfpool_scheme_t, in config.h --------------------------------------------------------------- */

/*
 * A scheme is one to three functions, each called with its `context`:
 *
 *   begin   The grace period of this batch begins: only threads that were inside a read-side section before this call
 *           can still reach the batch's objects.  The caller is an lfpool_retire(), or the thread that reclaimed the
 *           place's previous batch.  May be NULL if there is `ready`.
 *   ready   May the objects of this batch be reused?  true: the caller reclaims them at once.  Called by one thread at
 *           a time for a batch, any number of times after `begin` has returned, until it returns true.
 *   wait    Block until the batches that are with the scheme now are reclaimed or ready, or for a shorter time; false:
 *           this thread must not wait.  NULL: lfpool_drain() polls, with pauses.
 *
 * A scheme with `ready` is asked by every 64th lfpool_retire() in a place, by an acquire that finds no object, by
 * waiting calls, by lfpool_retire_poll() and by lfpool_drain().  Until one of these calls asks, up to 63 reusable
 * objects may wait in each place.  The n-th waiting call asks every n milliseconds, or every 16 if n is larger.
 * Continuations do not ask.
 *
 * A scheme without `ready` calls lfpool_batch_reclaim() once for each batch, from any thread, but not from `begin`.
 * The return of `begin` must happen before that call in the sense of C11: through a lock, a queue, or the hand-over of
 * the batch.
 *
 * A thread that stops inside `begin` or `ready`, or while it reclaims, keeps the objects of the batch's place retired.
 * If the scheme has `ready`, later calls of lfpool_retire() use other places.  lfpool_drain() and lfpool_destroy() wait
 * for that thread, also in the child of a fork, where it never continues.  (For liburcu's rules see rcu.h.)
 */

/* The number of batches that one pool can give to its scheme at once: one per place. */
#define LFPOOL_PLACES_MAX 64
/* The bytes in each batch that the scheme may use. */
#define LFPOOL_BATCH_ROOM 64

/* A batch of retired objects.  From `begin` until the batch is reclaimed, `room` belongs to the scheme.  It is aligned
 * to 16, and comes first, so a pointer to the room can be converted to a pointer to the batch. */
struct lfpool_batch_t {
	uint64_t room[LFPOOL_BATCH_ROOM / 8];
	size_t place; /* 0 .. LFPOOL_PLACES_MAX - 1; read only */
	size_t count; /* objects in it, at least 1; read only  */
};

/*
 * lfpool_batch_next - iterate over the objects of a batch.
 *
 * batch     Given to `begin` or `ready`, and not yet reclaimed.
 * cursor    State of the iteration; 0 at first.
 * Returns   An object, which may be read but not written; NULL after the last one.
 * Threads   Any, each with its own cursor.  Wait-free, O(1).
 */
LFPOOL_API const void *lfpool_batch_next(const lfpool_batch_t *batch, uint32_t *cursor);

/*
 * lfpool_batch_reclaim - make the objects of a batch free, and begin the place's next batch.
 *
 * batch     As for lfpool_batch_next().
 * Threads   Any, once for each batch.
 * Progress  Lock-free, except for hooks, continuations and `begin`, which it may call.  O(objects in the batch).
 */
LFPOOL_API void lfpool_batch_reclaim(lfpool_batch_t *batch);

LFPOOL_C_END_

#endif
