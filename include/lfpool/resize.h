/* SPDX-License-Identifier: MIT */
/*
 * resize.h - change the number of objects of a running pool: grow, shrink, trim.
 *
 * A pool reserves address space for config.max_capacity objects when it is created, and starts with config.capacity of
 * them.  Objects never move.  A pool grows by these calls, or automatically when an acquire finds no object
 * (config.growth_step).  It shrinks, and returns memory, only by these calls.  After lfpool_close() grow, reserve and
 * shrink_cancel do nothing and return 0.
 *
 * Threads    Any, concurrently with every call except lfpool_destroy().
 * Progress   Other calls stay lock-free, even if a thread stops in a call of this header.  The calls of this header may
 *            enter the kernel.
 */
#ifndef LFPOOL_RESIZE_H
#define LFPOOL_RESIZE_H

#include "lfpool/report.h"

LFPOOL_C_BEGIN_

/*
 * lfpool_grow - add `count` objects.
 *
 * First the call cancels a pending shrink for up to `count` objects, which count as added.  Waiting calls get the new
 * objects.
 *
 * count     Number of objects.
 * Returns   Number of added objects: fewer than `count` when the maximum (lfpool_limit()) is reached, or the system
 *           refuses memory.
 * Progress  Other calls stay lock-free; this one enters the kernel.
 * Cost      O(count / 64), and the system calls.
 */
LFPOOL_API size_t lfpool_grow(lfpool_t *pool, size_t count);

/*
 * lfpool_settled_capacity - get the capacity that the pool has when a pending shrink is complete.
 *
 * Returns   Number of objects, including those that other threads are just removing.
 * Progress  Lock-free.
 * Cost      O(1).
 */
LFPOOL_INLINE_ size_t lfpool_settled_capacity(const lfpool_t *pool)
{
	const lfpool_stats_t now = lfpool_quick_stats(pool);

	return now.capacity - now.owed;
}

/*
 * lfpool_reserve - grow until lfpool_settled_capacity() is at least `capacity`.
 *
 * capacity  Desired number of objects.
 * Returns   Number of added objects; fewer than were missing if lfpool_grow() adds no more.
 * Progress, cost   As lfpool_grow().
 */
LFPOOL_INLINE_ size_t lfpool_reserve(lfpool_t *pool, size_t capacity)
{
	size_t added = 0, settled, more;

	/* Runs once, unless the pool shrinks meanwhile. */
	while ((settled = lfpool_settled_capacity(pool)) < capacity &&
	       (more = lfpool_grow(pool, capacity - settled)) != 0)
		added += more;
	return added;
}

/*
 * lfpool_shrink - remove `count` objects from the pool.
 *
 * Free objects are removed at once, wherever they are cached.  If there are not enough, the rest of the shrink stays
 * pending (`owed` in lfpool_stats_t): released objects are removed instead of given to waiting calls, until the shrink
 * is complete.  A pool with a pending shrink does not grow automatically.  hooks.destroy runs for each object that was
 * built, on the thread that removes it.  Pages with only removed objects are returned to the system, up to the size of
 * the objects that this call removed; lfpool_trim() returns the rest.
 *
 * count     Number of objects; a number above lfpool_settled_capacity() means all.
 * Returns   Number of objects that this call removed.
 * Cost      O(count), and that of an exhausted lfpool_acquire().
 */
LFPOOL_API size_t lfpool_shrink(lfpool_t *pool, size_t count);

/*
 * lfpool_shrink_cancel - cancel the pending part of a shrink.
 *
 * Returns   Number of objects that will not be removed.
 * Progress  Lock-free; as lfpool_grow() if the pool grows automatically and a call waits.
 * Cost      O(1).
 */
LFPOOL_API size_t lfpool_shrink_cancel(lfpool_t *pool);

/*
 * lfpool_limit - set the capacity up to which the pool may grow (`max_capacity` in lfpool_stats_t).
 *
 * max_capacity  At most the larger of config.max_capacity and config.capacity, for which address space is reserved.  A
 *               value below the current capacity removes no object; use lfpool_shrink() for that.  A concurrent growth
 *               may exceed the limit for a moment, and then removes the surplus, as lfpool_shrink() does.
 * Returns       LFPOOL_OK; LFPOOL_E_CONFIG_MAX_CAPACITY: more than is reserved; LFPOOL_E_CLOSED.
 * Progress      Lock-free; as lfpool_grow() if the pool grows automatically and a call waits.
 */
LFPOOL_API lfpool_status_t lfpool_limit(lfpool_t *pool, size_t max_capacity);

/*
 * lfpool_trim - return the memory of free objects to the system, in steps, while other threads use the pool.
 *
 *     while (lfpool_trim(pool, 1000, 1 << 20))    // or one call whenever there is time
 *             do_something_else();
 *
 * The call takes free objects out of the free lists, all but `keep` of them, and hooks.destroy runs for those that were
 * built.  It returns whole pages of such objects, and of objects removed by lfpool_shrink(), with madvise(2).  The
 * objects stay part of the pool.  An acquire takes them last, and finds zero bytes on returned pages, old contents
 * elsewhere.  Address space, the pool's own data (docs/memory.md) and pages with an object in use are not returned.
 *
 * With LFPOOL_IDLE, a program that calls this function once a minute returns the memory of objects that were free for a
 * minute:
 *
 *     while (lfpool_trim(pool, LFPOOL_IDLE | 10, 1 << 20))    // at least 10 free objects stay
 *             do_something_else();
 *
 * Such calls form rounds: a round ends with the call that returns false.  A round takes out the number of objects that
 * were free all the time since the previous round began, roughly the longest idle ones first.  The first round takes
 * none.  Objects in a cache count as used, unless they are in a full magazine, or in one that was not used since then.
 *
 * keep      Number of free objects to leave alone; LFPOOL_IDLE | number: leave also those that were used since the
 *           previous round began.
 * budget    Bytes that this call may handle: objects taken out of the free lists, returned pages, and 1/64 of each page
 *           that it only examines.  The call does at least one step.  SIZE_MAX: no limit.
 * Returns   true: there is more to do.  false: every page was examined since a page was last returned.
 * Progress  Other calls stay lock-free; this one enters the kernel.
 *           The call does nothing in malloc mode, with locked memory, or with caller-provided memory.
 *           A step returns at most 64 KiB, or one larger object.  During a step its objects count as in use: an acquire
 *           that finds all others in use returns NULL, a grow may find less room, and lfpool_capacity() may include
 *           removed objects.  After a step the call gives objects to waiting calls, and runs continuations.
 * Cost      About 0.1 us per object taken out of the free lists, and 10 us per step.
 */
LFPOOL_API bool lfpool_trim(lfpool_t *pool, size_t keep, size_t budget);

/* For `keep` of lfpool_trim(). */
#define LFPOOL_IDLE (SIZE_MAX / 2 + 1)

LFPOOL_C_END_

#endif
