/* SPDX-License-Identifier: MIT */
/*
 * backend_mutex.c - one mutex around one intrusive list: the pool that people write by hand, to compare with.
 *
 * Idea         A free object's first bytes hold the next free one.  Never-used objects are a range, so that creation
 *              is as cheap as the lock-free backend's.  Wrong releases are refused by the same range check and state
 *              words.
 * Progress     Blocking.
 */
#include "os.h"
#include "pool.h"

#include <string.h>

/* What lfpool.h promises, on every target; a link fits. */
#define SLOT_BYTES_MINIMUM 8
_Static_assert(SLOT_BYTES_MINIMUM >= sizeof(void *), "a free object holds a link");

struct mutex_pool {
	struct lfpool head;
	struct arena arena;
	bool zero; /* LFPOOL_ZERO */
	pthread_mutex_t mutex;
	void *list;       /* free objects, linked through their first bytes */
	size_t used;      /* slots ever handed out                          */
	size_t active;
};

static lfpool_t *mutex_open(const lfpool_config_t *config)
{
	struct arena arena;
	struct mutex_pool *pool = arena_open(&arena, &(struct arena_plan){
		.room_bytes = sizeof(*pool),
		.object_size = config->object_size,
		.object_alignment = config->object_alignment,
		.stride_minimum = SLOT_BYTES_MINIMUM,
		.capacity = config->capacity,
		.tracked = !(config->flags & LFPOOL_UNTRACKED),
		.prefault = config->flags & LFPOOL_PREFAULT,
	});

	if (!pool)
		return NULL;
	pool->arena = arena;
	pool->zero = config->flags & LFPOOL_ZERO;
	(void)pthread_mutex_init(&pool->mutex, NULL); /* cannot fail with default attributes */
	return &pool->head;
}

static size_t mutex_close(lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;
	size_t active = pool->active;

	(void)pthread_mutex_destroy(&pool->mutex);
	arena_close(pool, pool->arena.mapped_bytes);
	return active;
}

static void *mutex_acquire(lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;
	void *object = NULL;
	uint32_t slot;

	(void)pthread_mutex_lock(&pool->mutex);
	if (pool->list) {
		object = pool->list;
		memcpy(&pool->list, object, sizeof(pool->list));
	} else if (pool->used < head->capacity) {
		object = arena_object(&pool->arena, (uint32_t)++pool->used);
	}
	if (object) {
		pool->active++;
		if (arena_locate(&pool->arena, object, &slot) == LFPOOL_OK)
			(void)arena_activate(&pool->arena, slot);
	}
	(void)pthread_mutex_unlock(&pool->mutex);
	if (object && pool->zero)
		memset(object, 0, pool->arena.face.stride);
	return object;
}

static lfpool_status_t mutex_release(lfpool_t *head, void *object)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;
	uint32_t slot;
	lfpool_status_t status = arena_locate(&pool->arena, object, &slot);

	if (status != LFPOOL_OK)
		return status;
	(void)pthread_mutex_lock(&pool->mutex);
	if (arena_deactivate(&pool->arena, slot, false)) {
		memcpy(object, &pool->list, sizeof(pool->list));
		pool->list = object;
		pool->active--;
	} else {
		status = LFPOOL_E_NOT_IN_USE;
	}
	(void)pthread_mutex_unlock(&pool->mutex);
	return status;
}

static bool mutex_owns(const lfpool_t *head, const void *pointer)
{
	uint32_t slot;

	return arena_locate(&((const struct mutex_pool *)head)->arena, pointer, &slot) == LFPOOL_OK;
}

static bool mutex_in_use(const lfpool_t *head, const void *object)
{
	const struct arena *arena = &((const struct mutex_pool *)head)->arena;
	uint32_t slot;

	return arena_locate(arena, object, &slot) == LFPOOL_OK && arena_is_active(arena, slot);
}

static size_t mutex_active_count(const lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)(uintptr_t)head;

	(void)pthread_mutex_lock(&pool->mutex);
	size_t active = pool->active;

	(void)pthread_mutex_unlock(&pool->mutex);
	return active;
}

const struct backend backend_mutex = {
	.open = mutex_open,
	.close = mutex_close,
	.acquire = mutex_acquire,
	.release = mutex_release,
	.owns = mutex_owns,
	.in_use = mutex_in_use,
	.active_count = mutex_active_count,
};
