/* SPDX-License-Identifier: MIT */
/*
 * caches.c - lfpool.h's calls on an explicit cache: the hits as functions, and what goes on to the slots.
 */
#include "pool/slots.h"
#include "pool/threads.h"
#include "waiting/waiters.h"

#include "lfpool/inline.h"

lfpool_cache_t *lfpool_cache_create(lfpool_t *pool)
{
	struct cache_head *head = slots_cache_create(pool);

	return head ? &head->face : NULL;
}

void lfpool_cache_destroy(lfpool_cache_t *cache)
{
	struct cache_head *head = (struct cache_head *)cache;

	if (head)
		slots_cache_destroy(head);
}

void lfpool_cache_flush(lfpool_t *pool, lfpool_cache_t *cache)
{
	struct cache_head *head = cache ? (struct cache_head *)cache : thread_cache_if_any(pool);

	if (head)
		slots_cache_flush(head);
}

/* The functions behind the inlined ones of lfpool/inline.h. */
void *lfpool_cache_acquire(lfpool_cache_t *cache)
{
	return lfpool_cache_acquire_inline_(cache);
}

lfpool_status_t lfpool_cache_release(lfpool_cache_t *cache, void *object)
{
	return lfpool_cache_release_inline_(cache, object);
}
