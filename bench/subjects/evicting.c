/* SPDX-License-Identifier: MIT */
/*
 * evicting.c - lfpool_acquire_evicting(), lfpool_set_priority() and lfpool_release_handle().
 */
#include "../workload.h"

#include <lfpool/evict.h>
#include <lfpool/handle.h>

static inline void *acquire_filled(void *hand, uint64_t priority, uint64_t *handle_out)
{
	lfpool_t *pool = (lfpool_t *)hand;
	void *object = lfpool_acquire_evicting(pool, priority, handle_out);

	if (!object)
		return NULL;
	object_fill(object, priority);
	(void)lfpool_unpin(pool, *handle_out);
	return object;
}

static inline bool update(void *hand, uint64_t handle, uint64_t priority)
{
	return lfpool_set_priority((lfpool_t *)hand, handle, priority) == LFPOOL_OK;
}

static inline bool release(void *hand, uint64_t handle)
{
	return lfpool_release_handle((lfpool_t *)hand, handle) == LFPOOL_OK;
}

#include "../evicting.h"

/* The loop uses handles of evicted objects, which are refused: that is not a mistake here. */
static void ignore_stale(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	(void)misuse;
}

static void *open_pool(const struct plan *plan)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.name = "bench";
	config.object_size = plan->object_bytes;
	config.object_alignment = EVICTING_BYTES;
	config.capacity = plan->capacity;
	config.evict = LFPOOL_EVICT_LESS;
	config.hooks.misuse = ignore_stale;

	const lfpool_status_t status = lfpool_create(&pool, &config);

	if (status != LFPOOL_OK)
		give_up("lfpool-evicting", lfpool_status_string(status));
	return pool;
}

static void close_pool(void *shared)
{
	(void)lfpool_destroy((lfpool_t *)shared);
}

const struct subject subject_evicting = {
	SUBJECT("lfpool-evicting", "lfpool", "a pool with config.evict: lfpool/evict.h", NULL, 0),
	SHARED_BY_ALL(open_pool, close_pool, EVICTING_LOOPS),
};
