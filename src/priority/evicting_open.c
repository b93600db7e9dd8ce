/* SPDX-License-Identifier: MIT */
/*
 * evicting_open.c - makes an evicting pool, and undoes it; and counts.
 *
 * Idea         One mapping: the pool, its slots, the nodes of the tree, links, owners, the objects.  All of it is
 *              zero at first, and zero means: free, the next one, nobody, names nobody, zero bytes.  The records are a
 *              pool of this library.
 */
#include "priority/evicting.h"

#include "api/life.h"
#include "api/process.h"
#include "base/text.h"
#include "core/arena.h"
#include "core/layout.h"
#include "os/backing.h"
#include "os/os.h"
#include "pool/configure.h"
#include "pool/live_pools.h"
#include "pool/pool.h"

#define FLAGS_KNOWN (LFPOOL_EVICT_EQUAL | LFPOOL_PREFAULT | LFPOOL_LOCK | LFPOOL_PLAIN_STRIDE | LFPOOL_FENCED)
#define FLAGS_BACKING (LFPOOL_PREFAULT | LFPOOL_LOCK)

/* Where things lie, in bytes from the start of the mapping. */
struct places {
	size_t slots, nodes, links, owners, objects, end;
	size_t stride; /* of the objects */
};

static lfpool_status_t import(lfpool_priority_config_t *known, const lfpool_priority_config_t *given)
{
	if (!config_copy_known(known, sizeof(*known), offsetof(lfpool_priority_config_t, flags), given))
		return LFPOOL_E_CONFIG_STRUCT_SIZE;
	if (known->capacity < 1 || known->capacity > (size_t)1 << SLOTS_SHIFT_MAX)
		return LFPOOL_E_CONFIG_CAPACITY;
	if (known->flags & ~FLAGS_KNOWN)
		return LFPOOL_E_CONFIG_FLAGS;
	if (known->hooks.misuse || known->hooks.validate || known->hooks.exhausted)
		return LFPOOL_E_CONFIG_HOOKS;
	return LFPOOL_OK;
}

/* Records are read while others fill them: no tool may take one for freed. */
static const struct debug_modes no_modes = {.no_tools = true};

/* Opens the pool of records, after its name and object were found valid. */
static lfpool_status_t open_records(struct spares *spares, const lfpool_config_t *object, size_t count)
{
	char name[NAME_BYTES];
	struct text text;
	lfpool_config_t config = *object;
	/* "name/records", the name cut off if need be. */
	text_open(&text, name, sizeof(name));
	text_put(&text, "%.*s/records", (int)(sizeof(name) - sizeof("/records")), config.name ? config.name : "unnamed");
	config.name = name;
	config.object_size = sizeof(struct record);
	config.object_alignment = _Alignof(struct record);
	config.capacity = config.max_capacity = count;
	/* Many need no larger caches than few: what is locked besides stays little. */
	config.cache_capacity = count < 512 ? 0 : 128;
	config.flags &= FLAGS_BACKING | LFPOOL_FENCED;
	config.backend = LFPOOL_BACKEND_LOCKFREE;
	config.hooks = (lfpool_hooks_t){0};

	const lfpool_status_t status = pool_create_at(&spares->pool, &config, &no_modes, &(struct window){0});

	if (status == LFPOOL_OK) {
		spares->zero = spares->pool->arena->face.zero;
		spares->stride = spares->pool->arena->face.stride;
		/* As LFPOOL_CACHE_NONE: threads need a record rarely, when they meet, and shall not get a cache for it in the
		 * middle of a call. */
		spares->pool->table_id = 0;
	}
	return status;
}

/* False when there is no such number of bytes. */
static bool find_places(struct places *at, const lfpool_config_t *object, uint32_t nodes, bool plain_stride)
{
	const size_t capacity = object->capacity, page = os_page_bytes();
	size_t object_bytes;

	at->slots = round_up(sizeof(lfpool_priority_t), CACHE_LINE_PAIR);
	at->nodes = at->slots + capacity * sizeof(struct place);
	at->links = at->nodes + nodes * sizeof(struct place);
	at->owners = at->links + capacity * sizeof(uint64_t);
	at->objects = round_up(at->owners + capacity * sizeof(void *), page);
	at->stride = layout_stride(object->object_size, object->object_alignment, plain_stride);
	if (__builtin_mul_overflow(capacity, at->stride, &object_bytes) ||
	    __builtin_add_overflow(object_bytes, at->objects + page - 1, &at->end))
		return false;
	at->end &= ~(page - 1);
	return true;
}

/* Fills in a pool in zeroed memory. */
static void fill_in(lfpool_priority_t *pool, const struct tournament *t, const struct places *at,
		    const lfpool_priority_config_t *known, const lfpool_config_t *object, struct lifecycle *lifecycle)
{
	char *memory = (char *)pool;

	pool->tournament = *t;
	pool->tournament.slots = (struct place *)(void *)(memory + at->slots);
	pool->tournament.nodes = (struct place *)(void *)(memory + at->nodes);
	pool->tournament.before = known->before;
	pool->tournament.context = pool->context = known->context;
	pool->objects = memory + at->objects;
	pool->owners = (void **)(void *)(memory + at->owners);
	pool->stride = at->stride;
	pool->on_evict = known->on_evict;
	pool->evict_equal = known->flags & LFPOOL_EVICT_EQUAL;
	pool->mapped_bytes = at->end;
	pool->lifecycle = lifecycle;
	strcpy(pool->name, object->name ? object->name : "unnamed");
	free_slots_open(&pool->free, (_Atomic(uint64_t) *)(void *)(memory + at->links), t->count);
}

/* `object`: valid and complete. */
static lfpool_status_t open(lfpool_priority_t **pool_out, const lfpool_priority_config_t *known, const lfpool_config_t *object)
{
	struct tournament tournament = {0};
	struct lifecycle *lifecycle;
	struct places at;
	const uint32_t nodes = tournament_measure(&tournament, (uint32_t)known->capacity);
	const size_t calls = known->flags & FLAGS_BACKING ? CALLS_MAX_BACKED : CALLS_MAX;
	/* Its debug modes are none. */
	if (!lifecycle_open(&lifecycle, object, &no_modes))
		return LFPOOL_E_NO_MEMORY;

	lfpool_status_t status = open_records(&tournament.spares, object, known->capacity + nodes + calls);

	if (status != LFPOOL_OK) {
		lifecycle_close(lifecycle);
		return status;
	}

	lfpool_priority_t *pool = find_places(&at, object, nodes, known->flags & LFPOOL_PLAIN_STRIDE)
					  ? backing_map_aligned(at.end, at.objects, object->object_alignment, true)
					  : NULL;

	status = pool ? backing_give(known->flags, pool, at.end) : LFPOOL_E_NO_MEMORY;
	if (status == LFPOOL_OK)
		status = lifecycle_back(lifecycle, known->flags);
	if (status != LFPOOL_OK) {
		if (pool)
			os_unmap(pool, at.end);
		(void)lfpool_destroy(tournament.spares.pool);
		lifecycle_close(lifecycle);
		return status;
	}
	fill_in(pool, &tournament, &at, known, object, lifecycle);
	config_tell_ignored(pool->name, "an evicting one");
	*pool_out = pool;
	return LFPOOL_OK;
}

lfpool_status_t lfpool_priority_create(lfpool_priority_t **pool_out, const lfpool_priority_config_t *given)
{
	lfpool_priority_config_t known;
	lfpool_config_t object = LFPOOL_CONFIG_INIT, complete;

	if (!pool_out)
		return LFPOOL_E_ARGUMENT;
	*pool_out = NULL;
	if (!given)
		return LFPOOL_E_ARGUMENT;

	lfpool_status_t status = import(&known, given);

	if (status != LFPOOL_OK)
		return status;
	object.name = known.name;
	object.object_size = known.object_size;
	object.object_alignment = known.object_alignment;
	object.capacity = known.capacity;
	object.hooks = known.hooks;
	object.flags = known.flags & (FLAGS_BACKING | LFPOOL_FENCED);
	status = config_import_as_given(&complete, &object);
	if (status != LFPOOL_OK)
		return status;
	return process_open() ? open(pool_out, &known, &complete) : LFPOOL_E_NO_MEMORY;
}

size_t lfpool_priority_destroy(lfpool_priority_t *pool)
{
	if (!pool)
		return 0;

	const size_t count = lfpool_priority_count(pool);

	for (uint32_t slot = 1; pool->lifecycle && slot <= pool->tournament.count; slot++) {
		/* relaxed: no other call is under way. */
		const uint64_t state = load_relaxed(&place_of(pool, slot)->word);

		lifecycle_destroy(pool->lifecycle, slot, object_of(pool, slot), state & (STATE_ACTIVE | STATE_PINS_MASK));
	}
	lifecycle_close(pool->lifecycle);
	(void)lfpool_destroy(pool->tournament.spares.pool);
	os_unmap(pool, pool->mapped_bytes);
	return count;
}

/* ---- Counts ---- */

size_t lfpool_priority_count(const lfpool_priority_t *pool)
{
	return pool->tournament.count - free_slots_count(&pool->free);
}

size_t lfpool_priority_capacity(const lfpool_priority_t *pool)
{
	return pool->tournament.count;
}

void lfpool_priority_stats(const lfpool_priority_t *pool, lfpool_priority_stats_t *stats_out)
{
	/* relaxed: statistics. */
	stats_out->acquired = load_relaxed(&pool->stamps);
	stats_out->evicted = tally_read(&pool->evicted);
	stats_out->refused = tally_read(&pool->refused);
}
