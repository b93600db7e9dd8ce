/* SPDX-License-Identifier: MIT */
/*
 * life.c - the last steps of creating a pool, and all steps of destroying it.
 *
 * Idea         Creation gets a checked config and a lifecycle (create.c, buffer.c), opens the pool's memory, and only
 *              then adds the complete pool to the live pools.  Destruction removes the pool from the live pools before
 *              it frees memory, so no exiting thread or fork handler uses freed memory.
 */
#include "api/api.h"

#include "base/probes.h"
#include "evict/order.h"
#include "object/debugging.h"
#include "object/lifecycle.h"
#include "pool/live_pools.h"
#include "pool/open.h"
#include "pool/slots.h"
#include "pool/threads.h"
#include "retire/retired.h"
#include "waiting/waiters.h"

#include "lfpool/resize.h"

#include <string.h>

static _Atomic(uint32_t) heaps;

bool pool_any_heap(void)
{
	/* relaxed: see pool_open_as(). */
	return load_relaxed(&heaps) != 0;
}

/* N3: the number of pools made so far, plus 1. */
static _Atomic(uint64_t) pools_made = 1;

/* Adds the pool to the live pools. */
static uint64_t register_pool(lfpool_t *pool)
{
	if (EMBEDDED)
		return 0;

	const struct arena *arena = &pool->core.arena;
	const uintptr_t first = arena->zero + arena->stride;

	return live_pools_add(pool, first, first + (uintptr_t)arena->slots * arena->stride);
}

/* Backs the pool's memory, and then builds the objects. */
static lfpool_status_t back_and_build(lfpool_t *pool, const lfpool_config_t *config)
{
	lfpool_status_t status = arena_back(&pool->core.arena, pool, config->capacity);

	if (status == LFPOOL_OK)
		status = lifecycle_back(pool->lifecycle, config->flags);
	if (!EMBEDDED && status == LFPOOL_OK && config->evict != LFPOOL_EVICT_NONE)
		status = order_open(&pool->order, config, &pool->core.arena);
	if (!EMBEDDED && status == LFPOOL_OK && (config->scheme.begin || config->scheme.ready))
		status = retired_open(pool, &config->scheme, config->max_capacity, config->flags);
	if (status != LFPOOL_OK)
		return status;
	return !pool_in_place(pool) || lifecycle_build_all(pool->lifecycle, &pool->core.arena, config->capacity)
		       ? LFPOOL_OK
		       : LFPOOL_E_CREATE;
}

lfpool_status_t pool_open_as(lfpool_t **pool_out, const lfpool_config_t *config, const struct debug_modes *modes,
			     struct lifecycle *lifecycle, const struct window *window)
{
	lfpool_t *pool = pool_open(config, lifecycle, window);

	if (!pool) {
		lifecycle_close(lifecycle);
		return LFPOOL_E_NO_MEMORY;
	}
	pool->backend_kind = config->backend;
	pool->growth_step = config->growth_step;
	pool->more = config->growth_step || config->hooks.exhausted;
	waiters_open(&pool->waiters, &pool->core.arena);
	pool->object_size = config->object_size;
	pool->object_alignment = config->object_alignment;
	pool->flags = config->flags;
	pool->hooks = config->hooks;
	pool->modes = *modes;
	strcpy(pool->name, config->name ? config->name : "unnamed");

	if (pool_in_place(pool))
		pool->head = (struct lfpool_head_){.first = pool->core.arena.zero + pool->core.arena.stride,
						   .inverse = pool->core.arena.inverse,
						   .slots = (uint32_t)pool->core.arena.slots,
						   .stride = pool->core.arena.stride,
						   .shift = pool->core.arena.shift};

	lfpool_status_t status = back_and_build(pool, config);

	if (!EMBEDDED && status == LFPOOL_OK && pool_in_place(pool)) {
		const struct debug_home home = misuse_home(pool);

		debug_attach(lifecycle_debug(lifecycle), &home);
	}
	if (!EMBEDDED && status == LFPOOL_OK && !window->whole && !(pool->id = register_pool(pool))) {
		status = LFPOOL_E_NO_MEMORY;
		if (pool_in_place(pool)) {
			debug_detach(lifecycle_debug(lifecycle), 0);
			lifecycle_destroy_all(lifecycle, &pool->core.arena, config->capacity, 0);
		}
	}
	if (status != LFPOOL_OK) {
		struct retired *retired = pool->retired;
		struct order *order = pool->order;

		(void)pool_close(pool);
		retired_close(retired);
		if (!EMBEDDED)
			order_close(order);
		lifecycle_close(lifecycle);
		return status;
	}
	if (!EMBEDDED && !pool->locked && config->cache_capacity != LFPOOL_CACHE_NONE && threads_keep_caches())
		thread_head(&pool->head, pool->id);
	pool->more = pool->more || retired_asks(pool->retired);
	/* relaxed: a thread that has an object of the pool got the object over an edge, and so sees this count. */
	(void)fetch_add_relaxed(&heaps, !pool_in_place(pool));
	/* relaxed: the numbers only have to differ. */
	pool->salt = fetch_add_relaxed(&pools_made, 1) * SALT_STEP;
	probe_create(pool, pool->name, pool->object_size, config->capacity);
	*pool_out = pool;
	return LFPOOL_OK;
}

/* Destroys a pool that has no retired object left.  Returns the number of objects that were in use. */
static size_t pool_end(lfpool_t *pool)
{
	probe_destroy(pool, pool->name);
	waiters_close(&pool->waiters);
	waiters_tell_closed(pool);
	/* From here on no exiting thread touches the pool. */
	if (!EMBEDDED && pool->id)
		live_pools_remove(pool->id);
	/* An inherited pool is not checked: the child of a fork lacks the objects and magazines that the parent's other
	 * threads held. */
	if (!EMBEDDED && pool->modes.check && !pool->inherited)
		check_last(pool);
	waiters_free(&pool->waiters);
	(void)fetch_add_relaxed(&heaps, -(uint32_t)!pool_in_place(pool));

	struct lifecycle *lifecycle = pool->lifecycle;

	if (pool_in_place(pool)) {
		const size_t used = pool->disowned ? 0 : slots_used(pool);

		if (!EMBEDDED)
			debug_detach(lifecycle_debug(lifecycle), used);
		if (!pool->disowned)
			lifecycle_destroy_all(lifecycle, &pool->core.arena, (size_t)pool->core.cold.initial, used);
	}

	struct retired *retired = pool->retired;
	struct order *order = pool->order;
	const size_t active = pool_close(pool);

	retired_close(retired);
	if (!EMBEDDED)
		order_close(order);
	lifecycle_close(lifecycle);
	return active;
}

size_t lfpool_destroy(lfpool_t *pool)
{
	if (!pool)
		return 0;
	if (retired_finish(pool->retired, pool) == LFPOOL_OK)
		return pool_end(pool);
	/* The scheme still has batches of the pool. */
	(void)misuse_report(pool, NULL, LFPOOL_E_IN_SECTION);
	return SIZE_MAX;
}

size_t lfpool_shrink(lfpool_t *pool, size_t count)
{
	const size_t gone = resize_shrink(pool, thread_cache(pool), count);

	if (!EMBEDDED && gone)
		trim_removed(pool, gone * pool->core.arena.stride);
	return gone;
}
