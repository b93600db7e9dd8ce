/* SPDX-License-Identifier: MIT */
/*
 * pool_registry.c - pools made from a profile, and brought to another scenario: lfpool/registry.h, pool_registry.h.
 */
#include "registry/pool_registry.h"

#include "base/sized.h"
#include "base/text.h"

#include "lfpool/report.h"
#include "lfpool/resize.h"

#include <string.h>

#define DEBUG_WORDS_BYTES 256
#define GROWTH_PART 8 /* full=grow without a step: this part of the capacity */

static void write_lock(lfpool_registry_t *registry)
{
	os_mutex_lock(&registry->change);
	os_mutex_lock(&registry->look);
}

static void write_unlock(lfpool_registry_t *registry)
{
	os_mutex_unlock(&registry->look);
	os_mutex_unlock(&registry->change);
}

/* ---- A config as a policy, and back ---- */

static uint32_t as_value(size_t number)
{
	/* lfpool_create() refuses a number that is too large; LFPOOL_CACHE_NONE becomes PROFILE_NONE. */
	return number > PROFILE_OBJECTS_MAX ? UINT32_MAX : (uint32_t)number;
}

static struct policy policy_of(const lfpool_config_t *config)
{
	struct policy policy = {
		.value =
			{
				[PROFILE_capacity] = as_value(config->capacity),
				[PROFILE_max_capacity] = as_value(config->max_capacity),
				[PROFILE_growth_step] = as_value(config->growth_step),
				[PROFILE_cache_capacity] = as_value(config->cache_capacity),
				[PROFILE_depot_shards] = as_value(config->depot_shards),
				[PROFILE_flags] = config->flags,
				[PROFILE_backend] = (uint32_t)config->backend,
			},
	};

	/* lfpool_create() reports wrong words, unless the profile has others. */
	if (!debug_words_read(&policy.modes, config->debug))
		policy.modes = (struct debug_modes){0};
	return policy;
}

/* A number of objects is known: from the config, or from the profile, where it can be 0. */
static bool has_capacity(const struct policy *policy)
{
	return policy_gives(policy, PROFILE_capacity) || policy->value[PROFILE_capacity];
}

/* After the capacity and the step. */
static void full_into(lfpool_config_t *config, enum full_policy full)
{
	if (full == FULL_GROW && !config->growth_step)
		config->growth_step = config->capacity / GROWTH_PART + 1;
	if (full == FULL_FAIL) {
		config->growth_step = 0;
		config->hooks.exhausted = NULL;
	}
	if (full == FULL_EVICT && (config->evict == LFPOOL_EVICT_NONE || config->evict == LFPOOL_EVICT_NEVER))
		config->evict = LFPOOL_EVICT_LESS;
	/* Code that works with priorities still can. */
	if ((full == FULL_FAIL || full == FULL_GROW) && config->evict != LFPOOL_EVICT_NONE)
		config->evict = LFPOOL_EVICT_NEVER;
}

static const char *full_of(const lfpool_config_t *config)
{
	if (config->evict == LFPOOL_EVICT_LESS || config->evict == LFPOOL_EVICT_LESS_OR_EQUAL)
		return "evict";
	return config->hooks.exhausted ? "hook" : config->growth_step ? "grow" : "fail";
}

/* Puts the settings of the profile into the config, and reserves addresses for `reserve` objects.  `words` is room
 * for config->debug. */
static void policy_into(lfpool_config_t *config, const struct policy *policy, uint32_t reserve,
			char words[DEBUG_WORDS_BYTES])
{
	const uint32_t *value = policy->value;
	const struct debug_modes none = {0};
	struct text text;

	if (policy_gives(policy, PROFILE_capacity))
		config->capacity = value[PROFILE_capacity];
	/* lfpool_create() refuses a wrong config that the profile does not touch. */
	if (!config->max_capacity || config->max_capacity >= config->capacity ||
	    policy_gives(policy, PROFILE_capacity) || policy_gives(policy, PROFILE_max_capacity))
		config->max_capacity = reserve;
	if (policy_gives(policy, PROFILE_growth_step))
		config->growth_step = value[PROFILE_growth_step];
	if (policy_gives(policy, PROFILE_cache_capacity))
		config->cache_capacity = value[PROFILE_cache_capacity] == PROFILE_NONE ? LFPOOL_CACHE_NONE
										       : value[PROFILE_cache_capacity];
	if (policy_gives(policy, PROFILE_depot_shards))
		config->depot_shards = value[PROFILE_depot_shards];
	if (policy_gives(policy, PROFILE_flags))
		config->flags = value[PROFILE_flags];
	if (policy_gives(policy, PROFILE_full))
		full_into(config, (enum full_policy)value[PROFILE_full]);
	if (policy_gives(policy, PROFILE_backend))
		config->backend = (lfpool_backend_t)value[PROFILE_backend];
	if (policy_gives(policy, PROFILE_debug)) {
		text_open(&text, words, DEBUG_WORDS_BYTES);
		debug_words_write(&policy->modes, LFPOOL_TEXT, &text);
		config->debug = memcmp(&policy->modes, &none, sizeof(none)) ? words : NULL;
	}
}

/* ---- The registry ---- */

lfpool_status_t lfpool_registry_create(lfpool_registry_t **registry_out, const char *profile,
				       lfpool_profile_error_t *error_out)
{
	lfpool_profile_error_t error;
	lfpool_registry_t *registry;

	if (!error_out)
		error_out = &error;
	*error_out = (lfpool_profile_error_t){0};
	if (!registry_out)
		return LFPOOL_E_ARGUMENT;
	*registry_out = NULL;
	registry = os_heap_resize(NULL, sizeof(*registry));
	if (!registry)
		return profile_no_memory(error_out);
	*registry = (lfpool_registry_t){0};

	lfpool_status_t status = profile_read(&registry->profile, profile ? profile : "", error_out);

	if (status != LFPOOL_OK) {
		os_heap_free(registry);
		return status;
	}
	if (!os_mutex_open(&registry->change) || !os_mutex_open(&registry->look)) {
		profile_free(&registry->profile);
		os_heap_free(registry);
		return profile_no_memory(error_out);
	}
	*registry_out = registry;
	return LFPOOL_OK;
}

size_t lfpool_registry_destroy(lfpool_registry_t *registry)
{
	size_t active = 0, refused = 0;

	if (!registry)
		return 0;
	while (registry->count > refused) {
		lfpool_t *pool = registry->rows[registry->count - 1 - refused].pool;
		const size_t more = pool ? lfpool_registry_destroy_pool(registry, pool) : SIZE_MAX;

		if (more == SIZE_MAX)
			refused++;
		else
			active += more;
	}
	if (refused)
		return SIZE_MAX;
	profile_free(&registry->profile);
	os_heap_free(registry->rows);
	os_mutex_close(&registry->change);
	os_mutex_close(&registry->look);
	os_heap_free(registry);
	return active;
}

/* ---- Rows ---- */

/* The place of the row with this name, or the place where it would be. */
static size_t row_place(const lfpool_registry_t *registry, const char *name, bool *found_out)
{
	size_t low = 0, high = registry->count;

	*found_out = false;
	while (low < high && !*found_out) {
		const size_t middle = low + (high - low) / 2;
		const int order = strcmp(registry->rows[middle].name, name);

		if (order < 0)
			low = middle + 1;
		else
			high = middle;
		*found_out = order == 0;
	}
	return high;
}

/* Room for one more; false when the system refuses.  `change` is held. */
static bool row_room(lfpool_registry_t *registry)
{
	const size_t room = registry->room ? 2 * registry->room : 8;

	if (registry->count < registry->room)
		return true;
	os_mutex_lock(&registry->look);
	struct pool_row *rows = os_heap_resize(registry->rows, room * sizeof(*rows));

	if (rows) {
		registry->rows = rows;
		registry->room = room;
	}
	os_mutex_unlock(&registry->look);
	return rows != NULL;
}

static void row_insert(lfpool_registry_t *registry, size_t place, const struct pool_row *row)
{
	os_mutex_lock(&registry->look);
	memmove(&registry->rows[place + 1], &registry->rows[place], (registry->count++ - place) * sizeof(*row));
	registry->rows[place] = *row;
	os_mutex_unlock(&registry->look);
}

lfpool_t *lfpool_registry_find(lfpool_registry_t *registry, const char *name)
{
	lfpool_t *pool = NULL;
	bool found;

	os_mutex_lock(&registry->look);
	const size_t place = row_place(registry, name, &found);

	if (found)
		pool = registry->rows[place].pool;
	os_mutex_unlock(&registry->look);
	return pool;
}

/* ---- Making a pool ---- */

/* Sets where the pool's growth ends, if the policy has a number for it. */
static void limit(const struct pool_row *row, const struct policy *policy)
{
	const size_t most = policy_max_capacity(policy);

	if (has_capacity(policy) || most)
		(void)lfpool_limit(row->pool, most < row->reserved ? most : row->reserved);
}

/* `change` is held.  Puts the settings of the row's name into the config. */
static void configure(lfpool_registry_t *registry, struct pool_row *row, lfpool_config_t *config,
		      char words[DEBUG_WORDS_BYTES])
{
	row->object_size = config->object_size;
	row->base = row->made = policy_of(config);
	profile_apply(&registry->profile, row->name, registry->scenario, &row->made);
	policy_into(config, &row->made, profile_reserve(&registry->profile, row->name, &row->base), words);
	config->name = row->name;
}

static lfpool_status_t make_row(lfpool_registry_t *registry, struct pool_row *row, lfpool_config_t *config,
				const struct window_range *range)
{
	char words[DEBUG_WORDS_BYTES];
	bool found;
	const size_t place = row_place(registry, row->name, &found);

	if (found)
		return LFPOOL_E_EXISTS;
	if (!row_room(registry))
		return LFPOOL_E_NO_MEMORY;
	configure(registry, row, config, words);
	if (range)
		window_fit(config, *range);
	row->reserved = config->max_capacity > config->capacity ? config->max_capacity : config->capacity;
	row->full = full_of(config);

	const lfpool_status_t status = range ? window_create_pool(&row->pool, config, *range)
					     : lfpool_create(&row->pool, config);

	if (status != LFPOOL_OK)
		return status;
	/* No other thread has it yet. */
	limit(row, &row->made);
	row_insert(registry, place, row);
	return LFPOOL_OK;
}

/* Copies the config, and the name as a row has it. */
static lfpool_status_t read_request(const char *name, const lfpool_config_t *given, lfpool_config_t *config_out,
				    struct pool_row *row_out)
{
	*row_out = (struct pool_row){0};
	if (!name || !given)
		return LFPOOL_E_ARGUMENT;
	if (!sized_read(config_out, sizeof(*config_out), offsetof(lfpool_config_t, cache_capacity), given))
		return LFPOOL_E_CONFIG_STRUCT_SIZE;
	if (!profile_name_fits(name, strlen(name)))
		return LFPOOL_E_CONFIG_NAME;
	strcpy(row_out->name, name);
	return LFPOOL_OK;
}

lfpool_status_t registry_window_bytes(lfpool_registry_t *registry, const char *name, const lfpool_config_t *given,
				      size_t *bytes_out)
{
	char words[DEBUG_WORDS_BYTES];
	lfpool_config_t config;
	struct pool_row row;
	const lfpool_status_t status = read_request(name, given, &config, &row);

	*bytes_out = 0;
	if (status != LFPOOL_OK)
		return status;
	os_mutex_lock(&registry->change);
	configure(registry, &row, &config, words);
	os_mutex_unlock(&registry->change);
	return window_bytes(&config, bytes_out);
}

lfpool_status_t registry_create_in(lfpool_registry_t *registry, const char *name, const lfpool_config_t *given,
				   const struct window_range *range, lfpool_t **pool_out)
{
	lfpool_config_t config;
	struct pool_row row;
	lfpool_status_t status = read_request(name, given, &config, &row);

	if (status == LFPOOL_OK) {
		os_mutex_lock(&registry->change);
		status = make_row(registry, &row, &config, range);
		os_mutex_unlock(&registry->change);
	}
	*pool_out = status == LFPOOL_OK ? row.pool : NULL;
	return status;
}

lfpool_status_t lfpool_registry_create_pool(lfpool_registry_t *registry, const char *name,
					    const lfpool_config_t *config, lfpool_t **pool_out)
{
	return pool_out ? registry_create_in(registry, name, config, NULL, pool_out) : LFPOOL_E_ARGUMENT;
}

/* ---- Destroying a pool ---- */

/* Takes the pool out of its row, which keeps the name until the pool is destroyed.  False: it has no row.  After its
 * destroy, another pool can have the same address: only the name identifies the row then (PR1). */
static bool row_leave(lfpool_registry_t *registry, const lfpool_t *pool, char name_out[PROFILE_NAME_BYTES])
{
	size_t place = 0;

	write_lock(registry);
	while (place < registry->count && registry->rows[place].pool != pool)
		place++;
	const bool found = place < registry->count;

	if (found) {
		registry->rows[place].pool = NULL;
		strcpy(name_out, registry->rows[place].name);
	}
	write_unlock(registry);
	return found;
}

/* Puts the pool back into the row that it was taken out of, or, NULL, removes that row. */
static void row_settle(lfpool_registry_t *registry, const char *name, lfpool_t *pool)
{
	bool found;

	write_lock(registry);
	const size_t place = row_place(registry, name, &found);
	struct pool_row *row = &registry->rows[place];

	if (pool)
		row->pool = pool;
	else
		memmove(row, row + 1, (--registry->count - place) * sizeof(*row));
	write_unlock(registry);
}

size_t lfpool_registry_destroy_pool(lfpool_registry_t *registry, lfpool_t *pool)
{
	char name[PROFILE_NAME_BYTES];

	if (!pool || !row_leave(registry, pool, name))
		return 0;
	/* Without a mutex: hooks run, and may call the registry. */
	const size_t active = lfpool_destroy(pool);

	row_settle(registry, name, active == SIZE_MAX ? pool : NULL);
	return active;
}

/* ---- A switch ---- */

/* Would a pool that is made now have other settings, of those that a switch cannot change? */
static bool is_fixed(const struct pool_row *row)
{
	const uint32_t *is = &row->made.value[PROFILE_FIXED], *wanted = &row->wanted.value[PROFILE_FIXED];

	return memcmp(is, wanted, (PROFILE_KEY_COUNT - PROFILE_FIXED) * sizeof(*is)) != 0 ||
	       memcmp(&row->made.modes, &row->wanted.modes, sizeof(row->made.modes)) != 0;
}

/* Sets the limit of growth, makes the pool smaller if it is too large, and gives memory back. */
static void give_up(struct pool_row *row, lfpool_registry_report_t *report)
{
	const size_t wanted = row->wanted.value[PROFILE_capacity], settled = lfpool_settled_capacity(row->pool);
	const uint64_t given_back = lfpool_quick_stats(row->pool).given_back;

	limit(row, &row->wanted);
	if (has_capacity(&row->wanted) && settled > wanted)
		report->objects_removed += lfpool_shrink(row->pool, settled - wanted);
	if (!row->wanted.value[PROFILE_trim])
		return;
	/* With what the shrink gave back. */
	(void)lfpool_trim(row->pool, row->wanted.value[PROFILE_keep], SIZE_MAX);
	report->bytes_trimmed += (size_t)(lfpool_quick_stats(row->pool).given_back - given_back);
}

/* Makes the pool larger if it is too small, and counts the result of both steps. */
static void get_more(struct pool_row *row, lfpool_registry_report_t *report)
{
	const size_t wanted = row->wanted.value[PROFILE_capacity];
	size_t settled = lfpool_settled_capacity(row->pool);

	if (settled < wanted) {
		report->objects_added += lfpool_reserve(row->pool, wanted);
		settled = lfpool_settled_capacity(row->pool);
	}
	const size_t owed = lfpool_quick_stats(row->pool).owed;

	report->pools_short += settled < wanted;
	report->pools_owing += owed > 0;
	report->objects_owed += owed;
}

/* `change` is held. */
static void bring_all(lfpool_registry_t *registry, lfpool_registry_report_t *report)
{
	for (size_t i = 0; i < registry->count; i++) {
		struct pool_row *row = &registry->rows[i];

		if (!row->pool)
			continue;
		row->wanted = row->base;
		profile_apply(&registry->profile, row->name, registry->scenario, &row->wanted);
		report->pools++;
		report->pools_fixed += is_fixed(row);
		give_up(row, report);
	}
	/* Now there is memory for these. */
	for (size_t i = 0; i < registry->count; i++)
		if (registry->rows[i].pool)
			get_more(&registry->rows[i], report);
}

/* `change` is held.  `fresh`, if it is not NULL, becomes the profile, and the old one goes there; unless it has no such
 * scenario: then nothing changes. */
static bool enter_scenario(lfpool_registry_t *registry, struct profile *fresh, const char *scenario)
{
	struct profile old = registry->profile;
	uint32_t number;

	if (!profile_find_scenario(fresh ? fresh : &registry->profile, scenario, &number))
		return false;
	os_mutex_lock(&registry->look);
	registry->scenario = number;
	if (fresh) {
		registry->profile = *fresh;
		*fresh = old;
	}
	os_mutex_unlock(&registry->look);
	return true;
}

lfpool_status_t lfpool_registry_switch(lfpool_registry_t *registry, const char *profile, const char *scenario,
				       lfpool_registry_report_t *report_out)
{
	lfpool_registry_report_t report = LFPOOL_REGISTRY_REPORT_INIT;
	lfpool_status_t status = LFPOOL_OK;
	struct profile fresh = {0};

	if (!scenario || (report_out && !sized_fits(report_out, offsetof(lfpool_registry_report_t, pools))))
		return LFPOOL_E_ARGUMENT;
	if (profile)
		status = profile_read(&fresh, profile, &report.error);
	if (status == LFPOOL_OK) {
		os_mutex_lock(&registry->change);
		if (enter_scenario(registry, profile ? &fresh : NULL, scenario))
			bring_all(registry, &report);
		else
			status = LFPOOL_E_SCENARIO;
		os_mutex_unlock(&registry->change);
		profile_free(&fresh);
	}
	if (report_out)
		sized_write(report_out, &report, sizeof(report));
	return status;
}
