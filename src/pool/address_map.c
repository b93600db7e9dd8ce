/* SPDX-License-Identifier: MIT */
/*
 * address_map.c - see address_map.h.
 */
#include "pool/address_map.h"

#include "base/widths.h"
#include "os/os.h"

#define COUNT_BITS 25 /* RANGES_MAX and all below */
#define ROOM_FIRST 8

static size_t count_of(uint64_t head)
{
	return (size_t)(head & ((UINT64_C(1) << COUNT_BITS) - 1));
}

static unsigned which_of(uint64_t head)
{
	return (unsigned)(head >> COUNT_BITS & 1);
}

/* ---- Readers ---- */

/* How many of `count` ranges begin at or below `address`. */
static size_t address_map_up_to(const struct range_array *array, size_t count, uintptr_t address)
{
	size_t low = 0;

	/* Without a branch on what is found, which nothing could predict: the lower half, or the upper one, which is one
	 * shorter if count is even. */
	while (count > 0) {
		const size_t half = count / 2;
		/* acquire, edge PUBLISH: AR2. */
		const size_t above = load_acquire(&array->range[low + half].first) <= address;

		low += above * (half + 1);
		count = half - (above & ~count & 1);
	}
	return low;
}

static uintptr_t search(const struct range_array *array, size_t count, uintptr_t address)
{
	const size_t place = address_map_up_to(array, count, address);

	/* acquire, edge PUBLISH, both: AR2. */
	if (place == 0 || load_acquire(&array->range[place - 1].end) <= address)
		return 0;
	return load_acquire(&array->range[place - 1].owner);
}

void *address_map_find(const struct address_map *ranges, uintptr_t address)
{
	for (;;) {
		/* acquire, edge PUBLISH, both: the array's contents.  An array that was put there later is as complete,
		 * and then the head has changed (AR2). */
		const uint64_t head = load_acquire(&ranges->head);
		const struct range_array *array = (const void *)load_acquire(&ranges->array[which_of(head)]);
		const uintptr_t owner = array ? search(array, count_of(head), address) : 0;

		/* relaxed: what orders it are the acquires before it (AR2). */
		if (likely(load_relaxed(&ranges->head) == head))
			return (void *)owner;
		/* Retries only after a range was added or removed: lock-free. */
	}
}

/* ---- The writer: relaxed loads are of what it, or the writer before it, has stored ---- */

static void range_set(struct range *range, uintptr_t first, uintptr_t end, uintptr_t owner)
{
	/* release, edge PUBLISH, all: a reader that comes upon these too early finds the head changed (AR2). */
	store_release(&range->first, first);
	store_release(&range->end, end);
	store_release(&range->owner, owner);
}

static void range_copy(struct range *to, struct range *from)
{
	/* relaxed, all: the writer's. */
	range_set(to, load_relaxed(&from->first), load_relaxed(&from->end), load_relaxed(&from->owner));
}

static struct range_array *array_at(struct address_map *ranges, unsigned which)
{
	/* relaxed: the writer's. */
	return (struct range_array *)load_relaxed(&ranges->array[which]);
}

static void publish(struct address_map *ranges, uint64_t head, size_t count)
{
	const uint64_t version = ((head >> COUNT_BITS) + 1) & LOW_BITS(RANGES_VERSION_BITS);

	/* release, edge PUBLISH: the array. */
	store_release(&ranges->head, version << COUNT_BITS | count);
}

/* A larger array than `outgrown`, which may be NULL; NULL when the system refuses memory. */
static struct range_array *array_larger(struct range_array *outgrown)
{
	const size_t room = outgrown ? 2 * outgrown->room : ROOM_FIRST;
	struct range_array *array = os_heap_resize(NULL, sizeof(*array) + room * sizeof(array->range[0]));

	if (array) {
		array->outgrown = outgrown;
		array->room = room;
	}
	return array;
}

bool address_map_add(struct address_map *ranges, uintptr_t first, uintptr_t end, void *owner)
{
	/* relaxed: the writer's. */
	const uint64_t head = load_relaxed(&ranges->head);
	const size_t count = count_of(head);
	const unsigned other = which_of(head) ^ 1;
	struct range_array *from = array_at(ranges, which_of(head)), *to = array_at(ranges, other);
	const size_t place = address_map_up_to(from, count, first);

	if (count == RANGES_MAX)
		return false;
	/* The other array had room for count - 1 at least: doubled it has enough. */
	if (!to || to->room <= count)
		to = array_larger(to);
	if (!to)
		return false;
	for (size_t i = 0; i < place; i++)
		range_copy(&to->range[i], &from->range[i]);
	range_set(&to->range[place], first, end, (uintptr_t)owner);
	for (size_t i = place; i < count; i++)
		range_copy(&to->range[i + 1], &from->range[i]);
	/* release, edge PUBLISH: an array that is new; it is complete. */
	store_release(&ranges->array[other], (uintptr_t)to);
	publish(ranges, head, count + 1);
	return true;
}

void address_map_remove(struct address_map *ranges, uintptr_t first)
{
	/* relaxed: the writer's. */
	const uint64_t head = load_relaxed(&ranges->head);
	const size_t count = count_of(head);
	const unsigned other = which_of(head) ^ 1;
	struct range_array *from = array_at(ranges, which_of(head)), *to = array_at(ranges, other);
	const size_t place = address_map_up_to(from, count, first) - 1;

	for (size_t i = 0; i < place; i++)
		range_copy(&to->range[i], &from->range[i]);
	for (size_t i = place + 1; i < count; i++)
		range_copy(&to->range[i - 1], &from->range[i]);
	publish(ranges, head, count - 1);
}
