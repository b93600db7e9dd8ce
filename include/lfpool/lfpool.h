/* SPDX-License-Identifier: MIT */
/*
 * lfpool.h - a thread-safe, lock-free pool of objects of one size.
 *
 *     lfpool_config_t config = LFPOOL_CONFIG_INIT;
 *     lfpool_t *pool;
 *
 *     config.object_size = sizeof(struct job);
 *     config.capacity = 10000;
 *     if (lfpool_create(&pool, &config) != LFPOOL_OK) ...
 *
 *     struct job *job = lfpool_acquire(pool);     // any thread
 *     ...
 *     lfpool_release(pool, job);                  // any thread, not only the one that acquired
 *
 *     lfpool_destroy(pool);
 *
 * The promises, in short (docs/design.md argues each):
 *   1. lfpool_acquire() returns an object that nobody else holds, or NULL; and NULL only if at some moment
 *      during the call every object was in use (or a hook refused, or, in malloc mode, malloc).  Objects that
 *      lie idle in other threads' caches are free: the caller gets them.  (In the hands of a call, for the moment it
 *      takes, are: what is being acquired or released, also on its way to a call that waits, and what lfpool_shrink()
 *      or a step of lfpool_trim() has just taken out.  With config.scheme, what is retired and not yet reclaimed is in
 *      use.)  (A release has happened, for this, when it happens before the acquire in the sense of C11: through a
 *      lock, a join, an atomic flag.)
 *   2. Releasing a valid object never fails, whatever memory the system refuses, and waits for nobody (one exception
 *      is named in docs/design.md, "Progress").  What was written before the release is visible to the thread that
 *      acquires the object next.
 *   3. A hit in the cache is wait-free and uses no locked instruction; everything else on the way from acquire to
 *      release is lock-free: a thread stopped at any instruction holds up nobody.
 *   4. Foreign, interior and double releases are refused in O(1), reported, and change nothing.
 *   5. The pool never reads or writes an object, active or free, unless LFPOOL_ZERO, a hook or a debug mode does:
 *      what a hook built in an object survives reuse.
 *
 * Words.  An object is active from acquire to release, otherwise free.  A slot is the cell that holds one object.
 * A cache is one worker's private store of free slots.  "Wait-free", "lock-free" and "may enter the kernel" are
 * stated for each function.  Pointers to pools and caches must be valid and not NULL unless said otherwise.
 *
 * Other headers are opt-in: handle.h, walk.h, wait.h, resize.h (grow, shrink, trim), report.h (counters, dumps,
 * checks), retire.h (deferred release), evict.h, debug.h, buffer.h (caller-provided memory), inline.h, typed.h, set.h,
 * registry.h; rcu.h and epoch.h of the components; lfpool.hpp for C++.
 *
 * This header reads as C99 to C23 and as C++11 to C++23.
 */
#ifndef LFPOOL_LFPOOL_H
#define LFPOOL_LFPOOL_H

#include "lfpool/config.h"

LFPOOL_C_BEGIN_

/* ---- Pool -------------------------------------------------------------------------------------------------- */

/*
 * lfpool_create - make a pool.
 *
 * pool_out  Receives the pool; set to NULL on failure.
 * config    Read, not kept.
 * Returns   LFPOOL_OK; LFPOOL_E_ARGUMENT (a NULL pointer); LFPOOL_E_CONFIG_* (names the field); LFPOOL_E_NO_MEMORY;
 *           LFPOOL_E_CREATE; LFPOOL_E_LOCK.
 *           After a failure nothing is left behind.
 * Owner     The caller, until lfpool_destroy().
 * Memory    Address space for capacity objects is reserved here and at once; memory is used as objects are first
 *           touched. Beside the objects: 16.5 to 24.5 bytes per object touched, 7 KiB per cache with
 *           magazines of 256 objects; small magazines cost more per object (docs/design.md, "Limits").
 * Threads   Any.  Takes a lock shared with destroy and thread exit; enters the kernel.
 * Cost      O(1) in the capacity, unless LFPOOL_PREFAULT or LFPOOL_CREATE_ALL.
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_create(lfpool_t **pool_out, const lfpool_config_t *config);

/*
 * lfpool_destroy - give the pool's memory back, its active objects included.
 *
 * pool      NULL is fine.  No other call on this pool or its caches may be under way or follow.  Threads that used
 *           the pool may live on, or be exiting at this very moment.
 * Returns   How many objects were still active (0 for NULL).  With a scheme it waits first, as lfpool_drain().  Where
 *           that is refused, so is this: SIZE_MAX, and the pool lives on as it is, the caller's as before (retire.h).
 * Threads   Any.  Takes a lock shared with create and thread exit; enters the kernel.
 * Cost      O(memory touched).
 */
LFPOOL_API size_t lfpool_destroy(lfpool_t *pool);

/*
 * lfpool_close - shut a pool down in order, while its threads run: nothing goes out any more, and what is out comes
 * back.
 *
 * From here on acquires return NULL (except in the moment between a release and its look at what is owed), calls that
 * wait return NULL at once, continuations are called with NULL, and the pool does not grow.  Releases, walks and
 * questions go on as before.  Free objects leave the pool as by lfpool_shrink(), with hooks.destroy; so does each that
 * comes back.  So lfpool_capacity() is what is still out.  Calling it again waits again.
 *
 *     lfpool_close(pool, 0);                          // workers find nothing any more, and end
 *     ... join them ...
 *     size_t lost = lfpool_close(pool, 1000000000);   // what others still hold has a second to come back
 *     lfpool_destroy(pool);
 *
 * timeout_ns  Nanoseconds to wait at most until every object is back; 0: not at all; negative: for ever.
 * Returns     How many objects are still out (active, retired, or in the hands of a call).  0 does not say that the
 *             release which brought the last one has returned: destroy needs that, too.
 * Threads     Any, concurrently with everything except lfpool_destroy().
 * Progress    Without a timeout as lfpool_shrink(); else it blocks, in the kernel.
 * Cost        O(capacity).
 */
LFPOOL_API size_t lfpool_close(lfpool_t *pool, int64_t timeout_ns);

/*
 * lfpool_acquire - take one object out of the pool, through the calling thread's own cache.
 *
 * Returns   An object of config.object_size bytes, aligned to config.object_alignment; its contents are what the last
 *           holder left (zero bytes if it was never used, or where lfpool_trim() gave a page back; poison in either
 *           case with that debug mode).  NULL when every object was in use at some moment during the call, hooks.create
 *           or hooks.activate refused, or the pool is closed.  errno is left alone.
 * Owner     The caller, until a release from any thread.
 * Threads   Any, with no registration, also while a thread exits and in a child after fork.  Not from a signal
 *           handler, which needs a cache of its own (docs/signals.md); with LFPOOL_CACHE_NONE it may.
 * Progress  Hit: wait-free.  Miss: lock-free; enters the kernel only when it takes objects out of another thread's
 *           cache (membarrier), and on a thread's first call on this pool, to get the thread a cache of its own; where
 *           that is refused, and with LFPOOL_CACHE_NONE, each call borrows one (docs/design.md, "Progress").  And for
 *           what was asked for: growth_step, a scheme, hooks, debug modes (docs/real-time.md has every case).
 * Cost      O(1) amortised; an exhausted, stealing or borrowing call is O(caches).
 * Source    Magazines after Bonwick and Adams (2001); stealing after Chase and Lev (2005) with the orders of Le, Pop,
 *           Cohen and Zappa Nardelli (2013); the depot after Treiber (1986).
 */
LFPOOL_API void *lfpool_acquire(lfpool_t *pool);

/*
 * lfpool_release - give an object back, from any thread.
 *
 * object    An active object of this pool; NULL is fine and does nothing.
 * Returns   LFPOOL_OK; LFPOOL_E_FOREIGN, LFPOOL_E_INTERIOR, LFPOOL_E_NOT_IN_USE: refused, reported to the misuse
 *           hook, nothing changed.
 * Threads   Any.  From a signal handler: as lfpool_acquire().
 * Progress  Hit: wait-free.  Miss: lock-free.  Enters the kernel only on a thread's first call on this pool, to get
 *           the thread a cache of its own; where that is refused, and with LFPOOL_CACHE_NONE, each call borrows one
 *           (docs/design.md, "Progress").  And while a call waits, to serve it (docs/real-time.md has every case).
 * Cost      O(1); a borrowing call is O(caches).
 */
LFPOOL_API lfpool_status_t lfpool_release(lfpool_t *pool, void *object);

/*
 * lfpool_release_if_owned - give back what may be this pool's, or somebody else's.
 *
 * For objects that came from the pool, or from the heap when it had none (docs/full-and-empty.md).
 *
 * object    Any pointer; NULL is fine and does nothing.
 * Returns   LFPOOL_E_FOREIGN: it does not lie among the pool's objects.  That is an answer here: nothing is reported or
 *           counted.  Otherwise as lfpool_release().  (In malloc mode what was released before is nobody's:
 *           foreign.)
 * Threads, progress   As lfpool_release().
 * Cost      As lfpool_release(), with lfpool/inline.h too: one look-up.
 */
LFPOOL_API lfpool_status_t lfpool_release_if_owned(lfpool_t *pool, void *object);

/*
 * lfpool_acquire_bulk - acquire up to `count` objects.
 *
 * objects_out  Room for `count` pointers; as many of them as the call returns are set.
 * count        How many are wanted; 0 does nothing.
 * Returns      How many; fewer than `count` only if every other object was in use at some moment during the call, or a
 *              hook refused the next.
 * Threads, progress   As lfpool_acquire().
 * Cost         O(count): one barrier for as many as the thread's magazine holds, instead of one each.
 */
LFPOOL_API size_t lfpool_acquire_bulk(lfpool_t *pool, void **objects_out, size_t count);

/*
 * lfpool_release_bulk - release `count` objects.
 *
 * objects   `count` pointers.  NULLs are passed over; what lfpool_release() would refuse is refused and reported, and
 *           the rest is released nevertheless.
 * count     How many pointers there are.
 * Returns   How many objects were released.
 * Threads, progress   As lfpool_release().
 * Cost      O(count).
 */
LFPOOL_API size_t lfpool_release_bulk(lfpool_t *pool, void *const *objects, size_t count);

/* ---- Explicit caches: for workers and fibers that carry their own ------------------------------------------ */

/*
 * lfpool_cache_create - a cache of one's own.
 *
 * Returns   The cache; NULL when the operating system refuses memory, or when the pool has 8172 caches already.
 * Owner     The caller, until lfpool_cache_destroy().  A cache has one user at a time.  It may move from thread to
 *           thread (a fiber that migrates) if the hand-over itself is synchronised.
 * Threads   Any.  Lock-free; may enter the kernel.
 * Cost      O(caches).
 */
LFPOOL_API lfpool_cache_t *lfpool_cache_create(lfpool_t *pool);

/*
 * lfpool_cache_destroy - hand the cache's free objects back to the pool, and the cache too.
 *
 * cache     NULL is fine.  Need not be called before lfpool_destroy().
 * Threads   Any, but nobody may be using the cache.  Lock-free.
 */
LFPOOL_API void lfpool_cache_destroy(lfpool_cache_t *cache);

/*
 * lfpool_cache_flush - hand a cache's free objects back to the pool, and keep the cache: before its thread sleeps for
 * long.
 *
 * Without this call other threads get the objects too, but only after they have looked everywhere else, and mostly with
 * a membarrier(2).  After it the objects are in the depot, where every miss looks.  (If the pool has no empty magazine,
 * some may stay in the cache.)  Objects in the quarantine of a debug mode stay there.
 *
 * cache     Of this pool; NULL: the calling thread's own, if it has one.
 * Threads   The cache's user.
 * Progress  Lock-free, without a system call.
 * Cost      O(objects in the cache / objects per magazine); O(caches) in addition if the depot has no empty magazine.
 */
LFPOOL_API void lfpool_cache_flush(lfpool_t *pool, lfpool_cache_t *cache);

/*
 * lfpool_cache_acquire, lfpool_cache_release - as lfpool_acquire() and lfpool_release(), through this cache: no
 * look-up, nothing thread-local.
 *
 * Include lfpool/inline.h to have the hits of both inlined.
 *
 * object    As for lfpool_release(), acquired through whichever cache.
 * Returns   As lfpool_acquire() and lfpool_release().
 * Threads   The cache's user; also a signal handler, through a cache that no call which it may interrupt is using
 *           (docs/signals.md).
 * Progress  As lfpool_acquire() and lfpool_release() where the thread has a cache already.
 */
LFPOOL_API void *lfpool_cache_acquire(lfpool_cache_t *cache);
LFPOOL_API lfpool_status_t lfpool_cache_release(lfpool_cache_t *cache, void *object);

/*
 * lfpool_cache_acquire_bulk, lfpool_cache_release_bulk - as lfpool_acquire_bulk() and lfpool_release_bulk(), through
 * this cache.
 *
 * objects_out, objects, count   As there.
 * Returns   As lfpool_acquire_bulk() and lfpool_release_bulk().
 * Threads, progress   As lfpool_cache_acquire().
 */
LFPOOL_API size_t lfpool_cache_acquire_bulk(lfpool_cache_t *cache, void **objects_out, size_t count);
LFPOOL_API size_t lfpool_cache_release_bulk(lfpool_cache_t *cache, void *const *objects, size_t count);

/* ---- Questions: also from a signal handler ------------------------------------------------------------------ */

/*
 * lfpool_owns - is `pointer` the address of one of this pool's objects?
 *
 * pointer   Any value.
 * Returns   true if it is one's start: active or free, or one that the pool may grow by, or that was taken out.  With
 *           malloc mode: active, since free objects have no address.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API bool lfpool_owns(const lfpool_t *pool, const void *pointer);

/*
 * lfpool_in_use - is `object` an object of this pool, and active?
 *
 * object    Any value.
 * Returns   true if it is; while another thread acquires or releases that very object, either answer.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API bool lfpool_in_use(const lfpool_t *pool, const void *object);

/*
 * lfpool_capacity - objects there are, active and free.
 *
 * Returns   config.capacity, until it grows or shrinks.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API size_t lfpool_capacity(const lfpool_t *pool);

/*
 * lfpool_active_count, lfpool_available_count - objects in use; objects not in use.
 *
 * Retired objects (lfpool/retire.h) count as in use.
 *
 * Returns   How many: exact, and their sum the capacity, while no other thread is inside a call on the pool; else a
 *           snapshot within 0 .. capacity.
 * Threads   Any.  Wait-free.
 * Cost      O(objects ever used / objects per magazine + caches).
 */
LFPOOL_API size_t lfpool_active_count(const lfpool_t *pool);
static inline size_t lfpool_available_count(const lfpool_t *pool)
{
	const size_t active = lfpool_active_count(pool), capacity = lfpool_capacity(pool);

	return active < capacity ? capacity - active : 0;
}

LFPOOL_C_END_

#endif
