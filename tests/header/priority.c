/* SPDX-License-Identifier: MIT */
/*
 * priority.c - lfpool/priority.h by itself, twice, in every C and C++ that it promises: every declaration can be used.
 */
#include <lfpool/priority.h>
#include <lfpool/priority.h>

#ifdef __cplusplus
extern "C"
#endif
	size_t
	use_everything(void);

static bool before(void *context, uint64_t a, uint64_t b)
{
	(void)context;
	return a > b;
}

static size_t evictions;

static void on_evict(void *context, const lfpool_evicted_t *evicted)
{
	evictions += evicted->priority && context && evicted->object != evicted->owner ? 1u : 0u;
	evictions += lfpool_priority_is_active(evicted->pool, evicted->handle) ? 1u : 0u;
}

static bool visit(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	(void)context;
	return object && handle && priority;
}

size_t use_everything(void)
{
	lfpool_priority_config_t config;
	lfpool_priority_stats_t stats;
	lfpool_priority_t *pool;
	lfpool_handle_t handle;
	uint64_t priority = 0;
	size_t sum = 0;

#ifndef __cplusplus
	lfpool_priority_config_t initialised = LFPOOL_PRIORITY_CONFIG_INIT;

	sum += initialised.struct_size;
#endif
	lfpool_priority_config_init(&config);
	config.name = "voices";
	config.object_size = 100;
	config.object_alignment = 64;
	config.capacity = 10;
	config.flags = LFPOOL_EVICT_EQUAL | LFPOOL_PREFAULT | LFPOOL_LOCK;
	config.context = &sum;
	config.before = before;
	config.on_evict = on_evict;
	if (lfpool_priority_create(&pool, &config) != LFPOOL_OK)
		return 0;
	if (!lfpool_priority_acquire(pool, lfpool_priority_of_double(-0.5), &config, &handle))
		return lfpool_priority_destroy(pool);
	sum += lfpool_priority_publish(pool, handle) == LFPOOL_OK ? 1u : 0u;
	sum += lfpool_priority_pin(pool, handle) ? 1u : 0u;
	sum += lfpool_priority_unpin(pool, handle) == LFPOOL_E_NOT_PINNED ? 1u : 0u;
	sum += lfpool_priority_update(pool, handle, UINT64_C(5)) == LFPOOL_E_STALE ? 1u : 0u;
	sum += lfpool_priority_peek_min(pool, &priority) == handle ? 1u : 0u;
	sum += lfpool_priority_is_active(pool, handle) ? 1u : 0u;
	sum += lfpool_priority_look(pool, handle) ? 1u : 0u;
	sum += lfpool_priority_get(pool, handle, &priority) ? 1u : 0u;
	sum += lfpool_priority_for_each(pool, visit, &sum);
	sum += lfpool_priority_release_min(pool, 1);
	sum += lfpool_priority_release(pool, handle) == LFPOOL_OK ? 1u : 0u;
	sum += lfpool_priority_count(pool) + lfpool_priority_capacity(pool);
	lfpool_priority_stats(pool, &stats);
	sum += stats.acquired + stats.evicted + stats.refused > 2 ? 1u : 0u;
	return sum + evictions + lfpool_priority_destroy(pool);
}
