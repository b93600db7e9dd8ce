/* SPDX-License-Identifier: MIT */
/*
 * lockfree_open.c - the beginning, the end and the answers of a pool of the lock-free backend, and the tables of this one and of
 * malloc's, which is the same with objects that are allocated as their slots are acquired (backend_malloc.c).
 *
 * Idea         One mapping: [ pool | first lot of caches | magazines | wanted | states | generations | no access | objects | no
 *              access ].  All of it reads as "every slot free and never used" while it is zero, so creation is O(1) in
 *              the capacity.
 */
#include "backend/backend_lockfree.h"
#include "backend/check.h"
#include "backend/heap_set.h"
#include "backend/stats.h"
#include "object/debugging.h"
#include "object/lifecycle.h"
#include "os/os.h"
#include "pool/configure.h"
#include "pool/pool.h"

#define MAGAZINE_SLOTS_DEFAULT 256
/* In a buffer, where nobody is asked: so that LFPOOL_BUFFER_BYTES knows as well. */
#define PROCESSORS_IN_BUFFER 4
#define CHUNKS_MAX ((size_t)1 << 23) /* leaves numbers for the extra magazines */

_Static_assert(CHUNKS_MAX + EXTRA_PER_CACHE * CACHES_MAX <= TAGGED_NUMBER_MAX, "every magazine needs a number");

/* ---- What the config leaves open ---- */

/* Those that a processor each can have. */
static size_t processors_in_buffer(const lfpool_config_t *config)
{
	return config->buffer_caches < PROCESSORS_IN_BUFFER ? config->buffer_caches : PROCESSORS_IN_BUFFER;
}

/* A cache is two magazines.  By default a cache for each processor holds half the objects, all together. */
static size_t choose_magazine_slots(const lfpool_config_t *config, bool in_buffer)
{
	size_t slots;

	if (config->cache_capacity && config->cache_capacity != LFPOOL_CACHE_NONE) {
		slots = config->cache_capacity / 2;
	} else {
		slots = config->capacity / (4 * (size_t)(in_buffer ? processors_in_buffer(config) : os_processors()));
		if (slots > MAGAZINE_SLOTS_DEFAULT)
			slots = MAGAZINE_SLOTS_DEFAULT;
	}
	/* Only where positions are narrow. */
	if (slots > MAGAZINE_SLOTS_FIT)
		slots = MAGAZINE_SLOTS_FIT;
	slots = power_of_two_at_most(slots ? slots : 1);
	while ((config->max_capacity - 1) / slots + 1 > CHUNKS_MAX)
		slots *= 2;
	return slots;
}

/* A head for every eight processors: docs/decisions/0005. */
static uint32_t choose_shards(const lfpool_config_t *config, bool in_buffer)
{
	if (in_buffer)
		return 1;

	const size_t shards = config->depot_shards ? config->depot_shards : os_processors() / PROCESSOR_BLOCK;

	return shards < 1 ? 1 : shards > SHARDS_MAX ? SHARDS_MAX : (uint32_t)shards;
}

/* ---- The mapping ---- */

/* What there is besides the arena, in this order. */
struct parts {
	size_t slots; /* of a magazine */
	uint32_t shards;
	size_t chunks, spares;
	size_t head_bytes, lot_bytes, magazine_bytes, bits_bytes, check_bytes;
};

/* False when there is no such number of bytes. */
static bool choose_parts(struct parts *parts, struct arena_plan *plan, const lfpool_config_t *config, const struct window *window)
{
	const size_t slots = choose_magazine_slots(config, window->whole), chunks = (config->capacity - 1) / slots + 1;
	const uint32_t caches = window->whole ? (uint32_t)config->buffer_caches : LOT_CACHES,
		       shards = choose_shards(config, window->whole);

	*parts = (struct parts){
		.slots = slots,
		.shards = shards,
		.chunks = chunks,
		.spares = (config->max_capacity - 1) / slots + 1 - chunks,
		.head_bytes = round_up(POOL_OF_SHARDS(shards), CACHE_LINE_PAIR),
		.lot_bytes = cache_lot_bytes(magazine_bytes(slots), caches),
		.magazine_bytes = magazine_bytes(slots),
		.bits_bytes = cold_bytes(config->max_capacity),
		.check_bytes = window->whole ? check_bytes(config->capacity, check_others(chunks, caches)) : 0,
	};
	*plan = config_arena_plan(config, window);
	plan->fenced = window->whole || (config->flags & LFPOOL_FENCED);
	return !__builtin_mul_overflow(chunks + parts->spares, parts->magazine_bytes, &plan->room_bytes) &&
	       !__builtin_add_overflow(plan->room_bytes,
				       parts->head_bytes + parts->lot_bytes + parts->bits_bytes + parts->check_bytes,
				       &plan->room_bytes);
}

size_t lockfree_buffer_bytes(const lfpool_config_t *config)
{
	struct parts parts;
	struct arena_plan plan;

	return choose_parts(&parts, &plan, config, &(struct window){.whole = true}) ? arena_buffer_bytes(&plan) : 0;
}

/* Everything but the arena and the magazines. */
static void configure(struct core *core, const lfpool_config_t *config, struct lifecycle *lifecycle, const lfpool_config_t *heap,
		      bool fenced)
{
	core->zero = config->flags & LFPOOL_ZERO;
	core->heap_bytes = heap ? heap->object_size : 0;
	core->heap_alignment = heap ? heap->object_alignment : 0;
	core->lifecycle = lifecycle_each_call(lifecycle) ? lifecycle : NULL;
	core->builds = !core->lifecycle && lifecycle_builds_all(lifecycle) && !heap ? lifecycle : NULL;
	core->plain = !core->lifecycle && !heap;
	core->quarantine = debug_quarantines(lifecycle_debug(core->lifecycle));
	core->check_races = (config->flags & LFPOOL_CHECK_RACES) || core->lifecycle;
	core->asymmetric = !fenced && os_asymmetric();
	core->hits = core->asymmetric && core->plain && !core->zero && !core->check_races;
}

/* heap: NULL, or what the objects are that `config` has cells for.  NULL: the system refuses memory. */
static lfpool_t *open_as(const lfpool_config_t *config, struct lifecycle *lifecycle, const struct window *window,
			 const lfpool_config_t *heap)
{
	struct arena_plan plan;
	struct parts parts;
	struct arena arena;

	if (!choose_parts(&parts, &plan, config, window))
		return NULL;
	debug_plan(lifecycle_debug(lifecycle), &plan);

	char *room = arena_open(&arena, &plan);

	if (!room)
		return NULL;

	struct lockfree_pool *pool = (struct lockfree_pool *)(void *)room;
	struct core *core = &pool->core;

	pool->head.arena = &core->arena;
	pool->head.lifecycle = lifecycle;
	pool->head.core = core;
	core->pool = &pool->head;
	core->name = pool->head.name;
	configure(core, config, lifecycle, heap, plan.fenced);
	core->depot.shards = parts.shards;
	core->arena = arena;
	core->arena.face.limit = magazine_limit((uint32_t)parts.slots);
	room += parts.head_bytes;
	cache_table_open(core, room, window->whole ? (uint32_t)config->buffer_caches : 0);
	room += parts.lot_bytes;
	core->magazines.chunk_base = room;
	core->magazines.bytes = parts.magazine_bytes;
	core->magazines.slots = (uint32_t)parts.slots;
	core->magazines.chunks = (uint32_t)parts.chunks;
	core->magazines.spares = (uint32_t)parts.spares;
	core->magazines.zero = core->arena.face.zero;
	core->magazines.stride = core->arena.face.stride;
	room += (parts.chunks + parts.spares) * parts.magazine_bytes;
	core->cold = &pool->head.cold;
	cold_open(core->cold, &core->arena, config->capacity, config->max_capacity, room);
	if (window->whole)
		core->check_bits = (unsigned char *)room + parts.bits_bytes;
	if (config->capacity % parts.slots)
		/* relaxed: the pool is not yet anybody else's. */
		store_relaxed(&magazines_at(&core->magazines, (uint32_t)parts.chunks)->bottom,
			      magazine_limit((uint32_t)(config->capacity % parts.slots)));
	return &pool->head;
}

/* ---- Life ---- */

static lfpool_t *lockfree_open(const lfpool_config_t *config, struct lifecycle *lifecycle, const struct window *window)
{
	return open_as(config, lifecycle, window, NULL);
}

/* The window is for objects, and these are the heap's; the cells lie with the rest. */
static lfpool_t *malloc_open(const lfpool_config_t *config, struct lifecycle *lifecycle, const struct window *window)
{
	static const struct window nowhere;
	lfpool_config_t cells = *config;

	(void)window;
	cells.object_size = sizeof(void *);
	cells.object_alignment = _Alignof(void *);

	lfpool_t *pool = open_as(&cells, lifecycle, &nowhere, config);

	if (pool && !(core_of(pool)->heap_set = heap_set_open(config->max_capacity))) {
		arena_close(pool, core_of(pool)->arena.mapped_bytes);
		return NULL;
	}
	return pool;
}

static size_t lockfree_active_count(const lfpool_t *pool)
{
	const struct core *core = pool->core;
	const size_t capacity = cold_capacity(core->cold), untouched = stats_untouched(core);
	uint64_t pushes;
	const size_t in_magazines = stats_in_magazines(core, &pushes);
	const size_t free_slots = in_magazines + untouched + debug_held_back(lifecycle_debug(core->lifecycle));

	return free_slots < capacity ? capacity - free_slots : 0;
}

static size_t lockfree_close(lfpool_t *pool)
{
	size_t active = lockfree_active_count(pool);
	struct core *core = core_of(pool);

	cache_table_close(core);
	heap_set_close(core->heap_set);
	arena_close(pool, core->arena.mapped_bytes);
	return active;
}

static size_t lockfree_used(const lfpool_t *pool)
{
	return cold_used(&pool->cold, stats_from_chunks(pool->core));
}

static size_t lockfree_listed(const lfpool_t *pool)
{
	uint64_t pushes;

	return stats_in_magazines(pool->core, &pushes);
}

static void lockfree_reset(lfpool_t *pool)
{
	struct core *core = core_of(pool);

	for (uint32_t i = 0; i < core->depot.shards; i++)
		stack_reset_least(&core->depot.shard[i].full, &core->magazines);
	cold_reset_most(core->cold);
}

/* ---- Tables ---- */

/* clang-format off */
#define LOCKFREE(its_open, its_object, its_locate, its_find)                                                    \
	{                                                                                                       \
		.open = its_open, .close = lockfree_close, .acquire = lockfree_acquire,                         \
		.release = lockfree_release, .put = lockfree_put, .take = lockfree_take,                        \
		.take_idle = lockfree_take_idle, .listed = lockfree_listed,                                     \
		.put_free = lockfree_put_free, .begin = lockfree_begin, .used = lockfree_used, .object = its_object,  \
		.locate = its_locate, .find = its_find,                                                         \
		.active_count = lockfree_active_count, .stats = lockfree_stats, .reset = lockfree_reset,        \
		.check = lockfree_check,                                                                        \
		.cache_create = lockfree_cache_create, .cache_destroy = lockfree_cache_destroy,                 \
		.cache_acquire_bulk = bulk_acquire, .cache_release_bulk = bulk_release,                         \
	}
/* clang-format on */

const struct backend backend_lockfree = LOCKFREE(lockfree_open, NULL, NULL, NULL);
const struct backend backend_malloc = LOCKFREE(malloc_open, heap_object_at, heap_locate, heap_find);
