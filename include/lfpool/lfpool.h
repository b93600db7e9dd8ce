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
 * Promises (docs/design.md argues each):
 *   1. lfpool_acquire() returns an object that no other caller holds, or NULL.  It returns NULL only if at some moment
 *      during the call every object was in use, or if a hook refused, or, in malloc mode, if malloc returned NULL.
 *      Free objects in other threads' caches are found.
 *   2. Releasing a valid object never fails, whatever memory the system refuses, and waits for no other thread, with
 *      one exception (docs/design.md, "Progress").  The thread that acquires the object next sees all writes before the
 *      release.
 *   3. The fast path, a call that the thread's cache can serve, is wait-free and uses no locked instruction.  The slow
 *      path is lock-free: a thread stopped at any instruction blocks no other thread.
 *   4. Foreign, interior and double releases are refused in O(1) and reported.  They change nothing.  Two exceptions:
 *      two threads that release an object at the same instant (LFPOOL_CHECK_RACES refuses one of them), and a second
 *      release after another caller acquired the object, which is that caller's release then.
 *      lfpool_release_handle() in handle.h refuses it.
 *   5. The pool neither reads nor writes objects, active or free, except for LFPOOL_ZERO, hooks and debug modes.  State
 *      that a hook built in an object survives reuse.
 *
 * In promise 1, an object also counts as in use
 *   -  while a call moves it: acquires it, releases it, hands it to a waiter, or takes it out of the pool in
 *      lfpool_shrink() or in one step of lfpool_trim();
 *   -  from lfpool_retire() until it is reclaimed.
 * A release counts as done for acquires that it happens before in the sense of C11: through a lock, a join, an atomic
 * flag.
 *
 * Words.  An object is active from acquire to release, otherwise free.  A slot is the cell that holds one object.
 * A cache is one worker's private store of free slots.  Pointers to pools and caches must be valid and not NULL unless
 * stated otherwise.  Each function, or the top of its section, states whether it is wait-free or lock-free, and when it
 * enters the kernel.
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
 *           LFPOOL_E_CREATE; LFPOOL_E_LOCK.  After a failure nothing is left behind.
 * Owner     The caller, until lfpool_destroy().
 * Memory    Reserves address space for max_capacity objects at once; memory is used as objects are first touched.
 *           Overhead: 16.5 to 24.5 bytes per touched object, and 7 KiB per cache with magazines of 256 objects.  Small
 *           magazines cost more per object (docs/design.md, "Limits").
 * Threads   Any.  Takes a lock shared with destroy and thread exit; enters the kernel.
 * Cost      O(1) in the capacity, unless LFPOOL_PREFAULT or LFPOOL_CREATE_ALL is set.
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_create(lfpool_t **pool_out, const lfpool_config_t *config);

/*
 * lfpool_destroy - free the pool and all its objects, active ones included.
 *
 * No other call on this pool or its caches may be in progress or follow.  Threads that used the pool may live on, or be
 * exiting at this moment.  With a scheme it first waits as lfpool_drain() does.
 *
 * pool      NULL does nothing.
 * Returns   The number of objects that were still active; 0 for NULL; SIZE_MAX when lfpool_drain() would be refused
 *           (retire.h): then the pool is unchanged and still the caller's.
 * Threads   Any.  Takes a lock shared with create and thread exit; enters the kernel.
 * Cost      O(memory touched).
 */
LFPOOL_API size_t lfpool_destroy(lfpool_t *pool);

/*
 * lfpool_close - shut the pool down in order while its threads run: it hands out no more objects and collects those
 * that are released.
 *
 * From now on acquires return NULL.  (One that overlaps a release can still get its object.)  Waiting calls return NULL
 * at once, continuations are called with NULL, and the pool does not grow.  Releases, walks and queries work as before.
 * Free objects leave the pool as with lfpool_shrink(), with hooks.destroy, and so does each object that is released, so
 * lfpool_capacity() then counts the outstanding objects.  Another call waits again.
 *
 *     lfpool_close(pool, 0);                          // workers get NULL, and end
 *     ... join them ...
 *     size_t lost = lfpool_close(pool, 1000000000);   // other holders have a second to release theirs
 *     lfpool_destroy(pool);
 *
 * timeout_ns  The longest wait, in nanoseconds, for all objects to be released; 0: do not wait; negative: no limit.
 * Returns     The number of outstanding objects: active, retired, or being moved by a call.  After 0 the last release
 *             may still be running; it must return before lfpool_destroy().
 * Threads     Any, concurrently with everything except lfpool_destroy().
 * Progress    Without a timeout as lfpool_shrink(); with one it blocks, in the kernel.
 * Cost        O(capacity).
 */
LFPOOL_API size_t lfpool_close(lfpool_t *pool, int64_t timeout_ns);

/*
 * ---- Acquire and release: through the calling thread's own cache ------------------------------------------------
 *
 * Threads   Any, without registration, also while a thread exits and in a child after fork.  Not from a signal handler,
 *           which needs a cache of its own (docs/signals.md); with LFPOOL_CACHE_NONE they may be called there.
 * Progress  Fast path: wait-free.  Slow path: lock-free.  They enter the kernel only
 *           - on a thread's first call on this pool, to make its cache.  If that is refused, and with
 *             LFPOOL_CACHE_NONE, each call borrows a cache (docs/design.md, "Progress");
 *           - in an acquire that takes objects out of another thread's cache (membarrier);
 *           - in a release that serves a waiting call;
 *           - where configured: growth_step, a scheme, hooks, debug modes (docs/real-time.md lists every case).
 */

/*
 * lfpool_acquire - get one object.
 *
 * Returns   An object of config.object_size bytes, aligned to config.object_alignment.  It contains what its last
 *           holder left; zero bytes if it was never used or lfpool_trim() gave its page back; poison in both cases
 *           with that debug mode.  NULL if every object was in use at some moment during the call, hooks.create or
 *           hooks.activate refused, or the pool is closed.  errno is unchanged.
 * Owner     The caller, until a release from any thread.
 * Cost      O(1) amortised; O(caches) when it finds the pool exhausted, steals, or borrows a cache.
 * Source    Magazines after Bonwick and Adams (2001); stealing after Chase and Lev (2005) with the orders of Le, Pop,
 *           Cohen and Zappa Nardelli (2013); the depot after Treiber (1986).
 */
LFPOOL_API void *lfpool_acquire(lfpool_t *pool);

/*
 * lfpool_release - give an object back, from any thread.
 *
 * object    An active object of this pool; NULL does nothing.
 * Returns   LFPOOL_OK.  LFPOOL_E_FOREIGN, LFPOOL_E_INTERIOR, LFPOOL_E_NOT_IN_USE: refused, reported to the misuse
 *           hook, nothing changed.
 * Cost      O(1); O(caches) when it borrows a cache.
 */
LFPOOL_API lfpool_status_t lfpool_release(lfpool_t *pool, void *object);

/*
 * lfpool_release_if_owned - release `object` if it belongs to this pool.
 *
 * For pointers that came either from the pool or, when it was exhausted, from the heap (docs/full-and-empty.md).
 *
 * object    Any pointer; NULL does nothing.
 * Returns   LFPOOL_E_FOREIGN if it is not in the pool's address range: not a misuse here, so it is neither reported nor
 *           counted.  Otherwise as lfpool_release().  In malloc mode a free object is foreign.
 * Cost      As lfpool_release(), with lfpool/inline.h too: one look-up.
 */
LFPOOL_API lfpool_status_t lfpool_release_if_owned(lfpool_t *pool, void *object);

/*
 * lfpool_acquire_bulk - acquire up to `count` objects.
 *
 * objects_out  Room for `count` pointers; as many are set as the call returns.
 * count        How many are wanted; 0 does nothing.
 * Returns      How many it acquired; fewer than `count` only if every other object was in use at some moment during the
 *              call, or a hook refused the next.
 * Cost         O(count), with one barrier for all objects of a magazine instead of one each.
 */
LFPOOL_API size_t lfpool_acquire_bulk(lfpool_t *pool, void **objects_out, size_t count);

/*
 * lfpool_release_bulk - release `count` objects.
 *
 * objects   `count` pointers.  NULLs are skipped.  A pointer that lfpool_release() would refuse is refused and
 *           reported; the others are released.
 * count     How many pointers there are.
 * Returns   How many objects were released.
 * Cost      O(count).
 */
LFPOOL_API size_t lfpool_release_bulk(lfpool_t *pool, void *const *objects, size_t count);

/*
 * ---- Explicit caches: for workers and fibers that carry their own -----------------------------------------------
 *
 * Threads   One user of a cache at a time.  A cache may move from thread to thread, with a fiber that migrates, if the
 *           hand-over is synchronised.  A signal handler may use a cache that no call it can interrupt is using
 *           (docs/signals.md).
 * Progress  As lfpool_acquire() and lfpool_release() where the thread has a cache already.
 */

/*
 * lfpool_cache_create - make a cache for one worker.
 *
 * Returns   The cache; NULL when the operating system refuses memory, or when the pool has 8172 caches already.
 * Owner     The caller, until lfpool_cache_destroy().
 * Threads   Any.  Lock-free; may enter the kernel.
 * Cost      O(caches).
 */
LFPOOL_API lfpool_cache_t *lfpool_cache_create(lfpool_t *pool);

/*
 * lfpool_cache_destroy - hand the cache and its free objects back to the pool.
 *
 * Optional before lfpool_destroy().
 *
 * cache     NULL does nothing.
 * Threads   Any, while no thread uses the cache.  Lock-free.
 */
LFPOOL_API void lfpool_cache_destroy(lfpool_cache_t *cache);

/*
 * lfpool_cache_flush - move a cache's free objects to the depot before its thread sleeps for long.
 *
 * Other threads get these objects without the call too, but only after searching everywhere else, and mostly with a
 * membarrier(2).  In the depot every miss finds them.  Some may stay in the cache if the pool has no empty magazine.
 * Those in the quarantine of a debug mode stay there.
 *
 * cache     Of this pool; NULL: the calling thread's own, if it has one.
 * Progress  Lock-free, without a system call.
 * Cost      O(objects in the cache / objects per magazine); O(caches) in addition if the depot has no empty magazine.
 */
LFPOOL_API void lfpool_cache_flush(lfpool_t *pool, lfpool_cache_t *cache);

/*
 * lfpool_cache_acquire, lfpool_cache_release - as lfpool_acquire() and lfpool_release(), through this cache: no
 * look-up, no thread-local storage.
 *
 * Include lfpool/inline.h to inline the fast paths of both.
 *
 * object    As for lfpool_release(); it may have been acquired through any cache.
 * Returns   As lfpool_acquire() and lfpool_release().
 */
LFPOOL_API void *lfpool_cache_acquire(lfpool_cache_t *cache);
LFPOOL_API lfpool_status_t lfpool_cache_release(lfpool_cache_t *cache, void *object);

/*
 * lfpool_cache_acquire_bulk, lfpool_cache_release_bulk - as lfpool_acquire_bulk() and lfpool_release_bulk(), through
 * this cache.
 *
 * objects_out, objects, count   As there.
 * Returns   As lfpool_acquire_bulk() and lfpool_release_bulk().
 */
LFPOOL_API size_t lfpool_cache_acquire_bulk(lfpool_cache_t *cache, void **objects_out, size_t count);
LFPOOL_API size_t lfpool_cache_release_bulk(lfpool_cache_t *cache, void *const *objects, size_t count);

/*
 * ---- Queries ----------------------------------------------------------------------------------------------------
 *
 * Threads   Any, also in a signal handler.  Wait-free.
 */

/*
 * lfpool_owns - is `pointer` the address of one of this pool's objects?
 *
 * pointer   Any value.
 * Returns   true if it is the start of an object: active, free, taken out, or one that the pool may still grow by.  In
 *           malloc mode only active objects have addresses.
 * Cost      O(1).
 */
LFPOOL_API bool lfpool_owns(const lfpool_t *pool, const void *pointer);

/*
 * lfpool_in_use - is `object` an active object of this pool?
 *
 * object    Any value.
 * Returns   true if it is; either answer while another thread acquires or releases that object.
 * Cost      O(1).
 */
LFPOOL_API bool lfpool_in_use(const lfpool_t *pool, const void *object);

/*
 * lfpool_capacity - the number of objects in the pool, active and free.
 *
 * Returns   config.capacity, until the pool grows or shrinks.
 * Cost      O(1).
 */
LFPOOL_API size_t lfpool_capacity(const lfpool_t *pool);

/*
 * lfpool_active_count, lfpool_available_count - the number of objects in use, and of objects not in use.
 *
 * Retired objects (lfpool/retire.h) count as in use.
 *
 * Returns   Exact while no other thread is inside a call on the pool, and then the sum of both is the capacity;
 *           otherwise a snapshot within 0 .. capacity.
 * Cost      O(objects ever used / objects per magazine + caches).
 */
LFPOOL_API size_t lfpool_active_count(const lfpool_t *pool);
LFPOOL_INLINE_ size_t lfpool_available_count(const lfpool_t *pool)
{
	const size_t active = lfpool_active_count(pool), capacity = lfpool_capacity(pool);

	return active < capacity ? capacity - active : 0;
}

LFPOOL_C_END_

#endif
