/* SPDX-License-Identifier: MIT */
/*
 * live_pools.h - the list of live pools, so that an exiting thread touches no destroyed pool; and the address map,
 * which finds the pool of an address.
 *
 * Idea         A pool's id is its index in a table, with the generation of that table entry.  No id is used twice.
 *              Threads remember ids, and check only at exit whether the pools still live.
 *              The map is a sorted array of address ranges, for a binary search.  The memory of a pool's objects can be
 *              an object of another pool (caller-provided memory).  So each range has the index of the range around it,
 *              and the search continues outwards until a range holds the address.
 *              There are two such arrays.  A change writes the whole next state into the unpublished array, and
 *              publishes that array with one store of the word `head`, {version, count}.  The version's lowest bit
 *              selects the array.  Readers search the published array, and then check that `head` is unchanged.  (This
 *              is a sequence lock, after Lamport 1977, with two copies: a reader never waits for a change, and retries
 *              only after a change was completed.)
 * Invariants   AR1 no writer writes to the published array.
 *              AR2 a reader that finds `head` unchanged has read only the state that this value of `head` published.
 *                  Let v be the version in this value.  (a) All stores before v was published happen before the search
 *                  (PUBLISH), so the search reads no older state.  (b) The published array is next written for version
 *                  v + 2, after v + 1 was published.  Each store into the array is a release, and each load of the
 *                  search is an acquire.  So if a reader sees a store for v + 2, the store of v + 1 happens before the
 *                  reader's second load of `head`, which then cannot return v.
 *              G3  an outgrown array stays allocated until the process ends, because a reader may still search it.
 *                  Sizes double, so the outgrown arrays have less room than the two in use.  Only address_map_add()
 *                  allocates; a removal writes an array that already has room.
 * Progress     Create, destroy and thread exit take one mutex; no acquire or release takes it.  A fork takes it too, so
 *              the child finds it free.  The map has one writer at a time, under the mutex, and lock-free readers: a
 *              retry means that a range was added or removed.
 * Concurrency  -: may run at the same time.  L: the caller of live_pools_each() or live_pools_find() has the lock, and
 *              must not call functions that take it.
 *                                                                       add .. vacant  each, find  find_by_address
 *                  live_pools_add, remove, next, vacant: take the lock        -            L              -
 *                  live_pools_each, find                                      L            L              -
 *                  live_pools_find_by_address                                 -            -              -
 *              address_map_add and address_map_remove: one call at a time.  address_map_find: at any time.
 * Edges        PUBLISH: address_map_add, address_map_remove -> address_map_find.
 * Wrap         AR2 fails only if exactly k * 2^39 changes happen during one search.
 */
#ifndef LFPOOL_LIVE_POOLS_H
#define LFPOOL_LIVE_POOLS_H

#include "base/atomics.h"
#include "base/base.h"

struct lfpool_t;

#define LIVE_POOLS_PLACE_BITS 24

/* The table index in an id.  Indices begin at 0 and are reused, so they are small. */
static inline size_t live_pools_place(uint64_t id)
{
	return (size_t)(id & ((UINT64_C(1) << LIVE_POOLS_PLACE_BITS) - 1));
}

/* The generation in an id, from 1; 0: not a pool's id. */
static inline uint64_t live_pools_generation(uint64_t id)
{
	return id >> LIVE_POOLS_PLACE_BITS;
}

/* Adds a pool whose objects are at the addresses first .. end - 1.  If `first` is 0, the objects are not in one range.
 * Returns the pool's id, or 0 when the system refuses memory. */
uint64_t live_pools_add(struct lfpool_t *pool, uintptr_t first, uintptr_t end);
void live_pools_remove(uint64_t id);
/* The table index that the next pool will get, unless a pool is removed first. */
size_t live_pools_vacant(void);

/* The pool of the object at this address, or NULL.  Lock-free: it retries when pools are added or removed. */
struct lfpool_t *live_pools_find_by_address(const void *address);

void live_pools_lock(void);
void live_pools_unlock(void);
/* The first live pool from index *place on; moves *place past that pool.  NULL: there are no more pools. */
struct lfpool_t *live_pools_next(size_t *place);
void live_pools_each(void (*visit)(struct lfpool_t *pool));
/* The live pool with this id, or NULL.  The caller has the lock, which keeps the pool alive. */
struct lfpool_t *live_pools_find(uint64_t id);

/* ---- The map: address ranges with owners; two ranges are disjoint, or the one added later is inside the other ---- */

struct range {
	_Atomic(uintptr_t) first, end; /* its addresses are first .. end - 1; first is never 0             */
	_Atomic(uintptr_t) owner;
	_Atomic(uintptr_t) outer; /* index of the innermost range around it, counted from 1; 0: none */
};

struct range_array {
	struct range_array *outgrown; /* the smaller array that this one replaced, or NULL */
	size_t room;
	struct range range[];
};

/* A zeroed map has no ranges. */
struct address_map {
	_Atomic(uint64_t) head;
	_Atomic(uintptr_t) array[2]; /* struct range_array *; 0 until the array is used */
};

#define RANGES_MAX (UINT32_C(1) << 24)

/* One writer at a time.  Adds a range; false when the system refuses memory. */
bool address_map_add(struct address_map *ranges, uintptr_t first, uintptr_t end, void *owner);
/* Removes the range that begins at `first` and has this owner; the range must exist.  Never fails. */
void address_map_remove(struct address_map *ranges, uintptr_t first, const void *owner);

/* For any thread: the owner of the innermost range that holds `address`, or NULL. */
void *address_map_find(const struct address_map *ranges, uintptr_t address);

#endif
