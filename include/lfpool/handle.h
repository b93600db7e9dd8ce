/* SPDX-License-Identifier: MIT */
/*
 * handle.h - handles: names of objects that go stale when the object is released; and pools found from an address.
 *
 *     lfpool_handle_t target = lfpool_handle_of(pool, ship);       // copy it, store it, send it
 *     ...
 *     struct ship *s = lfpool_resolve(pool, target);               // NULL once that ship is gone
 *
 * A handle is 64 bits: {how many uses of the slot had a handle before, counted from a number of the pool's own, slot}.
 * 0 is never valid.  Objects of which no handle is made cost nothing for those of which one is.
 *
 * Other pools.  A handle of another pool, living or destroyed, names nothing here, as long as d, how many pools the
 * process has made from one to the other, times the uses with a handle of any one slot of theirs is below 2^(61-b) (b:
 * see Wrap; of the larger pool).  In pools of 10,000 objects that is 2^47: a million pools later, 134 million uses of
 * one slot.  Beyond it a stale handle may come to name an object, by chance.
 *
 * Wrap.  With address space for less than 2^b objects the count has 64 - b bits, but at most 51.  A stale handle could
 * name an object again only after exactly a multiple of 2^(64-b), or 2^51, uses of its slot with a handle.  In a pool
 * of 10,000 objects that is 2^50 uses: a year of nothing but acquiring that one object, making a handle, and releasing
 * it, at 30 ns.  In a pool of a million objects it is 2^44 uses, six days; in a pool of 8,000 or fewer, two years.
 *
 * Making against releasing.  The maker of a handle holds the object; as with any other use, a release by another thread
 * at that moment is the program's fault.  It gets 0, or a stale handle, or, if that release was not one that races
 * (LFPOOL_CHECK_RACES; lfpool_release_all() and retires race in any case), one that names what is in the slot as long
 * as nobody makes a handle there and releases the object.  The pool itself takes no harm.
 *
 * Resolving against releasing.  lfpool_resolve() returns the object if the handle's object was active at the moment it
 * looked, else NULL.  If the release happened before the resolve (C11: through a lock, a join, an atomic flag), or if
 * the handle is from an earlier use of the slot, the answer is NULL for certain.  If another thread releases the object
 * during or after the resolve, the pointer may be stale when it is used: a resolve holds nothing.  So resolve where
 * nobody else may release the object at that time (the owner resolves, a phase of a frame in which nothing is released,
 * a reader under RCU or an epoch whose releases are deferred), or read, and resolve once more to see whether what was
 * read belonged to the object: the memory stays mapped as long as the pool lives.  For that what is read must be
 * atomic, stored with release after the acquire of the object, and loaded with acquire (docs/deferred-release.md,
 * "Without a grace period").  (Not in malloc mode, where it is freed; and AddressSanitizer reports the read,
 * unless LFPOOL_DEBUG has no-tools.)
 */
#ifndef LFPOOL_HANDLE_H
#define LFPOOL_HANDLE_H

#include "lfpool/lfpool.h"

LFPOOL_C_BEGIN_

/*
 * lfpool_handle_of - the handle of an object.
 *
 * object    Active; held by the caller, or kept from being released meanwhile by other means.
 * Returns   The handle; 0 if it is not an active object of this pool, NULL included.
 * Threads   Any.  Wait-free, O(1).
 * Cost      The first of an object's use: two locked instructions, and its release then has two as well.
 */
LFPOOL_API lfpool_handle_t lfpool_handle_of(const lfpool_t *pool, const void *object);

/*
 * lfpool_resolve - the object that a handle names.
 *
 * handle    Any value: of this pool, of another one, stale, 0.
 * Returns   The object; NULL if the handle is stale or never was one.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API void *lfpool_resolve(const lfpool_t *pool, lfpool_handle_t handle);

/*
 * lfpool_release_handle - release the object that a handle names.
 *
 * handle    Any value.
 * Returns   LFPOOL_OK; LFPOOL_E_STALE: refused and reported to the misuse hook, nothing changed.  (A pool that evicts
 *           does not report a stale handle: its object may have been evicted.)  Of several threads that release by the
 *           same handle at once exactly one succeeds; against lfpool_release() of the same object at the same instant,
 *           too.
 * Threads   Any.  Lock-free; may enter the kernel as lfpool_release().
 * Cost      lfpool_release() and two locked instructions.
 */
LFPOOL_API lfpool_status_t lfpool_release_handle(lfpool_t *pool, lfpool_handle_t handle);

/*
 * lfpool_pin - reach the object that a handle names, and keep it from being evicted, released or retired.
 *
 * handle    Any value: of this pool, of another one, stale, 0.
 * Returns   The object, until the matching lfpool_unpin(); NULL if the handle is stale or never was one, or if the
 *           object is pinned 1,023 times already.  Pins are counted: several threads can pin one object, and one
 *           thread several times.  While an object is pinned, a release or a retire of it succeeds but takes effect at
 *           the last unpin.  From that release on, the handle resolves to NULL, the object cannot be pinned again, and
 *           another release is refused.
 * Threads   Any.  Lock-free.  Everything that was written before an unpin is visible after a later pin.
 * Cost      One locked instruction.
 */
LFPOOL_API void *lfpool_pin(lfpool_t *pool, lfpool_handle_t handle);

/*
 * lfpool_unpin - undo one pin.  If the object was released or retired meanwhile, the last unpin releases or retires it.
 *
 * handle    The handle that was pinned.
 * Returns   LFPOOL_OK; LFPOOL_E_NOT_PINNED: the handle's object is not pinned; LFPOOL_E_STALE: the handle's object is
 *           gone, or it never was a handle of this pool.  Both are refused and reported to the misuse hook, nothing
 *           changed.
 * Threads   Any.  Lock-free; may enter the kernel as lfpool_release().
 * Cost      One locked instruction; the last unpin after a release, as lfpool_release_handle().
 */
LFPOOL_API lfpool_status_t lfpool_unpin(lfpool_t *pool, lfpool_handle_t handle);

/*
 * lfpool_index_of - the index of an object's slot, for arrays beside the pool.
 *
 * object    Any value.
 * Returns   0 .. n - 1, where n is config.max_capacity, or config.capacity if that is 0; SIZE_MAX if `object` is no
 *           object of this pool.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API size_t lfpool_index_of(const lfpool_t *pool, const void *object);

/*
 * lfpool_object_at - the object with an index: the inverse of lfpool_index_of().  An index fits where a pointer is too
 * large: 32 bits do for every pool.
 *
 * index     Any value.
 * Returns   The address of that slot's object, active, free, or one that the pool may grow by; NULL if there is no such
 *           index.  In malloc mode NULL also while the object is free.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API void *lfpool_object_at(const lfpool_t *pool, size_t index);

/*
 * lfpool_object_start - the object into which an address points: for conservative collectors, and for pointers to
 * members.
 *
 * address   Any value.
 * Returns   The object's address, active or free; NULL if the address lies in none of this pool's objects, or between
 *           two.  In malloc mode: only the start of an active object is known.
 * Threads   Any.  Wait-free, O(1): a division.
 */
LFPOOL_API void *lfpool_object_start(const lfpool_t *pool, const void *address);

/*
 * lfpool_of - the pool that an address belongs to.
 *
 * pointer   Any address: of an object, into one, foreign, NULL.
 * Returns   The pool that it belongs to; NULL if it is in no pool.  If the objects of a pool are in an object of
 *           another pool (caller-provided memory), an address there belongs to the inner pool.  Of a pool in malloc
 *           mode, only the start of an active object is known.
 * Threads   Any, concurrently with the creation and destruction of other pools.  Lock-free (a retry means that a pool
 *           was created or destroyed meanwhile), no system call.  While there are pools in malloc mode: one system call
 *           for an address that belongs to no other pool.
 * Cost      O(log pools).
 */
LFPOOL_API lfpool_t *lfpool_of(const void *pointer);

/*
 * lfpool_release_self - release an object, knowing nothing but the object.
 *
 * object    An active object of some pool; NULL is fine and does nothing.
 * Returns   As lfpool_release() on its pool; LFPOOL_E_FOREIGN if it lies in none: there is then no misuse hook to tell.
 * Threads, progress, cost   As lfpool_of() and lfpool_release() together.
 */
static inline lfpool_status_t lfpool_release_self(void *object)
{
	lfpool_t *pool = lfpool_of(object);

	return pool ? lfpool_release(pool, object) : object ? LFPOOL_E_FOREIGN : LFPOOL_OK;
}

LFPOOL_C_END_

#endif
