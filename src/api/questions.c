/* SPDX-License-Identifier: MIT */
/*
 * questions.c - what a pool answers without changing: is this its object, how many are there; and lfpool_label().
 */
#include "object/debugging.h"
#include "object/lifecycle.h"
#include "pool/slots.h"

/* The slot of an object, which may be free where it has a place of its own; SLOT_NONE: the pointer is none's. */
static uint32_t slot_of(const lfpool_t *pool, const void *pointer)
{
	uint32_t slot;

	(void)pool_locate(pool, pointer, &slot);
	return slot;
}

bool lfpool_owns(const lfpool_t *pool, const void *pointer)
{
	return slot_of(pool, pointer) != SLOT_NONE;
}

bool lfpool_in_use(const lfpool_t *pool, const void *object)
{
	const uint32_t slot = slot_of(pool, object);

	/* relaxed: see arena_is_active(). */
	return slot && arena_is_in_use(&pool->core.arena, slot, load_relaxed(&pool->core.arena.face.state[slot]));
}

size_t lfpool_capacity(const lfpool_t *pool)
{
	return cold_capacity(&pool->core.cold);
}

size_t lfpool_active_count(const lfpool_t *pool)
{
	return slots_out(pool);
}

/* ---- What its holder says of an object ---- */

void lfpool_label(lfpool_t *pool, const void *object, const char *label)
{
	struct debug *debug = lifecycle_debug(pool->lifecycle);
	uint32_t slot;

	if (debug && arena_locate(&pool->core.arena, object, &slot) == LFPOOL_OK && arena_is_active(&pool->core.arena, slot))
		debug_label(debug, slot, label);
}
