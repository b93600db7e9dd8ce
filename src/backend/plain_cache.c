/* SPDX-License-Identifier: MIT */
/*
 * plain_cache.c - explicit caches of the mutex backend, which has none of its own.
 *
 * Idea         A head, and behind it a magazine that is always both empty and full: the inlined hits never hit, and
 *              every call goes on to the backend's acquire and release (lfpool_cache_acquire_slow).  The pool keeps a list of them, so that
 *              destroying it destroys them too.
 * Progress     The list is kept under the registry's lock.
 */
#include "backend/backend_mutex.h"

#include "object/misuse.h"
#include "os/os.h"
#include "pool/live_pools.h"
#include "pool/pool.h"

#include <string.h>

struct plain_cache {
	struct cache_head head;
	struct plain_cache *next, **link;
	_Alignas(struct lfpool_magazine) char closed[sizeof(struct lfpool_magazine)];
};

struct cache_head *plain_cache_create(lfpool_t *pool)
{
	struct plain_cache **first = &((struct mutex_pool *)pool)->caches;
	struct plain_cache *c = os_heap_aligned(CACHE_LINE_PAIR, sizeof(*c));

	if (!c)
		return NULL;
	memset(c, 0, sizeof(*c));
	c->head.face.hot = (void *)c->closed;
	c->head.face.state = arena_no_state();
	c->head.pool = pool;
	live_pools_lock();
	c->next = *first;
	c->link = first;
	if (c->next)
		c->next->link = &c->next;
	*first = c;
	live_pools_unlock();
	return &c->head;
}

void plain_cache_destroy(struct cache_head *head)
{
	struct plain_cache *c = (struct plain_cache *)head;

	live_pools_lock();
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	live_pools_unlock();
	os_heap_free(c);
}

void plain_cache_destroy_all(struct mutex_pool *pool)
{
	while (pool->caches)
		plain_cache_destroy(&pool->caches->head);
}

size_t plain_cache_acquire_bulk(struct cache_head *head, void **objects_out, size_t count)
{
	size_t done = 0;

	while (done < count && (objects_out[done] = head->pool->backend->acquire(head->pool)))
		done++;
	return done;
}

size_t plain_cache_release_bulk(struct cache_head *head, void *const *objects, size_t count)
{
	size_t done = 0;

	for (size_t i = 0; i < count; i++)
		done += objects[i] && pool_release(head->pool, objects[i]) == LFPOOL_OK;
	return done;
}
