/* SPDX-License-Identifier: MIT */
/*
 * backend_lockfree.h - what the files of the lock-free backend tell each other.
 */
#ifndef LFPOOL_BACKEND_LOCKFREE_H
#define LFPOOL_BACKEND_LOCKFREE_H

#include "core/cache.h"
#include "pool/pool.h"

struct lockfree_pool {
	struct lfpool_pool head;
	struct core core;
};

static inline struct core *core_of(lfpool_t *pool)
{
	return &((struct lockfree_pool *)pool)->core;
}

/* Bytes of a pool with so many shards: they are at its end. */
#define POOL_OF_SHARDS(shards) (offsetof(struct lockfree_pool, core.depot.shard) + (shards) * sizeof(struct shard))

/* ---- lockfree_open.c ---- */

/* Bytes of a buffer for such a pool, without its lifecycle; 0: there is no such number. */
size_t lockfree_buffer_bytes(const lfpool_config_t *config);

/* ---- backend_lockfree.c: what struct backend (pool.h) promises ---- */

void *lockfree_acquire(lfpool_t *pool);
lfpool_status_t lockfree_release(lfpool_t *pool, void *object);
uint32_t lockfree_take(lfpool_t *pool, struct cache_head *head);
uint32_t lockfree_take_idle(lfpool_t *pool, struct cache_head *head);
void lockfree_put_free(lfpool_t *pool, struct cache_head *head, uint32_t slot);
bool lockfree_begin(lfpool_t *pool, struct cache_head *head, uint32_t slot, void **object_out);
void lockfree_put(lfpool_t *pool, struct cache_head *head, uint32_t slot);
struct cache_head *lockfree_cache_create(lfpool_t *pool);
void lockfree_cache_destroy(struct cache_head *head);

/* One object through a claimed cache, from anywhere. */
void *lockfree_acquire_one(struct cache_head *head);

/* ---- backend_malloc.c: what the malloc backend does in another way ---- */

/* The address that the bytes before a heap's object say its cell has; of another pointer, anything. */
const void *heap_label(const void *object);
/* A new object for a slot that was taken; NULL when the system refuses memory. */
void *heap_object_new(struct core *core, uint32_t slot);
void heap_object_free(struct core *core, uint32_t slot, void *object);
/* Those of struct backend.  heap_locate() reads the bytes before the object, as heap_label(); heap_find() is O(1), as a rule
 * (heap_set.h). */
void *heap_object_at(const lfpool_t *pool, uint32_t slot);
lfpool_status_t heap_locate(const lfpool_t *pool, const void *object, uint32_t *slot_out);
uint32_t heap_find(const lfpool_t *pool, const void *pointer);

/* ---- bulk.c: lfpool_cache_acquire_bulk() and lfpool_cache_release_bulk() ---- */

size_t bulk_acquire(struct cache_head *head, void **objects_out, size_t count);
size_t bulk_release(struct cache_head *head, void *const *objects, size_t count);

#endif
