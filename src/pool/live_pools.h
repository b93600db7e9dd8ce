/* SPDX-License-Identifier: MIT */
/*
 * live_pools.h - which pools are alive: so that an exiting thread does not touch a pool that is gone; and which of them
 * an address belongs to.
 *
 * Idea         A pool has a place in a table and a generation of that place; both make its id, which is never used
 *              twice.  Threads remember ids and ask here, at exit only, whether the pool still lives.
 * Progress     One mutex, for create, destroy and thread exit.  Acquire and release never come here.  Fork takes it
 *              too, so the child finds it free.  A call that asks for the pool of an address takes no lock (address_map.h).
 */
#ifndef LFPOOL_LIVE_POOLS_H
#define LFPOOL_LIVE_POOLS_H

#include "base/base.h"

struct lfpool_pool;

#define LIVE_POOLS_PLACE_BITS 24

/* The place in an id, from 0: small numbers, used again. */
static inline size_t live_pools_place(uint64_t id)
{
	return (size_t)(id & ((UINT64_C(1) << LIVE_POOLS_PLACE_BITS) - 1));
}

/* How often the place was filled, from 1; of no pool's id, 0. */
static inline uint64_t live_pools_generation(uint64_t id)
{
	return id >> LIVE_POOLS_PLACE_BITS;
}

/* Enters a pool whose objects lie at addresses first .. end - 1 (first 0: nowhere in particular); returns its id, or 0
 * when the system refuses memory. */
uint64_t live_pools_add(struct lfpool_pool *pool, uintptr_t first, uintptr_t end);
void live_pools_remove(uint64_t id);

/* The pool among whose objects the address lies, or NULL.  Lock-free: each retry means that a pool came or went. */
struct lfpool_pool *live_pools_find_by_address(const void *address);

void live_pools_lock(void);
void live_pools_unlock(void);
/* The first living pool from *place on, which goes on behind it; NULL: there is no more. */
struct lfpool_pool *live_pools_next(size_t *place);
/* Every living pool.  Under the lock. */
void live_pools_each(void (*visit)(struct lfpool_pool *pool));
/* The living pool with this id, or NULL.  Under the lock, which keeps it alive. */
struct lfpool_pool *live_pools_find(uint64_t id);

#endif
