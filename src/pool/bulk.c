/* SPDX-License-Identifier: MIT */
/*
 * bulk.c - many objects in one step; see bulk.h.
 *
 * Idea         What a single call pays once per object (a barrier, a look at top, two stores of bottom) is paid once
 *              for as many as the current magazine holds, or has room for.  The states of slots that lie together, as
 *              those do that were never used and those that calls for many have kept together, are changed by the word.
 * Invariants   U1  the user's hook is called only while nothing of the call is half done: it may use this very cache.
 * Progress     As one call for each object; a call that is stopped takes with it the objects it has taken, or not yet
 *              put.
 */
#include "pool/bulk.h"

#include "pool/misuse.h"
#include "pool/pool.h"

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

size_t bulk_take(struct cache_head *head, void **objects_out, size_t wanted, uint32_t *taken_out)
{
	struct cache *c = (struct cache *)head;
	lfpool_t *pool = head->pool;
	struct core *core = &pool->core;
	uint64_t first;

	*taken_out = 0;
	if (!pool->plain)
		return 0;

	const uint32_t most = wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX;
	const uint32_t taken = magazine_pop_many(c->current, core->asymmetric, most, &first);
	size_t done = 0, end = taken;

	*taken_out = taken;
	if (!taken)
		return 0;
	magazine_read_many(c->current, core->magazines.slots, first, taken, objects_out);
	if (pool->zero)
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
		(void)misuse_report(pool, objects_out[i], LFPOOL_E_NOT_IN_USE);
	return done;
}

/* ---- Release ---- */

size_t bulk_put(struct cache_head *head, void *const *objects, size_t count)
{
	struct cache *c = (struct cache *)head;
	const lfpool_t *pool = head->pool;
	struct lfpool_magazine *m = c->current;
	const uint32_t slots = pool->core.magazines.slots;
	uint64_t first;

	if (!pool->plain || pool->check_races)
		return 0;

	const uint32_t room = magazine_room(m, slots, &first), most = count < room ? (uint32_t)count : room;
	const uint32_t done = (uint32_t)turn(&pool->core.arena.face, objects, most, false, LFPOOL_ACTIVE, 0);

	magazine_place_many(m, slots, first, done, objects);
	magazine_push_placed(m, first, done);
	return done;
}
