/* SPDX-License-Identifier: MIT */
/*
 * calls.h - acquire and release for other files of this room, through the cache `head`.  NULL: without a cache.
 */
#ifndef LFPOOL_CALLS_H
#define LFPOOL_CALLS_H

#include "pool/pool.h"

void *pool_acquire(lfpool_t *pool, struct cache_head *head);
/* NULL is fine; a refusal is reported. */
lfpool_status_t pool_release(lfpool_t *pool, struct cache_head *head, void *object);

#endif
