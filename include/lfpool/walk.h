/* SPDX-License-Identifier: MIT */
/*
 * walk.h - visit the objects of a pool: the active ones, or every slot.  Included by lfpool.h.
 *
 *     static bool update(void *world, void *object) { ...; return true; }
 *
 *     lfpool_for_each_active(pool, update, world);
 *
 *     lfpool_cursor_t cursor;                                // the same without a callback
 *     lfpool_cursor_open(&cursor, pool);
 *     for (struct particle *p; (p = lfpool_cursor_next(&cursor)); )
 *         if (dead(p))
 *             lfpool_release(pool, p);                       // legal
 *
 * What a walk over the active objects promises, while other threads acquire and release as they like:
 *   1. An object that is active during the whole walk is visited exactly once.
 *   2. An object that is active during a part of the walk is visited at most once.  (An object, here, is its slot: one
 *      that is released and acquired again meanwhile is the same.)
 *   3. Each visited object was active at the moment the walk looked at it.  That it still is when the visitor looks is
 *      for the program to know: a walk holds nothing.  What hooks.activate wrote is visible; what the holder writes
 *      afterwards is ordered by the program.
 *   4. Inside the walk anything is legal: releasing the current object or any other, acquiring, another walk.
 * Objects are visited in the order of their addresses (except in the malloc backend); slots that were never used are
 * skipped, a magazine at a time. The walk looks a few objects ahead and asks the processor to fetch them, so a visitor
 * that reads them waits little.
 *
 * Threads, progress   Any, and any number of walks at once, concurrently with everything but lfpool_destroy().  The walk
 *            itself is wait-free and takes no locked instruction.
 * Cost       O(slots ever used): one byte of state is read for each slot (docs/walking-and-handles.md has the figures).
 *
 * In the malloc backend an object that another thread releases meanwhile is freed: there the program must see to it that
 * a visited object stays (see 3).
 */
#ifndef LFPOOL_WALK_H
#define LFPOOL_WALK_H

#include "lfpool/lfpool.h"

LFPOOL_C_BEGIN_

/* Told of an object; true to go on, false to end the walk. */
typedef bool (*lfpool_visit_t)(void *context, void *object);
/* Told of a slot: of the object's memory, and whether it is active. */
typedef bool (*lfpool_visit_slot_t)(void *context, void *object, bool active);

/*
 * lfpool_for_each_active - visit the active objects.
 *
 * Returns   How many were visited, that for which `visit` said false included.
 */
LFPOOL_API size_t lfpool_for_each_active(lfpool_t *pool, lfpool_visit_t visit, void *context);

/*
 * lfpool_for_each_slot - visit every slot, used or not, active or not; for preparing all objects once, say.
 *
 * Free objects are anybody's to acquire: write to them only while no other thread uses the pool.  Touches nothing by
 * itself; never-used memory reads as zero.  (The mutex backend takes its links out of free objects for it, and keeps
 * them elsewhere from then on.)  In the malloc backend free slots have no memory: nothing is visited.
 * Visits the slots that have their pages: after growing by hand some that the pool may still grow by, and after a shrink
 * those that were taken out, are among them, as free ones.  What is written to free objects is gone after lfpool_trim().
 * Returns   How many were visited.
 * Cost      O(slots visited).
 */
LFPOOL_API size_t lfpool_for_each_slot(lfpool_t *pool, lfpool_visit_slot_t visit, void *context);

/*
 * lfpool_copy_active - the active objects, into an array.
 *
 * objects_out  Room for `count` pointers.
 * count        How many there is room for.
 * Returns      How many were written: all active ones, but at most `count`.
 */
LFPOOL_API size_t lfpool_copy_active(const lfpool_t *pool, void **objects_out, size_t count);

/*
 * lfpool_copy_active_objects - the active objects themselves, one behind the other, into an array.
 *
 * What a GPU, a file or a snapshot wants.  A holder that writes meanwhile tears its object's copy, and races with the call:
 * copy in a phase in which holders do not write.  On several threads: lfpool_cursor_split(), and memcpy() of what each finds.
 *
 * objects_out  Room for `count` objects of `bytes` bytes, no alignment needed.
 * count        How many there is room for.
 * bytes        Of each object the first so many; at most config.object_size, or nothing is copied.
 * Returns      How many were copied: all active ones, but at most `count`.
 * Cost         A walk, and the bytes.
 */
LFPOOL_API size_t lfpool_copy_active_objects(const lfpool_t *pool, void *objects_out, size_t count, size_t bytes);

/* A walk without a callback.  Its fields are the library's.  Nothing needs to be closed. */
typedef struct lfpool_cursor {
	const lfpool_t *pool; /* whose objects are visited                      */
	size_t next;          /* the first slot that is still to be looked at   */
	size_t end;           /* and the first behind those                     */
	size_t now_at;        /* the first slot of the window that is visited   */
	size_t ahead_at;      /* and of the one that is fetched meanwhile       */
	uint64_t now;         /* slots of the window that seemed active, a bit each */
	uint64_t ahead;       /* likewise                                       */
} lfpool_cursor_t;

/*
 * lfpool_cursor_open - begin a walk over all active objects.
 *
 * cursor_out  Written whole.
 * Threads     Any.  Wait-free.
 */
LFPOOL_API void lfpool_cursor_open(lfpool_cursor_t *cursor_out, const lfpool_t *pool);

/*
 * lfpool_cursor_next - the next active object of a walk.
 *
 * cursor    That lfpool_cursor_open() or lfpool_cursor_split() has written.
 * Returns   The object; NULL at the end, and ever after.
 * Threads   Any, but a cursor has one user at a time.  Wait-free.
 */
LFPOOL_API void *lfpool_cursor_next(lfpool_cursor_t *cursor);

/*
 * lfpool_cursor_split - divide a walk among workers.
 *
 * parts        How many, at least 1.
 * cursors_out  Room for `parts` cursors: together they visit what one would, each slot in one part.  Each
 *              worker walks its own.  Their borders lie between magazines, and no two parts differ by more than one.
 * Threads      One thread splits, and hands the parts out.  Wait-free, O(parts).
 */
LFPOOL_API void lfpool_cursor_split(lfpool_cursor_t *cursors_out, size_t parts, const lfpool_t *pool);

/*
 * lfpool_release_all - release every active object, no matter which thread holds it.
 *
 * Returns   How many this call released.  Objects that are acquired or released by others meanwhile may or may not be
 *           among them; hooks run as for lfpool_release(); handles go stale.  Their holders' pointers are then stale
 *           too: releasing one again is refused as a double release.
 * Threads   Any, concurrently with everything but lfpool_destroy().  With LFPOOL_CHECK_RACES, or hooks.activate or
 *           hooks.deactivate set, an object that is released at the same instant by its holder is released once.
 *           Without them nobody may be releasing meanwhile (see LFPOOL_CHECK_RACES); acquiring is legal.
 * Progress  Lock-free.  O(slots ever used).
 */
LFPOOL_API size_t lfpool_release_all(lfpool_t *pool);

LFPOOL_C_END_

#endif
