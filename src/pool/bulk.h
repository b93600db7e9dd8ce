/* SPDX-License-Identifier: MIT */
/*
 * bulk.h - take from, or put on, the current magazine of a cache many objects at once.  Only for plain pools (pool.h).
 */
#ifndef LFPOOL_BULK_H
#define LFPOOL_BULK_H

#include "pool/pool.h"

/* Takes up to `wanted` objects and makes them active. *taken_out: entries of the magazine that were used up,
 * including those of objects that were active already.  Both are 0 if the magazine is empty, or the pool is not
 * plain. */
size_t bulk_take(struct cache_head *head, void **objects_out, size_t wanted, uint32_t *taken_out);
/*
 * Makes objects free and pushes them, in their order.  Stops at the first pointer that is not an active object of this
 * pool without a handle, and when the magazine is full.  Returns how many.  The caller fences and looks at the demand
 * (slots.h).
 */
size_t bulk_put(struct cache_head *head, void *const *objects, size_t count);

#endif
