/* SPDX-License-Identifier: MIT */
/*
 * caches.c - lfpool.h's calls on an explicit cache: the hits as functions, and what goes on to the backend.
 */
#include "core/cache.h"
#include "pool/pool.h"
#include "pool/threads.h"
#include "waiting/waiters.h"

#include "lfpool/inline.h"

lfpool_cache_t *lfpool_cache_create(lfpool_t *pool)
{
	struct cache_head *head = pool->backend->cache_create(pool);

	return head ? &head->face : NULL;
}

void lfpool_cache_destroy(lfpool_cache_t *cache)
{
	struct cache_head *head = (struct cache_head *)cache;

	if (head)
		head->pool->backend->cache_destroy(head);
}

void lfpool_cache_flush(lfpool_t *pool, lfpool_cache_t *cache)
{
	struct cache_head *head = cache ? (struct cache_head *)cache : thread_cache_if_any(pool);

	if (head && pool->core)
		cache_flush((struct cache *)head);
}

/* The functions behind the macros of lfpool/inline.h. */
void *(lfpool_cache_acquire)(lfpool_cache_t *cache)
{
	return lfpool_cache_acquire_inline(cache);
}

lfpool_status_t(lfpool_cache_release)(lfpool_cache_t *cache, void *object)
{
	return lfpool_cache_release_inline(cache, object);
}

lfpool_status_t lfpool_cache_serve(lfpool_cache_t *cache)
{
	struct cache_head *head = (struct cache_head *)cache;

	waiters_serve(head->pool, head);
	return LFPOOL_OK;
}

size_t lfpool_cache_acquire_bulk(lfpool_cache_t *cache, void **objects_out, size_t count)
{
	struct cache_head *head = (struct cache_head *)cache;
	const size_t done = head->pool->backend->cache_acquire_bulk(head, objects_out, count);

	KEEP_FRAME();
	return done;
}

size_t lfpool_cache_release_bulk(lfpool_cache_t *cache, void *const *objects, size_t count)
{
	struct cache_head *head = (struct cache_head *)cache;
	const size_t done = head->pool->backend->cache_release_bulk(head, objects, count);

	KEEP_FRAME();
	return done;
}
