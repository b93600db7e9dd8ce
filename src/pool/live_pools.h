/* SPDX-License-Identifier: MIT */
/*
 * live_pools.h - which pools are alive: so that an exiting thread does not touch a pool that is gone; and which of them
 * an address belongs to.
 *
 * Idea         A pool has a place in a table and a generation of that place; both make its id, which is never used
 *              twice.  Threads remember ids and ask here, at exit only, whether the pool still lives.
 *              The map is a sorted array of address ranges, searched by halves, and a second array next to it.  The
 *              memory of a pool's objects can be an object of another pool (caller-provided memory).  So a range
 *              has the place of the range around it, and the search goes outwards until a range holds the address.
 *              A change writes the whole next state into the array that is not published, and then publishes it with
 *              one store of the head, {version, count}: the version's lowest bit selects the array.  Readers search the
 *              published array, and then check that the head is still the same.  (A sequence lock, after Lamport 1977,
 *              with two copies: a reader retries only if a change was completed in the meantime, and never waits for a
 *              change that has begun.)
 * Invariants   AR1 no writer writes to the published array.
 *              AR2 a reader that finds the head unchanged has read only the state that this head published.  Let it
 *                  have read the head of version v.  (a) All that v's writer wrote before happens before the search
 *                  (PUBLISH), so nothing older is read.  (b) The published array is written again by version v + 2 at
 *                  the earliest, whose writer published v + 1 before, or saw it published.  Each of its stores is a
 *                  release and each load of the search an acquire: a reader that sees one of them has v + 1 behind it,
 *                  and cannot read v from the head again.
 *              G3  an outgrown array stays allocated until the process ends: a reader may be in it.  Each array is
 *                  twice as large as the one before, so all together are less than twice the largest.  Only adding
 *                  allocates: the array that a removal writes has room from before.
 * Progress     One mutex, for create, destroy and thread exit.  Acquire and release never come here.  Fork takes it
 *              too, so the child finds it free.  A call that asks for the pool of an address takes no lock (the map).
 *              The map: readers are lock-free, each retry means that a range was added or removed; one writer at a
 *              time.
 * Edges        PUBLISH: address_map_add, address_map_remove -> address_map_find.
 * Wrap         AR2 fails only if exactly a multiple of 2^39 changes fall into one search.
 */
#ifndef LFPOOL_LIVE_POOLS_H
#define LFPOOL_LIVE_POOLS_H

#include "base/atomics.h"
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
/* The place that the next pool gets, if no other one comes or goes meanwhile. */
size_t live_pools_vacant(void);

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

/* ---- The map: ranges of addresses, each with an owner.  Two ranges are disjoint, or the later one is inside ---- */

struct range {
	_Atomic(uintptr_t) first, end; /* its addresses are first .. end - 1; first is never 0             */
	_Atomic(uintptr_t) owner;
	_Atomic(uintptr_t) outer; /* place of the innermost range around it, counted from 1; 0: none */
};

struct range_array {
	struct range_array *outgrown; /* the one before */
	size_t room;
	struct range range[];
};

/* Zeroed: no ranges. */
struct address_map {
	_Atomic(uint64_t) head;
	_Atomic(uintptr_t) array[2]; /* struct range_array *, or 0 while it has never held a range */
};

#define RANGES_MAX (UINT32_C(1) << 24)

/* One writer at a time.  Adds a range; false when the system refuses memory. */
bool address_map_add(struct address_map *ranges, uintptr_t first, uintptr_t end, void *owner);
/* Takes out the range that begins at `first` and has this owner, which is there.  Never fails. */
void address_map_remove(struct address_map *ranges, uintptr_t first, const void *owner);

/* By any thread: the owner of the innermost range that holds `address`; NULL if none does. */
void *address_map_find(const struct address_map *ranges, uintptr_t address);

#endif
