/* SPDX-License-Identifier: MIT */
/*
 * live_pools.c - see live_pools.h.
 *
 * Invariants   ID1 an id {generation:40, place:24} names at most one pool, ever: a place's generation grows each time
 *                  it is filled, from 1. (A place would have to be filled 2^40 - 1 times to see one again: widths.h.)
 *              ID2 `ranges` holds the objects of each pool that has a place, if they lie in one range.
 */
#include "pool/live_pools.h"

#include "base/widths.h"
#include "os/os.h"
#include "pool/address_map.h"

struct pool_place {
	struct lfpool_pool *pool; /* NULL: vacant                                     */
	uint64_t generation;
	uintptr_t first; /* where its objects begin; 0: nowhere in particular     */
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

/* A vacant place, making room if there is none; place_count when the system refuses memory. */
static size_t vacant_place(void)
{
	size_t i = 0;

	while (i < place_count && places[i].pool)
		i++;
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

uint64_t live_pools_add(struct lfpool_pool *pool, uintptr_t first, uintptr_t end)
{
	uint64_t id = 0;

	live_pools_lock();
	size_t i = vacant_place();

	if (i < place_count && (!first || address_map_add(&ranges, first, end, pool))) {
		places[i].pool = pool;
		places[i].first = first;
		/* From 1 again when it runs over: no id is 0. */
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

	place->pool = NULL;
	if (place->first)
		address_map_remove(&ranges, place->first);
	live_pools_unlock();
}

struct lfpool_pool *live_pools_find_by_address(const void *address)
{
	return address_map_find(&ranges, (uintptr_t)address);
}

struct lfpool_pool *live_pools_next(size_t *place)
{
	struct lfpool_pool *found = NULL;

	live_pools_lock();
	while (!found && *place < place_count)
		found = places[(*place)++].pool;
	live_pools_unlock();
	return found;
}

void live_pools_each(void (*visit)(struct lfpool_pool *pool))
{
	for (size_t i = 0; i < place_count; i++)
		if (places[i].pool)
			visit(places[i].pool);
}

struct lfpool_pool *live_pools_find(uint64_t id)
{
	size_t i = live_pools_place(id);

	if (i < place_count && places[i].generation == live_pools_generation(id))
		return places[i].pool;
	return NULL;
}
