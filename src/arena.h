/* SPDX-License-Identifier: MIT */
/*
 * arena.h - one address range: the pool's own data, the state words, and the objects.
 *
 * Idea         [ room for the pool | state words | no access | objects | no access ].  Objects are contiguous and
 *              never move; slot -> address is a multiply, address -> slot a multiply by an inverse and a rotation
 *              that also finds out whether the address is the start of an object at all (lfpool_slot_of, exact for
 *              every stride).  Nothing is initialised: memory is used as it is touched. The state of a slot,
 *              {generation:31, in use:1}, lies beside the objects, so users cannot corrupt it by writing to an
 *              object.
 * Invariants   A1  a slot's state word is odd exactly while its object is active; each acquire and each release adds
 *                  one.
 *              A2  only the thread that holds the slot (or the object) writes its state word, but for
 *                  LFPOOL_CHECK_RACES, where releasing threads race for it by CAS.
 * Progress     Wait-free, but open and close, which enter the kernel.
 */
#ifndef LFPOOL_ARENA_H
#define LFPOOL_ARENA_H

#include "atomics.h"
#include "base.h"

#include "lfpool/inline.h"

struct arena_plan {
	size_t room_bytes; /* for the pool's own data, at the start */
	size_t object_size;
	size_t object_alignment; /* power of two, at most a page */
	size_t stride_minimum;
	size_t capacity;
	bool tracked;
	bool prefault;
};

struct arena {
	struct lfpool_cache face; /* what every cache knows of the arena; `hot` is not set here */
	size_t mapped_bytes;      /* from the start of the room                                 */
};

/* Maps an arena and returns its room, zeroed; NULL when the system refuses memory.  `arena_out` may not lie in the
 * room. */
void *arena_open(struct arena *arena_out, const struct arena_plan *plan);
void arena_close(void *room, size_t mapped_bytes);

/* LFPOOL_OK and the slot, LFPOOL_E_FOREIGN or LFPOOL_E_INTERIOR. */
lfpool_status_t arena_locate(const struct arena *arena, const void *object, uint32_t *slot_out);

static inline void *arena_object(const struct arena *arena, uint32_t slot)
{
	return (void *)(arena->face.zero + (uintptr_t)slot * arena->face.stride);
}

/* relaxed, here and below: the word travels with the object, whose hand-over orders it; only lfpool_in_use() looks
 * from outside. */
static inline bool arena_is_active(const struct arena *arena, uint32_t slot)
{
	return !arena->face.state || (load_relaxed(&arena->face.state[slot]) & 1);
}

/* The holder of a free slot makes it active; false when it is active already (somebody released it twice, in a
 * race). */
static inline bool arena_activate(struct arena *arena, uint32_t slot)
{
	if (!arena->face.state)
		return true;

	uint32_t state = load_relaxed(&arena->face.state[slot]);

	if (state & 1)
		return false;
	store_relaxed(&arena->face.state[slot], state + 1);
	return true;
}

/* The holder of an active object makes its slot free; false when it is not in use.  `races`: of two at once one gets
 * true. */
static inline bool arena_deactivate(struct arena *arena, uint32_t slot, bool races)
{
	if (!arena->face.state)
		return true;

	uint32_t state = load_relaxed(&arena->face.state[slot]);

	if (!(state & 1))
		return false;
	if (races)
		/* relaxed: of two one wins; there is nothing to see behind it. */
		return cas_relaxed(&arena->face.state[slot], &state, state + 1);
	store_relaxed(&arena->face.state[slot], state + 1);
	return true;
}

#endif
