/* SPDX-License-Identifier: MIT */
/*
 * set.h - a set of pools: objects of several sizes, a pool for each size class.  Not included by lfpool.h.
 *
 *     lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;
 *     lfpool_set_t *set;
 *
 *     config.largest = 16384;
 *     config.class_bytes = 8 << 20;
 *     if (lfpool_set_create(&set, &config) != LFPOOL_OK) ...
 *
 *     void *message = lfpool_set_acquire(set, bytes);      // any thread
 *     ...
 *     lfpool_set_release(set, message);                    // any thread; no size: the address is enough
 *
 *     lfpool_set_destroy(set);
 *
 * Classes.  A size is served from the smallest class that holds it.  With alignment A and S steps, both configured, the
 * classes are A, 2A, 3A ... up to 2SA, and from there S to each doubling, at equal distances: by default 16, 32, ...
 * 256, 288, 320, ... 512, 576, ... 65536.  A class is larger than the requested size by at most A - 1 bytes, for sizes
 * up to SA; beyond that by less than one part in S + 1 of the class.  By default: at most 15 bytes up to 128, less than
 * a ninth from 129 up, and therefore at most an eighth from 113 up.
 *
 * Addresses.  The objects of each class have a window of addresses.  All windows have the same size and are side by
 * side: so a release finds the pool by a subtraction and a shift.
 *
 * Pools.  Each class is an ordinary pool, named "name/size", with all features of pools: growth, waiting,
 * walks, handles, debug modes, hooks.misuse and hooks.exhausted.  It keeps the promises of a single pool: NULL only
 * if at some moment during the call every object of that class was in use; a release never fails; wrong releases are
 * refused and reported.  Objects that are free in another class do not count, unless config.larger is set.
 *
 * The pool of the smallest class is made with the set, the others when they are first needed.  That one call takes a
 * lock and enters the kernel, as lfpool_create() does, and the system can refuse memory.  To avoid that, call
 * lfpool_set_pool() for each class before.
 *
 * Threads.  Any thread can make any call at any time, except for create and destroy.
 *
 * This header reads as C99 to C23 and as C++11 to C++23.
 */
#ifndef LFPOOL_SET_H
#define LFPOOL_SET_H

#include "lfpool/lfpool.h"
#include "lfpool/report.h"

LFPOOL_C_BEGIN_

typedef struct lfpool_set lfpool_set_t; /* a set of pools */

/* ---- Configuration ----------------------------------------------------------------------------------------- */

/*
 * The configuration of a set: its classes, and the pool of each class.  Append-only: zero means "the default" for every
 * field.  lfpool_set_create() copies it and never writes to it.  Use LFPOOL_SET_CONFIG_INIT, or
 * lfpool_set_config_init() in C++.
 *
 * The number of objects of a class, at first and at most, and the step by which it grows, are given in objects
 * (pool.capacity, max_capacity, growth_step), or in bytes, which are the same number for each class.  Objects win.  A
 * class has one object at least.
 */
typedef struct lfpool_set_config {
	size_t struct_size;     /* bytes: sizeof(lfpool_set_config_t) as the caller was compiled              */
	size_t largest;         /* bytes, 1 .. 1 GiB: the largest size; 0 = 64 KiB                            */
	size_t steps;           /* classes to each doubling: 4, 8 or 16; 0 = 8                                */
	size_t larger;          /* the number of larger classes that an acquire tries, one after the other,
	                           if every object of its class is in use and it cannot grow; 0 = none        */
	size_t class_bytes;     /* bytes of objects in each class (with LFPOOL_PLAIN_STRIDE); 0 = 16 MiB      */
	size_t max_class_bytes; /* bytes of objects to which each class can grow; 0 = it does not grow; less
	                           than its first capacity counts as that                                     */
	size_t growth_bytes;    /* bytes of objects by which a class grows automatically; 0 = it does not     */
	/* Sets the number of objects of a class, if classes differ.  `context` is pool.hooks.context; `config` is the
	 * config of the class's pool: object_size identifies the class; capacity, max_capacity (0 if the class does not
	 * grow) and growth_step can be changed, everything else is read only.  Called by lfpool_set_create(), once for
	 * each class, without a lock. */
	void (*plan)(void *context, lfpool_config_t *config);
	/* A registry (lfpool/registry.h), which makes the pools of all classes, each with the settings of its profile
	 * for "name/size".  The set must be destroyed before it.  NULL: no registry. */
	struct lfpool_registry *registry;
	size_t reserved[4]; /* must be 0 */
	/* The config of the pool of every class.  Not used: struct_size and object_size.  The smallest class has the
	 * size of object_alignment (0 = 16).  The hooks that build objects (create, validate, activate, deactivate,
	 * destroy) must be NULL: they would not know the size.  The fields of caller-provided memory must be 0. */
	lfpool_config_t pool;
} lfpool_set_config_t;

/* The default of every field, in C.  In C++, which warns of missing fields here: lfpool_set_config_init(). */
#define LFPOOL_SET_CONFIG_INIT {.struct_size = sizeof(lfpool_set_config_t)}

/*
 * lfpool_set_config_init - set every field to its default.
 *
 * config    Every byte is written.
 * Threads   Any.  Wait-free.
 */
LFPOOL_INLINE_ void lfpool_set_config_init(lfpool_set_config_t *config)
{
	memset(config, 0, sizeof(*config));
	config->struct_size = sizeof(*config);
}

/* ---- Set --------------------------------------------------------------------------------------------------- */

/*
 * lfpool_set_create - make a set: reserves addresses, and makes the pool of the smallest class.
 *
 * set_out   Receives the set; set to NULL on failure.
 * config    Read, not kept.
 * Returns   LFPOOL_OK; LFPOOL_E_ARGUMENT (a NULL pointer); LFPOOL_E_NO_MEMORY (also for addresses: each window is the
 *           power of two that holds the largest number of bytes to which a class can grow); for the config of any class
 *           the statuses of lfpool_create(), where CAPACITY and MAX_CAPACITY also mean numbers from bytes or `plan`,
 *           and HOOKS a hook that must be NULL; LFPOOL_E_BUFFER for memory; LFPOOL_E_CONFIG_OBJECT_SIZE for
 *           `largest`; LFPOOL_E_CONFIG_STEPS; with a registry those of lfpool_registry_create_pool().  After a
 *           failure nothing is left.
 * Owner     The caller, until lfpool_set_destroy().
 * Threads   Any.  Takes a lock; enters the kernel.
 * Cost      O(classes), and that of lfpool_create().
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_set_create(lfpool_set_t **set_out, const lfpool_set_config_t *config);

/*
 * lfpool_set_destroy - destroy the set and the pools of all its classes.
 *
 * set       NULL does nothing.  No other call on the set, its pools or their caches may be in progress or follow.
 * Returns   The number of objects that were still active.  SIZE_MAX: lfpool_destroy() refused some of the pools; these
 *           stay, and the set with them.
 * Threads   Any.  Takes a lock; enters the kernel.
 */
LFPOOL_API size_t lfpool_set_destroy(lfpool_set_t *set);

/*
 * lfpool_set_acquire - get an object of at least `size` bytes.
 *
 * size      Bytes; 0 counts as 1.
 * Returns   An object of lfpool_set_class_size(set, size) bytes, aligned to pool.object_alignment; or, with
 *           config.larger, of a larger class.  NULL if there is no class for `size`; if at some moment during the
 *           call every object of its class was in use (with config.larger: for each of these classes at some moment);
 *           or if the system refused memory for the pool of a class that was never used before.  errno does not change.
 * Owner, threads   As lfpool_acquire().
 * Progress  As lfpool_acquire(), and one acquire load; the first of a class takes a lock and enters the kernel.
 * Cost      O(1) and lfpool_acquire().
 */
LFPOOL_API void *lfpool_set_acquire(lfpool_set_t *set, size_t size);

/*
 * lfpool_set_release - give an object back, from any thread.
 *
 * object    An active object of this set; NULL does nothing.
 * Returns   LFPOOL_OK; LFPOOL_E_FOREIGN, LFPOOL_E_INTERIOR, LFPOOL_E_NOT_IN_USE: refused by the pool of the class, and
 *           reported to the misuse hook; nothing changed.  The pool of the smallest class refuses addresses that are
 *           in no pool of the set.
 * Threads, progress, cost   As lfpool_release(), and one acquire load.
 */
LFPOOL_API lfpool_status_t lfpool_set_release(lfpool_set_t *set, void *object);

/* ---- Classes ----------------------------------------------------------------------------------------------- */

/*
 * lfpool_set_class - find the class that serves a size: its pool, and the bytes of its objects.
 *
 * size      Bytes; 0 counts as 1.
 * make      Make the pool if it does not exist yet.
 * size_out  Receives the bytes of each object of the class; 0 if there is no class for that size; may be NULL.
 * Returns   The pool; NULL if there is no class for that size, if the system refused memory, or, without `make`, if the
 *           class was never used.
 * Threads   Any.  Wait-free if the pool exists, or without `make`; otherwise takes a lock and enters the kernel.
 */
LFPOOL_API lfpool_t *lfpool_set_class(lfpool_set_t *set, size_t size, bool make, size_t *size_out);

/*
 * lfpool_set_class_size - get the size of the objects in the class that serves a size.
 *
 *     for (size_t size = 0, bytes; (bytes = lfpool_set_class_size(set, size)) != 0; size = bytes + 1)   // each class
 *
 * size      Bytes; 0 counts as 1.
 * Returns   The bytes; 0 if there is no class for that size.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_INLINE_ size_t lfpool_set_class_size(lfpool_set_t *set, size_t size)
{
	size_t bytes;

	(void)lfpool_set_class(set, size, false, &bytes);
	return bytes;
}

/*
 * lfpool_set_pool - get the pool of the class that serves a size, and make it if it does not exist yet.
 *
 * All calls on pools are allowed, except lfpool_destroy() and lfpool_registry_destroy_pool(): the set owns the pool.
 *
 * size      Bytes; 0 counts as 1.
 * Returns   The pool; NULL if there is no class for that size, or the system refused memory.
 * Threads   As lfpool_set_class() with `make`.
 */
LFPOOL_INLINE_ lfpool_t *lfpool_set_pool(lfpool_set_t *set, size_t size)
{
	size_t bytes;

	return lfpool_set_class(set, size, true, &bytes);
}

/*
 * lfpool_set_pool_of - find the pool of an object by its address.
 *
 * pointer   Any value.
 * size_out  Receives the bytes of each object of that pool, or 0; may be NULL.
 * Returns   The pool in whose window the address is; for an object of this set, the object's pool.
 *           NULL: the address is in no window of a class that was used.  In malloc mode: only the addresses
 *           of active objects are known.
 * Threads   Any.  Wait-free, O(1); in malloc mode O(classes).
 */
LFPOOL_API lfpool_t *lfpool_set_pool_of(const lfpool_set_t *set, const void *pointer, size_t *size_out);

/*
 * lfpool_set_usable_size - get the size of the object at an address: that of its class.
 *
 * pointer   Any value.
 * Returns   The bytes; 0 if it is not the address of an object of this set, active or free (in malloc mode:
 *           active).
 * Threads, cost   As lfpool_set_pool_of().
 */
LFPOOL_INLINE_ size_t lfpool_set_usable_size(const lfpool_set_t *set, const void *pointer)
{
	size_t size;
	lfpool_t *pool = lfpool_set_pool_of(set, pointer, &size);

	return pool && lfpool_owns(pool, pointer) ? size : 0;
}

/*
 * lfpool_set_release_if_owned - release an object if it is one of this set's; for programs that also have other memory.
 *
 * object    Any pointer; NULL does nothing.
 * Returns   LFPOOL_E_FOREIGN: the address is not among the objects of this set; nothing is reported or counted.
 *           Otherwise as lfpool_set_release().
 * Threads, progress, cost   As lfpool_set_release(); in malloc mode O(classes).
 */
LFPOOL_INLINE_ lfpool_status_t lfpool_set_release_if_owned(lfpool_set_t *set, void *object)
{
	size_t size;
	lfpool_t *pool = lfpool_set_pool_of(set, object, &size);

	return pool ? lfpool_release_if_owned(pool, object) : object ? LFPOOL_E_FOREIGN : LFPOOL_OK;
}

/* ---- Many objects ------------------------------------------------------------------------------------------ */

/*
 * lfpool_set_acquire_bulk - as lfpool_acquire_bulk(), objects of at least `size` bytes.
 *
 * size      As for lfpool_set_acquire().
 * objects_out, count   As for lfpool_acquire_bulk().
 * Returns   The number of objects; fewer than `count` only if lfpool_set_acquire() would return NULL.
 * Threads, progress   As lfpool_set_acquire().
 * Cost      O(count).
 */
LFPOOL_INLINE_ size_t lfpool_set_acquire_bulk(lfpool_set_t *set, size_t size, void **objects_out, size_t count)
{
	lfpool_t *pool = lfpool_set_pool(set, size);

	size_t done = pool ? lfpool_acquire_bulk(pool, objects_out, count) : 0;

	/* From larger classes, if config.larger allows it. */
	for (void *object; done < count && (object = lfpool_set_acquire(set, size)); done++)
		objects_out[done] = object;
	return done;
}

/*
 * lfpool_set_release_bulk - as lfpool_release_bulk(), objects of any classes.
 *
 * objects, count   As for lfpool_release_bulk().
 * Returns   The number of objects that were released.
 * Threads, progress   As lfpool_set_release().
 * Cost      O(count); least if the objects of a class are next to each other.
 */
LFPOOL_INLINE_ size_t lfpool_set_release_bulk(lfpool_set_t *set, void *const *objects, size_t count)
{
	size_t released = 0, first = 0, end, size;

	for (; first < count; first = end) {
		lfpool_t *pool = lfpool_set_pool_of(set, objects[first], &size);

		for (end = first + 1; pool && end < count; end++)
			if (lfpool_set_pool_of(set, objects[end], &size) != pool)
				break;
		if (pool)
			released += lfpool_release_bulk(pool, objects + first, end - first);
		else if (objects[first])
			released += lfpool_set_release(set, objects[first]) == LFPOOL_OK;
	}
	return released;
}

/* ---- Reports ----------------------------------------------------------------------------------------------- */

/*
 * lfpool_set_stats - the sum of lfpool_stats() over the pools that exist.
 *
 * `high_water` is a sum too: the pools can have had their highest numbers at different times.
 *
 * Returns, threads, progress   As lfpool_stats().
 * Cost      The sum.
 */
LFPOOL_API lfpool_status_t lfpool_set_stats(const lfpool_set_t *set, lfpool_stats_t *stats_out);

/*
 * lfpool_set_dump - describe a set: configuration, sums, and a line for each pool (LFPOOL_TEXT), or the whole
 * lfpool_dump() of each pool (LFPOOL_JSON).
 *
 * format, text_out, room   As for lfpool_dump().
 * Returns   As lfpool_dump().
 * Threads, progress   As lfpool_dump().
 * Cost      That of lfpool_dump() for each pool.
 */
LFPOOL_API size_t lfpool_set_dump(const lfpool_set_t *set, lfpool_format_t format, char *text_out, size_t room);

LFPOOL_C_END_

#endif
