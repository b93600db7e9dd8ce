/* SPDX-License-Identifier: MIT */
/*
 * handle.h - handles, names of objects that go stale when the object is released; and the pool of an address.
 *
 *     lfpool_handle_t target = lfpool_handle_of(pool, ship);       // copy it, store it, send it
 *     ...
 *     struct ship *s = lfpool_resolve(pool, target);               // NULL once that ship is gone
 *
 * A handle is 64 bits: {count of the slot's uses that had a handle, slot}.  Each pool starts its counts at a different
 * number.  0 is never valid.  Objects without a handle pay nothing for those with one.
 *
 * Wrap.  With address space for fewer than 2^b objects the count has 64 - b bits, but at most 51.  A stale handle could
 * name an object again only after exactly a multiple of 2^(64-b), or 2^51, uses of its slot with a handle.  In a pool
 * of 10,000 objects that is 2^50 uses: a year of only acquiring that one object, making a handle, and releasing it, at
 * 30 ns.  With a million objects it is 2^44 uses, six days; with 8,000 or fewer, two years.
 *
 * Other pools.  A handle of another pool, living or destroyed, names nothing here.  This holds while d times u is below
 * 2^(61-b).  d is the number of pools that the process created from one pool to the other, u the uses with a handle of
 * any one slot in them, and b is as above for the larger pool.  For pools of 10,000 objects the limit is 2^47: a
 * million pools later, 134 million uses of one slot.  Beyond it a stale handle may name an object, by chance.
 *
 * Making a handle during a release.  The caller of lfpool_handle_of() holds the object, so a release by another thread
 * at that moment is a bug of the program.  The caller then gets 0 or a stale handle.  If that release was not checked
 * for races (it is with LFPOOL_CHECK_RACES, lfpool_release_all() and retires), the handle can also name later contents
 * of the slot, until an object there has had a handle and is released.  The pool itself is not damaged.
 *
 * Resolving during a release.  lfpool_resolve() returns the object if it was active when the call looked, else NULL.
 * It is NULL for certain if the release happened before the call (C11: through a lock, a join, an atomic flag), or if
 * the handle is from an earlier use of the slot.  A resolve holds nothing: if another thread can release the object
 * during or after the call, the pointer may be stale when it is used.  So do one of these:
 *   -  Resolve where no other thread releases the object: as its owner; in a phase without releases; as a reader under
 *      RCU or an epoch with deferred releases.
 *   -  Pin the object: lfpool_pin().
 *   -  Read, then resolve again to see whether the data belonged to the object.  The memory stays mapped while the pool
 *      lives.  The data must be atomic, stored with release after the acquire of the object, and loaded with acquire
 *      (docs/deferred-release.md, "Without a grace period").  Not in malloc mode, which frees the object; and
 *      AddressSanitizer reports such a read, unless LFPOOL_DEBUG has no-tools.
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
 * object    Active; held by the caller, or kept from being released during the call by other means.
 * Returns   The handle; 0 if it is not an active object of this pool, NULL included.
 * Cost      O(1).  The first handle of an object's use: two locked instructions, and two more in its release.
 */
LFPOOL_API lfpool_handle_t lfpool_handle_of(const lfpool_t *pool, const void *object);

/*
 * lfpool_resolve - get the object that a handle names.
 *
 * handle    Any value: of this pool, of another one, stale, 0.
 * Returns   The object; NULL if the handle is stale or was never valid.
 */
LFPOOL_API void *lfpool_resolve(const lfpool_t *pool, lfpool_handle_t handle);

/*
 * lfpool_release_handle - release the object that a handle names.
 *
 * handle    Any value.
 * Returns   LFPOOL_OK; LFPOOL_E_STALE: refused and reported to the misuse hook, nothing changed.  (A pool that evicts
 *           does not report a stale handle: its object may have been evicted.)  Of several releases at once, by this
 *           handle or by lfpool_release(), exactly one succeeds.
 * Threads   Any.  Lock-free; may enter the kernel as lfpool_release().
 * Cost      lfpool_release() and two locked instructions.
 */
LFPOOL_API lfpool_status_t lfpool_release_handle(lfpool_t *pool, lfpool_handle_t handle);

/*
 * lfpool_pin - get the object that a handle names, and keep it from being evicted, released or retired.
 *
 * Pins are counted: several threads can pin one object, and one thread several times.  A release or retire of a pinned
 * object succeeds but takes effect at the last unpin.  From that release on the handle resolves to NULL, the object
 * cannot be pinned again, and another release is refused.
 *
 * handle    Any value: of this pool, of another one, stale, 0.
 * Returns   The object, until the matching lfpool_unpin(); NULL if the handle is stale or was never valid, or if the
 *           object is pinned 1,023 times already.
 * Threads   Any.  Lock-free.  All writes before an unpin are visible after a later pin.
 * Cost      One locked instruction.
 */
LFPOOL_API void *lfpool_pin(lfpool_t *pool, lfpool_handle_t handle);

/*
 * lfpool_unpin - undo one pin.  If the object was released or retired meanwhile, the last unpin releases or retires it.
 *
 * handle    The handle that was pinned.
 * Returns   LFPOOL_OK; LFPOOL_E_NOT_PINNED: the handle's object is not pinned; LFPOOL_E_STALE: the handle's object is
 *           gone, or the handle was never valid in this pool.  Both are refused and reported to the misuse hook.
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
 * Returns   0 .. n - 1, where n is config.max_capacity, or config.capacity if that is 0; SIZE_MAX if `object` is not an
 *           object of this pool.
 */
LFPOOL_API size_t lfpool_index_of(const lfpool_t *pool, const void *object);

/*
 * lfpool_object_at - get the object with an index: the inverse of lfpool_index_of().
 *
 * An index fits into 32 bits, for fields where a pointer is too large.
 *
 * index     Any value.
 * Returns   The address of that slot's object, active, free, or one that the pool may grow by; NULL if there is no such
 *           index.  In malloc mode NULL also while the object is free.
 */
LFPOOL_API void *lfpool_object_at(const lfpool_t *pool, size_t index);

/*
 * lfpool_object_start - find the object that contains an address, for conservative collectors, and for pointers to
 * members.
 *
 * address   Any value.
 * Returns   The object's address, active or free; NULL if the address is outside the pool, or between two objects.  In
 *           malloc mode only the start of an active object is known.
 * Cost      O(1): a division.
 */
LFPOOL_API void *lfpool_object_start(const lfpool_t *pool, const void *address);

/*
 * lfpool_of - find the pool that an address belongs to.
 *
 * pointer   Any address: of an object, into one, foreign, NULL.
 * Returns   The pool; NULL if there is none.  If the objects of a pool are inside an object of another pool
 *           (caller-provided memory), the inner pool.  For a pool in malloc mode only the start of an active object is
 *           known.
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
 * Returns   As lfpool_release() on its pool; LFPOOL_E_FOREIGN if it is in none, and then no misuse hook is called.
 * Threads, progress, cost   As lfpool_of() and lfpool_release() together.
 */
LFPOOL_INLINE_ lfpool_status_t lfpool_release_self(void *object)
{
	lfpool_t *pool = lfpool_of(object);

	return pool ? lfpool_release(pool, object) : object ? LFPOOL_E_FOREIGN : LFPOOL_OK;
}

LFPOOL_C_END_

#endif
