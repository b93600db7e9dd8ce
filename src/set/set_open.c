/* SPDX-License-Identifier: MIT */
/*
 * set_open.c - makes a set, the pools of its classes as they are needed, and undoes it all.
 *
 * Idea         The config of every class's pool is validated once, for class 0, which has the most objects; the others
 *              differ in their size and in how many objects follow from bytes.  All windows have the size that the
 *              class with the most bytes needs, debug modes included.
 * Progress     One lock for all sets, held while a pool is made.  A call that finds its pool does not take it, and no hook runs
 *              under it.  Order of locks: this one, then the registry's.  Fork takes both, so the child finds them
 *              free, and no pool half made.
 * Edges        MAKE (pool_set.h).
 */
#include "api/life.h"
#include "base/sized.h"
#include "base/text.h"
#include "core/arena.h"
#include "object/lifecycle.h"
#include "os/os.h"
#include "pool/configure.h"
#include "pool/live_pools.h"
#include "pool/registered.h"
#include "set/pool_set.h"

#include <string.h>

#define LARGEST_DEFAULT ((size_t)64 << 10)
#define ALIGNMENT_DEFAULT 16
#define STEPS_DEFAULT 8
#define CLASS_BYTES_DEFAULT ((size_t)16 << 20)

static os_mutex_t making = OS_MUTEX_INITIALIZER;
static bool has_fork_handlers;

static void lock_making(void)
{
	os_mutex_lock(&making);
}

static void unlock_making(void)
{
	os_mutex_unlock(&making);
}

/* After process_open(): of the handlers before fork those that were installed last run first, and so ours before the
 * registry's. */
static bool install_fork_handlers(void)
{
	live_pools_lock();
	has_fork_handlers = has_fork_handlers || os_at_fork(lock_making, unlock_making, unlock_making);
	const bool installed = has_fork_handlers;

	live_pools_unlock();
	return installed;
}

/* ---- Configuration ---- */

static size_t objects_in(size_t bytes, size_t size)
{
	return bytes > size ? bytes / size : 1;
}

static size_t at_least(size_t value, size_t least)
{
	return value < least ? least : value;
}

/* What the caller says of this class, in the three fields that it may change. */
static void plan_class(const lfpool_set_config_t *given, lfpool_config_t *config)
{
	lfpool_config_t asked = *config;

	if (asked.max_capacity == asked.capacity)
		asked.max_capacity = 0;
	given->plan(given->hooks.context, &asked);
	config->capacity = asked.capacity;
	config->max_capacity = asked.max_capacity ? asked.max_capacity : asked.capacity;
	config->growth_step = asked.growth_step;
}

void set_class_config(const lfpool_set_t *set, size_t class_number, lfpool_config_t *config_out)
{
	const lfpool_set_config_t *given = &set->given;
	const size_t size = class_size(&set->classes, class_number);

	*config_out = set->config;
	config_out->object_size = size;
	config_out->capacity = given->capacity ? given->capacity : objects_in(given->class_bytes, size);
	config_out->max_capacity = given->max_capacity;
	if (!config_out->max_capacity)
		config_out->max_capacity = at_least(given->max_class_bytes / size, config_out->capacity);
	config_out->growth_step = given->growth_step;
	if (!config_out->growth_step && given->growth_bytes)
		config_out->growth_step = objects_in(given->growth_bytes, size);
	if (given->plan)
		plan_class(given, config_out);
}

/* Fills in the defaults of what makes the classes. */
static lfpool_status_t choose_classes(struct classes *classes_out, lfpool_set_config_t *config)
{
	config->largest = config->largest ? config->largest : LARGEST_DEFAULT;
	config->object_alignment = config->object_alignment ? config->object_alignment : ALIGNMENT_DEFAULT;
	config->steps = config->steps ? config->steps : STEPS_DEFAULT;
	config->class_bytes = config->class_bytes ? config->class_bytes : CLASS_BYTES_DEFAULT;
	if (config->largest > OBJECT_SIZE_MAX)
		return LFPOOL_E_CONFIG_OBJECT_SIZE;
	if ((config->object_alignment & (config->object_alignment - 1)) || config->object_alignment > OBJECT_ALIGNMENT_MAX)
		return LFPOOL_E_CONFIG_OBJECT_ALIGNMENT;
	if (config->steps != 4 && config->steps != 8 && config->steps != 16)
		return LFPOOL_E_CONFIG_STEPS;
	*classes_out = classes_for(config->object_alignment, config->steps, config->largest);
	return LFPOOL_OK;
}

/* What of a set's config a pool's has, and a profile can say; growth by bytes is some. */
static void put_into(lfpool_config_t *config, const lfpool_set_config_t *known)
{
	config->name = known->name;
	config->object_size = known->largest;
	config->capacity = known->capacity;
	config->max_capacity = known->max_capacity;
	config->growth_step = known->growth_step ? known->growth_step : known->growth_bytes;
	config->cache_capacity = known->cache_capacity;
	config->flags = known->flags;
	config->backend = known->backend;
	config->hooks = known->hooks;
	config->depot_shards = known->depot_shards;
	config->debug = known->debug;
}

/* Everything of the set but its addresses and its pools. */
static lfpool_status_t import(lfpool_set_t *set, const lfpool_set_config_t *given)
{
	lfpool_set_config_t *known = &set->given;
	lfpool_config_t first;

	*known = *given;

	lfpool_status_t status = choose_classes(&set->classes, known);

	if (status != LFPOOL_OK)
		return status;
	if (hooks_have_life(&known->hooks))
		return LFPOOL_E_CONFIG_HOOKS;
	set->config = (lfpool_config_t)LFPOOL_CONFIG_INIT;
	put_into(&set->config, known);
	set->config.object_alignment = known->object_alignment;
	set_class_config(set, 0, &first);
	status = config_import(&set->config, &set->modes, &first, NULL);
	if (status != LFPOOL_OK)
		return status;
	/* Of the others only what the caller planned can be wrong. */
	for (size_t i = 1; known->plan && i < set->classes.count; i++) {
		lfpool_config_t complete;

		set_class_config(set, i, &first);
		status = config_import_as_given(&complete, &first);
		if (status != LFPOOL_OK)
			return status;
	}
	strcpy(set->name, known->name ? known->name : "unnamed");
	/* The caller's strings, which may not last. */
	known->name = known->debug = set->config.name = set->config.debug = NULL;
	set->larger = known->larger;
	return LFPOOL_OK;
}

/* ---- Addresses ---- */

/* Bytes that the objects of a class may ever take, and a page without access behind them; false: no such number. */
static bool class_bytes(const lfpool_set_t *set, const struct lifecycle *lifecycle, size_t class_number, size_t *bytes_out)
{
	lfpool_config_t config;

	set_class_config(set, class_number, &config);
	return pool_object_bytes(&config, lifecycle, bytes_out) &&
	       !__builtin_add_overflow(*bytes_out, os_page_bytes(), bytes_out);
}

/* Windows shall not cut huge pages, and each begins with an object. */
static size_t base_alignment(const lfpool_set_t *set)
{
	return at_least(HUGE_PAGE_BYTES, set->config.object_alignment);
}

/* Y2. */
static bool choose_windows(lfpool_set_t *set, size_t *bytes_out)
{
	/* With huge pages every window begins with one, as the objects of any pool do. */
	size_t most = set->config.flags & LFPOOL_HUGE_PAGES ? HUGE_PAGE_BYTES : 0, bytes;
	struct lifecycle *lifecycle;

	if (!lifecycle_open(&lifecycle, &set->config, &set->modes))
		return false;
	for (size_t i = 0; i < set->classes.count && most != SIZE_MAX; i++) {
		if (!class_bytes(set, lifecycle, i, &bytes))
			bytes = SIZE_MAX;
		most = at_least(most, bytes);
	}
	lifecycle_close(lifecycle);
	while (set->window_shift < 8 * sizeof(size_t) - 1 && (size_t)1 << set->window_shift < most)
		set->window_shift++;
	return (size_t)1 << set->window_shift >= most &&
	       !__builtin_mul_overflow((size_t)1 << set->window_shift, set->classes.count, &bytes) &&
	       /* A page without access before the first window. */
	       !__builtin_add_overflow(bytes, base_alignment(set) + os_page_bytes(), bytes_out);
}

static bool reserve(lfpool_set_t *set)
{
	if (set->config.backend == LFPOOL_BACKEND_MALLOC)
		return true;
	if (!choose_windows(set, &set->reserved_bytes))
		return false;
	set->reserved = os_reserve(set->reserved_bytes);
	if (!set->reserved)
		return false;
	set->base = round_up((uintptr_t)set->reserved + os_page_bytes(), base_alignment(set));
	set->windows = set->classes.count;
	return true;
}

/* ---- Life ---- */

static void set_close(lfpool_set_t *set)
{
	if (set->reserved)
		os_unmap(set->reserved, set->reserved_bytes);
	os_unmap(set, set->mapped_bytes);
}

static lfpool_status_t create(lfpool_set_t **set_out, const lfpool_set_config_t *given)
{
	/* Of the config, until it is known how many classes there are. */
	lfpool_set_t draft;

	*set_out = NULL;
	memset(&draft, 0, sizeof(draft));

	const lfpool_status_t status = import(&draft, given);

	if (status != LFPOOL_OK)
		return status;
	if (!process_open() || !install_fork_handlers())
		return LFPOOL_E_NO_MEMORY;

	draft.mapped_bytes = sizeof(draft) + draft.classes.count * sizeof(draft.class[0]);

	lfpool_set_t *set = os_map(draft.mapped_bytes);

	if (!set)
		return LFPOOL_E_NO_MEMORY;
	memcpy(set, &draft, sizeof(draft));
	if (!reserve(set)) {
		set_close(set);
		return LFPOOL_E_NO_MEMORY;
	}
	*set_out = set;
	return LFPOOL_OK;
}

/* ---- In a registry ---- */

static lfpool_status_t create_from_profile(void *context, const lfpool_config_t *config, enum full_policy full, void **pool_out)
{
	lfpool_set_config_t known = *(const lfpool_set_config_t *)context;
	lfpool_config_t asked;
	lfpool_set_t *set;

	(void)full;
	put_into(&asked, &known);
	/* What the profile does not say, bytes may. */
	if (config->capacity != asked.capacity || config->max_capacity != at_least(asked.max_capacity, asked.capacity)) {
		known.capacity = config->capacity;
		known.max_capacity = config->max_capacity;
	}
	if (config->growth_step != asked.growth_step) {
		known.growth_step = config->growth_step;
		known.growth_bytes = 0;
	}
	known.name = config->name;
	known.cache_capacity = config->cache_capacity;
	known.flags = config->flags;
	known.backend = config->backend;
	known.hooks = config->hooks;
	known.depot_shards = config->depot_shards;
	known.debug = config->debug;

	const lfpool_status_t status = create(&set, &known);

	*pool_out = set;
	return status;
}

static size_t destroy(void *set)
{
	return lfpool_set_destroy(set);
}

static const struct registered_kind kind = {.evicts = false, .look = set_look, .destroy = destroy};

lfpool_status_t lfpool_set_create(lfpool_set_t **set_out, const lfpool_set_config_t *given)
{
	lfpool_set_config_t known;
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	void *set = NULL;

	if (set_out)
		*set_out = NULL;
	if (!set_out || !given)
		return LFPOOL_E_ARGUMENT;
	if (!sized_read(&known, sizeof(known), offsetof(lfpool_set_config_t, largest), given))
		return LFPOOL_E_CONFIG_STRUCT_SIZE;
	if (!known.registry)
		return create(set_out, &known);
	put_into(&config, &known);

	const lfpool_status_t status = registered_calls(known.registry)
					       ->make(known.registry, &kind, &config, create_from_profile, &known, &set);

	*set_out = set;
	return status;
}

/* ---- Classes ---- */

/* "name/size", the name cut off if need be. */
static void name_class(const lfpool_set_t *set, size_t size, char *name_out)
{
	struct text suffix, name;

	text_open(&suffix, NULL, 0);
	text_put(&suffix, "/%zu", size);
	text_open(&name, name_out, NAME_BYTES);
	text_put(&name, "%.*s/%zu", NAME_BYTES - 1 - (int)suffix.wanted, set->name, size);
}

static lfpool_t *make(lfpool_set_t *set, size_t class_number)
{
	char name[NAME_BYTES];
	struct window window = {0};
	lfpool_config_t config;
	lfpool_t *pool;

	set_class_config(set, class_number, &config);
	name_class(set, config.object_size, name);
	config.name = name;
	if (set->windows) {
		window.at = (void *)(set->base + ((uintptr_t)class_number << set->window_shift));
		window.bytes = ((size_t)1 << set->window_shift) - os_page_bytes(); /* Y2 */
	}
	if (pool_create_at(&pool, &config, &set->modes, &window) == LFPOOL_OK)
		return pool;
	/* What it backed there before something was refused. */
	if (set->windows)
		os_close(window.at, window.bytes);
	return NULL;
}

lfpool_t *set_make(lfpool_set_t *set, size_t class_number)
{
	lock_making();
	/* relaxed: written under this lock only. */
	lfpool_t *pool = (lfpool_t *)load_relaxed(&set->class[class_number].pool);

	if (!pool) {
		pool = make(set, class_number);
		set_publish(set, class_number, pool, pool ? pool->table_id : 0);
	}
	unlock_making();
	return pool;
}

size_t lfpool_set_destroy(lfpool_set_t *set)
{
	size_t active = 0;

	if (!set)
		return 0;
	if (set->given.registry)
		registered_calls(set->given.registry)->leave(set->given.registry, set);
	for (size_t i = 0; i < set->classes.count; i++)
		active += lfpool_destroy(set_pool(set, i));
	set_close(set);
	return active;
}
