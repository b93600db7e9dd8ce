/* SPDX-License-Identifier: MIT */
/*
 * plain_cache.c - explicit caches of a backend that has none.
 *
 * Idea         A handle, and behind it a magazine that is always both empty and full: the inlined hits never hit, and
 *              every call goes to the backend's acquire and release.  The pool keeps a list of them, so that
 *              destroying it destroys them too.
 * Progress     The list is kept under the registry's lock.
 */
#include "os.h"
#include "pool.h"
#include "registry.h"

#include <string.h>

struct plain_cache {
	struct handle handle;
	struct plain_cache *next, **link;
	_Alignas(struct lfpool_magazine) char closed[sizeof(struct lfpool_magazine)];
};

struct handle *plain_cache_create(lfpool_t *pool)
{
	struct plain_cache *c = os_heap_aligned(CACHE_LINE_PAIR, sizeof(*c));

	if (!c)
		return NULL;
	memset(c, 0, sizeof(*c));
	c->handle.face.hot = (void *)c->closed;
	c->handle.face.state = arena_no_state();
	c->handle.pool = pool;
	registry_lock();
	c->next = pool->plain_caches;
	c->link = &pool->plain_caches;
	if (c->next)
		c->next->link = &c->next;
	pool->plain_caches = c;
	registry_unlock();
	return &c->handle;
}

void plain_cache_destroy(struct handle *handle)
{
	struct plain_cache *c = (struct plain_cache *)handle;

	registry_lock();
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	registry_unlock();
	os_heap_free(c);
}

void plain_cache_destroy_all(lfpool_t *pool)
{
	while (pool->plain_caches)
		plain_cache_destroy(&pool->plain_caches->handle);
}

/* After a hit that was none, which has lowered the bottom of the closed magazine. */
void *plain_cache_acquire(struct handle *handle)
{
	_Atomic(uint64_t) *bottom = &handle->face.hot->bottom;

	/* relaxed, both: nobody else looks at a closed magazine. */
	store_relaxed(bottom, load_relaxed(bottom) + 1);
	return handle->pool->backend->acquire(handle->pool);
}

lfpool_status_t plain_cache_release(struct handle *handle, void *object)
{
	return handle->pool->backend->release(handle->pool, object);
}

size_t plain_cache_acquire_bulk(struct handle *handle, void **objects_out, size_t count)
{
	size_t done = 0;

	while (done < count && (objects_out[done] = handle->pool->backend->acquire(handle->pool)))
		done++;
	return done;
}

size_t plain_cache_release_bulk(struct handle *handle, void *const *objects, size_t count)
{
	size_t done = 0;

	for (size_t i = 0; i < count; i++)
		done += objects[i] && pool_release(handle->pool, objects[i]) == LFPOOL_OK;
	return done;
}
