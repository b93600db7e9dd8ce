/* SPDX-License-Identifier: MIT */
/*
 * bulk.c - many objects in one call.
 *
 * Idea         What a single call pays once per object (a barrier, a look at top, two stores of bottom) is paid once
 *              for as many as the current magazine holds, or has room for.  The states of slots that lie together, as
 *              those do that were never used and those that calls for many have kept together, are changed by the word.
 * Invariants   U1  the user's hook is called only while nothing of the call is half done: it may use this very cache.
 * Progress     As one call for each object; a call that is stopped takes with it the objects it has taken, or not yet
 *              put.
 */
#include "backend/backend_lockfree.h"

#include "object/misuse.h"
#include "pool/pool.h"
#include "waiting/waiters.h"

#include <string.h>

/* ---- States ---- */

/* A word of states, and what is in it for each.  Tools that keep account of each byte by itself see it byte by byte. */
#if defined(LFPOOL_EXPLORE)
#define BULK_STATES 2 /* its pools are small */
#define BULK_BY_BYTE
#else
#define BULK_STATES sizeof(uintptr_t)
#if defined(__SANITIZE_THREAD__)
#define BULK_BY_BYTE
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BULK_BY_BYTE
#endif
#endif
#endif

#ifdef BULK_BY_BYTE
typedef _Atomic(uint8_t) bulk_word;
#define BULK_EACH 1
#else
typedef _Atomic(uintptr_t) __attribute__((may_alias)) bulk_word;
#define BULK_EACH (UINTPTR_MAX / UINT8_MAX)
#endif

/* Turns the states of a word, aligned: of slots 1 to 8, and so on, from `from` into `to`, if each is `from`.  What it says of each is
 * what the verbs of a byte say. */
static inline bool turn_word(_Atomic(uint8_t) *first, uint8_t from, uint8_t to)
{
	bulk_word *const word = (void *)first;

	/* relaxed: see arena.h. */
	for (size_t i = 0; i < BULK_STATES / sizeof(bulk_word); i++)
		if (load_relaxed(&word[i]) != BULK_EACH * from)
			return false;
	/* release, edge TELL: as in turn(). */
	for (size_t i = 0; i < BULK_STATES / sizeof(bulk_word); i++)
		store_release(&word[i], BULK_EACH * to);
	return true;
}

/* With `slot`, that of objects[0], at one end of a word of states: are objects[0 .. BULK_STATES - 1] just the slots of that word, in
 * turn?  Those of no object, behind the last up to the end of the word, have a state of 0 for ever. */
static inline bool is_word(const struct lfpool_cache *face, void *const *objects, uint64_t slot)
{
	const uintptr_t step = slot % BULK_STATES ? face->stride : (uintptr_t)0 - face->stride;
	uintptr_t address = (uintptr_t)objects[0];

	for (unsigned i = 1; i < BULK_STATES; i++)
		if ((uintptr_t)objects[i] != (address += step))
			return false;
	return true;
}

/*
 * Turns the states of objects, in their order, from `from` into `to`; says how many before one that is no object of this pool,
 * or in another state.  `ours`: they are objects of this pool.  A word of states is looked at, and written, only where the call has
 * all its slots: what holds for the state of one (A2) holds for each.
 */
static inline size_t turn(const struct lfpool_cache *shared, void *const *objects, size_t count, bool ours, uint8_t from,
			  uint8_t to)
{
	/* A copy, which the stores below cannot change: nothing of it is read again. */
	const struct lfpool_cache face = *shared;
	void *const *const end = objects + count, *const *at = objects;

	while (at != end) {
		const uint64_t slot = ours ? lfpool_slot_at(&face, *at) : lfpool_slot_of(&face, *at);

		if (!ours && !likely(slot - 1 < face.slots))
			break;
		_Atomic(uint8_t) *const state = &face.state[slot];

		if (slot % BULK_STATES < 2 && (size_t)(end - at) >= BULK_STATES && is_word(&face, at, slot) &&
		    turn_word(&face.state[((slot - 1) & ~(uint64_t)(BULK_STATES - 1)) + 1], from, to)) {
			at += BULK_STATES;
			continue;
		}
		/* relaxed: see arena.h. */
		if (!likely(load_relaxed(state) == from))
			break;
		/* release, edge TELL: what an acquire zeroed; and for the fallback, see docs/memory-model.md. */
		store_release(state, to);
		at++;
	}
	return (size_t)(at - objects);
}

/* ---- Acquire ---- */

/* LFPOOL_ZERO: before they are active, so that a walk does not meet what is not zeroed yet; except those that are
 * active already, which have another holder. */
static void zero(const struct arena *arena, void *const *objects, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!arena_is_active(arena, arena_slot(arena, (uintptr_t)objects[i])))
			memset(objects[i], 0, arena->face.stride);
}

/* As many as the current magazine gives. */
static size_t acquire_near(struct cache_head *head, void **objects_out, uint32_t wanted, uint32_t *taken_out)
{
	struct cache *c = (struct cache *)head;
	struct core *core = c->core;
	uint64_t first;
	const uint32_t taken = magazine_pop_many(c->current, core->asymmetric, wanted, &first);
	size_t done = 0, end = taken;

	*taken_out = taken;
	if (!taken)
		return 0;
	magazine_read_many(c->current, core->magazines.slots, first, taken, objects_out);
	if (core->zero)
		zero(&core->arena, objects_out, taken);
	/* Those that are active already (released twice, in a race) go to the end.  Each of these entries is used up. */
	while ((done += turn(&core->arena.face, objects_out + done, end - done, true, 0, LFPOOL_ACTIVE)) < end) {
		void *twice = objects_out[done];

		objects_out[done] = objects_out[--end];
		objects_out[end] = twice;
	}
	if (unlikely(done < taken))
		tally_shared(&core->unpushed, (uint64_t)done - taken);
	/* U1. */
	for (size_t i = done; i < taken; i++)
		(void)misuse_report(head->pool, objects_out[i], LFPOOL_E_NOT_IN_USE);
	return done;
}

size_t bulk_acquire(struct cache_head *head, void **objects_out, size_t count)
{
	size_t done = 0;

	/* Each round takes something, or is the last. */
	while (done < count) {
		const size_t left = count - done;
		uint32_t taken = 0;

		if (((struct cache *)head)->core->plain)
			done += acquire_near(head, objects_out + done, left < UINT32_MAX ? (uint32_t)left : UINT32_MAX, &taken);
		if (taken)
			continue;
		/* The magazine is empty, and the general way fills it; or this is no plain pool. */
		objects_out[done] = lockfree_acquire_one(head);
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
	const uint32_t slots = c->core->magazines.slots;
	struct lfpool_magazine *m = c->current;
	const uint32_t done = (uint32_t)turn(&c->core->arena.face, objects, count, false, LFPOOL_ACTIVE, 0);

	magazine_place_many(m, slots, first, done, objects);
	magazine_push_placed(m, first, done);
	return done;
}

size_t bulk_release(struct cache_head *head, void *const *objects, size_t count)
{
	struct cache *c = (struct cache *)head;
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
			released += lfpool_cache_release_slow(&head->face, objects[seen]) == LFPOOL_OK;
		seen += seen < count;
	}
	/* W1 (waiters.h): what was pushed is visible before we look at the demand. */
	owner_fence(c->core->asymmetric);
	/* relaxed: after the fence. */
	if (unlikely(load_relaxed(c->core->arena.wanted)))
		waiters_serve(head->pool, head);
	return released;
}
