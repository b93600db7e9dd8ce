/* SPDX-License-Identifier: MIT */
/*
 * heap.c - malloc mode: every acquire allocates and every release frees, behind the same public functions.
 *
 * Idea         Slots, their states, caches and counts are as in other pools, so capacity, the result NULL, handles,
 *              walks and hooks work as usual.  But a slot contains only a pointer to its object, and the object is
 *              allocated when the slot is acquired.  A set of addresses (heap.h) leads from an object to its slot.
 *              lfpool_of() does not know the pool, so a label before each object has the address of the object's slot.
 * Invariants   E1  an active slot's pointer points to its object, whose label points back to the slot.  A free slot's
 *                  pointer is NULL.
 *              E2  a label is only trusted if it is the address of a slot whose pointer points back to the object.
 */
#include "pool/heap.h"

#include "os/os.h"
#include "pool/pool.h"
#include "pool/slots.h"

#include <string.h>

/* ---- The pool's heap ---- */

struct heap *heap_open(const lfpool_config_t *config)
{
	struct heap *heap = os_heap_resize(NULL, sizeof(*heap));

	if (!heap)
		return NULL;
	*heap = (struct heap){config->object_size, config->object_alignment, heap_set_open(config->max_capacity)};
	if (heap->set)
		return heap;
	os_heap_free(heap);
	return NULL;
}

void heap_close(struct heap *heap)
{
	if (!heap)
		return;
	heap_set_close(heap->set);
	os_heap_free(heap);
}

/* ---- The heap's objects ---- */

typedef _Atomic(void *) cell_t;

/* A label is directly before an object.  It has 16 bytes, so that the object keeps malloc's alignment. */
union label {
	cell_t *cell;
	char room[16];
};

/* The bytes from the start of a block to the object. */
static size_t offset_of(const struct heap *heap)
{
	return round_up(sizeof(union label), heap->alignment);
}

static cell_t *cell_of(const lfpool_t *pool, uint32_t slot)
{
	return arena_object(&pool->core.arena, slot);
}

void *heap_object_new(lfpool_t *pool, uint32_t slot)
{
	const struct heap *heap = pool->heap;
	const size_t offset = offset_of(heap);
	/* The block ends with the object, so that a heap checker sees an overrun. */
	char *block = os_heap_aligned(heap->alignment, offset + heap->bytes);

	if (!block)
		return NULL;

	void *object = block + offset;

	((union label *)object - 1)->cell = cell_of(pool, slot);
	if (pool->each_call)
		memset(block + offset, 0, heap->bytes);
	heap_set_add(heap->set, object, slot);
	/* relaxed: published with the slot's state (edge TELL). */
	store_relaxed(cell_of(pool, slot), object);
	return object;
}

void heap_object_free(lfpool_t *pool, uint32_t slot, void *object)
{
	/* relaxed: the edge that hands over the slot also orders its pointer. */
	store_relaxed(cell_of(pool, slot), NULL);
	heap_set_remove(pool->heap->set, object);
	os_heap_free((char *)object - offset_of(pool->heap));
}

void *heap_object_at(const lfpool_t *pool, uint32_t slot)
{
	/* relaxed: the caller has already read the active state, edge TELL. */
	return load_relaxed(cell_of(pool, slot));
}

const void *heap_label(const void *object)
{
	const void *label = (const void *)((uintptr_t)object - sizeof(union label)), *cell;

	if (!os_can_read(label))
		return NULL;
	/* Copied by bytes, because the label of a foreign pointer may be unaligned. */
	memcpy(&cell, label, sizeof(cell));
	return cell;
}

lfpool_status_t heap_locate(const lfpool_t *pool, const void *object, uint32_t *slot_out)
{
	*slot_out = SLOT_NONE;
	if (heap_set_find(pool->heap->set, object, slot_out) == HEAP_SET_MAYBE)
		for (uint32_t slot = 1, used = (uint32_t)slots_used(pool); !*slot_out && slot <= used; slot++)
			if (heap_object_at(pool, slot) == object)
				*slot_out = slot;
	return *slot_out ? LFPOOL_OK : LFPOOL_E_FOREIGN;
}

/* ---- The set of addresses: all orders are relaxed, because another edge gave the caller the address ---- */

enum { PROBES = 64 };
#define GONE ((uintptr_t)1)

/* The index of the i-th entry in which an address may be (Fibonacci hashing: Knuth 1973, 6.4). */
static inline size_t place_of(const struct heap_set *set, const void *object, size_t i)
{
	return (size_t)((((uint64_t)(uintptr_t)object >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20) + i) & set->mask;
}

struct heap_set *heap_set_open(size_t addresses)
{
	size_t places = PROBES, bytes;

	if (addresses > SIZE_MAX / 4)
		return NULL;
	while (places / 2 < addresses)
		places *= 2;
	if (__builtin_mul_overflow(places, sizeof(uintptr_t) + sizeof(uint32_t), &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(struct heap_set), &bytes))
		return NULL;

	struct heap_set *set = os_map(bytes);

	if (set) {
		set->mask = places - 1;
		set->mapped_bytes = bytes;
		set->slot = (void *)&set->place[places];
	}
	return set;
}

void heap_set_close(struct heap_set *set)
{
	if (set)
		os_unmap(set, set->mapped_bytes);
}

void heap_set_add(struct heap_set *set, const void *object, uint32_t slot)
{
	for (size_t i = 0; i < PROBES; i++) {
		const size_t place = place_of(set, object, i);
		uintptr_t was = load_relaxed(&set->place[place]);

		if (was <= GONE && cas_relaxed(&set->place[place], &was, (uintptr_t)object)) {
			store_relaxed(&set->slot[place], slot);
			return;
		}
	}
	(void)fetch_add_relaxed(&set->beside, UINT64_C(1));
}

/* YES: the address is in entry *place_out.  NO: a 0 ended the search.  MAYBE: none of the PROBES entries is 0. */
static enum heap_set_answer find(const struct heap_set *set, const void *object, size_t *place_out)
{
	for (size_t i = 0; i < PROBES; i++) {
		*place_out = place_of(set, object, i);

		const uintptr_t is = load_relaxed(&set->place[*place_out]);

		if (is == (uintptr_t)object)
			return HEAP_SET_YES;
		if (!is)
			return HEAP_SET_NO;
	}
	return HEAP_SET_MAYBE;
}

void heap_set_remove(struct heap_set *set, const void *object)
{
	size_t place;

	if (find(set, object, &place) == HEAP_SET_YES)
		store_relaxed(&set->place[place], GONE);
	else
		(void)fetch_add_relaxed(&set->beside, -UINT64_C(1));
}

enum heap_set_answer heap_set_find(const struct heap_set *set, const void *object, uint32_t *slot_out)
{
	size_t place;
	enum heap_set_answer answer = (uintptr_t)object <= GONE ? HEAP_SET_NO : find(set, object, &place);

	if (answer == HEAP_SET_YES)
		*slot_out = load_relaxed(&set->slot[place]);
	return answer == HEAP_SET_MAYBE && !load_relaxed(&set->beside) ? HEAP_SET_NO : answer;
}
