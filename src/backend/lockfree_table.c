/* SPDX-License-Identifier: MIT */
/*
 * lockfree_table.c - the lock-free backend's beginning, end and answers, and the tables of this backend and of malloc's, which
 * is the same with objects that are allocated as their slots are acquired (backend_malloc.c).
 */
#include "backend/backend_lockfree.h"
#include "backend/check.h"
#include "backend/heap_set.h"
#include "backend/stats.h"
#include "object/debugging.h"
#include "object/lifecycle.h"
#include "pool/pool.h"

/* ---- Life ---- */

static lfpool_t *lockfree_open(const lfpool_config_t *config, struct lifecycle *lifecycle, const struct window *window)
{
	return lockfree_open_as(config, lifecycle, window, NULL);
}

/* The window is for objects, and these are the heap's; the cells lie with the rest. */
static lfpool_t *malloc_open(const lfpool_config_t *config, struct lifecycle *lifecycle, const struct window *window)
{
	static const struct window nowhere;
	lfpool_config_t cells = *config;

	(void)window;
	cells.object_size = sizeof(void *);
	cells.object_alignment = _Alignof(void *);

	lfpool_t *pool = lockfree_open_as(&cells, lifecycle, &nowhere, config);

	if (pool && !(core_of(pool)->heap_set = heap_set_open(config->max_capacity))) {
		arena_close(pool, core_of(pool)->arena.mapped_bytes);
		return NULL;
	}
	return pool;
}

static size_t lockfree_active_count(const lfpool_t *pool)
{
	const struct core *core = pool->core;
	const size_t capacity = cold_capacity(core->cold), untouched = stats_untouched(core);
	uint64_t pushes;
	const size_t in_magazines = stats_in_magazines(core, &pushes);
	const size_t free_slots = in_magazines + untouched + debug_held_back(lifecycle_debug(core->lifecycle));

	return free_slots < capacity ? capacity - free_slots : 0;
}

static size_t lockfree_close(lfpool_t *pool)
{
	size_t active = lockfree_active_count(pool);
	struct core *core = core_of(pool);

	cache_table_close(core);
	heap_set_close(core->heap_set);
	arena_close(pool, core->arena.mapped_bytes);
	return active;
}

static size_t lockfree_used(const lfpool_t *pool)
{
	return cold_used(&pool->cold, stats_from_chunks(pool->core));
}

static size_t lockfree_listed(const lfpool_t *pool)
{
	uint64_t pushes;

	return stats_in_magazines(pool->core, &pushes);
}

static void lockfree_reset(lfpool_t *pool)
{
	struct core *core = core_of(pool);

	for (uint32_t i = 0; i < core->depot.shards; i++)
		stack_reset_least(&core->depot.shard[i].full, &core->magazines);
	cold_reset_most(core->cold);
}

/* ---- Tables ---- */

/* clang-format off */
#define LOCKFREE(its_open, its_object, its_locate, its_find)                                                    \
	{                                                                                                       \
		.open = its_open, .close = lockfree_close, .acquire = lockfree_acquire,                         \
		.release = lockfree_release, .put = lockfree_put, .take = lockfree_take,                        \
		.take_idle = lockfree_take_idle, .listed = lockfree_listed,                                     \
		.put_free = lockfree_put_free, .begin = lockfree_begin, .used = lockfree_used, .object = its_object,  \
		.locate = its_locate, .find = its_find,                                                         \
		.active_count = lockfree_active_count, .stats = lockfree_stats, .reset = lockfree_reset,        \
		.check = lockfree_check,                                                                        \
		.cache_create = lockfree_cache_create, .cache_destroy = lockfree_cache_destroy,                 \
		.cache_acquire_bulk = bulk_acquire, .cache_release_bulk = bulk_release,                         \
	}
/* clang-format on */

const struct backend backend_lockfree = LOCKFREE(lockfree_open, NULL, NULL, NULL);
const struct backend backend_malloc = LOCKFREE(malloc_open, heap_object_at, heap_locate, heap_find);
