/* SPDX-License-Identifier: MIT */
/*
 * pool_set.h - what a set is: size classes, a window of addresses for each, and the pools that were made so far.
 *
 * Idea         One reservation of addresses, cut into windows of one power of two.  The objects of class i lie in
 *              window i, so the class of an object is (address - base) >> window_shift.  The rest of a pool lies
 *              elsewhere, as any pool's.  A pool is made when it is first asked for, under the lock of set_open.c, and
 *              published by one store; from then on it is found by one load.  (Were several made without a lock, one to
 *              be kept and the others to be thrown away, all of them would lie in the one window.)
 *                 A hit does not even look at the pool: its id leads to the thread's cache, which knows all the rest.
 *                 With the malloc backend objects lie anywhere, and there are no windows: an object's label leads to
 *              its pool, as it does for lfpool_of().
 * Invariants   Y1  pool and id of a class go from 0 to those of its pool once, not back before lfpool_set_destroy(),
 *                  where nobody else is; id last.
 *              Y2  every object of a class lies in its window, whole; between the objects of two classes there is a
 *                  page without access.
 * Progress     Look-ups: wait-free.
 * Edges        MAKE: set_publish() -> set_pool(), set_id(): the pool, complete.
 */
#ifndef LFPOOL_POOL_SET_H
#define LFPOOL_POOL_SET_H

#include "base/atomics.h"
#include "base/classes.h"
#include "pool/pool.h"
#include "pool/registered.h"

#include "lfpool/set.h"

/* Written under the lock of set_open.c, read by anybody.  Y1. */
struct set_class {
	_Atomic(uint64_t) id;    /* of the pool; 0: not made yet          */
	_Atomic(uintptr_t) pool; /* lfpool_t *; NULL: not made yet        */
};

struct lfpool_set {
	/* Fixed at creation; what acquire and release read comes first. */
	struct classes classes;
	uint32_t windows; /* classes.count; 0: objects lie anywhere */
	uint32_t window_shift;
	uintptr_t base; /* of window 0 */
	size_t larger;
	size_t mapped_bytes; /* of this */
	char *reserved;      /* NULL: nothing */
	size_t reserved_bytes;
	/* Of each pool, without what depends on the class; validated and complete. */
	lfpool_config_t config;
	lfpool_set_config_t given; /* how many objects a class has */
	struct debug_modes modes;
	char name[NAME_BYTES];
	/* Anybody. */
	_Alignas(CACHE_LINE_PAIR) _Atomic(size_t) misuses; /* the set's own: of no pool's objects */
	_Alignas(CACHE_LINE_PAIR) struct set_class class[];
};

/* Under the lock of set_open.c, once for a class.  NULL: it could not be made. */
static inline void set_publish(lfpool_set_t *set, size_t class_number, lfpool_t *pool, uint64_t id)
{
	/* release, edge MAKE, both: the pool, complete. */
	store_release(&set->class[class_number].pool, (uintptr_t)pool);
	store_release(&set->class[class_number].id, id);
}

/* The id of its pool; 0: not made yet. */
static inline uint64_t set_id(const lfpool_set_t *set, size_t class_number)
{
	/* acquire, edge MAKE: the pool's contents. */
	return load_acquire(&set->class[class_number].id);
}

/* The pool of a class below classes.count; NULL: not made yet. */
static inline lfpool_t *set_pool(const lfpool_set_t *set, size_t class_number)
{
	/* acquire, edge MAKE: the pool's contents. */
	return (lfpool_t *)load_acquire(&set->class[class_number].pool);
}

COLD lfpool_t *set_make(lfpool_set_t *set, size_t class_number);

/* The same, made if need be; NULL: the system refuses memory. */
static inline lfpool_t *set_pool_made(lfpool_set_t *set, size_t class_number)
{
	lfpool_t *pool = set_pool(set, class_number);

	return likely(pool) ? pool : set_make(set, class_number);
}

/* For a registry. */
void set_look(const void *set, struct registered_state *state_out);

/* What the pool of a class is made with, without its name. */
void set_class_config(const lfpool_set_t *set, size_t class_number, lfpool_config_t *config_out);

#endif
