/* SPDX-License-Identifier: MIT */
/*
 * walk.c - visit the objects of a pool, see lfpool/walk.h.
 *
 * Idea         The states are an array of words, one for each granule (arena.h), in the order of the addresses.  A walk
 *              reads a window of 64 states at a time, one window ahead of its visitor.  It prefetches the objects there
 *              that seem active, and loads their states a second time when it reaches them.  In a pool of a million
 *              objects, of which one in ten is active, a walk that reads each active object takes 10 ms without the
 *              prefetch, and 1 ms with it (lfpool-bench-walk).
 * Invariants   WK1 a walk passes each slot of its range once and never goes back, so it visits no object twice.
 *              WK2 an object that a cursor returns was active at the second load.  The first load does not count,
 *                  because the object may have been released while the program visited earlier objects.
 *              WK3 no slot outside the runs of census_run() is active.  A walk that happens after an acquire sees that
 *                  the acquired slot was carved.
 * Progress     Wait-free, without locked instructions; lfpool_release_all() is lock-free.
 * Edges        TELL (arena.h): from the activation of an object to the second load.
 */
#include "core/arena.h"
#include "object/debugging.h"
#include "object/lifecycle.h"
#include "pool/pool.h"
#include "pool/threads.h"
#include "waiting/waiters.h"

#include "lfpool/walk.h"

/* The number of states that scan() tests together. */
#define AT_ONCE 8

/* The number of states in a window, at most the number of bits in a cursor's word.  (The explorer's pools are small, so
 * its windows have one state.) */
#ifndef WALK_WINDOW
#define WALK_WINDOW 64
#endif

/* In a window with more active objects than this, the processor prefetches them automatically. */
#define DENSE 40

/* The first granule from `next` to end - 1 whose object seems active, or `end`. */
static inline size_t scan(_Atomic(uintptr_t) *state, size_t next, size_t end)
{
	/* relaxed, all: if a walk must see an activation, an edge of the program makes it visible; other walks may miss
	 * it.  A second load follows for each object that is found. */
	if (next < end && load_relaxed(&state[next]))
		return next;
	while (end - next >= AT_ONCE) {
		_Atomic(uintptr_t) *at = &state[next];
		const uintptr_t any = load_relaxed(&at[0]) | load_relaxed(&at[1]) | load_relaxed(&at[2]) |
				      load_relaxed(&at[3]) | load_relaxed(&at[4]) | load_relaxed(&at[5]) |
				      load_relaxed(&at[6]) | load_relaxed(&at[7]);

		if (any)
			break;
		next += AT_ONCE;
	}
	while (next < end && !load_relaxed(&state[next]))
		next++;
	return next;
}

static inline uintptr_t granule_of(const struct arena *arena, size_t slot)
{
	return lfpool_granule_of_(&arena->face, arena_object(arena, (uint32_t)slot));
}

/* Reads the next window of the run; false if no object in it seems active. */
static inline bool look_at_window(const struct arena *arena, lfpool_cursor_t *cursor)
{
	_Atomic(uintptr_t) *const state = arena->face.state;
	const size_t end = granule_of(arena, cursor->run_end - 1) + 1;
	const size_t first = scan(state, granule_of(arena, cursor->next), end);
	const size_t states = end - first < WALK_WINDOW ? end - first : WALK_WINDOW;
	uint64_t active = 0;

	for (size_t i = 0; i < states; i++)
		/* relaxed: as in scan(). */
		active |= (uint64_t)(load_relaxed(&state[first + i]) != 0) << i;
	cursor->ahead_at = first;
	cursor->ahead = active;
	/* The next window starts after the last slot whose object begins in this window or before it. */
	cursor->next = arena_slot_in(arena, first + states - 1) + (size_t)1;
	return active;
}

/* Moves `next` to a slot in a run of used slots, or to the end of the walk. */
static COLD void find_run(lfpool_cursor_t *cursor)
{
	cursor->next = census_run(&cursor->pool->core, cursor->next, &cursor->run_end);
	if (cursor->next >= cursor->run_end || cursor->next > cursor->end)
		cursor->next = cursor->end;
	if (cursor->run_end > cursor->end)
		cursor->run_end = cursor->end;
}

/* Reads the next window with an object that seems active.  If there is no such window, `ahead` is 0. */
static inline void look_ahead(const struct arena *arena, lfpool_cursor_t *cursor)
{
	cursor->ahead = 0;
	/* Repeats at the end of a run, and if the object that scan() saw was released before the window was read. */
	do {
		if (unlikely(cursor->next >= cursor->run_end))
			find_run(cursor);
		if (cursor->next >= cursor->end)
			return;
	} while (!look_at_window(arena, cursor));
	if (__builtin_popcountll(cursor->ahead) > DENSE)
		return;
	for (uint64_t left = cursor->ahead; left; left &= left - 1) {
		const size_t granule = cursor->ahead_at + (size_t)__builtin_ctzll(left);

		/* relaxed: a hint, the address of an active object. */
		__builtin_prefetch((const void *)load_relaxed(&arena->face.state[granule]));
	}
}

/* The next active slot, and its state; SLOT_NONE at the end. */
static inline uint32_t walk_next(const struct arena *arena, lfpool_cursor_t *cursor, uintptr_t *state_out)
{
	for (;;) {
		if (unlikely(!cursor->now)) {
			/* `ahead` is 0 at the start of the walk, and at its end. */
			if (!cursor->ahead)
				look_ahead(arena, cursor);
			cursor->now_at = cursor->ahead_at;
			cursor->now = cursor->ahead;
			if (!cursor->now)
				return SLOT_NONE;
			look_ahead(arena, cursor);
		}

		const size_t granule = cursor->now_at + (size_t)__builtin_ctzll(cursor->now);

		cursor->now &= cursor->now - 1;
		/* acquire, edge TELL: makes the writes of hooks.activate visible.  This is the second load (WK2). */
		*state_out = load_acquire(&arena->face.state[granule]);

		const uint32_t slot = likely(*state_out > LFPOOL_MARKED_) ? arena_slot(arena, *state_out ^ arena->veil)
									  : arena_slot_in(arena, granule);

		if (likely(arena_is_in_use(arena, slot, *state_out)))
			return slot;
	}
}

/* ---- Cursors ---- */

void lfpool_cursor_open(lfpool_cursor_t *cursor_out, const lfpool_t *pool)
{
	*cursor_out = (lfpool_cursor_t){
		.pool = pool,
		.next = 1,
		.end = slots_used(pool) + 1,
		.magazine = pool->core.magazines.slots,
		.object_size = pool->object_size,
	};
}

/* The object of the next slot, active or not; NULL at the end.  A slot that the cold store has not opened yet has no
 * object. */
static COLD void *next_of_every(lfpool_cursor_t *cursor)
{
	const lfpool_t *pool = cursor->pool;
	const struct arena *arena = &pool->core.arena;

	if (!pool_in_place(pool) || cursor->next > cold_opened(&pool->core.cold))
		return NULL;

	const uint32_t slot = (uint32_t)cursor->next++;
	/* acquire, edge TELL: as in a walk over the active objects. */
	const uintptr_t state = load_acquire(arena_state(arena, slot));

	if (!EMBEDDED && !state)
		debug_slot_show(lifecycle_debug(pool->lifecycle), slot, arena_object(arena, slot));
	cursor->active = arena_is_in_use(arena, slot, state);
	return arena_object(arena, slot);
}

void *lfpool_cursor_next(lfpool_cursor_t *cursor)
{
	const lfpool_t *pool = cursor->pool;
	uint32_t slot;
	uintptr_t state;
	void *object = NULL;

	if (unlikely(cursor->every))
		return next_of_every(cursor);
	/* Repeats only if an object of malloc mode was released after walk_next() found its slot; bounded by the number
	 * of slots. */
	while (!object && (slot = walk_next(&pool->core.arena, cursor, &state)))
		object = pool_object(pool, slot);
	return object;
}

size_t lfpool_release_all(lfpool_t *pool)
{
	struct arena *arena = &pool->core.arena;
	size_t released = 0;
	lfpool_cursor_t cursor;
	uint32_t slot;
	uintptr_t state;

	lfpool_cursor_open(&cursor, pool);
	while ((slot = walk_next(arena, &cursor, &state))) {
		const enum leave leave = arena_leave_from(arena, slot, state, GENERATION_RELEASED);

		if (leave == LEAVE_NOW)
			waiters_put(pool, thread_cache(pool), slot, pool_object(pool, slot));
		/* Refused only if the object's holder has released it meanwhile. */
		released += leave != LEAVE_REFUSED;
	}
	return released;
}
