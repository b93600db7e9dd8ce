/* SPDX-License-Identifier: MIT */
/*
 * lockfree_open.c - makes a pool of the lock-free backend.
 *
 * Idea         One mapping: [ pool | first lot of caches | magazines | state words | epochs | no access | objects | no
 *              access ].  All of it reads as "every slot free and never used" while it is zero, so creation is O(1) in
 *              the capacity.
 */
#include "backend_lockfree.h"
#include "backing.h"
#include "os.h"
#include "pool.h"

#define MAGAZINE_SLOTS_DEFAULT 256
#define CHUNKS_MAX ((size_t)1 << 23) /* leaves numbers for the extra magazines */

_Static_assert(CHUNKS_MAX + EXTRA_PER_CACHE * CACHES_MAX <= TAGGED_NUMBER_MAX, "every magazine needs a number");

/* ---- What the config leaves open ---- */

/* A cache is two magazines.  By default a cache for each processor holds half the objects, all together. */
static size_t choose_magazine_slots(const lfpool_config_t *config)
{
	size_t slots;

	if (config->cache_capacity && config->cache_capacity != LFPOOL_CACHE_NONE) {
		slots = config->cache_capacity / 2;
	} else {
		slots = config->capacity / (4 * (size_t)os_processors());
		if (slots > MAGAZINE_SLOTS_DEFAULT)
			slots = MAGAZINE_SLOTS_DEFAULT;
	}
	slots = power_of_two_at_most(slots ? slots : 1);
	while ((config->max_capacity - 1) / slots + 1 > CHUNKS_MAX)
		slots *= 2;
	return slots;
}

/* A head for every eight processors: docs/decisions/0005. */
static uint32_t choose_shards(const lfpool_config_t *config)
{
	const size_t shards = config->depot_shards ? config->depot_shards : os_processors() / PROCESSOR_BLOCK;

	return shards < 1 ? 1 : shards > SHARDS_MAX ? SHARDS_MAX : (uint32_t)shards;
}

/* ---- The mapping ---- */

/* Everything but the arena and the magazines. */
static void configure(struct core *core, const lfpool_config_t *config, struct care *care, const lfpool_config_t *heap)
{
	core->zero = config->flags & LFPOOL_ZERO;
	core->heap_bytes = heap ? heap->object_size : 0;
	core->heap_alignment = heap ? heap->object_alignment : 0;
	core->care = care_each_call(care) ? care : NULL;
	core->builds = !core->care && care_builds_all(care) && !heap ? care : NULL;
	core->plain = !core->care && !heap;
	core->quarantine = care_quarantines(core->care);
	core->check_races = (config->flags & LFPOOL_CHECK_RACES) || core->care;
	core->backing = config->flags & BACKING_FLAGS;
	core->asymmetric = os_asymmetric();
	core->hits = core->asymmetric && core->plain && !core->zero && !core->check_races;
	core->depot.shards = choose_shards(config);
}

lfpool_t *lockfree_open_as(const lfpool_config_t *config, struct care *care, const struct window *window,
			   const lfpool_config_t *heap)
{
	const size_t slots = choose_magazine_slots(config);
	const size_t chunks = (config->capacity - 1) / slots + 1;
	const size_t spares = (config->max_capacity - 1) / slots + 1 - chunks;
	const size_t bits_bytes = cold_bytes(config->max_capacity);
	const size_t bytes = magazine_bytes(slots);
	const size_t head_bytes = round_up(sizeof(struct lockfree_pool), CACHE_LINE_PAIR);
	const size_t lot_bytes = cache_lot_bytes(bytes, LOT_CACHES);
	size_t room_bytes;
	struct arena arena;

	if (__builtin_mul_overflow(chunks + spares, bytes, &room_bytes) ||
	    __builtin_add_overflow(room_bytes, head_bytes + lot_bytes + bits_bytes, &room_bytes))
		return NULL;

	struct arena_plan plan = {
		.room_bytes = room_bytes,
		.object_size = config->object_size,
		.object_alignment = config->object_alignment,
		.capacity = config->capacity,
		.reserved = config->max_capacity,
		.tracked = !(config->flags & LFPOOL_UNTRACKED),
		.backing = config->flags & BACKING_FLAGS,
		.objects_at = window->at,
		.objects_at_bytes = window->bytes,
	};

	care_plan(care, &plan);

	char *room = arena_open(&arena, &plan);

	if (!room)
		return NULL;

	struct lockfree_pool *pool = (struct lockfree_pool *)(void *)room;
	struct core *core = &pool->core;

	pool->head.arena = &core->arena;
	pool->head.care = care;
	pool->head.core = core;
	core->pool = &pool->head;
	configure(core, config, care, heap);
	core->arena = arena;
	core->arena.face.demand = &pool->head.demand.wanted;
	core->arena.face.mask = (uint32_t)slots - 1;
	core->arena.face.floor = core->hits ? (int16_t)-(int)slots : 0;
	core->magazines.chunk_base = room + head_bytes + lot_bytes;
	core->magazines.bytes = bytes;
	core->magazines.slots = (uint32_t)slots;
	core->magazines.chunks = (uint32_t)chunks;
	core->magazines.spares = (uint32_t)spares;
	cache_table_open(core, room + head_bytes);
	core->cold = &pool->head.cold;
	cold_open(core->cold, &core->arena, config->capacity, config->max_capacity,
		  core->magazines.chunk_base + (chunks + spares) * bytes);
	if (config->capacity % slots)
		/* relaxed: the pool is not yet anybody else's. */
		store_relaxed(&magazines_at(&core->magazines, (uint32_t)chunks)->bottom,
			      magazine_bottom_for((uint32_t)(config->capacity % slots), (uint32_t)slots));
	return &pool->head;
}
