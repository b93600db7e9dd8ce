/* SPDX-License-Identifier: MIT */
/*
 * handle.h - handles: names of objects, each stale once its object is released; and the pool of an address.
 *
 *     lfpool_handle_t target = lfpool_handle_of(pool, ship);       // copy it, store it, send it
 *     ...
 *     struct ship *s = lfpool_resolve(pool, target);               // NULL once that ship is gone
 *
 * A handle is a slot and a count: the number of the slot's uses that had a handle.  0 is never valid.  Objects without
 * a handle cost nothing.
 *
 * Wrap.  In a pool with address space for fewer than 2^b objects a count has n = 64 - b bits, at most 51.  A stale
 * handle could name an object again only after exactly 2^n uses of its slot with a handle, or a multiple of that.  In a
 * pool of 10,000 objects that is a year of using only this slot, at 30 ns per use; with a million objects it is six
 * days.
 *
 * Other pools.  A handle of another pool, living or destroyed, names nothing here, because each pool starts its counts
 * at a different number.  This holds while d * u < 2^(61-b).  Here d is the number of pools created from one of the two
 * pools to the other, u is the largest number of uses with a handle that any slot of the two had, and 2^b bounds the
 * larger pool, as above.  For two pools of 10,000 objects that were created a million pools apart, u may be up to 134
 * million.
 *
 * Making a handle during a release.  The caller of lfpool_handle_of() must hold the object.  If another thread releases
 * it at that moment, and checks for races (LFPOOL_CHECK_RACES, lfpool_release_all(), lfpool_retire()), the caller gets
 * 0 or a stale handle.  After any other overlapping release the handle may even name later objects in the slot, until
 * one of them gets a handle.  The pool itself is not damaged.
 *
 * Resolving during a release.  lfpool_resolve() returns the object if it was active at the moment of the look-up.  It
 * returns NULL if the release happened before the call (C11: through a lock, a join, an atomic flag), or if the handle
 * is from an earlier use of the slot.  Resolving does not keep the object: if another thread may release the object,
 * the pointer may be stale when the caller uses it.  So do one of the following:
 *   -  Resolve where no other thread releases the object: as its owner; in a phase without releases; as a reader under
 *      RCU or an epoch with deferred releases.
 *   -  Pin the object: lfpool_pin().
 *   -  Read, then resolve again to see whether the data belonged to the object: docs/deferred-release.md, "Without a
 *      grace period".
 */
#ifndef LFPOOL_HANDLE_H
#define LFPOOL_HANDLE_H

#include "lfpool/lfpool.h"

LFPOOL_C_BEGIN_

/*
 * ---- Handles ----------------------------------------------------------------------------------------------------
 *
 * Threads   Any.  Wait-free.
 * Cost      O(1).
 */

/*
 * lfpool_handle_of - make a handle for an object.
 *
 * object    Any value.  No other thread may release it during the call.
 * Returns   The handle; 0 if `object` is not an active object of this pool, NULL included.
 * Cost      O(1).  The first handle after each acquire costs two locked instructions, and two more in the object's
 *           release.
 */
LFPOOL_API lfpool_handle_t lfpool_handle_of(const lfpool_t *pool, const void *object);

/*
 * lfpool_resolve - get the object that a handle names.
 *
 * handle    Any value: of this pool, of another one, stale, 0.
 * Returns   The object; NULL if the handle is stale or was never valid here.
 */
LFPOOL_API void *lfpool_resolve(const lfpool_t *pool, lfpool_handle_t handle);

/*
 * lfpool_release_handle - release the object that a handle names.
 *
 * handle    Any value.
 * Returns   LFPOOL_OK; LFPOOL_E_STALE: refused and reported to the misuse hook, nothing changed.  (Not reported in a
 *           pool that evicts, where a holder cannot know whether its object was evicted.)  If several threads release
 *           the object at once, by handle or by lfpool_release(), exactly one succeeds.
 * Threads   Any.  Lock-free; may enter the kernel as lfpool_release().
 * Cost      lfpool_release() and two locked instructions.
 */
LFPOOL_API lfpool_status_t lfpool_release_handle(lfpool_t *pool, lfpool_handle_t handle);

/*
 * lfpool_pin - get the object that a handle names, and keep it from being evicted, released or retired.
 *
 * Pins are counted.  A release or retire of a pinned object succeeds, but takes effect at the last unpin.  From that
 * release on the handle resolves to NULL, the object cannot be pinned again, and another release is refused.
 *
 * handle    Any value, as for lfpool_resolve().
 * Returns   The object, valid until the matching lfpool_unpin(); NULL as lfpool_resolve(), and if the object is pinned
 *           1,023 times already.
 * Threads   Any.  Lock-free.  All writes before an unpin are visible after a later pin.
 * Cost      One locked instruction.
 */
LFPOOL_API void *lfpool_pin(lfpool_t *pool, lfpool_handle_t handle);

/*
 * lfpool_unpin - undo one pin.  If the object was released or retired meanwhile, the last unpin releases or retires it.
 *
 * handle    The handle that was pinned.
 * Returns   LFPOOL_OK; LFPOOL_E_NOT_PINNED: the object is not pinned; LFPOOL_E_STALE: the handle is stale or was never
 *           valid here.  Both errors are reported to the misuse hook, and nothing changes.
 * Threads   Any.  Lock-free; may enter the kernel as lfpool_release().
 * Cost      One locked instruction.  The last unpin after a release costs as much as lfpool_release_handle().
 */
LFPOOL_API lfpool_status_t lfpool_unpin(lfpool_t *pool, lfpool_handle_t handle);

/*
 * ---- Indices and addresses --------------------------------------------------------------------------------------
 *
 * Threads   Any.  Wait-free.
 * Cost      O(1).
 */

/*
 * lfpool_index_of - get the index of an object's slot, for parallel arrays.
 *
 * object    Any value.
 * Returns   0 .. n - 1, where n is config.max_capacity, or config.capacity if max_capacity is 0; SIZE_MAX if `object`
 *           is not an object of this pool.
 */
LFPOOL_API size_t lfpool_index_of(const lfpool_t *pool, const void *object);

/*
 * lfpool_object_at - get the object with an index: the inverse of lfpool_index_of().
 *
 * An index fits into 32 bits, for fields where a pointer is too large.
 *
 * index     Any value.
 * Returns   The object's address, whether it is active, free, or not added yet; NULL if there is no such index.
 */
LFPOOL_API void *lfpool_object_at(const lfpool_t *pool, size_t index);

/*
 * lfpool_object_start - find the object that contains an address, for conservative collectors and pointers to members.
 *
 * address   Any value.
 * Returns   The object's address, active or free; NULL if the address is outside the pool or between two objects.  In
 *           malloc mode only the first address of an object is found.
 * Cost      O(1): a division.
 */
LFPOOL_API void *lfpool_object_start(const lfpool_t *pool, const void *address);

/*
 * lfpool_of - find the pool that an address belongs to.
 *
 * pointer   Any address: of an object, inside one, foreign, NULL.
 * Returns   The pool; NULL if there is none; the inner pool if a pool's memory is an object of another pool.  In malloc
 *           mode only the first address of an object is found.
 * Threads   Any, concurrently with the creation and destruction of other pools.  Lock-free (a retry means that a pool
 *           was created or destroyed meanwhile), no system call.  While there are pools in malloc mode, an address that
 *           belongs to no other pool costs one system call.
 * Cost      O(log pools).
 */
LFPOOL_API lfpool_t *lfpool_of(const void *pointer);

/*
 * lfpool_release_self - release an object without knowing its pool.
 *
 * object    An active object of some pool; NULL does nothing.
 * Returns   As lfpool_release() on the object's pool; LFPOOL_E_FOREIGN if the object is in no pool: then no misuse hook
 *           is called.
 * Threads, progress, cost   As lfpool_of() and lfpool_release() together.
 */
LFPOOL_INLINE_ lfpool_status_t lfpool_release_self(void *object)
{
	lfpool_t *pool = lfpool_of(object);

	return pool ? lfpool_release(pool, object) : object ? LFPOOL_E_FOREIGN : LFPOOL_OK;
}

LFPOOL_C_END_

#endif
