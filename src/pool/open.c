/* SPDX-License-Identifier: MIT */
/*
 * open.c - opens, divides and closes a pool's memory.
 *
 * Idea         A pool has one mapping: [ pool | first lot of caches | magazines | wanted | states | generations | no
 *              access | objects | no access ].  Zeroed memory means that every slot is free and was never used, so
 *              creation is O(1) in the capacity.
 */
#include "pool/open.h"

#include "object/debugging.h"
#include "object/lifecycle.h"
#include "os/os.h"
#include "pool/live_pools.h"
#include "pool/slots.h"

#define MAGAZINE_SLOTS_DEFAULT 256
/* The number of processors that a pool in a buffer assumes, because LFPOOL_BUFFER_BYTES must be a constant. */
#define PROCESSORS_IN_BUFFER 4
#define CHUNKS_MAX ((size_t)1 << 23) /* a limit that leaves numbers for the extra magazines */

_Static_assert(CHUNKS_MAX + EXTRA_PER_CACHE * CACHES_MAX <= TAGGED_NUMBER_MAX, "every magazine needs a number");

/* ---- Defaults ---- */

/* The number of processors that can each have a cache. */
static size_t processors_in_buffer(const lfpool_config_t *config)
{
	return config->buffer_caches < PROCESSORS_IN_BUFFER ? config->buffer_caches : PROCESSORS_IN_BUFFER;
}

static size_t choose_share(const lfpool_config_t *config, bool in_buffer)
{
	return config->max_capacity / (EMBEDDED || in_buffer ? processors_in_buffer(config) : os_processors());
}

static size_t choose_in_bytes(const lfpool_config_t *config)
{
	return CACHE_BYTES / layout_stride(config->object_size, config->object_alignment, false);
}

/* Are new objects expensive to build (hooks.create)?  If so, an acquire should prefer any existing object. */
static bool is_expensive(const lfpool_config_t *config)
{
	return config->hooks.create && !(config->flags & LFPOOL_CREATE_ALL);
}

/* The number of slots of a magazine, by default a quarter of a cache.  In a buffer the size of the objects does not
 * limit this number, because all memory of a buffer is in use from the start. */
static size_t choose_magazine_slots(const lfpool_config_t *config, bool in_buffer)
{
	size_t slots = config->cache_capacity / 2;

	if (!config->cache_capacity || config->cache_capacity == LFPOOL_CACHE_NONE) {
		slots = at_most(choose_share(config, in_buffer) / 4, MAGAZINE_SLOTS_DEFAULT);
		if (!in_buffer)
			slots = at_most(slots, choose_in_bytes(config) / 4);
	}
	/* MAGAZINE_SLOTS_FIT is a limit only in builds with narrow positions. */
	slots = power_of_two_at_most(at_most(slots ? slots : 1, MAGAZINE_SLOTS_FIT));
	while ((config->max_capacity - 1) / slots + 1 > CHUNKS_MAX)
		slots *= 2;
	return slots;
}

/* The maximum number of magazines on a stack of a cache.  The number is 0 if new objects are expensive or large: then
 * all magazines except the caches' current ones are in the depot, where every thread finds them. */
static uint32_t choose_bound(const lfpool_config_t *config, size_t slots, bool in_buffer)
{
	if (config->cache_capacity == LFPOOL_CACHE_NONE)
		return 0;
	if (config->cache_capacity)
		return 1;
	if (is_expensive(config) || config->object_size >= os_page_bytes())
		return 0;

	const size_t magazines = at_most(choose_share(config, in_buffer), choose_in_bytes(config)) / slots;

	return magazines > 1 ? (uint32_t)magazines - 1 : 0;
}

/* The number of shards: two per processor, so that most workers have a shard to themselves (docs/decisions/0019). */
static uint32_t choose_shards(const lfpool_config_t *config, size_t chunks, bool in_buffer)
{
	if (EMBEDDED || in_buffer)
		return 1;

	if (config->depot_shards)
		return (uint32_t)config->depot_shards;

	const size_t shards = at_most(2 * os_processors(), SHARDS_MAX);

	return chunks ? (uint32_t)at_most(shards, chunks) : (uint32_t)shards;
}

/* ---- The mapping ---- */

/* The sizes of the parts before the arena. */
struct parts {
	size_t slots; /* slots of a magazine */
	uint32_t shards, bound;
	size_t initial; /* slots that are in magazines at the beginning */
	size_t chunks, spares;
	size_t head_bytes, lot_bytes, magazine_bytes, bits_bytes, check_bytes;
};

size_t check_others(size_t magazines, size_t caches)
{
	return magazines + caches * EXTRA_PER_CACHE + 1;
}

static bool choose_parts(struct parts *parts, struct arena_plan *plan, const lfpool_config_t *config,
			 const struct window *window, bool heap)
{
	/* An embedded build has no lfpool_check(). */
	const bool checks = !EMBEDDED && window->whole;
	const size_t slots = choose_magazine_slots(config, window->whole);
	/* Expensive objects are not in chunks.  The cold store adds them one by one, when no existing object is
	 * free. */
	const size_t initial = is_expensive(config) ? 0 : config->capacity, chunks = (initial + slots - 1) / slots;
	const uint32_t caches = window->whole ? (uint32_t)config->buffer_caches : LOT_CACHES,
		       shards = choose_shards(config, chunks, window->whole);

	*parts = (struct parts){
		.slots = slots,
		.shards = shards,
		.bound = choose_bound(config, slots, window->whole),
		.initial = initial,
		.chunks = chunks,
		.spares = (config->max_capacity - 1) / slots + 1 - chunks,
		.head_bytes = round_up(POOL_OF_SHARDS(shards), CACHE_LINE_PAIR),
		.lot_bytes = cache_lot_bytes(magazine_bytes(slots), caches),
		.magazine_bytes = magazine_bytes(slots),
		.bits_bytes = cold_bytes(config->max_capacity),
		.check_bytes = checks ? check_bytes(config->capacity,
						    check_others((config->capacity - 1) / slots + 1, caches))
				      : 0,
	};
	*plan = config_arena_plan(config, window);
	if (heap) {
		plan->object_size = sizeof(void *);
		plan->object_alignment = _Alignof(void *);
	}
	/* Mutex mode is fenced too: without thieves, only waiting calls and calls that put a slot back fence, and their
	 * fences are full. */
	plan->fenced = window->whole || (config->flags & LFPOOL_FENCED) || config->backend == LFPOOL_BACKEND_MUTEX ||
		       config->evict;
	return !__builtin_mul_overflow(chunks + parts->spares, parts->magazine_bytes, &plan->room_bytes) &&
	       !__builtin_add_overflow(plan->room_bytes,
				       parts->head_bytes + parts->lot_bytes + parts->bits_bytes + parts->check_bytes,
				       &plan->room_bytes);
}

size_t pool_buffer_bytes(const lfpool_config_t *config)
{
	struct parts parts;
	struct arena_plan plan;

	return choose_parts(&parts, &plan, config, &(struct window){.whole = true}, false) ? arena_buffer_bytes(&plan)
											   : 0;
}

/* ---- Opening ---- */

/* Computes the pool's mode flags, once. */
static void choose_modes(lfpool_t *pool, const lfpool_config_t *config, struct lifecycle *lifecycle, bool fenced)
{
	struct core *core = &pool->core;

	pool->lifecycle = lifecycle;
	pool->locked = config->backend == LFPOOL_BACKEND_MUTEX;
	pool->zero = config->flags & LFPOOL_ZERO;
	pool->each_call = lifecycle_each_call(lifecycle) ? lifecycle : NULL;
	pool->builds = !pool->each_call && lifecycle_builds_all(lifecycle) && pool_in_place(pool) ? lifecycle : NULL;
	pool->plain = !pool->each_call && pool_in_place(pool) && !pool->locked;
	pool->quarantine = EMBEDDED ? NULL : debug_quarantine(lifecycle_debug(pool->each_call));
	pool->aside = pool_in_place(pool) ? lifecycle_aside(pool->each_call) : NULL;
	pool->wants_built = config->hooks.create && pool_in_place(pool);
	pool->direct = !pool->locked && !pool->quarantine && !pool->aside && !pool->wants_built;
	pool->check_races = (config->flags & LFPOOL_CHECK_RACES) || pool->each_call;
	pool->keeps_none = config->cache_capacity == LFPOOL_CACHE_NONE;
	/* In mutex mode the one cache has no thieves, so its owner needs no fence. */
	core->asymmetric = !EMBEDDED && (pool->locked || (!fenced && os_asymmetric()));
	core->hits = core->asymmetric && pool->plain && !pool->zero && !pool->check_races;
}

/* Divides the room into its parts. */
static void lay_parts(lfpool_t *pool, const struct parts *parts, const lfpool_config_t *config, bool in_buffer)
{
	struct core *core = &pool->core;
	char *room = (char *)pool + parts->head_bytes;

	core->bound = parts->bound;
	core->existing_first = !parts->initial;
	depot_open(&core->depot, parts->shards, (uint32_t)parts->chunks);
	core->arena.face.limit = magazine_limit((uint32_t)parts->slots);
	cache_table_open(core, room, in_buffer ? (uint32_t)config->buffer_caches : 0);
	room += parts->lot_bytes;
	core->magazines.chunk_base = room;
	core->magazines.bytes = parts->magazine_bytes;
	core->magazines.slots = (uint32_t)parts->slots;
	core->magazines.chunks = (uint32_t)parts->chunks;
	core->magazines.spares = (uint32_t)parts->spares;
	core->magazines.zero = core->arena.zero;
	core->magazines.stride = core->arena.stride;
	room += (parts->chunks + parts->spares) * parts->magazine_bytes;
	cold_open(&core->cold, &core->arena, parts->initial, config->capacity, config->max_capacity, room);
	if (in_buffer)
		pool->check_bits = (unsigned char *)room + parts->bits_bytes;
	if (parts->initial % parts->slots)
		/* relaxed: no other thread knows the pool yet. */
		store_relaxed(&magazines_at(&core->magazines, (uint32_t)parts->chunks)->bottom,
			      magazine_limit((uint32_t)(parts->initial % parts->slots)));
}

/* `heap`: for malloc mode, where a slot contains only a pointer; NULL in other modes. */
static lfpool_t *open_as(const lfpool_config_t *config, struct lifecycle *lifecycle, const struct window *window,
			 struct heap *heap)
{
	struct arena_plan plan;
	struct parts parts;
	struct arena arena;

	if (!choose_parts(&parts, &plan, config, window, heap))
		return NULL;
	if (!EMBEDDED && !window->whole)
		plan.colour = live_pools_vacant();
	if (!EMBEDDED)
		debug_plan(lifecycle_debug(lifecycle), &plan);

	lfpool_t *pool = arena_open(&arena, &plan);

	if (!pool)
		return NULL;
	pool->core.arena = arena;
	pool->core.pool = pool;
	pool->core.name = pool->name;
	pool->heap = heap;
	choose_modes(pool, config, lifecycle, plan.fenced);
	lay_parts(pool, &parts, config, window->whole);
	if (EMBEDDED || !pool->locked)
		return pool;
	/* This cannot fail, because the first cache exists. */
	pool->shared = cache_claim(&pool->core, CACHE_FOR_CALL, 0);
	if (os_mutex_open(&pool->mutex))
		return pool;
	arena_close(pool, arena.mapped_bytes);
	return NULL;
}

/* Opens a pool in malloc mode.  The objects come from malloc, so they need no window. */
static lfpool_t *open_malloc(const lfpool_config_t *config, struct lifecycle *lifecycle)
{
	if (EMBEDDED)
		return NULL;

	static const struct window nowhere;
	struct heap *heap = heap_open(config);
	lfpool_t *pool = heap ? open_as(config, lifecycle, &nowhere, heap) : NULL;

	if (!pool)
		heap_close(heap);
	return pool;
}

lfpool_t *pool_open(const lfpool_config_t *config, struct lifecycle *lifecycle, const struct window *window)
{
	return config->backend == LFPOOL_BACKEND_MALLOC ? open_malloc(config, lifecycle)
							: open_as(config, lifecycle, window, NULL);
}

size_t pool_close(lfpool_t *pool)
{
	const size_t active = slots_out(pool);

	cache_table_close(&pool->core);
	if (!pool_in_place(pool))
		heap_close(pool->heap);
	if (!EMBEDDED && pool->locked)
		os_mutex_close(&pool->mutex);
	arena_close(pool, pool->core.arena.mapped_bytes);
	return active;
}
