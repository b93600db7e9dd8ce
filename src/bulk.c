/* SPDX-License-Identifier: MIT */
/*
 * bulk.c - many objects in one call.
 *
 * Idea         What a single call pays once per object (a barrier, a look at top, two stores of bottom) is paid once
 *              for as many as the current magazine holds, or has room for.  The slots are read where they lie in the
 *              magazine, and written there: nothing is copied.
 * Invariants   U1  the user's hook is called only while nothing of the call is half done: it may use this very cache.
 * Progress     As one call for each object; a call that is stopped takes with it the objects it has taken, or not yet
 *              put.
 */
#include "backend_lockfree.h"

#include "pool.h"

#include <string.h>

/* ---- Acquire ---- */

/*
 * Makes `count` slots, from position `first` on, active, the newest first.  Objects that are active already (released
 * twice, in a race) go to the end of objects_out; says how many are not among those.
 */
static size_t activate(struct arena *arena, const struct lfpool_magazine *m, uint32_t slots, uint64_t first,
		       uint32_t count, void **objects_out)
{
	/* A copy, which the stores below cannot change: nothing of it is read again. */
	const struct lfpool_cache face = arena->face;
	size_t done = 0, twice = 0;

	for (uint32_t i = count; i-- > 0;) {
		void *object = (void *)magazine_at(m, slots, first + i);

		if (face.state) {
			const uint64_t slot = lfpool_slot_at(&face, object);
			/* relaxed: see arena.h.  release, edge TELL: what zero() wrote; and for the fallback,
			 * see docs/memory-model.md. */
			if (unlikely(load_relaxed(&face.state[slot]))) {
				objects_out[count - ++twice] = object;
				continue;
			}
			store_release(&face.state[slot], LFPOOL_ACTIVE);
		}
		objects_out[done++] = object;
	}
	return done;
}

/* LFPOOL_ZERO: before they are active, so that a walk does not meet what is not zeroed yet; but for those that are
 * active already, which are somebody else's. */
static void zero(const struct arena *arena, const struct lfpool_magazine *m, uint32_t slots, uint64_t first,
		 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uintptr_t object = magazine_at(m, slots, first + i);

		if (!arena_is_twice(arena, arena_slot(arena, object)))
			memset((void *)object, 0, arena->face.stride);
	}
}

/* As many as the current magazine gives. */
static size_t acquire_near(struct handle *handle, void **objects_out, uint32_t wanted, uint32_t *taken_out)
{
	struct cache *c = (struct cache *)handle;
	struct core *core = c->core;
	const uint32_t slots = core->magazines.slots;
	uint64_t first;
	const uint32_t taken = magazine_pop_many(c->current, core->asymmetric, wanted, &first);

	if (core->zero && taken)
		zero(&core->arena, c->current, slots, first, taken);

	const size_t done = taken ? activate(&core->arena, c->current, slots, first, taken, objects_out) : 0;

	*taken_out = taken;
	/* Each of these entries is used up.  U1. */
	if (unlikely(done < taken))
		tally_shared(&core->unpushed, (uint64_t)done - taken);
	for (size_t i = done; i < taken; i++)
		(void)misuse_report(handle->pool, objects_out[i], LFPOOL_E_NOT_IN_USE);
	return done;
}

size_t bulk_acquire(struct handle *handle, void **objects_out, size_t count)
{
	size_t done = 0;

	/* Each round takes something, or is the last. */
	while (done < count) {
		const size_t left = count - done;
		uint32_t taken = 0;

		if (((struct cache *)handle)->core->plain)
			done += acquire_near(handle, objects_out + done, left < UINT32_MAX ? (uint32_t)left : UINT32_MAX,
					     &taken);
		if (taken)
			continue;
		/* The magazine is empty, which the general way mends; or this is no plain pool. */
		objects_out[done] = lockfree_acquire_through(handle, SLOT_NONE);
		if (!objects_out[done])
			break;
		done++;
	}
	return done;
}

/* ---- Release ---- */

/*
 * Makes objects free and pushes them, in their order, until one is not just an active object of this pool, or `count`
 * of them are done, for which there must be room; says how many.
 */
static uint32_t release_run(struct cache *c, void *const *objects, uint32_t count, uint64_t first)
{
	/* A copy, which the stores below cannot change: nothing of it is read again. */
	const struct lfpool_cache face = c->core->arena.face;
	const uint32_t slots = c->core->magazines.slots;
	struct lfpool_magazine *m = c->current;
	uint32_t i;

	for (i = 0; i < count; i++) {
		const uint64_t slot = lfpool_slot_of(&face, objects[i]);

		if (!likely(slot - 1 < face.slots))
			break;
		if (face.state) {
			/* relaxed, both: see arena.h. */
			if (!likely(load_relaxed(&face.state[slot]) == LFPOOL_ACTIVE))
				break;
			store_relaxed(&face.state[slot], 0);
		}
		magazine_place(m, slots, first + i, (uintptr_t)objects[i]);
	}
	magazine_push_placed(m, first, i);
	return i;
}

size_t bulk_release(struct handle *handle, void *const *objects, size_t count)
{
	struct cache *c = (struct cache *)handle;
	const bool runs = c->core->plain && !c->core->check_races;
	size_t seen = 0, released = 0;

	while (seen < count) {
		const size_t left = count - seen;
		uint64_t first;
		uint32_t room = magazine_room(c->current, c->core->magazines.slots, &first);
		uint32_t run = runs ? release_run(c, objects + seen, left < room ? (uint32_t)left : room, first) : 0;

		seen += run;
		released += run;
		/* The magazine is full, or something is odd about the next: that one by the general way.  U1. */
		if (seen < count && objects[seen])
			released += lfpool_cache_release_slow(&handle->face, objects[seen]) == LFPOOL_OK;
		seen += seen < count;
	}
	/* W1 (demand.h): what was pushed is visible before we look at the demand. */
	owner_fence(c->core->asymmetric);
	/* relaxed: after the fence. */
	if (unlikely(load_relaxed(c->core->arena.demand)))
		demand_serve(handle->pool, handle);
	return released;
}
