/* SPDX-License-Identifier: MIT */
/*
 * pool_set.h - a set of lfpool/set.h: size classes, a window of addresses for each, and the pools made so far.
 *
 * Idea         The objects of class i are in window i (api/window.h), so the class of an object follows from its
 *              address by a subtraction and a shift.  The pool of a class is made when it is first needed, under the
 *              lock of all windows, so that only one pool is made in a window.  It is published by one store, and from
 *              then on found by one load.
 *                 The pool of the smallest class is made with the set.  It refuses, and reports, addresses that are
 *              in no class.
 *                 In malloc mode objects can be anywhere, so a release asks the pool of each class.
 *                 Small sizes do without the arithmetic: a table has the id of the pool for each number of units.
 * Invariants   Y1  the pool of a class goes from NULL to a pool once, and not back before lfpool_set_destroy().
 *              Y3  small[m] is 0, or the id of the pool that serves m + 1 units of the alignment.
 * Progress     Look-ups: wait-free.
 * Edges        MAKE: set_publish() -> set_pool(): the pool, complete.
 */
#ifndef LFPOOL_POOL_SET_H
#define LFPOOL_POOL_SET_H

#include "api/window.h"
#include "base/atomics.h"
#include "base/classes.h"

#include "lfpool/set.h"

struct set_class {
	_Atomic(uintptr_t) pool; /* lfpool_t *; NULL: not made yet; written under the lock of all windows; Y1  */
	_Atomic(uint64_t) id;    /* of that pool, for window_cache(); 0: not made yet                       */
	/* Fixed at creation, in objects, as in lfpool_config_t. */
	size_t capacity, max_capacity, growth_step;
};

#define SET_SMALL_UNITS 64

struct lfpool_set_t {
	/* All 0 with `larger`: there an acquire may try several classes.  Y3 */
	_Atomic(uint64_t) small[SET_SMALL_UNITS];
	/* Fixed at creation. */
	struct classes classes;
	struct windows windows; /* one per class, or 0 */
	size_t larger, steps;
	size_t mapped_bytes;    /* of this struct */
	lfpool_config_t config; /* of each pool, except for the name, the size and the numbers of the class */
	struct lfpool_registry_t *registry;
	/* Can objects be outside the windows?  Set before the first pool with such objects is published. */
	_Atomic(bool) scattered;
	struct set_class class[];
};

/* Under the lock of all windows, once per class. */
static inline void set_publish(lfpool_set_t *set, size_t class_number, lfpool_t *pool, uint64_t id)
{
	/* relaxed: see set_cache(). */
	store_relaxed(&set->class[class_number].id, id);
	/* release, edge MAKE: the pool, complete. */
	store_release(&set->class[class_number].pool, (uintptr_t)pool);
}

/* The pool of a class below classes.count; NULL: not made yet. */
static inline lfpool_t *set_pool(const lfpool_set_t *set, size_t class_number)
{
	/* acquire, edge MAKE: the pool's contents. */
	return (lfpool_t *)load_acquire(&set->class[class_number].pool);
}

/* The calling thread's cache of that pool; NULL: it has none (yet). */
static inline lfpool_cache_t *set_cache(const lfpool_set_t *set, size_t class_number)
{
	/* relaxed: a thread has a cache of the pool only after a call on the pool, which set_pool() had found. */
	return window_cache(load_relaxed(&set->class[class_number].id));
}

/* The same, for m + 1 units of the alignment. */
static inline lfpool_cache_t *set_small_cache(const lfpool_set_t *set, uint64_t m)
{
	/* relaxed: as above. */
	return window_cache(load_relaxed(&set->small[m]));
}

/* The pool of the class has this id; 0: it has no pool any more.  Under the lock of all windows, or alone. */
static inline void set_publish_small(lfpool_set_t *set, size_t class_number, uint64_t id)
{
	for (uint64_t m = 0; !set->larger && m < SET_SMALL_UNITS; m++)
		if (class_of_units(&set->classes, m) == class_number)
			/* relaxed: as in set_publish(). */
			store_relaxed(&set->small[m], id);
}

/* The same, made if it does not exist yet; NULL: the system refuses memory. */
COLD lfpool_t *set_make(lfpool_set_t *set, size_t class_number);

#endif
