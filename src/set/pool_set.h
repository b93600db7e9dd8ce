/* SPDX-License-Identifier: MIT */
/*
 * pool_set.h - a set of lfpool/set.h: size classes, a window of addresses for each, and the pools made so far.
 *
 * Idea         The objects of class i are in window i (api/window.h), so the class of an object follows from its
 *              address by a subtraction and a shift.  The pool of a class is made when it is first needed, under the
 *              lock of all windows, so that only one pool is made in a window.  It is published by one store, and from
 *              then on found by one load.
 *                 The pool of the smallest class is made with the set, because this pool refuses, and reports,
 *              addresses that are in no class.
 *                 In malloc mode objects can be anywhere, so a release asks the pool of each class.
 *                 The fast path does not read the pool: the tables of lfpool/set_inline.h lead to the thread's cache.
 * Invariants   Y1  the `pool` of a class changes from NULL to a pool once, and does not become NULL again before
 *                  lfpool_set_destroy().
 * Progress     Look-ups: wait-free.
 * Edges        MAKE: from set_publish() to set_pool(): a found pool is complete.
 */
#ifndef LFPOOL_POOL_SET_H
#define LFPOOL_POOL_SET_H

#include "api/window.h"
#include "base/atomics.h"
#include "base/classes.h"

#include "lfpool/set.h"
#include "lfpool/set_inline.h"

struct set_class {
	_Atomic(uintptr_t) pool; /* lfpool_t *; NULL: not made yet; written under the lock of all windows; Y1  */
	/* Fixed at creation, in objects, as in lfpool_config_t. */
	size_t capacity, max_capacity, growth_step;
};

struct lfpool_set_t {
	struct lfpool_set_head_ head;
	/* Fixed at creation. */
	struct classes classes;
	struct windows windows; /* one per class, or none */
	size_t larger, steps;
	size_t mapped_bytes;    /* of this struct and its strings */
	lfpool_config_t config; /* for each pool, except for name, object_size and capacities */
	struct lfpool_registry_t *registry;
	/* Can objects be outside the windows?  Set before the first pool with such objects is published. */
	_Atomic(bool) scattered;
	struct set_class class[];
};

/* Called under the lock of all windows, once per class.  With NULL: called by lfpool_set_destroy(). */
static inline void set_publish(lfpool_set_t *set, size_t class_number, lfpool_t *pool)
{
	/* release, edge MAKE: publishes the complete pool. */
	store_release(&set->class[class_number].pool, (uintptr_t)pool);
}

/* The pool of a class below classes.count; NULL: not made yet. */
static inline lfpool_t *set_pool(const lfpool_set_t *set, size_t class_number)
{
	/* acquire, edge MAKE: the pool's contents. */
	return (lfpool_t *)load_acquire(&set->class[class_number].pool);
}

/* The calling thread's cache of the pool of a class; NULL: the thread has no such cache yet. */
static inline lfpool_cache_t *set_cache(const lfpool_set_t *set, size_t class_number)
{
	/* relaxed, both: Y4 (set_inline.h).  A thread has a cache of the pool only after a call on the pool, which
	 * set_pool() had found. */
	return window_cache(load_relaxed(&set->head.class_id[class_number]),
			    load_relaxed(&set->head.class_at[class_number]));
}

/* The calling thread's cache of the pool in whose window the address is; NULL: the thread has none, or the address is
 * in no window. */
static inline lfpool_cache_t *set_cache_at(const lfpool_set_t *set, const void *address)
{
	const uintptr_t window = ((uintptr_t)address - set->head.base) >> set->head.window_shift;

	return likely(window < set->head.windows) ? set_cache(set, window) : NULL;
}

/* Like set_cache(), but for the class of m + 1 units of the alignment. */
static inline lfpool_cache_t *set_small_cache(const lfpool_set_t *set, uint64_t m)
{
	/* relaxed, both: as above. */
	return window_cache(load_relaxed(&set->head.small_id[m]), load_relaxed(&set->head.small_at[m]));
}

/* Enters a pool into the tables of the set.  `id` is the pool's id, and `at` the offset of its entry in the tables of
 * threads.  `id` 0 removes the pool.  Called under the lock of all windows, or when no other thread uses the set. */
static inline void set_publish_to_threads(lfpool_set_t *set, size_t class_number, uint64_t id, uintptr_t at)
{
	/* relaxed, all: Y4. */
	store_relaxed(&set->head.class_at[class_number], at);
	store_relaxed(&set->head.class_id[class_number], id);
	/* With `larger` an acquire may try several classes, so the tables of small sizes stay empty (Y3). */
	for (uint64_t m = 0; !set->larger && m < LFPOOL_SET_UNITS_; m++)
		if (class_of_units(&set->classes, m) == class_number) {
			store_relaxed(&set->head.small_at[m], at);
			store_relaxed(&set->head.small_id[m], id);
		}
}

/* The pool of the class, made if it does not exist yet; NULL: the system refuses memory. */
COLD lfpool_t *set_make(lfpool_set_t *set, size_t class_number);

#endif
