/* SPDX-License-Identifier: MIT */
/*
 * plain_heap.c - see plain_heap.h.
 */
#include "priority/plain_heap.h"

bool plain_before(const lfpool_priority_t *pool, uint32_t a, uint32_t b)
{
	const struct contender x = plain_contender(pool, a), y = plain_contender(pool, b);

	return goes_before(&pool->tournament, &x, &y);
}

static void put(lfpool_priority_t *pool, uint32_t at, uint32_t slot)
{
	plain_heap(pool)[at] = slot;
	plain_slot_at(pool, slot)->at = at;
}

void plain_heap_settle(lfpool_priority_t *pool, uint32_t at, uint32_t slot)
{
	const uint32_t *heap = plain_heap(pool), count = pool->plain.heap_count;

	for (; at > 1 && plain_before(pool, slot, heap[at / 2]); at /= 2)
		put(pool, at, heap[at / 2]);
	for (uint32_t child; (child = 2 * at) <= count; at = child) {
		if (child < count && plain_before(pool, heap[child + 1], heap[child]))
			child++;
		if (!plain_before(pool, heap[child], slot))
			break;
		put(pool, at, heap[child]);
	}
	put(pool, at, slot);
}

void plain_heap_insert(lfpool_priority_t *pool, uint32_t slot)
{
	plain_heap_settle(pool, ++pool->plain.heap_count, slot);
}

void plain_heap_remove(lfpool_priority_t *pool, uint32_t slot)
{
	const uint32_t at = plain_slot_at(pool, slot)->at, last = plain_heap(pool)[pool->plain.heap_count];

	plain_slot_at(pool, slot)->at = 0;
	pool->plain.heap_count--;
	if (last != slot)
		plain_heap_settle(pool, at, last);
}
