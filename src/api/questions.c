/* SPDX-License-Identifier: MIT */
/*
 * questions.c - what a pool answers without changing: is this its object, how many are there; and lfpool_label().
 */
#include "object/debugging.h"
#include "object/lifecycle.h"
#include "pool/pool.h"

bool lfpool_owns(const lfpool_t *pool, const void *pointer)
{
	return pool->backend->owns(pool, pointer);
}

bool lfpool_in_use(const lfpool_t *pool, const void *object)
{
	return pool->backend->in_use(pool, object);
}

size_t lfpool_capacity(const lfpool_t *pool)
{
	return cold_capacity(&pool->cold);
}

size_t lfpool_active_count(const lfpool_t *pool)
{
	return pool->backend->active_count(pool);
}

size_t lfpool_available_count(const lfpool_t *pool)
{
	const size_t active = pool->backend->active_count(pool), capacity = cold_capacity(&pool->cold);

	return active < capacity ? capacity - active : 0;
}

size_t lfpool_misuse_count(const lfpool_t *pool)
{
	/* relaxed: a statistic. */
	return load_relaxed(&pool->misuses);
}

lfpool_backend_t lfpool_backend(const lfpool_t *pool)
{
	return pool->backend_kind;
}

/* ---- What its holder says of an object ---- */

void lfpool_label(lfpool_t *pool, const void *object, const char *label)
{
	struct debug *debug = lifecycle_debug(pool->lifecycle);
	uint32_t slot;

	if (debug && arena_locate(pool->arena, object, &slot) == LFPOOL_OK && arena_is_active(pool->arena, slot))
		debug_label(debug, slot, label);
}
