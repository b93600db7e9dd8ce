/* SPDX-License-Identifier: MIT */
/*
 * resizing.h - what growing, shrinking and running out of objects need from each other.
 */
#ifndef LFPOOL_RESIZING_H
#define LFPOOL_RESIZING_H

#include "base/base.h"

#include "lfpool/lfpool.h"

struct cache_head;

/* Objects became free without a release: a call may wait for them.  Through the caller's cache (NULL: the thread's). */
void resize_serve_if_wanted(lfpool_t *pool, struct cache_head *head);

/* There were `seen` objects, none of them free: grows by itself; true if there may be one free now.  A call that waits does so
 * itself; so a call that grew need serve only those that it knows. */
bool resize_by_itself(lfpool_t *pool, size_t seen);

/* What the capacity will be when all that is owed has come back; too much by those that are just going. */
size_t resize_settled(const lfpool_t *pool);

/* The slot, which was taken free, leaves the pool: hooks.destroy, then the cold store. */
void resize_withdraw(lfpool_t *pool, uint32_t slot);

/*
 * A call found nothing, and the pool may do something about it (pool->more): ask its scheme, grow by itself, call
 * hooks.exhausted, wait.
 * Returns an object; NULL if in the end there was none, or a hook refused.
 */
COLD void *resize_or_give_up(lfpool_t *pool, struct cache_head *head);

#endif
