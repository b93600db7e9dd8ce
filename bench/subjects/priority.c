/* SPDX-License-Identifier: MIT */
/*
 * priority.c - lfpool_priority_acquire(), _update() and _release().
 */
#include "../workload.h"

#include <lfpool/priority.h>

static inline void *acquire_filled(void *hand, uint64_t priority, uint64_t *handle_out)
{
	lfpool_priority_t *pool = (lfpool_priority_t *)hand;
	void *object = lfpool_priority_acquire(pool, priority, NULL, handle_out);

	if (!object)
		return NULL;
	object_fill(object, priority);
	(void)lfpool_priority_publish(pool, *handle_out);
	return object;
}

static inline bool update(void *hand, uint64_t handle, uint64_t priority)
{
	return lfpool_priority_update((lfpool_priority_t *)hand, handle, priority) == LFPOOL_OK;
}

static inline bool release(void *hand, uint64_t handle)
{
	return lfpool_priority_release((lfpool_priority_t *)hand, handle) == LFPOOL_OK;
}

#include "../evicting.h"

static void *open_pool(const struct plan *plan)
{
	lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;
	lfpool_priority_t *pool;

	config.name = "bench";
	config.object_size = plan->object_bytes;
	config.object_alignment = EVICTING_BYTES;
	config.capacity = plan->capacity;

	const lfpool_status_t status = lfpool_priority_create(&pool, &config);

	if (status != LFPOOL_OK)
		give_up("lfpool-priority", lfpool_status_string(status));
	return pool;
}

static void close_pool(void *shared)
{
	(void)lfpool_priority_destroy((lfpool_priority_t *)shared);
}

const struct subject subject_priority = {
	SUBJECT("lfpool-priority", "lfpool", "the evicting pool of lfpool/priority.h", NULL, 0),
	SHARED_BY_ALL(open_pool, close_pool, EVICTING_LOOPS),
};
