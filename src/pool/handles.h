/* SPDX-License-Identifier: MIT */
/*
 * handles.h - the parts of a handle: {generation of the slot + salt of the pool, slot}; see api/handle.c.
 */
#ifndef LFPOOL_HANDLES_H
#define LFPOOL_HANDLES_H

#include "base/widths.h"
#include "pool/pool.h"

/* The bits of the slot number in a handle.  There are enough bits for all slots; a build with narrow counts (widths.h)
 * has more. */
static inline unsigned handle_slot_bits(const lfpool_t *pool)
{
	const unsigned bits = 64 - (unsigned)__builtin_clzll((unsigned long long)pool->core.arena.slots);

	return bits + HANDLE_COUNT_BITS > 64 ? bits : 64 - HANDLE_COUNT_BITS;
}

/* The slot in a handle, not checked. */
static inline uint64_t handle_slot(const lfpool_t *pool, lfpool_handle_t handle)
{
	return handle & ((UINT64_C(1) << handle_slot_bits(pool)) - 1);
}

/* The handle of the use of `slot` that has this generation word. */
static inline lfpool_handle_t handle_with(const lfpool_t *pool, uint32_t slot, uint64_t word)
{
	const unsigned bits = handle_slot_bits(pool);

	return (word / GENERATION_ONE + (pool->salt >> bits)) << bits | slot;
}

/* That handle if the word is live, otherwise 0. */
static inline lfpool_handle_t handle_live(const lfpool_t *pool, uint32_t slot, uint64_t word)
{
	return generation_is_live(word) ? handle_with(pool, slot, word) : 0;
}

/* The slot whose use the handle names, and the slot's word, live or not; SLOT_NONE if there is no such use. */
static inline uint32_t handle_find_use(const lfpool_t *pool, lfpool_handle_t handle, uint64_t *word_out)
{
	const uint64_t slot = handle_slot(pool, handle);

	if (slot - 1 >= pool->core.arena.slots)
		return SLOT_NONE;
	/* arena_generation() acquires edge TELL. */
	*word_out = arena_generation(&pool->core.arena, (uint32_t)slot);
	return handle_with(pool, (uint32_t)slot, *word_out) == handle ? (uint32_t)slot : SLOT_NONE;
}

/* As handle_find_use(), but also SLOT_NONE if the word is not live: then the object is not active. */
static inline uint32_t handle_find(const lfpool_t *pool, lfpool_handle_t handle, uint64_t *word_out)
{
	const uint32_t slot = handle_find_use(pool, handle, word_out);

	return slot && generation_is_live(*word_out) ? slot : SLOT_NONE;
}

/* Does the work of lfpool_unpin(), for a handle of this slot (api/handle.c).  `word`: from handle_find_use(). */
lfpool_status_t handle_unpin(lfpool_t *pool, lfpool_handle_t handle, uint32_t slot, uint64_t word);
/* Refuses and reports a handle that names no object of the pool (api/handle.c).  In an evicting pool the object may
 * have been evicted, so a handle of one of the pool's slots is refused without a report. */
COLD lfpool_status_t handle_refuse_evicted(lfpool_t *pool, lfpool_handle_t handle);

#endif
