/* SPDX-License-Identifier: MIT */
/*
 * plain_cache.h - explicit caches of a backend that has none.
 */
#ifndef LFPOOL_PLAIN_CACHE_H
#define LFPOOL_PLAIN_CACHE_H

#include "pool/pool.h"

struct cache_head *plain_cache_create(lfpool_t *pool);
void plain_cache_destroy(struct cache_head *head);
void plain_cache_destroy_all(lfpool_t *pool);
/* One by one. */
size_t plain_cache_acquire_bulk(struct cache_head *head, void **objects_out, size_t count);
size_t plain_cache_release_bulk(struct cache_head *head, void *const *objects, size_t count);

#endif
