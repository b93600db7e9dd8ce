/* SPDX-License-Identifier: MIT */
/*
 * resize.h - how many objects a pool has, changed while it runs: grow, shrink, trim.  Included by lfpool.h.
 *
 * A pool reserves address space for config.max_capacity objects when it is created, and has config.capacity of them.
 * Addresses never move.  It grows by hand, or by itself when an acquire finds nothing (config.growth_step); it shrinks
 * and gives memory back only when it is told to.  After lfpool_close() nothing is added or forgiven: grow, reserve and
 * shrink_cancel return 0.
 */
#ifndef LFPOOL_RESIZE_H
#define LFPOOL_RESIZE_H

#include "lfpool/lfpool.h"

LFPOOL_C_BEGIN_

/*
 * lfpool_grow - add `count` objects.
 *
 * What an earlier lfpool_shrink() is still owed is forgiven first, and counts as added.
 *
 * count     How many.
 * Returns   How many were added: fewer than `count` when lfpool_max_capacity() is reached, or the system refuses
 *           memory; what was added stays.
 * Threads   Any, concurrently with everything but lfpool_destroy().  Lock-free for all others; enters the kernel
 *           (with LFPOOL_PREFAULT it touches what it adds).  Calls that wait get what is added.
 * Cost      O(count / 64), and what the system takes.
 */
LFPOOL_API size_t lfpool_grow(lfpool_t *pool, size_t count);

/*
 * lfpool_reserve - grow, if need be, until lfpool_capacity(), less what is owed to a shrink, is at least `capacity`.
 *
 * capacity  Objects there shall be.
 * Returns   How many were added: fewer than were missing when lfpool_grow() adds no more.
 * Threads, progress, cost   As lfpool_grow().
 */
LFPOOL_API size_t lfpool_reserve(lfpool_t *pool, size_t capacity);

/*
 * lfpool_shrink - take `count` objects out of the pool.
 *
 * Objects that are not in use go at once, wherever they lie.  If there are not enough, the rest is owed: each object
 * that comes back goes, until the debt is paid (and before calls that wait get one).  While something is owed
 * the pool does not grow by itself.  hooks.destroy runs for each object that was built, on the thread that takes it
 * out. Their memory stays with the process until lfpool_trim().
 *
 * count     How many.
 * Returns   How many this call took out.  At most lfpool_capacity() are taken out or owed, all together.
 * Threads   Any, concurrently with everything but lfpool_destroy().  Lock-free; may enter the kernel, as lfpool_acquire().
 * Cost      O(count), and that of an exhausted lfpool_acquire().
 */
LFPOOL_API size_t lfpool_shrink(lfpool_t *pool, size_t count);

/*
 * lfpool_shrink_owed - objects that are still to go when they come back.
 *
 * Returns   How many.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API size_t lfpool_shrink_owed(const lfpool_t *pool);

/*
 * lfpool_shrink_cancel - forgive what is owed.
 *
 * Returns   How much that was.
 * Threads   Any.
 * Progress  Lock-free, O(1); and as lfpool_grow() where the pool grows by itself and a call waits.
 */
LFPOOL_API size_t lfpool_shrink_cancel(lfpool_t *pool);

/*
 * lfpool_max_capacity, lfpool_limit - where growing ends.
 *
 * max_capacity  At most what config.max_capacity (or config.capacity, if that is more) reserved.  Less than there is now
 *               takes nothing away: shrink does.
 * Returns       To ask: objects it can grow to.  To move it: LFPOOL_OK; LFPOOL_E_CONFIG_MAX_CAPACITY for more than is
 *               reserved, LFPOOL_E_CLOSED after lfpool_close(), and nothing was changed.
 * Threads       Any.
 * Progress      To ask: wait-free, O(1).  To move it: lock-free, and as lfpool_grow() where the pool grows by itself and
 *               a call waits.
 */
LFPOOL_API size_t lfpool_max_capacity(const lfpool_t *pool);
LFPOOL_API lfpool_status_t lfpool_limit(lfpool_t *pool, size_t max_capacity);

/*
 * lfpool_trim - give memory of free objects back to the system, while others go on: a step at a time.
 *
 *     while (lfpool_trim(pool, 1000, 1 << 20))    // or one call whenever there is time
 *             do_something_else();
 *
 * Free objects are taken out of the free lists first, all but `keep` of them, and hooks.destroy runs for those that were
 * built; whole pages of such objects, and of objects that lfpool_shrink() took out, are given back (madvise(2)).  The
 * objects stay part of the pool: acquire takes them last, and finds zero bytes on pages that were given back.  On others (of a large object some, if
 * a neighbour is in use) it finds what was there.  What stays: addresses; the pool's own
 * data, about 8.5 bytes per object that was ever used; pages on which one object is in use; and what lies in the
 * magazine that another thread's cache is working on.  Memory never goes back but by this call.
 *
 * keep      So many free objects are left where they are.
 * budget    Bytes: of objects taken out of the free lists, and of pages given back, in this call; a page looked at
 *           counts as 1/64 of it.  At least one step is made.  SIZE_MAX: all.
 * Returns   true: there is more to do.  false: all pages were looked at, since the last one was given back, in this call or
 *           those before; call it again when there is reason to.
 *           lfpool_stats_t has the bytes given back so far.
 * Threads   Any, concurrently with everything but lfpool_destroy(); also with itself.  Lock-free for all others; enters
 *           the kernel.  While a step of at most 64 KiB (or one object, if that is larger) is being given back, its
 *           objects are in the hands of this call: an acquire that finds all others in use returns NULL, growing may find
 *           less room, and lfpool_capacity() may count those that were taken out of the pool.
 *           Does nothing for the malloc backend, or when the memory is locked or the caller's.
 * Cost      About 0.1 us for each object taken out of the free lists, and 10 us for a step.
 */
LFPOOL_API bool lfpool_trim(lfpool_t *pool, size_t keep, size_t budget);

LFPOOL_C_END_

#endif
