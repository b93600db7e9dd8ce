/* SPDX-License-Identifier: MIT */
/*
 * evicting_open.c - makes an evicting pool, and undoes it; and counts.
 *
 * Idea         One mapping: the pool, its slots, the nodes of the tree, links, owners, the objects.  All of it is
 *              zero at first, and zero means: free, the next one, nobody, names nobody, zero bytes.  The records are a
 *              pool of this library.
 */
#include "priority/plain.h"

#include "api/life.h"
#include "api/check.h"
#include "base/probes.h"
#include "base/text.h"
#include "core/arena.h"
#include "object/debugging.h"
#include "base/sized.h"
#include "pool/misuse.h"
#include "os/backing.h"
#include "os/os.h"
#include "pool/configure.h"
#include "pool/live_pools.h"
#include "pool/pool.h"

#define FLAGS_OF_ALL (LFPOOL_ZERO | LFPOOL_PREFAULT | LFPOOL_LOCK | LFPOOL_PLAIN_STRIDE | LFPOOL_FENCED)
#define FLAGS_KNOWN (LFPOOL_EVICT_EQUAL | FLAGS_OF_ALL)
#define SLOTS_MAX ((size_t)1 << SLOTS_SHIFT_MAX)
#define FLAGS_BACKING (LFPOOL_PREFAULT | LFPOOL_LOCK)

/* Where things lie, in bytes from the start of the mapping. */
struct places {
	size_t slots, nodes, links, owners, objects, end;
	size_t stride, front; /* of the objects; before each, its slot's */
	size_t alignment;
};

static lfpool_status_t import(lfpool_priority_config_t *known, const lfpool_priority_config_t *given)
{
	if (!sized_read(known, sizeof(*known), offsetof(lfpool_priority_config_t, flags), given))
		return LFPOOL_E_CONFIG_STRUCT_SIZE;
	if (known->flags & ~FLAGS_KNOWN)
		return LFPOOL_E_CONFIG_FLAGS;
	if (known->hooks.validate || known->hooks.exhausted)
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
		spares->zero = spares->pool->core.arena.face.zero;
		spares->stride = spares->pool->core.arena.face.stride;
		/* As LFPOOL_CACHE_NONE: threads need a record rarely, when they meet, and shall not get a cache for it in the
		 * middle of a call. */
		spares->pool->table_id = 0;
	}
	return status;
}

/* False when there is no such number of bytes. */
static bool find_places(struct places *at, const lfpool_config_t *object, const struct lifecycle *lifecycle, uint32_t nodes)
{
	const size_t capacity = object->capacity, page = os_page_bytes();
	struct arena_plan beside = {.object_alignment = object->object_alignment};
	size_t object_bytes;

	debug_plan(lifecycle_debug(lifecycle), &beside);
	at->alignment = beside.object_alignment;
	at->front = beside.front_bytes;
	at->stride = layout_stride(at->front + object->object_size + beside.back_bytes, at->alignment,
				   object->flags & LFPOOL_PLAIN_STRIDE);

	at->slots = round_up(sizeof(lfpool_priority_t), CACHE_LINE_PAIR);
	at->nodes = at->slots + capacity * sizeof(struct place);
	at->links = at->nodes + nodes * sizeof(struct place);
	at->owners = at->links + capacity * sizeof(uint64_t);
	at->objects = round_up(at->owners + capacity * sizeof(void *), page);
	if (__builtin_mul_overflow(capacity, at->stride, &object_bytes) ||
	    __builtin_add_overflow(object_bytes, at->objects + round_up(at->front, at->alignment) + page - 1, &at->end))
		return false;
	at->end &= ~(page - 1);
	return true;
}

/* Fills in a pool in zeroed memory.  False when the system refuses a mutex. */
static bool fill_in(lfpool_priority_t *pool, const struct tournament *t, const struct places *at,
		    const lfpool_priority_config_t *known, const lfpool_config_t *object, struct lifecycle *lifecycle)
{
	char *memory = (char *)pool;

	pool->tournament = *t;
	pool->tournament.slots = (struct place *)(void *)(memory + at->slots);
	pool->tournament.nodes = (struct place *)(void *)(memory + at->nodes);
	pool->tournament.before = known->before;
	pool->tournament.context = pool->context = known->context;
	pool->objects = memory + at->objects + round_up(at->front, at->alignment);
	pool->owners = (void **)(void *)(memory + at->owners);
	pool->stride = at->stride;
	pool->on_evict = known->on_evict;
	pool->evict_equal = known->flags & LFPOOL_EVICT_EQUAL;
	pool->mapped_bytes = at->end;
	pool->lifecycle = lifecycle;
	pool->object_size = object->object_size;
	pool->object_alignment = object->object_alignment;
	pool->flags = known->flags | (object->flags & LFPOOL_ZERO);
	pool->hooks = object->hooks;
	strcpy(pool->name, object->name ? object->name : "unnamed");
	pool->backend = object->backend;
	free_slots_open(&pool->free, (_Atomic(uint64_t) *)(void *)(memory + at->links), (uint32_t)known->capacity);
	return !pool->backend || plain_open(pool);
}

/* ---- Debug modes ---- */

static void tell(void *context, lfpool_misuse_t *misuse)
{
	lfpool_priority_t *pool = context;
	const size_t offset = (size_t)((uintptr_t)misuse->object - (uintptr_t)pool->objects);

	misuse->pool_name = pool->name;
	misuse->index = misuse->object ? offset / pool->stride : SIZE_MAX;
	/* relaxed: a statistic, and who came first. */
	misuse->count = fetch_add_relaxed(&pool->misuses, (size_t)1) + 1;
	probe_misuse(NULL, pool->name, misuse->object, misuse->status);
	misuse_say("pool", &pool->hooks, misuse);
}

static bool has_holder(const void *pool, uint32_t slot)
{
	const uint64_t state = state_of(pool, slot);

	return is_new(state) || is_pinned_or_active(state);
}

static struct debug_home home_of(lfpool_priority_t *pool, size_t front)
{
	return (struct debug_home){
		.range = {(uintptr_t)pool->objects - pool->stride, pool->stride, front, pool->tournament.count},
		.name = pool->name,
		.tells_each = pool->hooks.misuse,
		.pool = pool,
		.tell = tell,
		.is_active = has_holder,
	};
}

/* The modes begin, if there are any. */
static void watch(lfpool_priority_t *pool, const struct debug_modes *modes, size_t front)
{
	const struct debug_home home = home_of(pool, front);

	pool->modes = *modes;
	if (pool->backend != LFPOOL_BACKEND_MALLOC)
		debug_attach(lifecycle_debug(pool->lifecycle), &home);
	pool->held_back = modes->quarantine;
	if (pool->held_back)
		debug_hold_back(lifecycle_debug(pool->lifecycle), pool->held_back);
}

/* The mode check: is the pool intact in the end? */
static void check_in_the_end(lfpool_priority_t *pool)
{
	const struct debug_home home = home_of(pool, 0);
	size_t where;
	const char *violated = lfpool_priority_check(pool, &where);

	if (violated && strcmp(violated, CHECK_NO_MEMORY) != 0)
		misuse_invariant(&home, violated, where);
}

/* ---- Life ---- */

/* `object`: valid and complete, of all slots. */
static lfpool_status_t open(lfpool_priority_t **pool_out, const lfpool_priority_config_t *known, const lfpool_config_t *object,
			    const struct debug_modes *modes)
{
	struct tournament tournament = {0};
	struct lifecycle *lifecycle;
	struct places at;
	uint32_t nodes = tournament_measure(&tournament, (uint32_t)object->capacity);
	const size_t calls = known->flags & FLAGS_BACKING ? CALLS_MAX_BACKED : CALLS_MAX;
	struct debug_modes of_objects = *modes;

	/* Without a pin one may look at a free object: only where its bytes are the pool's anyway that is a mistake. */
	of_objects.no_tools |= !modes->poison;
	if (!lifecycle_open(&lifecycle, object, &of_objects))
		return LFPOOL_E_NO_MEMORY;

	lfpool_status_t status = LFPOOL_OK;

	if (object->backend != LFPOOL_BACKEND_LOCKFREE)
		nodes = 0;
	else
		status = open_records(&tournament.spares, object, object->capacity + nodes + calls);

	if (status != LFPOOL_OK) {
		lifecycle_close(lifecycle);
		return status;
	}

	lfpool_priority_t *pool = find_places(&at, object, lifecycle, nodes)
					  ? os_map_aligned(at.end, at.objects, at.alignment, true)
					  : NULL;

	status = pool ? backing_give(known->flags, pool, at.end) : LFPOOL_E_NO_MEMORY;
	if (status == LFPOOL_OK)
		status = lifecycle_back(lifecycle, known->flags);
	if (status == LFPOOL_OK && !fill_in(pool, &tournament, &at, known, object, lifecycle))
		status = LFPOOL_E_NO_MEMORY;
	if (status != LFPOOL_OK) {
		if (pool)
			os_unmap(pool, at.end);
		(void)lfpool_destroy(tournament.spares.pool);
		lifecycle_close(lifecycle);
		return status;
	}
	watch(pool, modes, at.front);
	*pool_out = pool;
	return LFPOOL_OK;
}

/* `object`: what the caller says, or the profile instead. */
static lfpool_status_t create(lfpool_priority_t **pool_out, lfpool_priority_config_t *known, const lfpool_config_t *object)
{
	lfpool_config_t complete;
	struct debug_modes modes;

	if (object->capacity < 1 || object->capacity > SLOTS_MAX)
		return LFPOOL_E_CONFIG_CAPACITY;
	if (object->flags & ~FLAGS_OF_ALL)
		return LFPOOL_E_CONFIG_FLAGS;

	const lfpool_status_t status = config_import(&complete, &modes, object, NULL);

	if (status != LFPOOL_OK)
		return status;
	known->capacity = object->capacity;
	known->flags = (known->flags & LFPOOL_EVICT_EQUAL) | object->flags;
	if (modes.quarantine > SLOTS_MAX - known->capacity)
		modes.quarantine = (uint32_t)(SLOTS_MAX - known->capacity);
	if (complete.backend != LFPOOL_BACKEND_LOCKFREE)
		modes.quarantine = 0;
	complete.capacity = complete.max_capacity = known->capacity + modes.quarantine;
	return process_open() ? open(pool_out, known, &complete, &modes) : LFPOOL_E_NO_MEMORY;
}

lfpool_status_t lfpool_priority_create(lfpool_priority_t **pool_out, const lfpool_priority_config_t *given)
{
	lfpool_priority_config_t known;
	lfpool_config_t object = LFPOOL_CONFIG_INIT;

	if (pool_out)
		*pool_out = NULL;
	if (!pool_out || !given)
		return LFPOOL_E_ARGUMENT;

	lfpool_status_t status = import(&known, given);

	if (status != LFPOOL_OK)
		return status;
	object.name = known.name;
	object.object_size = known.object_size;
	object.object_alignment = known.object_alignment;
	object.capacity = known.capacity;
	object.hooks = known.hooks;
	object.flags = known.flags & FLAGS_OF_ALL;
	object.debug = known.debug;
	object.backend = known.backend;
	return create(pool_out, &known, &object);
}

size_t lfpool_priority_destroy(lfpool_priority_t *pool)
{
	if (!pool)
		return 0;
	const size_t count = lfpool_priority_count(pool);

	if (pool->modes.check)
		check_in_the_end(pool);
	if (pool->backend != LFPOOL_BACKEND_MALLOC)
		debug_detach(lifecycle_debug(pool->lifecycle), pool->tournament.count);
	/* Those of the allocator that are active stay as they are. */
	for (uint32_t slot = 1; pool->lifecycle && pool->backend != LFPOOL_BACKEND_MALLOC && slot <= pool->tournament.count;
	     slot++) {
		const uint64_t state = state_of(pool, slot);

		lifecycle_destroy(pool->lifecycle, slot, object_of(pool, slot), state & (STATE_ACTIVE | STATE_PINS_MASK));
	}
	lifecycle_close(pool->lifecycle);
	(void)lfpool_destroy(pool->tournament.spares.pool);
	if (pool->backend)
		plain_close(pool);
	os_unmap(pool, pool->mapped_bytes);
	return count;
}

/* ---- Counts ---- */

size_t lfpool_priority_count(const lfpool_priority_t *pool)
{
	return pool->backend ? plain_count(pool) : lfpool_priority_capacity(pool) - free_slots_count(&pool->free);
}

size_t lfpool_priority_capacity(const lfpool_priority_t *pool)
{
	return pool->tournament.count - pool->held_back;
}

void lfpool_priority_stats(const lfpool_priority_t *pool, lfpool_priority_stats_t *stats_out)
{
	/* relaxed: statistics. */
	stats_out->acquired = load_relaxed(&pool->stamps);
	stats_out->evicted = tally_read(&pool->evicted);
	stats_out->refused = tally_read(&pool->refused);
}
