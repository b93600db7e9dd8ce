/* SPDX-License-Identifier: MIT */
/*
 * evict.h - eviction: a full pool takes the object with the lowest priority from its holder.
 *
 *     config.capacity = 32;
 *     config.evict = LFPOOL_EVICT_LESS;
 *     config.hooks.evict = fade_out;
 *     if (lfpool_create(&voices, &config) != LFPOOL_OK) ...
 *
 *     lfpool_handle_t sound;
 *     struct voice *v = lfpool_acquire_evicting(voices, loudness, &sound);
 *     if (!v) ...                                // all 32 voices are at least as loud, or pinned
 *     start(v);                                  // the object is pinned: no other thread can evict it
 *     lfpool_unpin(voices, sound);               // the first unpin publishes it: from now on it can be evicted
 *     ...
 *     if ((v = lfpool_pin(voices, sound))) {     // NULL: it was evicted or released
 *         ...                                    // no other thread can evict it here
 *         lfpool_unpin(voices, sound);
 *     }
 *     lfpool_set_priority(voices, sound, fading);
 *     lfpool_release_handle(voices, sound);
 *
 * An evicting pool is an lfpool_t that was created with config.evict.  All features of pools work.
 *
 * Priorities.  A priority is any 64-bit number.  The object with the least number is evicted first, and among equal
 * ones the object that was acquired first.  config.before replaces this order.
 *
 * Candidates.  An object can be evicted while it is active and not pinned, if lfpool_acquire_evicting() acquired it.
 * The other acquire calls never evict, and their objects are never evicted.  A new object is pinned once, so that its
 * holder can fill it before another thread can evict it.  A release takes effect at the last unpin, so this first pin
 * must be undone too.
 *
 * Promises, whatever other threads do at the same time:
 *   1. lfpool_acquire_evicting() evicts, or returns NULL for lack of objects, only if at some moment during the call
 *      every object was in use, or was just being acquired or released.
 *   2. The victim, that is, the evicted object, was not pinned.  No object that was a candidate during the whole call,
 *      and kept its priority, had a lower priority than the victim, or the same priority and a greater age.  So if no
 *      calls overlap, the victim is exactly the least object.  NULL means that no object that was a candidate during
 *      the whole call gave way to the new one.  lfpool_least() and lfpool_release_least() choose in the same way.  (An
 *      object is unpinned when the last lfpool_unpin() returns.)
 *   3. First the victim's handle becomes stale.  Then hooks.evict is called, then hooks.deactivate, and then the new
 *      object gets the slot.
 *   4. Every call is lock-free: a thread that stops at any instruction blocks no other thread.  Such a thread keeps the
 *      objects that it has pinned, and the object that its call is acquiring or releasing.
 *
 * Reading without a pin works as with any handle: see "Resolving during a release" in handle.h.
 *
 * Cost of config.evict: 18 more bytes for each of max_capacity objects, touched when lfpool_acquire_evicting() first
 * acquires the object.  The fast paths are not inlined, and each release executes a full fence.
 */
#ifndef LFPOOL_EVICT_H
#define LFPOOL_EVICT_H

#include "lfpool/lfpool.h"

LFPOOL_C_BEGIN_

/*
 * lfpool_acquire_evicting - acquire a new object; in a full pool, by evicting the object with the lowest priority.
 *
 * The call tries a free object first, then growth by config.growth_step, then eviction.  It does not call
 * hooks.exhausted.
 *
 * priority    The new object's priority, until lfpool_set_priority().
 * handle_out  Receives the new object's handle; 0 on failure.
 * Returns     The object, pinned once for the caller: lfpool_unpin() publishes it.  NULL: no object was free, and none
 *             gave way (see lfpool_evict_t); or a hook refused the object (a victim's slot then stays free); or the
 *             pool is closed or does not evict, or handle_out is NULL.
 * Threads     Any.  Lock-free; calls hooks.evict; may enter the kernel as lfpool_acquire().
 * Cost        With a free object, lfpool_acquire() and three locked instructions.  An eviction usually scans a block of
 *             16 objects, and a block of 16 bounds on each level of a tree with fan-out 16; more after many priorities
 *             changed.  A pool of 32 objects or fewer is scanned whole.  A full pool is not searched for free objects
 *             again until an object becomes free.
 */
LFPOOL_API void *lfpool_acquire_evicting(lfpool_t *pool, uint64_t priority, lfpool_handle_t *handle_out);

/*
 * lfpool_set_priority - change an object's priority.
 *
 * handle      Any value.
 * priority    The new priority.
 * Returns     LFPOOL_OK; LFPOOL_E_STALE: the handle is stale, foreign, 0, or of an object that was not acquired by
 *             lfpool_acquire_evicting(); nothing changed.  The misuse hook is called only for a handle that names no
 *             slot of the pool.
 * Threads     Any.  Lock-free.  The call pins the object, so a release by another thread takes effect when this call
 *             returns.
 * Cost        Two locked instructions; two more for each level of the tree on which the object becomes the least of its
 *             block.
 */
LFPOOL_API lfpool_status_t lfpool_set_priority(lfpool_t *pool, lfpool_handle_t handle, uint64_t priority);

/*
 * lfpool_get_priority - read an object's priority.
 *
 * handle        Any value.
 * priority_out  Receives the priority.
 * Returns       true; false where lfpool_set_priority() returns LFPOOL_E_STALE: then nothing is reported or written.
 * Threads       Any.  Wait-free, O(1).
 */
LFPOOL_API bool lfpool_get_priority(const lfpool_t *pool, lfpool_handle_t handle, uint64_t *priority_out);

/*
 * lfpool_least - find the object that would be evicted next.
 *
 * priority_out  Receives the object's priority; may be NULL.
 * Returns       The object's handle; 0 if no object can be evicted, or if the pool does not evict.
 * Threads       Any.  Lock-free.
 * Cost          As an eviction in lfpool_acquire_evicting().
 */
LFPOOL_API lfpool_handle_t lfpool_least(lfpool_t *pool, uint64_t *priority_out);

/*
 * lfpool_release_least - release the `count` objects with the lowest priorities, one after the other.
 *
 * count     Number of objects; pinned ones are skipped.
 * Returns   The number of released objects: fewer than `count` if no more can be evicted.
 * Threads   Any.  Lock-free; calls hooks.evict for each object; may enter the kernel as lfpool_release().
 * Cost      For each object, that of an eviction in lfpool_acquire_evicting() and of an lfpool_release().
 */
LFPOOL_API size_t lfpool_release_least(lfpool_t *pool, size_t count);

/*
 * lfpool_priority_of_double - map a double to a priority: a smaller double has a lower priority.
 *
 * value     Any; -0 is below +0, and NaNs are beyond the infinities.
 * Returns   The priority.
 * Threads   Any.  Wait-free.
 */
LFPOOL_INLINE_ uint64_t lfpool_priority_of_double(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/*
 * lfpool_priority_to_double - the double of a priority: the inverse of lfpool_priority_of_double().
 *
 * priority  Any.
 * Returns   The double.
 * Threads   Any.  Wait-free.
 */
LFPOOL_INLINE_ double lfpool_priority_to_double(uint64_t priority)
{
	const uint64_t bits = priority >> 63 ? priority & ~(UINT64_C(1) << 63) : ~priority;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

LFPOOL_C_END_

#endif
