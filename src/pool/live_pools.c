/* SPDX-License-Identifier: MIT */
/*
 * live_pools.c - see live_pools.h.
 *
 * Invariants   ID1 an id {generation:40, index:24} never names two pools.  The generation of a table entry begins at 1,
 *                  and grows each time a pool gets the entry.  (A generation repeats only after 2^40 - 1 pools in one
 *                  entry: widths.h.)
 *              ID2 `ranges` has an entry for each live pool whose objects are in one range of addresses.
 */
#include "pool/live_pools.h"

#include "base/widths.h"
#include "os/os.h"

/* ---- The map of addresses ---- */

#define COUNT_BITS 25 /* enough for RANGES_MAX */
#define ROOM_FIRST 8

static size_t ranges_in(uint64_t head)
{
	return (size_t)(head & ((UINT64_C(1) << COUNT_BITS) - 1));
}

static unsigned which_of(uint64_t head)
{
	return (unsigned)(head >> COUNT_BITS & 1);
}

/* ---- Readers ---- */

/* Counts the ranges, among the first `count`, that begin at or below `address`. */
static size_t address_map_up_to(const struct range_array *array, size_t count, uintptr_t address)
{
	size_t low = 0;

	/* Continues in the lower half, or in the upper half, which is one shorter if count is even.  There is no
	 * branch, because a processor could not predict it. */
	while (count > 0) {
		const size_t half = count / 2;
		/* acquire, edge PUBLISH: if this load sees a newer store, the reader finds the head changed (AR2). */
		const size_t above = load_acquire(&array->range[low + half].first) <= address;

		low += above * (half + 1);
		count = half - (above & ~count & 1);
	}
	return low;
}

static uintptr_t search(const struct range_array *array, size_t count, uintptr_t address)
{
	size_t place = address_map_up_to(array, count, address);

	/* acquire, edge PUBLISH, all: as above (AR2).  A range that holds `address` is either the last range that
	 * begins at or below `address`, or a range around that range.  Each round lowers `place`, even if a writer
	 * changes the array, so the loop ends. */
	while (place && load_acquire(&array->range[place - 1].end) <= address)
		place = (size_t)load_acquire(&array->range[place - 1].outer);
	return place ? load_acquire(&array->range[place - 1].owner) : 0;
}

void *address_map_find(const struct address_map *ranges, uintptr_t address)
{
	for (;;) {
		/* acquire, edge PUBLISH, both: makes the array's contents visible.  If they are newer than `head`, the
		 * head has changed (AR2). */
		const uint64_t head = load_acquire(&ranges->head);
		const struct range_array *array = (const void *)load_acquire(&ranges->array[which_of(head)]);
		const uintptr_t owner = array ? search(array, ranges_in(head), address) : 0;

		/* relaxed: the acquires before this load order it (AR2). */
		if (likely(load_relaxed(&ranges->head) == head))
			return (void *)owner;
		/* Retries only after a range was added or removed: lock-free. */
	}
}

/* ---- The writer: relaxed loads, because only writers store, one at a time ---- */

/* The number, from 1, of the innermost range around address `first`; 0: there is none.  `place` ranges begin at or
 * below the address. */
static size_t outer_of(struct range_array *array, size_t place, uintptr_t first)
{
	/* relaxed, both: no other thread writes now. */
	while (place && load_relaxed(&array->range[place - 1].end) <= first)
		place = (size_t)load_relaxed(&array->range[place - 1].outer);
	return place;
}

/* Writes the range at index `place`.  All ranges before it are already set. */
static void range_set(struct range_array *array, size_t place, uintptr_t first, uintptr_t end, uintptr_t owner)
{
	struct range *range = &array->range[place];

	/* release, edge PUBLISH, all: a reader that sees one of these stores too early finds the head changed (AR2). */
	store_release(&range->outer, outer_of(array, place, first));
	store_release(&range->first, first);
	store_release(&range->end, end);
	store_release(&range->owner, owner);
}

static void range_copy(struct range_array *to, size_t place, struct range *from)
{
	/* relaxed, all: no other thread writes now. */
	range_set(to, place, load_relaxed(&from->first), load_relaxed(&from->end), load_relaxed(&from->owner));
}

static struct range_array *array_at(struct address_map *ranges, unsigned which)
{
	/* relaxed: no other thread writes now. */
	return (struct range_array *)load_relaxed(&ranges->array[which]);
}

static void publish(struct address_map *ranges, uint64_t head, size_t count)
{
	const uint64_t version = ((head >> COUNT_BITS) + 1) & LOW_BITS(RANGES_VERSION_BITS);

	/* release, edge PUBLISH: publishes the array. */
	store_release(&ranges->head, version << COUNT_BITS | count);
}

/* Allocates an array that is larger than `outgrown`, which may be NULL.  Returns NULL when the system refuses
 * memory. */
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
	/* relaxed: no other thread writes now. */
	const uint64_t head = load_relaxed(&ranges->head);
	const size_t count = ranges_in(head);
	const unsigned other = which_of(head) ^ 1;
	struct range_array *from = array_at(ranges, which_of(head)), *to = array_at(ranges, other);
	const size_t place = address_map_up_to(from, count, first);

	if (count == RANGES_MAX)
		return false;
	/* The other array has room for at least count - 1 ranges, so doubling its size is enough. */
	if (!to || to->room <= count)
		to = array_larger(to);
	if (!to)
		return false;
	for (size_t i = 0; i < place; i++)
		range_copy(to, i, &from->range[i]);
	range_set(to, place, first, end, (uintptr_t)owner);
	for (size_t i = place; i < count; i++)
		range_copy(to, i + 1, &from->range[i]);
	/* release, edge PUBLISH: publishes the contents of a new array. */
	store_release(&ranges->array[other], (uintptr_t)to);
	publish(ranges, head, count + 1);
	return true;
}

void address_map_remove(struct address_map *ranges, uintptr_t first, const void *owner)
{
	/* relaxed: no other thread writes now. */
	const uint64_t head = load_relaxed(&ranges->head);
	const size_t count = ranges_in(head);
	const unsigned other = which_of(head) ^ 1;
	struct range_array *from = array_at(ranges, which_of(head)), *to = array_at(ranges, other);
	size_t place = address_map_up_to(from, count, first) - 1;

	/* relaxed: no other thread writes now.  Skips inner ranges that begin at the same address. */
	while (load_relaxed(&from->range[place].owner) != (uintptr_t)owner)
		place--;
	for (size_t i = 0; i < place; i++)
		range_copy(to, i, &from->range[i]);
	for (size_t i = place + 1; i < count; i++)
		range_copy(to, i - 1, &from->range[i]);
	publish(ranges, head, count - 1);
}

/* ---- Pools ---- */

struct pool_place {
	struct lfpool_t *pool; /* NULL: vacant                                     */
	uint64_t generation;
	uintptr_t first; /* where the objects begin; 0: not in one range          */
};

static os_mutex_t mutex = OS_MUTEX_INITIALIZER;
static struct pool_place *places;
static size_t place_count;
/* Written under the mutex. */
static struct address_map ranges;

void live_pools_lock(void)
{
	os_mutex_lock(&mutex);
}

void live_pools_unlock(void)
{
	os_mutex_unlock(&mutex);
}

/* The index of the first vacant entry, or place_count. */
static size_t first_vacant(void)
{
	size_t i = 0;

	while (i < place_count && places[i].pool)
		i++;
	return i;
}

size_t live_pools_vacant(void)
{
	live_pools_lock();
	const size_t place = first_vacant();

	live_pools_unlock();
	return place;
}

/* The index of a vacant entry.  Grows the table if it is full.  Returns place_count when the system refuses memory. */
static size_t vacant_place(void)
{
	const size_t i = first_vacant();

	if (i < place_count || place_count >> LIVE_POOLS_PLACE_BITS)
		return i;

	size_t wanted = place_count ? 2 * place_count : 8;
	struct pool_place *grown = os_heap_resize(places, wanted * sizeof(*places));

	if (!grown)
		return i;
	for (size_t n = place_count; n < wanted; n++)
		grown[n] = (struct pool_place){0};
	places = grown;
	place_count = wanted;
	return i;
}

uint64_t live_pools_add(struct lfpool_t *pool, uintptr_t first, uintptr_t end)
{
	uint64_t id = 0;

	live_pools_lock();
	size_t i = vacant_place();

	if (i < place_count && (!first || address_map_add(&ranges, first, end, pool))) {
		places[i].pool = pool;
		places[i].first = first;
		/* Wraps to 1, so no id is 0. */
		places[i].generation = places[i].generation % LOW_BITS(REGISTRY_GENERATION_BITS) + 1;
		id = places[i].generation << LIVE_POOLS_PLACE_BITS | i;
	}
	live_pools_unlock();
	return id;
}

void live_pools_remove(uint64_t id)
{
	live_pools_lock();
	struct pool_place *place = &places[live_pools_place(id)];

	if (place->first)
		address_map_remove(&ranges, place->first, place->pool);
	place->pool = NULL;
	live_pools_unlock();
}

struct lfpool_t *live_pools_find_by_address(const void *address)
{
	return address_map_find(&ranges, (uintptr_t)address);
}

struct lfpool_t *live_pools_next(size_t *place)
{
	struct lfpool_t *found = NULL;

	live_pools_lock();
	while (!found && *place < place_count)
		found = places[(*place)++].pool;
	live_pools_unlock();
	return found;
}

void live_pools_each(void (*visit)(struct lfpool_t *pool))
{
	for (size_t i = 0; i < place_count; i++)
		if (places[i].pool)
			visit(places[i].pool);
}

struct lfpool_t *live_pools_find(uint64_t id)
{
	size_t i = live_pools_place(id);

	if (i < place_count && places[i].generation == live_pools_generation(id))
		return places[i].pool;
	return NULL;
}
