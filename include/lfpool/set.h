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
 *     lfpool_set_release(set, message);                    // any thread; no size: the address says it
 *
 *     lfpool_set_destroy(set);
 *
 * Classes.  A size is served from the smallest class that holds it.  With alignment A and S steps, both configured, the
 * classes are A, 2A, 3A ... up to 2SA, and from there S to each doubling, at equal distances: by default 16, 32, ...
 * 256, 288, 320, ... 512, 576, ... 65536.  A class is larger than the size asked for by at most A - 1 bytes, for sizes
 * up to SA; beyond that by less than one part in S + 1 of the class.  By default: at most 15 bytes up to 128, less than
 * a ninth from 129 up, and so at most an eighth from 113 up.
 *
 * Addresses.  The objects of each class lie in a window of its own, and all windows are equally large and lie side by
 * side: so a release finds the pool by a subtraction and a shift.
 *
 * Promises.  Each class keeps those of a single pool: NULL only if at some moment during the call every object of that
 * class was in use, releases never fail, wrong releases are refused and reported.  Objects that are free in another
 * class are not counted, unless config.larger says so.
 *
 * Pools are made when they are first needed, and then stay.  That one call takes a lock and enters the kernel, as
 * lfpool_create() does; and it may be refused memory.  Who cannot have that calls lfpool_set_pool() for each class
 * beforehand.
 *
 * This header reads as C99 to C23 and as C++11 to C++23.
 */
#ifndef LFPOOL_SET_H
#define LFPOOL_SET_H

#include "lfpool/lfpool.h"

LFPOOL_C_BEGIN_

typedef struct lfpool_set lfpool_set_t; /* a set of pools */

/* ---- Configuration ----------------------------------------------------------------------------------------- */

/*
 * What a set should be.  Append-only: zero means "the default" for every field.  Copied by lfpool_set_create(), never
 * written back.  Use LFPOOL_SET_CONFIG_INIT, or lfpool_set_config_init() in C++.
 *
 * How many objects a class has, at first and at most, is said in bytes, as many for each class, or in objects; objects
 * win.  A class has one object at least.
 */
typedef struct lfpool_set_config {
	size_t struct_size;       /* bytes: sizeof(lfpool_set_config_t) as the caller was compiled          */
	const char *name;         /* for messages; at most 63 bytes, copied; NULL = "unnamed".  The pool of a
	                             class is called "name/size", the name cut off to make room             */
	size_t largest;           /* bytes, 1 .. 1 GiB: the largest size; 0 = 64 KiB                        */
	size_t object_alignment;  /* bytes, a power of two, 1 .. 1 GiB, also the smallest class; 0 = 16     */
	size_t steps;             /* classes to each doubling: 4, 8 or 16; 0 = 8                            */
	size_t larger;            /* classes that an acquire goes on to, the next larger ones one by one,
	                             when it found every object of a class in use, and it cannot grow (or
	                             hooks.exhausted gave up); 0 = none                                     */
	size_t class_bytes;       /* bytes of objects in each class, without what LFPOOL_PLAIN_STRIDE would
	                             save; 0 = 16 MiB                                                       */
	size_t capacity;          /* objects in each class, 1 .. 2^31; 0 = class_bytes says it              */
	size_t max_class_bytes;   /* bytes of objects that each class can grow to; 0 = it does not grow;
	                             less than there are at first counts as that                            */
	size_t max_capacity;      /* objects that each class can grow to; 0 = max_class_bytes says it       */
	size_t growth_bytes;      /* bytes of objects that a class grows by when a call finds nothing;
	                             0 = classes grow only when they are told to                            */
	size_t growth_step;       /* the same in objects; 0 = growth_bytes says it                          */
	size_t cache_capacity;    /* this and the rest for the pool of each class, as in lfpool_config_t    */
	uint32_t flags;           /* LFPOOL_PREFAULT counts when a class is first used                      */
	lfpool_backend_t backend; /* LFPOOL_BACKEND_MALLOC: objects lie anywhere, see below                 */
	lfpool_hooks_t hooks;     /* context, misuse, exhausted; those that build objects must be NULL: they
	                             would not know of what size                                            */
	size_t depot_shards;      /* as in lfpool_config_t                                                  */
	const char *debug;        /* likewise                                                               */
	/* Says how many objects a class has, if not all have as many.  `context` is hooks.context; `config` is what the class's
	 * pool would be: object_size says which class, capacity, max_capacity (0 if it does not grow) and growth_step may be
	 * changed, all else is read only.  Called when the set is created, when a class is first used, and for reports, on any
	 * thread, and says the same each time.  It must not call the set. */
	void (*plan)(void *context, lfpool_config_t *config);
	/* lfpool/registry.h: what its profile says of this set's name, of each class, stands over the config, and it shows the
	 * set as one row.  NULL: none. */
	struct lfpool_registry *registry;
} lfpool_set_config_t;

/* The default of every field, in C.  In C++, where this warns of the fields that it leaves out: lfpool_set_config_init(). */
#define LFPOOL_SET_CONFIG_INIT {.struct_size = sizeof(lfpool_set_config_t)}

/*
 * lfpool_set_config_init - set every field to its default.
 *
 * config    Written whole; what was in it does not matter.
 * Threads   Any.  Wait-free.
 */
static inline void lfpool_set_config_init(lfpool_set_config_t *config)
{
	memset(config, 0, sizeof(*config));
	config->struct_size = sizeof(*config);
}

/* ---- Set --------------------------------------------------------------------------------------------------- */

/*
 * lfpool_set_create - make a set.  Reserves addresses; no pool is made yet.
 *
 * set_out   Receives the set; set to NULL on failure.
 * config    Read, not kept.
 * Returns   LFPOOL_OK; LFPOOL_E_ARGUMENT (a NULL pointer); LFPOOL_E_NO_MEMORY (also for addresses: each window is the
 *           power of two that holds what the largest class can grow to); LFPOOL_E_CONFIG_*: OBJECT_SIZE for `largest`,
 *           CAPACITY and MAX_CAPACITY also for what follows from bytes or `plan` says, HOOKS also for a hook that must be NULL, the
 *           others name the field.  After a failure nothing is left behind.
 * Owner     The caller, until lfpool_set_destroy().
 * Threads   Any.  Takes a lock; enters the kernel.
 * Cost      O(classes).
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_set_create(lfpool_set_t **set_out, const lfpool_set_config_t *config);

/*
 * lfpool_set_destroy - destroy the set and the pools of all its classes.
 *
 * set       NULL is fine.  No other call on the set, its pools or their caches may be under way or follow.
 * Returns   How many objects were still active.
 * Threads   Any.  Takes a lock; enters the kernel.
 */
LFPOOL_API size_t lfpool_set_destroy(lfpool_set_t *set);

/*
 * lfpool_set_acquire - take an object of at least `size` bytes.
 *
 * size      Bytes; 0 counts as 1.
 * Returns   An object of lfpool_set_class_size(set, lfpool_set_class_of(set, size)) bytes, aligned to
 *           config.object_alignment; or, with config.larger, of a larger class.  NULL when there is no class for
 *           `size`; when at some moment during the call every object of its class was in use (with config.larger: for
 *           each of these classes at some moment of its own); or when the system refused memory for the pool of the
 *           class, which had never been used before.  errno is left alone.
 * Owner, threads   As lfpool_acquire().
 * Progress  As lfpool_acquire(), and one acquire load; the first of a class takes a lock and enters the kernel.
 * Cost      O(1) and lfpool_acquire().
 */
LFPOOL_API void *lfpool_set_acquire(lfpool_set_t *set, size_t size);

/*
 * lfpool_set_release - give an object back, from any thread.
 *
 * object    An active object of this set; NULL is fine and does nothing.
 * Returns   LFPOOL_OK; LFPOOL_E_FOREIGN, LFPOOL_E_INTERIOR, LFPOOL_E_NOT_IN_USE: refused, reported to the misuse hook,
 *           nothing changed.  What lies in no class that is in use is LFPOOL_E_FOREIGN; its misuse.pool is NULL, and
 *           pool_name and count are the set's.
 * Threads, progress, cost   As lfpool_release(), and one acquire load.
 */
LFPOOL_API lfpool_status_t lfpool_set_release(lfpool_set_t *set, void *object);

/*
 * lfpool_set_release_if_owned - give back what may be this set's, or somebody else's.
 *
 * object    Any pointer; NULL is fine and does nothing.
 * Returns   LFPOOL_E_FOREIGN: it does not lie among the set's objects; nothing is reported or counted.  Otherwise as
 *           lfpool_set_release().
 * Threads, progress, cost   As lfpool_set_release(); with the malloc backend O(classes).
 */
LFPOOL_API lfpool_status_t lfpool_set_release_if_owned(lfpool_set_t *set, void *object);

/*
 * lfpool_set_acquire_bulk - as lfpool_acquire_bulk(), objects of at least `size` bytes; otherwise as
 * lfpool_set_acquire().
 *
 * size      As for lfpool_set_acquire().
 * objects_out, count   As for lfpool_acquire_bulk().
 * Returns   How many; fewer than `count` only where lfpool_set_acquire() would have returned NULL for the next.
 * Threads, progress   As lfpool_set_acquire().
 * Cost      O(count).
 */
LFPOOL_API size_t lfpool_set_acquire_bulk(lfpool_set_t *set, size_t size, void **objects_out, size_t count);

/*
 * lfpool_set_release_bulk - as lfpool_release_bulk(), objects of any classes.
 *
 * objects, count   As for lfpool_release_bulk().
 * Returns   How many objects were released.
 * Threads, progress   As lfpool_set_release().
 * Cost      O(count); least if those of a class stand together.
 */
LFPOOL_API size_t lfpool_set_release_bulk(lfpool_set_t *set, void *const *objects, size_t count);

/* ---- Classes ----------------------------------------------------------------------------------------------- */

/*
 * lfpool_set_class_count - how many classes there are.
 *
 * Returns   How many; they are numbered from 0, by size.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API size_t lfpool_set_class_count(const lfpool_set_t *set);

/*
 * lfpool_set_class_size - bytes of each object of a class.
 *
 * class_number  Any.
 * Returns       The bytes; 0 if there is no such class.
 * Threads       Any.  Wait-free, O(1).
 */
LFPOOL_API size_t lfpool_set_class_size(const lfpool_set_t *set, size_t class_number);

/*
 * lfpool_set_class_of - the class that serves a size.
 *
 * size      Bytes; 0 counts as 1.
 * Returns   Its number; SIZE_MAX if there is none.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API size_t lfpool_set_class_of(const lfpool_set_t *set, size_t size);

/*
 * lfpool_set_pool - the pool of a class, made if it is not there yet.
 *
 * Everything that can be asked of a pool and done with it can be with this one (walks, handles, caches of one's own,
 * grow and shrink, waiting), but lfpool_destroy(): it is the set's.
 *
 * class_number  Any.
 * Returns   The pool; NULL if there is no such class, or the system refused memory.
 * Threads   Any.  Wait-free if the pool is there; else takes a lock and enters the kernel.
 */
LFPOOL_API lfpool_t *lfpool_set_pool(lfpool_set_t *set, size_t class_number);

/*
 * lfpool_set_peek - the pool of a class, if it is there.
 *
 * class_number  Any.
 * Returns       The pool; NULL if none was made yet, or there is no such class.
 * Threads       Any.  Wait-free, O(1).
 */
LFPOOL_API lfpool_t *lfpool_set_peek(const lfpool_set_t *set, size_t class_number);

/* ---- Questions --------------------------------------------------------------------------------------------- */

/*
 * lfpool_set_owns - is `pointer` the address of an object of this set, active or free, of a class that was used?
 *
 * pointer   Any value.
 * Returns   true if it is.  With the malloc backend: of an active object.
 * Threads   Any.  Wait-free, O(1); with the malloc backend O(classes).
 */
LFPOOL_API bool lfpool_set_owns(const lfpool_set_t *set, const void *pointer);

/*
 * lfpool_set_usable_size - bytes that the object at `pointer` has: its class's.
 *
 * pointer   Any value.
 * Returns   The bytes; 0 if lfpool_set_owns() says no.
 * Threads, cost   As lfpool_set_owns().
 */
LFPOOL_API size_t lfpool_set_usable_size(const lfpool_set_t *set, const void *pointer);

/*
 * lfpool_set_stats - the sum of lfpool_stats() over all classes.
 *
 * A class that was never used counts: its capacity is `untouched`.  `misuses` has the set's own refusals in it.
 * `high_water` is a sum too: the classes need not have had their most at the same time.
 *
 * Returns, threads, progress   As lfpool_stats().
 * Cost      The sum.
 */
LFPOOL_API lfpool_status_t lfpool_set_stats(const lfpool_set_t *set, lfpool_stats_t *stats_out);

/*
 * lfpool_set_dump - describe a set: configuration, sums, a line for each class that was used (LFPOOL_TEXT); or with the
 * whole lfpool_dump() of its pool (LFPOOL_JSON).
 *
 * format, text_out, room   As for lfpool_dump().
 * Returns   As lfpool_dump().
 * Threads, progress   As lfpool_dump().
 * Cost      Of lfpool_dump() for each class.
 */
LFPOOL_API size_t lfpool_set_dump(const lfpool_set_t *set, lfpool_format_t format, char *text_out, size_t room);

LFPOOL_C_END_

#endif
