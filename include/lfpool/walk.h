/* SPDX-License-Identifier: MIT */
/*
 * walk.h - visit the objects of a pool: the active ones, or every slot.
 *
 *     lfpool_cursor_t cursor;
 *
 *     lfpool_cursor_open(&cursor, pool);
 *     for (struct particle *p; (p = lfpool_cursor_next(&cursor)); )
 *         if (dead(p))
 *             lfpool_release(pool, p);                       // legal
 *
 *     static bool update(void *world, void *object) { ...; return true; }
 *
 *     lfpool_for_each_active(pool, update, world);           // the same with a callback
 *
 * A walk over the active objects promises, while other threads acquire and release:
 *   1. An object that is active during the whole walk is visited exactly once.
 *   2. An object that is active during a part of the walk is visited at most once, even if it is released and acquired
 *      again.
 *   3. Each visited object was active when the walk looked at it.  The walk does not keep it active: the program must
 *      make sure that no other thread releases it during the visit.  (In malloc mode a release frees the object.)
 *      Writes of hooks.activate are visible to the visitor.  The program itself must order the holder's later writes
 *      before the visit.
 *   4. Every call is legal inside the walk: releasing any object, acquiring, another walk.
 *
 * Objects are visited in the order of their addresses (except in malloc mode).
 *
 * Threads    Any, and any number of walks at once, concurrently with every call except lfpool_destroy().  A cursor has
 *            one user at a time.
 * Progress   Wait-free, without a locked instruction.
 * Cost       O(slots ever used): one or two words per slot (docs/walking-and-handles.md has figures).
 */
#ifndef LFPOOL_WALK_H
#define LFPOOL_WALK_H

#include "lfpool/config.h"

LFPOOL_C_BEGIN_

/* Called with an object; true: continue, false: end the walk. */
typedef bool (*lfpool_visit_t)(void *context, void *object);
/* Called with an object, and whether it is active; true: continue, false: end the walk. */
typedef bool (*lfpool_visit_slot_t)(void *context, void *object, bool active);

/* ---- Cursors ----------------------------------------------------------------------------------------------- */

/* A walk without a callback.  The fields except `every` and `active` are private.  A cursor needs no close. */
typedef struct lfpool_cursor_t {
	const lfpool_t *pool; /* the pool whose objects are visited                */
	size_t next;          /* the first slot that the walk has not read yet     */
	size_t end;           /* the slot after the last one                       */
	size_t run_end;       /* the first unused slot after `next`                */
	size_t now_at;        /* the first state of the window that is visited     */
	size_t ahead_at;      /* the first state of the window that is prefetched  */
	uint64_t now;         /* bit i: state now_at + i seemed to be active       */
	uint64_t ahead;       /* bit i: state ahead_at + i seemed to be active     */
	size_t magazine;      /* slots per magazine                                */
	size_t object_size;   /* bytes                                             */
	bool every;           /* set it after opening to visit free objects too    */
	bool active;          /* with `every`: is the object just returned active? */
} lfpool_cursor_t;

/*
 * lfpool_cursor_open - begin a walk over all active objects.
 *
 * cursor_out  Written whole.
 */
LFPOOL_API void lfpool_cursor_open(lfpool_cursor_t *cursor_out, const lfpool_t *pool);

/*
 * lfpool_cursor_next - get the next active object of a walk.
 *
 * cursor    From lfpool_cursor_open() or lfpool_cursor_split().
 * Returns   The object; NULL at the end, and in every call after that.
 */
LFPOOL_API void *lfpool_cursor_next(lfpool_cursor_t *cursor);

/*
 * lfpool_cursor_split - divide a walk among workers.
 *
 * parts        Number of cursors, at least 1.
 * cursors_out  Room for `parts` cursors.  Each visits a part of the slots, in whole magazines; only the pool's last
 *              magazine may be short.  The sizes of the parts differ by at most one magazine.
 * Threads      One thread splits and hands out the parts.
 * Cost         O(parts).
 */
LFPOOL_INLINE_ void lfpool_cursor_split(lfpool_cursor_t *cursors_out, size_t parts, const lfpool_t *pool)
{
	lfpool_cursor_t whole;
	size_t magazines, end;

	lfpool_cursor_open(&whole, pool);
	magazines = (whole.end - whole.next + whole.magazine - 1) / whole.magazine;
	end = whole.end;
	for (size_t i = 0; i < parts; i++) {
		/* The last parts take one magazine more each if the division has a remainder, because the last magazine
		 * may be short. */
		const size_t share = (magazines / parts + (i >= parts - magazines % parts)) * whole.magazine;

		whole.end = share < end - whole.next ? whole.next + share : end;
		cursors_out[i] = whole;
		whole.next = whole.end;
	}
}

/* ---- Whole walks ------------------------------------------------------------------------------------------- */

/*
 * lfpool_for_each_active - visit the active objects.
 *
 * Returns   Number of visited objects, including the one for which `visit` returned false.
 */
LFPOOL_INLINE_ size_t lfpool_for_each_active(const lfpool_t *pool, lfpool_visit_t visit, void *context)
{
	lfpool_cursor_t cursor;
	size_t visited = 0;

	lfpool_cursor_open(&cursor, pool);
	for (void *object; (object = lfpool_cursor_next(&cursor));) {
		visited++;
		if (!visit(context, object))
			break;
	}
	return visited;
}

/*
 * lfpool_copy_active - copy pointers to the active objects into an array.
 *
 * objects_out  Room for `count` pointers.
 * count        Length of the array.
 * Returns      Number of pointers written: all active objects, or `count` if there are more.
 */
LFPOOL_INLINE_ size_t lfpool_copy_active(const lfpool_t *pool, void **objects_out, size_t count)
{
	lfpool_cursor_t cursor;
	size_t copied = 0;

	lfpool_cursor_open(&cursor, pool);
	for (void *object; copied < count && (object = lfpool_cursor_next(&cursor)); copied++)
		objects_out[copied] = object;
	return copied;
}

/*
 * lfpool_copy_active_objects - copy the contents of the active objects into an array, one after the other.
 *
 * Use it to fill the memory of a GPU, a file or a snapshot.  Holders must not write to their objects during the call:
 * that is a data race.  To copy on several threads, use lfpool_cursor_split() and memcpy().
 *
 * objects_out  Room for `count` objects of `bytes` bytes; no alignment needed.
 * count        Length of the array.
 * bytes        Bytes copied from the start of each object; at most config.object_size, else nothing is copied.
 * Returns      Number of objects copied: all active ones, or `count` if there are more.
 * Cost         A walk, and the copy.
 */
LFPOOL_INLINE_ size_t lfpool_copy_active_objects(const lfpool_t *pool, void *objects_out, size_t count, size_t bytes)
{
	unsigned char *to = LFPOOL_CAST_(unsigned char *, objects_out);
	lfpool_cursor_t cursor;
	size_t copied = 0;

	lfpool_cursor_open(&cursor, pool);
	if (bytes > cursor.object_size)
		return 0;
	for (const void *object; copied < count && (object = lfpool_cursor_next(&cursor)); copied++)
		memcpy(to + copied * bytes, object, bytes);
	return copied;
}

/*
 * lfpool_for_each_slot - visit every object, active or free: for example to prepare all objects once.
 *
 * Other threads may acquire free objects at any time, so write to them only while no other thread uses the pool.  The
 * call itself touches no object; unused memory reads as zero.  It visits all objects on accessible pages: after
 * lfpool_grow() also some that are not added yet, and after lfpool_shrink() also removed ones, both as free.
 * lfpool_trim() discards the contents of free objects.  In malloc mode nothing is visited.
 *
 * Returns   Number of visited slots.
 * Cost      O(slots visited).
 */
LFPOOL_INLINE_ size_t lfpool_for_each_slot(lfpool_t *pool, lfpool_visit_slot_t visit, void *context)
{
	lfpool_cursor_t cursor;
	size_t visited = 0;

	lfpool_cursor_open(&cursor, pool);
	cursor.every = true;
	for (void *object; (object = lfpool_cursor_next(&cursor));) {
		visited++;
		if (!visit(context, object, cursor.active))
			break;
	}
	return visited;
}

/*
 * lfpool_release_all - release every active object, whichever thread holds it.
 *
 * Hooks run as for lfpool_release(), and handles become stale.  A holder's own release of its object is then refused
 * (double release).
 *
 * Returns   Number of objects that this call released.  Objects that other threads acquire or release during the call
 *           may be among them.
 * Threads   Any, concurrently with every call except lfpool_destroy().  If holders may release during the call, the
 *           pool needs LFPOOL_CHECK_RACES, hooks.activate or hooks.deactivate: otherwise an object may be released
 *           twice.  Acquiring is legal.
 * Progress  Lock-free.
 */
LFPOOL_API size_t lfpool_release_all(lfpool_t *pool);

LFPOOL_C_END_

#endif
