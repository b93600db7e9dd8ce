/* SPDX-License-Identifier: MIT */
/*
 * calls.c - lfpool_acquire, lfpool_release and their calls for many: through the calling thread's cache (threads.h).
 */
#include "object/misuse.h"
#include "pool/pool.h"
#include "pool/threads.h"

/* The hit is not here, so that callers need no frame for this. */
NOINLINE void *lfpool_acquire_slow(lfpool_t *pool)
{
	struct cache_head *head = thread_cache_remembered(pool);

	return head ? lfpool_cache_acquire_inline(&head->face) : pool->backend->acquire(pool);
}

NOINLINE lfpool_status_t lfpool_release_slow(lfpool_t *pool, void *object)
{
	struct cache_head *head = thread_cache_remembered(pool);

	return head ? lfpool_cache_release_inline(&head->face, object) : pool_release(pool, object);
}

void *lfpool_acquire(lfpool_t *pool)
{
	struct cache_head *head = thread_find(pool->table_id);

	if (likely(head))
		return lfpool_cache_acquire_inline(&head->face);

	void *object = lfpool_acquire_slow(pool);

	KEEP_FRAME();
	return object;
}

lfpool_status_t lfpool_release(lfpool_t *pool, void *object)
{
	struct cache_head *head = thread_find(pool->table_id);

	if (likely(head))
		return lfpool_cache_release_inline(&head->face, object);

	lfpool_status_t status = lfpool_release_slow(pool, object);

	KEEP_FRAME();
	return status;
}

lfpool_status_t lfpool_release_if_owned(lfpool_t *pool, void *object)
{
	const bool owned = pool_in_place(pool) ? arena_spans(pool->arena, object) : lfpool_owns(pool, object);

	return owned || !object ? lfpool_release(pool, object) : LFPOOL_E_FOREIGN;
}

size_t lfpool_acquire_bulk(lfpool_t *pool, void **objects_out, size_t count)
{
	struct cache_head *head = thread_cache(pool);
	size_t done = 0;

	if (head)
		return lfpool_cache_acquire_bulk(&head->face, objects_out, count);
	while (done < count && (objects_out[done] = pool->backend->acquire(pool)))
		done++;
	return done;
}

size_t lfpool_release_bulk(lfpool_t *pool, void *const *objects, size_t count)
{
	struct cache_head *head = thread_cache(pool);
	size_t done = 0;

	if (head)
		return lfpool_cache_release_bulk(&head->face, objects, count);
	for (size_t i = 0; i < count; i++)
		done += objects[i] && pool_release(pool, objects[i]) == LFPOOL_OK;
	return done;
}
