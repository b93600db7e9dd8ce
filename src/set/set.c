/* SPDX-License-Identifier: MIT */
/*
 * set.c - sets of pools: creation, acquire by size, release by address.  See pool_set.h.
 *
 * Progress     A call that finds the pool of its class takes no lock.  A call that makes a pool takes the lock of all
 *              windows first, then the registry's.
 */
#include "set/pool_set.h"

#include "base/sized.h"
#include "base/stats_fields.h"
#include "base/text.h"
#include "base/words.h"
#include "os/os.h"
#include "registry/pool_registry.h"

#include "lfpool/report.h"

#include <inttypes.h>
#include <string.h>

#define LARGEST_DEFAULT ((size_t)64 << 10)
#define LARGEST_MAX ((size_t)1 << 30)
#define ALIGNMENT_DEFAULT 16
#define ALIGNMENT_MAX ((size_t)1 << 30)
#define STEPS_DEFAULT 8
#define CLASS_BYTES_DEFAULT ((size_t)16 << 20)
#define NAME_BYTES 64 /* of a pool, with the 0 at the end */

/* ---- Configuration ---- */

/* A copy of the caller's config, with the defaults of all fields that determine the classes. */
static lfpool_status_t read_config(lfpool_set_config_t *config, const lfpool_set_config_t *given)
{
	lfpool_config_t *pool = &config->pool;

	if (!sized_read(config, sizeof(*config), offsetof(lfpool_set_config_t, largest), given))
		return LFPOOL_E_CONFIG_STRUCT_SIZE;
	for (size_t i = 0; i < sizeof(config->reserved) / sizeof(*config->reserved); i++)
		if (config->reserved[i])
			return LFPOOL_E_CONFIG_STRUCT_SIZE;
	pool->struct_size = sizeof(*pool);
	config->largest = config->largest ? config->largest : LARGEST_DEFAULT;
	config->steps = config->steps ? config->steps : STEPS_DEFAULT;
	config->class_bytes = config->class_bytes ? config->class_bytes : CLASS_BYTES_DEFAULT;
	pool->object_alignment = pool->object_alignment ? pool->object_alignment : ALIGNMENT_DEFAULT;
	if (config->largest > LARGEST_MAX)
		return LFPOOL_E_CONFIG_OBJECT_SIZE;
	if ((pool->object_alignment & (pool->object_alignment - 1)) || pool->object_alignment > ALIGNMENT_MAX)
		return LFPOOL_E_CONFIG_OBJECT_ALIGNMENT;
	if (config->steps != 4 && config->steps != 8 && config->steps != 16)
		return LFPOOL_E_CONFIG_STEPS;
	if (pool->name && strnlen(pool->name, NAME_BYTES) == NAME_BYTES)
		return LFPOOL_E_CONFIG_NAME;
	if (pool->hooks.create || pool->hooks.validate || pool->hooks.activate || pool->hooks.deactivate ||
	    pool->hooks.destroy)
		return LFPOOL_E_CONFIG_HOOKS;
	/* Refused, because all pools would have the same memory. */
	if (pool->memory || pool->memory_bytes || pool->memory_use)
		return LFPOOL_E_BUFFER;
	return LFPOOL_OK;
}

static size_t objects_in(size_t bytes, size_t size)
{
	return bytes > size ? bytes / size : 1;
}

/* Sets the capacities of a class.  They are the config's numbers of objects, or computed from its numbers of bytes.
 * config->plan() can change them. */
static void plan_class(struct set_class *class, const lfpool_set_config_t *config, size_t size)
{
	lfpool_config_t asked = config->pool;

	asked.object_size = size;
	if (!asked.capacity)
		asked.capacity = objects_in(config->class_bytes, size);
	if (!asked.max_capacity && config->max_class_bytes)
		asked.max_capacity = larger_of(config->max_class_bytes / size, asked.capacity);
	if (!asked.growth_step && config->growth_bytes)
		asked.growth_step = objects_in(config->growth_bytes, size);
	if (config->plan)
		config->plan(config->pool.hooks.context, &asked);
	class->capacity = asked.capacity;
	class->max_capacity = asked.max_capacity;
	class->growth_step = asked.growth_step;
}

struct class_config {
	lfpool_config_t config;
	char name[NAME_BYTES];
};

/* Makes the config for the pool of a class.  The pool's name is "name/size"; a long `name` is cut off. */
static void class_config(const lfpool_set_t *set, size_t class_number, struct class_config *c)
{
	const struct set_class *class = &set->class[class_number];
	struct text suffix, name;

	c->config = set->config;
	c->config.object_size = class_size(&set->classes, class_number);
	c->config.capacity = class->capacity;
	c->config.max_capacity = class->max_capacity;
	c->config.growth_step = class->growth_step;
	text_open(&suffix, NULL, 0);
	text_put(&suffix, "/%zu", c->config.object_size);
	text_open(&name, c->name, sizeof(c->name));
	text_put(&name, "%.*s/%zu", NAME_BYTES - 1 - (int)suffix.wanted, set->config.name, c->config.object_size);
	c->config.name = c->name;
}

static lfpool_status_t class_bytes(const lfpool_set_t *set, size_t class_number, size_t *bytes_out)
{
	struct class_config c;

	class_config(set, class_number, &c);
	return set->registry ? registry_window_bytes(set->registry, c.name, &c.config, bytes_out)
			     : window_bytes(&c.config, bytes_out);
}

/* ---- The pool of a class ---- */

static lfpool_status_t make(const lfpool_set_t *set, size_t class_number, lfpool_t **pool_out)
{
	const struct window_range range = window_range(&set->windows, class_number);
	const bool anywhere = set->windows.count == 0;
	struct class_config c;

	class_config(set, class_number, &c);
	if (set->registry)
		return registry_create_in(set->registry, c.name, &c.config, anywhere ? NULL : &range, pool_out);
	return anywhere ? lfpool_create(pool_out, &c.config) : window_create_pool(pool_out, &c.config, range);
}

static lfpool_status_t make_and_publish(lfpool_set_t *set, size_t class_number)
{
	lfpool_t *pool = NULL;
	size_t bytes;
	/* A new profile may have changed the backend of the class since the set was made. */
	lfpool_status_t status = class_bytes(set, class_number, &bytes);

	/* relaxed: set_publish() follows, and publishes the flag, edge MAKE. */
	if (status == LFPOOL_OK && !bytes)
		store_relaxed(&set->scattered, true);
	if (status == LFPOOL_OK)
		status = make(set, class_number, &pool);
	if (status == LFPOOL_OK) {
		set_publish_to_threads(set, class_number, window_pool_id(pool), window_pool_at(pool));
		set_publish(set, class_number, pool);
	}
	return status;
}

lfpool_t *set_make(lfpool_set_t *set, size_t class_number)
{
	windows_lock();
	if (!set_pool(set, class_number))
		(void)make_and_publish(set, class_number);
	windows_unlock();
	return set_pool(set, class_number);
}

static inline lfpool_t *set_pool_made(lfpool_set_t *set, size_t class_number)
{
	lfpool_t *pool = set_pool(set, class_number);

	return likely(pool) ? pool : set_make(set, class_number);
}

/* ---- Life ---- */

static void close_memory(lfpool_set_t *set)
{
	windows_close(&set->windows);
	os_unmap(set, set->mapped_bytes);
}

/* Reserves a window for each class, as large as the largest class needs. */
static lfpool_status_t open_windows(lfpool_set_t *set)
{
	size_t most = 0, bytes;

	for (size_t i = 0; i < set->classes.count; i++) {
		const lfpool_status_t status = class_bytes(set, i, &bytes);

		if (status != LFPOOL_OK)
			return status;
		most = larger_of(most, bytes);
	}
	if (most && !windows_open(&set->windows, set->classes.count, most, set->config.object_alignment))
		return LFPOOL_E_NO_MEMORY;
	set->head.base = set->windows.base;
	set->head.windows = set->windows.count;
	set->head.window_shift = (uint8_t)set->windows.shift;
	return LFPOOL_OK;
}

/* The struct, still without windows and pools; NULL when the system refuses memory. */
static lfpool_set_t *open_memory(const lfpool_set_config_t *config)
{
	const struct classes classes = classes_for(config->pool.object_alignment, config->steps, config->largest);
	const char *name = config->pool.name ? config->pool.name : "unnamed", *debug = config->pool.debug;
	const size_t names = sizeof(lfpool_set_t) + classes.count * sizeof(struct set_class);
	const size_t debug_bytes = debug ? strlen(debug) + 1 : 0, bytes = names + NAME_BYTES + debug_bytes;
	lfpool_set_t *set = os_map(bytes);

	if (!set)
		return NULL;
	set->mapped_bytes = bytes;
	set->classes = classes;
	set->head.alignment_shift = classes.alignment_shift;
	set->larger = config->larger;
	set->steps = config->steps;
	set->registry = config->registry;
	set->config = config->pool;
	/* Copies, because the caller's strings may be gone when a pool is made. */
	set->config.name = strcpy((char *)set + names, name);
	if (debug)
		set->config.debug = memcpy((char *)set + names + NAME_BYTES, debug, debug_bytes);
	for (size_t i = 0; i < classes.count; i++)
		plan_class(&set->class[i], config, class_size(&classes, i));
	return set;
}

lfpool_status_t lfpool_set_create(lfpool_set_t **set_out, const lfpool_set_config_t *given)
{
	lfpool_set_config_t config;
	lfpool_set_t *set;

	if (set_out)
		*set_out = NULL;
	if (!set_out || !given)
		return LFPOOL_E_ARGUMENT;

	lfpool_status_t status = read_config(&config, given);

	if (status != LFPOOL_OK)
		return status;
	if (config.registry && !config.pool.name)
		return LFPOOL_E_CONFIG_NAME;
	set = open_memory(&config);
	if (!set)
		return LFPOOL_E_NO_MEMORY;
	status = open_windows(set);
	if (status == LFPOOL_OK)
		status = make_and_publish(set, 0);
	if (status != LFPOOL_OK) {
		close_memory(set);
		return status;
	}
	*set_out = set;
	return LFPOOL_OK;
}

size_t lfpool_set_destroy(lfpool_set_t *set)
{
	size_t active = 0, refused = 0;

	if (!set)
		return 0;
	/* The pool of the smallest class is destroyed last, and only if no other pool refused, because a set that stays
	 * needs it. */
	for (size_t i = set->classes.count; i-- > (refused != 0);) {
		lfpool_t *pool = set_pool(set, i);
		const size_t more = set->registry ? lfpool_registry_destroy_pool(set->registry, pool)
						  : lfpool_destroy(pool);

		if (more == SIZE_MAX) {
			refused++;
			continue;
		}
		active += more;
		set_publish_to_threads(set, i, 0, 0);
		set_publish(set, i, NULL);
	}
	if (refused)
		return SIZE_MAX;
	close_memory(set);
	return active;
}

/* ---- From an address to its pool ---- */

/* The class whose pool owns the address, found by asking each pool; classes.count: no class. */
static size_t class_that_owns(const lfpool_set_t *set, const void *pointer)
{
	size_t number = 0;
	const lfpool_t *pool;

	while (number < set->classes.count && !((pool = set_pool(set, number)) && lfpool_owns(pool, pointer)))
		number++;
	return number;
}

/* The pool that releases, or refuses, this address. */
static lfpool_t *pool_for_release(const lfpool_set_t *set, const void *pointer)
{
	const uintptr_t window = window_of(&set->windows, pointer);
	lfpool_t *pool = window < set->windows.count ? set_pool(set, window) : NULL;

	if (pool)
		return pool;
	/* relaxed: the object came from a published pool, edge MAKE. */
	const size_t number = load_relaxed(&set->scattered) ? class_that_owns(set, pointer) : set->classes.count;

	/* The pool of the smallest class refuses foreign addresses. */
	return set_pool(set, number < set->classes.count ? number : 0);
}

/* ---- Acquire and release ---- */

/* Called for sizes above the small ones, for all sizes of a set with config.larger, and if the thread has no cache of
 * the pool.  Tries the class of the size, then `larger` classes above it, and makes missing pools.  NULL: no class is
 * large enough, or none of these classes has a free object. */
NOINLINE void *lfpool_set_acquire_slow_(lfpool_set_t *set, size_t size)
{
	const size_t count = set->classes.count;
	size_t number = class_of(&set->classes, size);
	lfpool_cache_t *cache = number < count && !set->larger ? set_cache(set, number) : NULL;
	void *object = NULL;

	if (likely(cache))
		return lfpool_cache_acquire_inline_(cache);
	for (size_t tried = 0; !object && tried <= set->larger && number < count; tried++, number++) {
		lfpool_t *pool = set_pool_made(set, number);

		object = pool ? lfpool_acquire(pool) : NULL;
	}
	KEEP_FRAME();
	return object;
}

void *lfpool_set_acquire(lfpool_set_t *set, size_t size)
{
	/* Size 0 wraps around to a number that is too large for a small size. */
	const uint64_t m = ((uint64_t)size - 1) >> set->head.alignment_shift;
	lfpool_cache_t *cache = likely(m < LFPOOL_SET_UNITS_) ? set_small_cache(set, m) : NULL;

	if (likely(cache))
		return lfpool_cache_acquire_inline_(cache);

	void *object = lfpool_set_acquire_slow_(set, size);

	KEEP_FRAME();
	return object;
}

/* Releases the object if the set owns it. */
static lfpool_status_t release_if_owned(const lfpool_set_t *set, void *object)
{
	lfpool_t *pool = lfpool_set_pool_of(set, object, NULL);

	return pool ? lfpool_release_if_owned(pool, object) : LFPOOL_E_FOREIGN;
}

/* Called if the thread has no cache of the pool, or the address is in no window. */
NOINLINE lfpool_status_t lfpool_set_release_slow_(lfpool_set_t *set, void *object, bool if_owned)
{
	lfpool_status_t status = LFPOOL_OK;

	if (object)
		status = if_owned ? release_if_owned(set, object)
				  : lfpool_release(pool_for_release(set, object), object);
	KEEP_FRAME();
	return status;
}

lfpool_status_t lfpool_set_release(lfpool_set_t *set, void *object)
{
	lfpool_cache_t *cache = set_cache_at(set, object);

	if (likely(cache))
		return lfpool_cache_release_inline_(cache, object);

	const lfpool_status_t status = lfpool_set_release_slow_(set, object, false);

	KEEP_FRAME();
	return status;
}

lfpool_status_t lfpool_set_release_if_owned(lfpool_set_t *set, void *object)
{
	lfpool_cache_t *cache = set_cache_at(set, object);

	if (likely(cache))
		return lfpool_cache_release_if_owned_inline_(cache, object);

	const lfpool_status_t status = lfpool_set_release_slow_(set, object, true);

	KEEP_FRAME();
	return status;
}

/* ---- Classes ---- */

lfpool_t *lfpool_set_class(lfpool_set_t *set, size_t size, bool make_it, size_t *size_out)
{
	const size_t number = class_of(&set->classes, size);
	const bool exists = number < set->classes.count;

	if (size_out)
		*size_out = exists ? class_size(&set->classes, number) : 0;
	if (!exists)
		return NULL;
	return make_it ? set_pool_made(set, number) : set_pool(set, number);
}

lfpool_t *lfpool_set_pool_of(const lfpool_set_t *set, const void *pointer, size_t *size_out)
{
	size_t number = window_of(&set->windows, pointer);

	/* relaxed: the object came from a published pool, edge MAKE. */
	if (number >= set->windows.count)
		number = load_relaxed(&set->scattered) ? class_that_owns(set, pointer) : set->classes.count;

	lfpool_t *pool = number < set->classes.count ? set_pool(set, number) : NULL;

	if (size_out)
		*size_out = pool ? class_size(&set->classes, number) : 0;
	return pool;
}

/* ---- Reports, from lfpool_stats() and lfpool_dump() of each pool ---- */

static size_t sum_of_classes(const lfpool_set_t *set, lfpool_stats_t *sum_out)
{
	size_t pools = 0;

	*sum_out = (lfpool_stats_t){0};
	for (size_t i = 0; i < set->classes.count; i++) {
		const lfpool_t *pool = set_pool(set, i);
		lfpool_stats_t stats;

		if (!pool)
			continue;
		(void)lfpool_stats(pool, &stats);
		stats_add(sum_out, &stats);
		pools++;
	}
	return pools;
}

lfpool_status_t lfpool_set_stats_sized(const lfpool_set_t *set, lfpool_stats_t *stats_out, size_t bytes)
{
	lfpool_stats_t sum;

	if (!stats_out)
		return LFPOOL_E_ARGUMENT;
	(void)sum_of_classes(set, &sum);
	sized_write(stats_out, bytes, &sum, sizeof(sum));
	return LFPOOL_OK;
}

/* ---- Text ---- */

static void put_class(struct text *t, const lfpool_set_t *set, size_t class_number)
{
	const lfpool_t *pool = set_pool(set, class_number);
	lfpool_stats_t s;

	if (!pool)
		return;
	(void)lfpool_stats(pool, &s);
	text_put(t, "%8zu %10zu %10zu %10zu %10zu %10zu %12" PRIu64 " %8" PRIu64 "\n",
		 class_size(&set->classes, class_number), s.capacity, s.active, s.cached, s.shared, s.untouched,
		 s.acquires, s.misuses);
}

static size_t window_bytes_of(const lfpool_set_t *set)
{
	return set->windows.count ? (size_t)1 << set->windows.shift : 0;
}

static void put_set_text(struct text *t, const lfpool_set_t *set, const lfpool_stats_t *sum, size_t pools)
{
	const size_t last = set->classes.count - 1;

	text_put(t, "lfpool      " VERSION ", set ");
	text_put_quoted(t, set->config.name);
	text_put(t, "\nclasses     %" PRIu32 " of %zu to %zu bytes, %zu to each doubling, aligned to %zu; %zu in use\n",
		 set->classes.count, class_size(&set->classes, 0), class_size(&set->classes, last), set->steps,
		 set->config.object_alignment, pools);
	if (set->windows.count)
		text_put(t, "windows     of %zu bytes, from %p on\n", window_bytes_of(set), (void *)set->windows.base);
	text_put(t, "larger      %zu\n", set->larger);
	text_put(t, "identity    %zu = %zu active + %zu cached + %zu shared + %zu untouched", sum->capacity,
		 sum->active, sum->cached, sum->shared, sum->untouched);
	if (sum->unaccounted)
		text_put(t, ", %+" PRId64 " unaccounted", sum->unaccounted);
	text_put(t, "\n");
	stats_put_text(t, sum);
	text_put(t, "%8s %10s %10s %10s %10s %10s %12s %8s\n", "bytes", "objects", "active", "cached", "shared",
		 "untouched", "acquires", "misuses");
	for (size_t i = 0; i <= last; i++)
		put_class(t, set, i);
}

/* ---- JSON ---- */

/* Writes the dump of a pool into the room that is left. */
static void put_pool(struct text *t, const lfpool_t *pool)
{
	const size_t left = t->wanted < t->room ? t->room - t->wanted : 0;

	t->wanted += lfpool_dump(pool, LFPOOL_JSON, left ? t->out + t->wanted : NULL, left);
}

static void put_set_json(struct text *t, const lfpool_set_t *set, const lfpool_stats_t *sum)
{
	const char *comma = "";

	text_put(t, "{\"lfpool\":\"" VERSION "\",\"set\":");
	text_put_quoted(t, set->config.name);
	text_put(t, ",\"classes\":%" PRIu32 ",\"largest\":%zu", set->classes.count,
		 class_size(&set->classes, set->classes.count - 1));
	text_put(t, ",\"steps\":%zu,\"object_alignment\":%zu,\"larger\":%zu,\"window_bytes\":%zu,", set->steps,
		 set->config.object_alignment, set->larger, window_bytes_of(set));
	stats_put_json(t, sum);
	text_put(t, ",\"pools\":[");
	for (size_t i = 0; i < set->classes.count; i++) {
		const lfpool_t *pool = set_pool(set, i);

		if (!pool)
			continue;
		text_put(t, "%s", comma);
		put_pool(t, pool);
		comma = ",";
	}
	text_put(t, "]}");
}

size_t lfpool_set_dump(const lfpool_set_t *set, lfpool_format_t format, char *text_out, size_t room)
{
	lfpool_stats_t sum;
	struct text t;

	text_open(&t, text_out, room);

	const size_t pools = sum_of_classes(set, &sum);

	switch (format) {
	case LFPOOL_TEXT: put_set_text(&t, set, &sum, pools); break;
	case LFPOOL_JSON: put_set_json(&t, set, &sum); break;
	}
	return t.wanted;
}
