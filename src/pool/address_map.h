/* SPDX-License-Identifier: MIT */
/*
 * address_map.h - disjoint ranges of addresses and whose they are: who owns this address?
 *
 * Idea         A sorted array, searched by halves; and a second one beside it.  A change writes the whole next state
 *              into the one that is not published, and then publishes it with one store of the head, {version, count}:
 *              the version's lowest bit says which of the two.  Readers search the published one, and then look whether
 *              the head is still the same.  (A sequence lock, after Lamport 1977, with two copies: so a reader retries
 *              only if a change was completed meanwhile, and never waits for one that has begun.)
 * Invariants   AR1 what is published is written by nobody.
 *              AR2 a reader that finds the head unchanged has read nothing but what that head published.  For let it
 *                  have read the head of version v.  (a) Everything that v's writer wrote before happens before the
 *                  search (PUBLISH), so nothing older is read.  (b) The published array is written again by version
 *                  v + 2 at the earliest, whose writer published v + 1 before, or saw it published.  Each of its stores
 *                  is a release and each load of the search an acquire: a reader that sees one of them has v + 1 behind
 *                  it, and cannot read v from the head any more.
 *              G3  an array that was outgrown stays allocated until the process ends: a reader may be in it.  Each is
 *                  twice as large as the one before, so all together are less than twice the largest.  Only adding
 *                  allocates: the array that a removal writes has held as many before.
 * Progress     Readers: lock-free; each retry means that a range was added or removed.  Writers: one at a time, the
 *              caller's lock.
 * Edges        PUBLISH: address_map_add, address_map_remove -> address_map_find.
 * Wrap         AR2 fails only if exactly a multiple of 2^39 changes fall into one search.
 */
#ifndef LFPOOL_ADDRESS_MAP_H
#define LFPOOL_ADDRESS_MAP_H

#include "base/atomics.h"
#include "base/base.h"

struct range {
	_Atomic(uintptr_t) first, end; /* its addresses are first .. end - 1; first is never 0 */
	_Atomic(uintptr_t) owner;
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

/* One writer at a time.  Adds a range that overlaps none; false when the system refuses memory. */
bool address_map_add(struct address_map *ranges, uintptr_t first, uintptr_t end, void *owner);
/* Takes out the range that begins at `first`, which is there.  Never fails. */
void address_map_remove(struct address_map *ranges, uintptr_t first);

/* Anybody: the owner of the range that holds `address`; NULL if none does. */
void *address_map_find(const struct address_map *ranges, uintptr_t address);

#endif
