/* SPDX-License-Identifier: MIT */
/*
 * set.h - a set of pools: objects of several sizes, a pool for each size class.
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
 *     lfpool_set_release(set, message);                    // any thread; the set finds the size by the address
 *
 *     lfpool_set_destroy(set);
 *
 * Classes.  A size is served from the smallest class that holds it.  With alignment A and S steps, both configured, the
 * classes are A, 2A, 3A ... 2SA, and from there S classes to each doubling, at equal distances: by default 16, 32, ...
 * 256, 288, 320, ... 512, 576, ... 65536.  For sizes up to SA an object is at most A - 1 bytes larger than the
 * requested size.  For larger sizes the surplus is less than 1/(S + 1) of the object.  By default that is at most 15
 * bytes up to size 128, and less than a ninth above.
 *
 * Pools.  Each class is an ordinary pool, named "name/size", with all features and promises of pools: an acquire
 * returns NULL only if at some moment every object of its class was in use.  Free objects of other classes do not
 * count, unless config.larger is set.  A release finds the pool by the address, because all classes have address
 * windows of one size, side by side.
 *
 * The pool of the smallest class is made with the set, each other pool by the first call that needs it.  That call
 * takes a lock and enters the kernel, and the system can refuse memory.  To avoid this, first call lfpool_set_pool()
 * for each class.
 *
 * lfpool/set_inline.h inlines the fast paths of lfpool_set_acquire(), lfpool_set_release() and
 * lfpool_set_release_if_owned().
 *
 * Any thread can call any function at any time, except lfpool_set_destroy().
 */
#ifndef LFPOOL_SET_H
#define LFPOOL_SET_H

#include "lfpool/lfpool.h"
#include "lfpool/report.h"
#include "lfpool/resize.h"

LFPOOL_C_BEGIN_

typedef struct lfpool_set_t lfpool_set_t; /* a set of pools */

/* ---- Configuration ----------------------------------------------------------------------------------------- */

/*
 * The configuration of a set.  Append-only: zero means "the default" for every field.  lfpool_set_create() copies it
 * and never writes to it.  Use LFPOOL_SET_CONFIG_INIT, or lfpool_set_config_init() in C++.
 *
 * Capacity, maximum and growth step of the classes are given in objects (pool.capacity, pool.max_capacity,
 * pool.growth_step), or else in bytes.  Every class gets the same number of objects or bytes, but at least one object.
 */
typedef struct lfpool_set_config_t {
	size_t struct_size;     /* sizeof(lfpool_set_config_t) in the caller's version of this header         */
	size_t largest;         /* bytes, 1 .. 1 GiB: the largest size; 0 = 64 KiB                            */
	size_t steps;           /* classes to each doubling: 4, 8 or 16; 0 = 8                                */
	size_t larger;          /* if every object of a class is in use and the class cannot grow, an acquire
	                           tries this number of larger classes, one after the other; 0 = none         */
	size_t class_bytes;     /* bytes of objects in each class, as with LFPOOL_PLAIN_STRIDE; 0 = 16 MiB    */
	size_t max_class_bytes; /* bytes of objects to which each class can grow, at least its first capacity;
	                           0 = a class does not grow                                                  */
	size_t growth_bytes;    /* bytes of objects by which a class grows automatically; 0 = never           */
	/* Sets the number of objects of each class, if classes differ.  lfpool_set_create() calls it once per class,
	 * without a lock.  `context` is pool.hooks.context.  `config` is the config of the class's pool; its
	 * object_size identifies the class.  plan() may change capacity, max_capacity (0: the class does not grow) and
	 * growth_step, and nothing else. */
	void (*plan)(void *context, lfpool_config_t *config);
	/* A registry (lfpool/registry.h) that makes the pools, with its profile's settings for "name/size".  Destroy
	 * the set before the registry.  NULL: no registry. */
	struct lfpool_registry_t *registry;
	size_t reserved[4]; /* must be 0 */
	/* The config of every class's pool, except for struct_size and object_size.  The smallest class has the size of
	 * object_alignment (0 = 16).  The hooks that build objects (create, validate, activate, deactivate, destroy)
	 * must be NULL, because they would not know the size.  Caller-provided memory must be NULL too. */
	lfpool_config_t pool;
} lfpool_set_config_t;

/* The default of every field, in C.  In C++ use lfpool_set_config_init(), to avoid warnings about missing fields. */
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
 * lfpool_set_create - make a set: reserve addresses, and make the pool of the smallest class.
 *
 * set_out   Receives the set; set to NULL on failure.
 * config    Read, not kept.
 * Returns   LFPOOL_OK; LFPOOL_E_ARGUMENT (a NULL pointer); LFPOOL_E_NO_MEMORY (or no addresses);
 *           LFPOOL_E_CONFIG_OBJECT_SIZE for `largest`; LFPOOL_E_CONFIG_STEPS; LFPOOL_E_CONFIG_HOOKS or LFPOOL_E_BUFFER
 *           for hooks or memory that a set cannot have; else as lfpool_create() or lfpool_registry_create_pool() for
 *           any class.  After a failure nothing is left.
 * Owner     The caller, until lfpool_set_destroy().
 * Memory    Reserves addresses: for each class a window of the same size, a power of two.  A window is large enough for
 *           the class that can grow to the most bytes.
 * Threads   Any.  Takes a lock; enters the kernel.
 * Cost      O(classes), and that of lfpool_create().
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_set_create(lfpool_set_t **set_out, const lfpool_set_config_t *config);

/*
 * lfpool_set_destroy - destroy the set and the pools of all its classes.
 *
 * set       NULL does nothing.  No other call on the set, its pools or their caches may be in progress or follow.
 * Returns   The number of objects that were still active.  SIZE_MAX: lfpool_destroy() refused some of the pools, so
 *           they and the set stay.
 * Threads   Any.  Takes a lock; enters the kernel.
 */
LFPOOL_API size_t lfpool_set_destroy(lfpool_set_t *set);

/*
 * lfpool_set_acquire - get an object of at least `size` bytes.
 *
 * size      Bytes; 0 counts as 1.
 * Returns   An object of at least `size` bytes, aligned to pool.object_alignment.  NULL: there is no class for `size`;
 *           at some moment during the call every object of its class was in use (with config.larger: each class that
 *           the call tried had such a moment); or the system refused memory for a class that was never used before.
 *           errno is unchanged.
 * Owner, threads   As lfpool_acquire().
 * Progress  As lfpool_acquire(); the first acquire of a class takes a lock and enters the kernel.
 * Cost      As lfpool_acquire(), and one acquire load.
 */
LFPOOL_API void *lfpool_set_acquire(lfpool_set_t *set, size_t size);

/*
 * lfpool_set_release - give an object back, from any thread.
 *
 * object    An active object of this set; NULL does nothing.
 * Returns   As lfpool_release() on the pool of its class.  The pool of the smallest class refuses and reports addresses
 *           that are in no pool of the set.
 * Threads, progress, cost   As lfpool_release(), and one acquire load.
 */
LFPOOL_API lfpool_status_t lfpool_set_release(lfpool_set_t *set, void *object);

/* ---- Classes ----------------------------------------------------------------------------------------------- */

/*
 * lfpool_set_class - find the class that serves a size: its pool, and the bytes of its objects.
 *
 * size      Bytes; 0 counts as 1.
 * make      Make the pool if it does not exist yet.
 * size_out  Receives the size of the class's objects; 0 if there is no class for `size`; may be NULL.
 * Returns   The pool; NULL if there is no class for `size`, if the system refused memory, or, without `make`, if the
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
 * Returns   Bytes; 0 if there is no class for `size`.
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
 * Returns   The pool; NULL if there is no class for `size`, or the system refused memory.
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
 * size_out  Receives the size of that pool's objects, or 0; may be NULL.
 * Returns   The pool in whose window the address is, even if no object is there.  NULL: the address is not in the
 *           window of a class that was used.
 * Threads   Any.  Wait-free, O(1); in malloc mode O(classes).
 */
LFPOOL_API lfpool_t *lfpool_set_pool_of(const lfpool_set_t *set, const void *pointer, size_t *size_out);

/*
 * lfpool_set_usable_size - get the size of the object at an address.
 *
 * pointer   Any value.
 * Returns   Bytes; 0 if `pointer` is not the address of an object of this set, active or free.
 * Threads, cost   As lfpool_set_pool_of().
 */
LFPOOL_INLINE_ size_t lfpool_set_usable_size(const lfpool_set_t *set, const void *pointer)
{
	size_t size;
	lfpool_t *pool = lfpool_set_pool_of(set, pointer, &size);

	return pool && lfpool_owns(pool, pointer) ? size : 0;
}

/*
 * lfpool_set_release_if_owned - release an object if it belongs to this set; for programs that also have other memory.
 *
 * object    Any pointer; NULL does nothing.
 * Returns   LFPOOL_E_FOREIGN if `object` is not in the address range of the set's objects; this is neither reported nor
 *           counted.  Otherwise as lfpool_set_release().
 * Threads, progress, cost   As lfpool_set_release(); in malloc mode O(classes).
 */
LFPOOL_API lfpool_status_t lfpool_set_release_if_owned(lfpool_set_t *set, void *object);

/* ---- Many objects ------------------------------------------------------------------------------------------ */

/*
 * lfpool_set_acquire_bulk - as lfpool_acquire_bulk(), for objects of at least `size` bytes.
 *
 * size      As for lfpool_set_acquire().
 * objects_out, count   As for lfpool_acquire_bulk().
 * Returns   The number of objects; fewer than `count` only where lfpool_set_acquire() would return NULL.
 * Threads, progress   As lfpool_set_acquire().
 * Cost      O(count).
 */
LFPOOL_INLINE_ size_t lfpool_set_acquire_bulk(lfpool_set_t *set, size_t size, void **objects_out, size_t count)
{
	lfpool_t *pool = lfpool_set_pool(set, size);

	size_t done = pool ? lfpool_acquire_bulk(pool, objects_out, count) : 0;

	/* Takes the rest from larger classes, if config.larger allows it. */
	for (void *object; done < count && (object = lfpool_set_acquire(set, size)); done++)
		objects_out[done] = object;
	return done;
}

/*
 * lfpool_set_release_bulk - as lfpool_release_bulk(), for objects of any classes.
 *
 * objects, count   As for lfpool_release_bulk().
 * Returns   The number of released objects.
 * Threads, progress   As lfpool_set_release().
 * Cost      O(count); lowest if the array is sorted by class.
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

/*
 * lfpool_set_trim - return memory of free objects of all classes to the system: lfpool_trim() of each pool.
 *
 *     while (lfpool_set_trim(set, 10, 1 << 20))
 *             do_something_else();
 *
 * keep, budget   As for lfpool_trim(), for each class.
 * Returns   true: there is more to do in some class.
 * Threads, progress, cost   As lfpool_trim().
 */
LFPOOL_INLINE_ bool lfpool_set_trim(lfpool_set_t *set, size_t keep, size_t budget)
{
	bool more = false;

	for (size_t size = 0, bytes; (bytes = lfpool_set_class_size(set, size)) != 0; size = bytes + 1) {
		lfpool_t *pool = lfpool_set_class(set, bytes, false, LFPOOL_NULL_);

		more = (pool && lfpool_trim(pool, keep, budget)) || more;
	}
	return more;
}

/* ---- Reports ----------------------------------------------------------------------------------------------- */

/*
 * lfpool_set_stats_sized, lfpool_set_stats - the sum of lfpool_stats() over the pools that exist.
 *
 * `high_water` is too high if the pools had their highest numbers at different times.
 *
 * stats_out, bytes   As for lfpool_stats_sized().
 * Returns, threads, progress   As lfpool_stats_sized().
 * Cost      That of lfpool_stats() for each pool.
 */
LFPOOL_API lfpool_status_t lfpool_set_stats_sized(const lfpool_set_t *set, lfpool_stats_t *stats_out, size_t bytes);
LFPOOL_INLINE_ lfpool_status_t lfpool_set_stats(const lfpool_set_t *set, lfpool_stats_t *stats_out)
{
	return lfpool_set_stats_sized(set, stats_out, sizeof(*stats_out));
}

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
