/* SPDX-License-Identifier: MIT */
/*
 * resize.h - what growing, shrinking and running out of objects need from each other.
 */
#ifndef LFPOOL_RESIZE_INTERNAL_H
#define LFPOOL_RESIZE_INTERNAL_H

#include "base.h"

#include "lfpool/lfpool.h"

struct handle;

/* Objects became free without a release: somebody may wait for them.  Through the caller's cache (NULL: the thread's). */
void resize_serve_if_wanted(lfpool_t *pool, struct handle *handle);

/* As long as somebody waits and nothing is free, the pool grows by itself. */
void resize_for_waiters(lfpool_t *pool, struct handle *handle);

/* The slot, which was taken free, leaves the pool: hooks.destroy, then the cold store. */
void resize_withdraw(lfpool_t *pool, uint32_t slot);

/*
 * A call found nothing, and the pool may do something about it (pool->more): ask its scheme, grow by itself, call
 * hooks.exhausted, wait.
 * Returns an object; NULL if in the end there was none, or a hook refused.
 */
COLD void *resize_or_give_up(lfpool_t *pool, struct handle *handle);

#endif
