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
 * Words.  An object is active from acquire to release, otherwise free.  A slot is the memory of one object.  A cache
 * holds free objects for one thread.  The fast path is a call that the thread's cache can serve; every other call takes
 * the slow path.
 *
 * Promises (docs/design.md argues each):
 *   1. lfpool_acquire() returns an object that no other caller holds, or NULL.  It finds free objects in other threads'
 *      caches too.  It returns NULL only if at some moment during the call every object was in use, if a hook refused,
 *      if the pool is closed, or if malloc failed in malloc mode.
 *   2. Releasing a valid object never fails, even if the system refuses memory, and waits for no other thread.  (The
 *      one exception is a borrowed cache: docs/design.md, "Progress".)  The thread that acquires the object next sees
 *      all writes made before the release.
 *   3. The fast path is wait-free and uses no locked instruction.  The slow path is lock-free: a thread stopped at any
 *      instruction blocks no other thread.
 *   4. Foreign, interior and double releases are refused in O(1), reported, and change nothing.  Two cases escape.  If
 *      two threads release one object at the same instant, both releases may succeed (with LFPOOL_CHECK_RACES one of
 *      them is refused).  If another caller acquires the object after its release, a second release counts as that
 *      caller's release (lfpool_release_handle() in handle.h refuses it).
 *   5. The pool neither reads nor writes objects, except for LFPOOL_ZERO, hooks and debug modes.  State that a hook
 *      built in an object survives reuse.
 *
 * Promise 1 counts an object as in use also while it is retired and not yet reclaimed (retire.h), and while another
 * call is acquiring it, releasing it, giving it to a waiter, or removing it in lfpool_shrink() or in a step of
 * lfpool_trim().  An acquire finds every object whose release happened before the acquire in the sense of C11: ordered
 * by a lock, a join or an atomic flag.
 *
 * Pointers to pools and caches must be valid and not NULL unless stated otherwise.  Each function, or the top of its
 * section, states whether it is wait-free or lock-free, and when it enters the kernel.
 *
 * Other headers are opt-in: handle.h, walk.h, wait.h, resize.h (grow, shrink, trim), report.h (counters, dumps,
 * checks), retire.h (deferred release), evict.h, debug.h, buffer.h (caller-provided memory), inline.h, typed.h, set.h,
 * registry.h; rcu.h and epoch.h, which have their own libraries; lfpool.hpp for C++.  Languages: C99 to C23, C++11 to
 * C++23.
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
 * Memory    Reserves address space for max_capacity objects.  An object uses memory only after it was first touched.
 *           The overhead is 16.5 to 24.5 bytes per object (more with small caches) and 7 KiB per cache
 *           (docs/memory.md).
 * Threads   Any.  Takes a lock that destroy and thread exit take too; enters the kernel.
 * Cost      O(1) in the capacity, unless LFPOOL_PREFAULT or LFPOOL_CREATE_ALL is set.
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_create(lfpool_t **pool_out, const lfpool_config_t *config);

/*
 * lfpool_destroy - free the pool and all its objects, active ones included.
 *
 * No other call on this pool or its caches may be in progress or follow.  Threads that used the pool may still run, or
 * be exiting.  With config.scheme the call first waits as lfpool_drain() does (retire.h).
 *
 * pool      NULL does nothing.
 * Returns   The number of objects that were still active; 0 for NULL; SIZE_MAX if lfpool_drain() would be refused: the
 *           pool is unchanged, and the caller still owns it.
 * Threads   Any.  Takes a lock that create and thread exit take too; enters the kernel.
 * Cost      O(memory touched).
 */
LFPOOL_API size_t lfpool_destroy(lfpool_t *pool);

/*
 * lfpool_close - shut a pool down while its threads run: it hands out no more objects, and collects those that are
 * released.
 *
 * From now on acquires return NULL.  (An acquire that overlaps a release can still get the released object.)  Waiting
 * calls return NULL at once, continuations are called with NULL, and the pool does not grow.  Releases, walks and
 * queries work as before.  The pool removes its free objects at once, as lfpool_shrink() does, and each other object
 * when it is released.  So lfpool_capacity() is the number of outstanding objects.  To wait again, repeat the call.
 *
 *     lfpool_close(pool, 0);                          // workers get NULL, and end
 *     ... join them ...
 *     size_t lost = lfpool_close(pool, 1000000000);   // holders have a second to release their objects
 *     lfpool_destroy(pool);
 *
 * timeout_ns  How long to wait until all objects are released, in nanoseconds; 0: do not wait; negative: no limit.
 * Returns     The number of outstanding objects: active, retired, or being moved by a call.  When the number is 0, the
 *             last release may still be running, and must return before lfpool_destroy().
 * Threads     Any, concurrently with everything except lfpool_destroy().
 * Progress    With timeout 0 as lfpool_shrink(); otherwise it blocks, in the kernel.
 * Cost        O(capacity).
 */
LFPOOL_API size_t lfpool_close(lfpool_t *pool, int64_t timeout_ns);

/*
 * ---- Acquire and release: through the calling thread's own cache ------------------------------------------------
 *
 * Threads   Any, without registration, also while a thread exits and in a child after fork.  A signal handler must use
 *           an explicit cache instead, unless the pool has LFPOOL_CACHE_NONE (docs/signals.md).
 * Progress  Fast path: wait-free.  Slow path: lock-free.  The calls enter the kernel only
 *           - on a thread's first call on this pool, to make its cache.  If the system refuses, or with
 *             LFPOOL_CACHE_NONE, each call borrows a cache until it returns;
 *           - in an acquire that takes objects out of another thread's cache (membarrier);
 *           - in a release that serves a waiting call;
 *           - where configured: growth_step, a scheme, hooks, debug modes (docs/real-time.md lists every case).
 */

/*
 * lfpool_acquire - get one object.
 *
 * Returns   An object of config.object_size bytes, aligned to config.object_alignment; NULL: see promise 1.  The object
 *           has the contents that its last holder left, or zero bytes if it was never used or lfpool_trim() returned
 *           its page.  With the debug mode poison it has the poison pattern instead.  errno is unchanged.
 * Owner     The caller, until a release from any thread.
 * Cost      O(1) amortised; O(caches) if it finds the pool exhausted, steals, or borrows a cache.
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
 * lfpool_release_if_owned - release `object` if it belongs to this pool: for pointers that came either from the pool or
 * from the heap (docs/full-and-empty.md).
 *
 * object    Any pointer; NULL does nothing.
 * Returns   LFPOOL_E_FOREIGN if `object` is not in the pool's address range; this is neither reported nor counted as a
 *           misuse.  Otherwise as lfpool_release().
 * Cost      As lfpool_release().
 */
LFPOOL_API lfpool_status_t lfpool_release_if_owned(lfpool_t *pool, void *object);

/*
 * lfpool_acquire_bulk - acquire up to `count` objects.
 *
 * objects_out  Room for `count` pointers; if the call returns n, it sets the first n.
 * count        0 does nothing.
 * Returns      The number of acquired objects; fewer than `count` only where lfpool_acquire() would return NULL.
 * Cost         O(count).
 */
LFPOOL_API size_t lfpool_acquire_bulk(lfpool_t *pool, void **objects_out, size_t count);

/*
 * lfpool_release_bulk - release `count` objects.
 *
 * objects   `count` pointers.  NULLs are skipped.  A pointer that lfpool_release() would refuse is refused and
 *           reported; the others are released.
 * count     Length of the array.
 * Returns   The number of released objects.
 * Cost      O(count).
 */
LFPOOL_API size_t lfpool_release_bulk(lfpool_t *pool, void *const *objects, size_t count);

/*
 * ---- Explicit caches: for workers and fibers that carry a cache -------------------------------------------------
 *
 * Threads   A cache has one user at a time.  It may move to another thread, for example with a fiber, if the hand-over
 *           is synchronised.  A signal handler may use a cache if it interrupts no call that uses this cache
 *           (docs/signals.md).
 * Progress  As lfpool_acquire() and lfpool_release() on a thread that has a cache.
 */

/*
 * lfpool_cache_create - make a cache for one worker.
 *
 * Returns   The cache; NULL if the system refuses memory, or the pool has 8172 caches already.
 * Owner     The caller, until lfpool_cache_destroy().
 * Threads   Any.  Lock-free; may enter the kernel.
 * Cost      O(caches).
 */
LFPOOL_API lfpool_cache_t *lfpool_cache_create(lfpool_t *pool);

/*
 * lfpool_cache_destroy - hand the cache and its free objects back to the pool.  Optional before lfpool_destroy().
 *
 * cache     NULL does nothing.
 * Threads   Any, while no thread uses the cache.  Lock-free.
 */
LFPOOL_API void lfpool_cache_destroy(lfpool_cache_t *cache);

/*
 * lfpool_cache_flush - move a cache's free objects to the depot before its thread sleeps for long.
 *
 * The depot is the free lists that all caches share.  The call is an optimisation: other threads could take the objects
 * out of the cache, but only after they searched everywhere else, and mostly at the cost of a membarrier(2).  Some
 * objects may stay in the cache if the pool has no empty magazine.  The call takes nothing out of a debug mode's
 * quarantine.
 *
 * cache     A cache of this pool; NULL: the calling thread's cache, if it has one.
 * Progress  Lock-free, without a system call.
 * Cost      O(objects in the cache / objects per magazine); O(caches) in addition if the depot has no empty magazine.
 */
LFPOOL_API void lfpool_cache_flush(lfpool_t *pool, lfpool_cache_t *cache);

/*
 * lfpool_cache_acquire, lfpool_cache_release, lfpool_cache_release_if_owned, lfpool_cache_acquire_bulk,
 * lfpool_cache_release_bulk - as the functions without `cache_` in their names, through this cache of the pool, and
 * without thread-local storage.
 *
 * lfpool/inline.h inlines the fast paths of the first three.
 *
 * object, objects_out, objects, count   As for these functions; an object may have been acquired through any cache.
 * Returns   As these functions.
 */
LFPOOL_API void *lfpool_cache_acquire(lfpool_cache_t *cache);
LFPOOL_API lfpool_status_t lfpool_cache_release(lfpool_cache_t *cache, void *object);
LFPOOL_API lfpool_status_t lfpool_cache_release_if_owned(lfpool_cache_t *cache, void *object);
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
 * Returns   true if it is the start of an object: active, free, removed by a shrink, or not added yet.
 * Cost      O(1).
 */
LFPOOL_API bool lfpool_owns(const lfpool_t *pool, const void *pointer);

/*
 * lfpool_in_use - is `object` an active object of this pool?
 *
 * object    Any value.
 * Returns   true if it is.  Either answer is possible while another thread acquires or releases that object.
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
 * lfpool_active_count, lfpool_available_count - the number of objects in use, retired ones included, and the rest of
 * the capacity.
 *
 * Returns   Exact while no other thread is inside a call on the pool; otherwise a snapshot within 0 .. capacity.
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
