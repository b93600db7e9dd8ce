/* SPDX-License-Identifier: MIT */
/*
 * plain_heap.h - the binary heap of a plain evicting pool: which slot goes first (Sedgewick and Wayne, Algorithms, 2.4).
 *
 * Idea         The root goes first; each slot knows its place, so that it can be taken out, or change its priority, anywhere.
 *              What it needs lies where the tournament of a lock-free pool would: an entry for each slot, and behind the
 *              heap the stack of free slots.
 * Concurrency  The pool's mutex is held.
 */
#ifndef LFPOOL_PLAIN_HEAP_H
#define LFPOOL_PLAIN_HEAP_H

#include "priority/evicting.h"

/* One bit each. */
enum life { FREE = 0, TAKEN = 1, NEW = 2, ACTIVE = 4, RELEASED = 8 };

/* In the memory of the place that the slot would have. */
struct plain_slot {
	uint64_t priority, stamp;
	void *object; /* LFPOOL_BACKEND_MALLOC: allocated; else NULL */
	uint32_t at;  /* in the heap, from 1 on; 0: not there */
	uint8_t life, pins;
};
_Static_assert(sizeof(struct plain_slot) <= sizeof(struct place), "there is room");

static inline struct plain_slot *plain_slot_at(const lfpool_priority_t *pool, uint32_t slot)
{
	return (struct plain_slot *)(void *)pool->tournament.slots + (slot - 1);
}

/* Slots: of the heap, from 1 on; and on the stack, from capacity + 1 on. */
static inline uint32_t *plain_heap(const lfpool_priority_t *pool)
{
	return (uint32_t *)(void *)pool->free.links - 1;
}

static inline struct contender plain_contender(const lfpool_priority_t *pool, uint32_t slot)
{
	const struct plain_slot *s = plain_slot_at(pool, slot);

	return (struct contender){.key = s->priority, .stamp = s->stamp, .slot = slot};
}

/* Does slot `a` go before slot `b`? */
bool plain_before(const lfpool_priority_t *pool, uint32_t a, uint32_t b);
/* O(log n), all three.  The slot's place is at `at`, above it, or below it. */
void plain_heap_settle(lfpool_priority_t *pool, uint32_t at, uint32_t slot);
void plain_heap_insert(lfpool_priority_t *pool, uint32_t slot);
void plain_heap_remove(lfpool_priority_t *pool, uint32_t slot);

#endif
