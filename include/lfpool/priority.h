/* SPDX-License-Identifier: MIT */
/*
 * priority.h - a pool that is never full: when all objects are in use, the one that will be missed least is taken from
 * its holder.  Not included by lfpool.h.
 *
 *     lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;
 *     lfpool_priority_t *voices;
 *     lfpool_handle_t sound;
 *
 *     config.object_size = sizeof(struct voice);
 *     config.capacity = 32;
 *     if (lfpool_priority_create(&voices, &config) != LFPOOL_OK) ...
 *
 *     struct voice *v = lfpool_priority_acquire(voices, loudness, NULL, &sound);   // any thread
 *     if (!v) ...                                     // 32 louder ones are playing, or pinned
 *     start(v);                                       // nobody else sees it yet
 *     lfpool_priority_publish(voices, sound);         // from here on it may be taken
 *     ...
 *     if ((v = lfpool_priority_pin(voices, sound))) { // NULL: it was taken meanwhile
 *         ...                                         // nobody takes it now
 *         lfpool_priority_unpin(voices, sound);
 *     }
 *     lfpool_priority_update(voices, sound, fading);
 *     lfpool_priority_release(voices, sound);
 *
 * Words.  A priority is any 64-bit number; the least goes first.  (lfpool_priority_of_double() maps a double to one;
 * config.before puts them in any other order.)  Of equal priorities the object that was acquired first goes first.  An
 * object is new from acquire to publish: its holder fills it, and nobody else gets at it.  Then it is active, until
 * it is released or evicted: taken from its holder for another one.  While it is pinned it is not
 * evicted.  The holder knows it by its handle, which goes stale at the release, or the eviction, for ever.  (A handle
 * is {slot, count of acquires of this pool}, 20 and 44 bits; the count comes round after 17 million million acquires:
 * half a year at a million a second.)
 *
 * What is promised, whatever other threads do at the same time:
 *   1. lfpool_priority_acquire() evicts, or returns NULL, only if at some moment during the call every object was in
 *      use.  At that moment the victim was the least: no object that could be evicted had a lower priority, or an equal
 *      one and was older.  NULL means that at that moment the least did not give way to the newcomer, or that every
 *      object was pinned or new.
 *   2. lfpool_priority_release_min() releases, and lfpool_priority_peek_min() names, an object that was the least at
 *      some moment during the call.
 *   3. Each change counts, for 1 and 2, from some moment during the call that makes it: acquire,
 *      publish, update, release, pin, unpin.  Of a change that is under way in another thread either may be seen:
 *      that it has happened, or not yet.
 *   4. The victim's handle is stale before anything else happens to it; then config.on_evict is called, and then the
 *      newcomer has the object.  An object is evicted at most once for each time it was acquired.
 *   5. Every call is lock-free: a thread stopped at any instruction of any call holds up nobody.  What such a thread
 *      keeps is what it has pinned, or has not published yet, or was just acquiring or releasing.  No call but create
 *      and destroy waits, or takes a lock. (When calls meet at one object or node they take records from a pool of
 *      this library, and the first time a thread does so it enters the kernel, for its cache.  More than 65,536 calls
 *      at once on one pool, 256 with LFPOOL_PREFAULT or LFPOOL_LOCK, would wait for each other.)
 *
 * Looking without a pin.  Objects stay mapped as long as the pool lives.  So a reader may look at an object that is not
 * pinned, and ask afterwards whether it was still the same one:
 *
 *     struct voice *v = lfpool_priority_look(voices, sound);
 *     uint32_t level = v ? atomic_load_explicit(&v->level, memory_order_acquire) : 0;
 *     if (!lfpool_priority_is_active(voices, sound)) ...     // what was read may be another voice's
 *
 * What is read so must be atomic, loaded with acquire and stored with release: a newcomer may be writing it.
 *
 * The pool has a fixed capacity.  The debug modes of lfpool/debug.h it has all; docs/priority.md says what each finds here.  With
 * config.backend, or the variable LFPOOL_BACKEND, it is one mutex around a binary heap, for comparison: promises 1 to 4 hold, 5 does
 * not.  With malloc each object is also allocated when it is acquired, and freed when its use ends; then lfpool_priority_look()
 * returns NULL, and those that are active when the pool is destroyed stay allocated, and hooks.destroy is not called for them.
 * In a child after fork() the objects that other threads were acquiring, evicting or releasing at
 * that moment stay lost; what they had pinned stays pinned, and what they had not published stays new, until a call of the child's with its handle.
 *
 * The algorithm: a tournament tree in the manner of the f-array (Jayanti, "f-arrays: implementation and applications",
 * 2002), with names that go stale instead of nodes that are always refreshed (docs/priority.md).
 *
 * This header reads as C99 to C23 and as C++11 to C++23.
 */
#ifndef LFPOOL_PRIORITY_H
#define LFPOOL_PRIORITY_H

#include "lfpool/evict.h"
#include "lfpool/lfpool.h"

LFPOOL_C_BEGIN_

typedef struct lfpool_priority lfpool_priority_t; /* an evicting pool */

/* ---- Configuration ----------------------------------------------------------------------------------------- */

/* What config.on_evict is told.  Valid during the hook only. */
typedef struct lfpool_evicted {
	lfpool_priority_t *pool; /* it was the pool's                                                             */
	void *object;            /* as its holder left it; the hook may read and write it, nobody else has it      */
	void *owner;             /* what was given to lfpool_priority_acquire() for it                             */
	lfpool_handle_t handle;  /* stale                                                                          */
	uint64_t priority;       /* the last it had                                                                */
} lfpool_evicted_t;

/* For config.flags, besides LFPOOL_ZERO, LFPOOL_PREFAULT, LFPOOL_LOCK and LFPOOL_PLAIN_STRIDE: a newcomer evicts an object of equal
 * priority too. */
#define LFPOOL_EVICT_EQUAL UINT32_C(0x10000)

/*
 * What a pool should be.  Append-only: zero means "the default" for every field but object_size and capacity.  Copied,
 * never written back.  Use LFPOOL_PRIORITY_CONFIG_INIT, or lfpool_priority_config_init() in C++.
 */
typedef struct lfpool_priority_config {
	size_t struct_size;      /* bytes: sizeof(lfpool_priority_config_t) as the caller was compiled            */
	const char *name;        /* for reports, where its records are the pool "name/records", the name cut off if
	                            need be; at most 63 bytes, copied; NULL = "unnamed"                           */
	size_t object_size;      /* bytes, 1 .. 1 GiB                                                             */
	size_t object_alignment; /* bytes, a power of two, 1 .. 1 GiB; 0 = alignof(max_align_t)                   */
	size_t capacity;         /* objects, 1 .. 2^20                                                            */
	uint32_t flags; /* LFPOOL_EVICT_EQUAL, LFPOOL_ZERO, LFPOOL_PREFAULT, LFPOOL_LOCK, LFPOOL_PLAIN_STRIDE, LFPOOL_FENCED */
	void *context;  /* handed to both of these                                                       */
	/* Does an object of priority a go before one of b?  NULL: if a < b.  A strict weak order, the same at all
	 * times; called with priorities of this pool's objects, and of newcomers that were refused or are not yet among
	 * them, by any thread, several times in each call. */
	bool (*before)(void *context, uint64_t a, uint64_t b);
	/* An object was taken from its holder: by an eviction, or by lfpool_priority_release_min().  Called by the
	 * thread that took it, before anybody else gets it; may call the pool.  NULL: nothing. */
	void (*on_evict)(void *context, const lfpool_evicted_t *evicted);
	/* create, activate, deactivate and destroy, with a context of their own, as in lfpool_config_t; misuse, for what the debug
	 * modes find (its misuse.pool is NULL); the other hooks must be NULL.  An object is activated by the acquire, before its holder gets it, and deactivated when nobody has it any more:
	 * by its release, by the last unpin after that, or by the call that evicts it, after on_evict.  A refusal: acquire
	 * returns NULL, what it evicted for that is free. */
	lfpool_hooks_t hooks;
	const char *debug;        /* debug modes, see lfpool/debug.h; read, not kept; NULL = those of LFPOOL_DEBUG alone */
	lfpool_backend_t backend; /* 0 = LFPOOL_BACKEND_LOCKFREE; the variable LFPOOL_BACKEND stands over it */
} lfpool_priority_config_t;

/* The default of every field, in C.  In C++, where this warns of the fields that it leaves out: lfpool_priority_config_init(). */
#define LFPOOL_PRIORITY_CONFIG_INIT {.struct_size = sizeof(lfpool_priority_config_t)}

/*
 * lfpool_priority_config_init - set every field to its default.
 *
 * config    Written whole; what was in it does not matter.
 * Threads   Any.  Wait-free.
 */
static inline void lfpool_priority_config_init(lfpool_priority_config_t *config)
{
	memset(config, 0, sizeof(*config));
	config->struct_size = sizeof(*config);
}

/* ---- Life -------------------------------------------------------------------------------------------------- */

/*
 * lfpool_priority_create - make a pool.
 *
 * pool_out  Receives it; set to NULL on failure.
 * config    Read, not kept.
 * Returns   LFPOOL_OK; LFPOOL_E_ARGUMENT (a NULL pointer); LFPOOL_E_NO_MEMORY; LFPOOL_E_LOCK; LFPOOL_E_CONFIG_*:
 *           names the field.  After a failure nothing is left behind.
 * Owner     The caller, until lfpool_priority_destroy().
 * Threads   Any.  Takes a lock; enters the kernel.
 * Cost      O(1); with LFPOOL_PREFAULT or LFPOOL_LOCK O(capacity).  Beside the objects about 86 bytes for each, once it
 *           was used; with one of those flags 130 bytes for each at once, and 60 to 76 KiB.
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_priority_create(lfpool_priority_t **pool_out,
								  const lfpool_priority_config_t *config);

/*
 * lfpool_priority_destroy - destroy it.
 *
 * pool      NULL is fine.  No other call on the pool may be under way or follow.
 * Returns   How many objects were in use, as lfpool_priority_count().
 * Threads   Any.  Takes a lock; enters the kernel.
 */
LFPOOL_API size_t lfpool_priority_destroy(lfpool_priority_t *pool);

/* ---- Objects ----------------------------------------------------------------------------------------------- */

/*
 * lfpool_priority_acquire - take an object, if need be from the holder who will miss it least.
 *
 * priority    Of the object, until an update.
 * owner       For config.on_evict.
 * handle_out  Receives its handle; 0 on failure.
 * Returns     The object, which is new: until lfpool_priority_publish() its handle serves for that and for
 *             lfpool_priority_release(), no more.  Its contents are what its last holder left, or zero bytes.  NULL:
 *             see promise 1; or handle_out is NULL.
 * Threads     Any.  Lock-free; calls on_evict.
 * Cost        O(1) while there are free objects; else O(log capacity).
 */
LFPOOL_API void *lfpool_priority_acquire(lfpool_priority_t *pool, uint64_t priority, void *owner, lfpool_handle_t *handle_out);

/*
 * lfpool_priority_publish - the object is filled: from here on it can be found, pinned, and evicted.
 *
 * handle    Of a new object.
 * Returns   LFPOOL_OK; LFPOOL_E_STALE: it names no new object; nothing changed.
 * Threads   Any.  Lock-free.  What was written to the object before is visible to a thread that pins, looks at, or
 *           evicts it.  A thread that publishes, or releases, what another has filled must order the two, as with any
 *           pointer.
 * Cost      O(log capacity): loads, and two locked instructions for each level of the tree on which it now goes first.
 */
LFPOOL_API lfpool_status_t lfpool_priority_publish(lfpool_priority_t *pool, lfpool_handle_t handle);

/*
 * lfpool_priority_pin - reach an object, and keep it from being evicted.
 *
 * handle    Any value.
 * Returns   The object, until the matching lfpool_priority_unpin(); NULL if the handle is stale, or the object is
 *           pinned 125 times already.  Pins keep nothing else away: several threads may have one object pinned.
 * Threads   Any.  Lock-free.  What was written before an unpin is visible after a later pin.
 * Cost      O(1), or O(log capacity) if the object was the least.
 */
LFPOOL_API void *lfpool_priority_pin(lfpool_priority_t *pool, lfpool_handle_t handle);

/*
 * lfpool_priority_unpin - undo one pin.
 *
 * handle    The one that was pinned; by now it may be stale, because the object was released meanwhile: the last unpin
 *           then frees it.
 * Returns   LFPOOL_OK; LFPOOL_E_STALE, LFPOOL_E_NOT_PINNED: refused, nothing changed.
 * Threads   Any.  Lock-free.
 * Cost      As lfpool_priority_publish(), for the last of several pins.
 */
LFPOOL_API lfpool_status_t lfpool_priority_unpin(lfpool_priority_t *pool, lfpool_handle_t handle);

/*
 * lfpool_priority_update - change an object's priority.
 *
 * handle    Any value.
 * priority  From here on.
 * Returns   LFPOOL_OK; LFPOOL_E_STALE: refused, nothing changed.  Of several at once one is the last, and stays.
 * Threads   Any.  Lock-free.
 * Cost      As lfpool_priority_publish().
 */
LFPOOL_API lfpool_status_t lfpool_priority_update(lfpool_priority_t *pool, lfpool_handle_t handle, uint64_t priority);

/*
 * lfpool_priority_release - give an object back.
 *
 * handle    Of an active object, or a new one.
 * Returns   LFPOOL_OK: the handle is stale from here on; a thread that has the object pinned keeps it until the last unpin.
 *           LFPOOL_E_STALE: it was evicted or released before; nothing changed.  Of several at once one succeeds.
 * Threads   Any.  Lock-free.
 * Cost      O(1), or O(log capacity) if the object was among the least.
 */
LFPOOL_API lfpool_status_t lfpool_priority_release(lfpool_priority_t *pool, lfpool_handle_t handle);

/*
 * lfpool_priority_release_min - release the `count` least objects, one after the other; pinned ones are passed over.
 *
 * count     How many.
 * Returns   How many were released: fewer if no more could be.  Calls on_evict for each.
 * Threads   Any.  Lock-free.
 * Cost      O(log capacity) for each.
 */
LFPOOL_API size_t lfpool_priority_release_min(lfpool_priority_t *pool, size_t count);

/*
 * lfpool_priority_peek_min - which object would be evicted next?
 *
 * priority_out  Receives its priority; may be NULL.
 * Returns       Its handle; 0 if none can be evicted.
 * Threads       Any.  Lock-free.
 * Cost          O(1): five loads; O(log capacity) if it was just pinned or changed.
 */
LFPOOL_API lfpool_handle_t lfpool_priority_peek_min(lfpool_priority_t *pool, uint64_t *priority_out);

/* ---- Questions --------------------------------------------------------------------------------------------- */

/*
 * lfpool_priority_is_active - does the handle still name an object?
 *
 * handle    Any value.
 * Returns   true: it does, and what was read from the object before this call, by loads that acquire, was this holder's.
 *           false: it is stale, or names a new object.
 * Threads   Any.  Wait-free, except for concurrent changes of this object; O(1).
 */
LFPOOL_API bool lfpool_priority_is_active(const lfpool_priority_t *pool, lfpool_handle_t handle);

/*
 * lfpool_priority_look - the object, not pinned: "Looking without a pin", above, says what may be done with it.
 *
 * handle    Any value.
 * Returns   The object; NULL if the handle is stale, or names a new object.
 * Threads, progress, cost   As lfpool_priority_is_active().
 */
LFPOOL_API void *lfpool_priority_look(const lfpool_priority_t *pool, lfpool_handle_t handle);

/*
 * lfpool_priority_get - the object's priority.
 *
 * handle        Any value.
 * priority_out  Receives it.
 * Returns       false, and nothing is written, if the handle is stale, or names a new object.
 * Threads, progress, cost   As lfpool_priority_is_active().
 */
LFPOOL_API bool lfpool_priority_get(const lfpool_priority_t *pool, lfpool_handle_t handle, uint64_t *priority_out);

/*
 * lfpool_priority_count - objects in use.
 *
 * Returns   How many are new, active, still pinned after their release, or in the hands of a call that acquires,
 *           evicts or releases one.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API size_t lfpool_priority_count(const lfpool_priority_t *pool);

/*
 * lfpool_priority_capacity - objects there are.
 *
 * Returns   config.capacity.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API size_t lfpool_priority_capacity(const lfpool_priority_t *pool);

/* What has happened so far.  Each is exact while no call is under way. */
typedef struct lfpool_priority_statistics {
	uint64_t acquired; /* objects handed out                                       */
	uint64_t evicted;  /* taken from their holders, by acquires and by release_min  */
	uint64_t refused;  /* acquires that returned NULL                              */
} lfpool_priority_stats_t;

/*
 * lfpool_priority_stats - count of what happened.
 *
 * stats_out  Receives it; need not be initialised.
 * Threads    Any.  Wait-free, O(1).
 */
LFPOOL_API void lfpool_priority_stats(const lfpool_priority_t *pool, lfpool_priority_stats_t *stats_out);

/* Told of an active object, which stays pinned until this returns; true to go on, false to end the walk. */
typedef bool (*lfpool_priority_visit_t)(void *context, void *object, lfpool_handle_t handle, uint64_t priority);

/*
 * lfpool_priority_for_each - visit the active objects, each pinned while it is visited.
 *
 * An object that is active during the whole walk is visited once; one that comes or goes meanwhile at most once for
 * each time it was acquired.  One that is pinned 125 times already is passed over.  The visitor may call the pool, and
 * release what it visits.  Meanwhile the visited object is not evicted.
 *
 * Returns   How many were visited, that for which `visit` said false included.
 * Threads   Any, several at once.  Lock-free.
 * Cost      O(capacity).
 */
LFPOOL_API size_t lfpool_priority_for_each(lfpool_priority_t *pool, lfpool_priority_visit_t visit, void *context);

/* ---- Reports ----------------------------------------------------------------------------------------------- */

/*
 * lfpool_priority_dump - describe a pool: configuration, counters, how many are pinned, which would be evicted next.
 *
 *     capacity = active + new + released + free
 *
 * (`released`: and still pinned) exactly, while no other thread is inside a call on the pool; else the dump says how many
 * are unaccounted.
 *
 * format, text_out, room   As for lfpool_dump().
 * Returns   As lfpool_dump().
 * Threads   Any; a snapshot.  Lock-free.
 * Cost      O(capacity).
 */
LFPOOL_API size_t lfpool_priority_dump(lfpool_priority_t *pool, lfpool_format_t format, char *text_out, size_t room);

/*
 * lfpool_priority_check - is the pool intact?  Walks every invariant and names the first that is violated.
 *
 * pool       No other call on it may be under way; objects may be new, active, pinned.  (In a child after fork, calls that
 *            other threads of the parent were in are under way for ever.)
 * where_out  Receives the number of the slot (the low 20 bits of its handle), or of the node, in question; SIZE_MAX if
 *            there is none; may be NULL.
 * Returns    NULL if all hold; else a string as of lfpool_check(), which its pool of records is asked first.
 * Threads    Any, but one at a time.  Allocates with the C library, which may take a lock; may enter the kernel.
 * Cost       O(capacity); calls config.before.
 */
LFPOOL_API const char *lfpool_priority_check(const lfpool_priority_t *pool, size_t *where_out);

LFPOOL_C_END_

#endif
