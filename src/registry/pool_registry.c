/* SPDX-License-Identifier: MIT */
/*
 * pool_registry.c - pools made from a profile, and brought to another scenario: lfpool/registry.h, pool_registry.h.
 */
#include "registry/pool_registry.h"

#include "api/life.h"
#include "base/text.h"
#include "os/os.h"
#include "pool/configure.h"
#include "pool/pool.h"
#include "waiting/resizing.h"

#include <string.h>

#define REPORT_SIZE_MAX 4096 /* beyond this it is not a size */
#define DEBUG_WORDS_BYTES 256

static void write_lock(lfpool_registry_t *registry)
{
	(void)pthread_mutex_lock(&registry->change);
	(void)pthread_mutex_lock(&registry->look);
}

static void write_unlock(lfpool_registry_t *registry)
{
	(void)pthread_mutex_unlock(&registry->look);
	(void)pthread_mutex_unlock(&registry->change);
}

/* ---- The registry ---- */

lfpool_status_t lfpool_registry_create(lfpool_registry_t **registry_out, const char *profile, lfpool_profile_error_t *error_out)
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
		const size_t more = lfpool_registry_destroy_pool(registry, registry->rows[registry->count - 1 - refused].pool);

		if (more == SIZE_MAX)
			refused++;
		else
			active += more;
	}
	if (refused)
		return SIZE_MAX;
	profile_free(&registry->profile);
	os_heap_free(registry->rows);
	(void)pthread_mutex_destroy(&registry->change);
	(void)pthread_mutex_destroy(&registry->look);
	os_heap_free(registry);
	return active;
}

lfpool_status_t lfpool_registry_load(lfpool_registry_t *registry, const char *profile, lfpool_profile_error_t *error_out)
{
	lfpool_profile_error_t error;
	struct profile fresh, old;
	uint32_t scenario = 0;
	lfpool_status_t status = profile_read(&fresh, profile ? profile : "", error_out ? error_out : &error);

	if (status != LFPOOL_OK)
		return status;
	write_lock(registry);
	old = registry->profile;
	(void)profile_find_scenario(&fresh, old.scenarios[registry->scenario].name, &scenario);
	registry->profile = fresh;
	registry->scenario = scenario;
	write_unlock(registry);
	profile_free(&old);
	return LFPOOL_OK;
}

/* ---- Rows ---- */

/* Where the pool's row is, or would have to go. */
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

/* Room for one more; false when the system refuses it.  `change` is held. */
static bool row_room(lfpool_registry_t *registry)
{
	const size_t room = registry->room ? 2 * registry->room : 8;

	if (registry->count < registry->room)
		return true;
	(void)pthread_mutex_lock(&registry->look);
	struct pool_row *rows = os_heap_resize(registry->rows, room * sizeof(*rows));

	if (rows) {
		registry->rows = rows;
		registry->room = room;
	}
	(void)pthread_mutex_unlock(&registry->look);
	return rows != NULL;
}

/* There is room.  `change` is held. */
static void row_insert(lfpool_registry_t *registry, size_t place, const struct pool_row *row)
{
	(void)pthread_mutex_lock(&registry->look);
	memmove(&registry->rows[place + 1], &registry->rows[place], (registry->count++ - place) * sizeof(*row));
	registry->rows[place] = *row;
	(void)pthread_mutex_unlock(&registry->look);
}

lfpool_t *lfpool_registry_find(lfpool_registry_t *registry, const char *name)
{
	lfpool_t *pool = NULL;
	bool found;

	(void)pthread_mutex_lock(&registry->look);
	const size_t place = row_place(registry, name, &found);

	if (found)
		pool = registry->rows[place].pool;
	(void)pthread_mutex_unlock(&registry->look);
	return pool;
}

/* ---- A config as a policy, and back ---- */

static uint32_t as_value(size_t number)
{
	/* More than any config may say: lfpool_create() refuses it. */
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
				[PROFILE_cache_capacity] = as_value(config->cache_capacity), /* PROFILE_NONE for SIZE_MAX */
				[PROFILE_depot_shards] = as_value(config->depot_shards),
				[PROFILE_flags] = config->flags,
				[PROFILE_backend] = (uint32_t)config->backend,
			},
	};

	/* What is wrong with them lfpool_create() will say, unless the profile has others. */
	if (!debug_words_read(&policy.modes, config->debug))
		policy.modes = (struct debug_modes){0};
	return policy;
}

/* What the policy was given, and how much to reserve.  `words` is room for those of config->debug. */
static void policy_into(lfpool_config_t *config, const struct policy *policy, uint32_t reserve, char words[DEBUG_WORDS_BYTES])
{
	const uint32_t *value = policy->value;
	const struct debug_modes none = {0};
	struct text text;

	if (policy_gives(policy, PROFILE_capacity))
		config->capacity = value[PROFILE_capacity];
	/* What is wrong in the config alone is lfpool_create()'s to refuse. */
	if (!config->max_capacity || config->max_capacity >= config->capacity || policy_gives(policy, PROFILE_capacity) ||
	    policy_gives(policy, PROFILE_max_capacity))
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
	if (policy_gives(policy, PROFILE_backend))
		config->backend = (lfpool_backend_t)value[PROFILE_backend];
	if (policy_gives(policy, PROFILE_debug)) {
		text_open(&text, words, DEBUG_WORDS_BYTES);
		debug_words_write(&policy->modes, LFPOOL_TEXT, &text);
		config->debug = memcmp(&policy->modes, &none, sizeof(none)) ? words : NULL;
	}
}

/* ---- A pool ---- */

static lfpool_status_t make_pool(lfpool_registry_t *registry, const char *name, lfpool_config_t *config, lfpool_t **pool_out)
{
	char words[DEBUG_WORDS_BYTES];
	struct pool_row row = {.object_size = config->object_size, .base = policy_of(config)};
	bool found;
	const size_t place = row_place(registry, name, &found);

	if (found)
		return LFPOOL_E_EXISTS;
	if (!row_room(registry))
		return LFPOOL_E_NO_MEMORY;
	strcpy(row.name, name);
	row.made = row.base;
	profile_apply(&registry->profile, name, registry->scenario, &row.made);
	row.reserved = profile_reserve(&registry->profile, name, &row.base);
	policy_into(config, &row.made, (uint32_t)row.reserved, words);
	config->name = row.name;

	const lfpool_status_t status = lfpool_create(&row.pool, config);

	if (status != LFPOOL_OK)
		return status;
	/* Nobody has it yet.  Reserved is at least this. */
	(void)lfpool_limit(row.pool, policy_max_capacity(&row.made));
	row_insert(registry, place, &row);
	*pool_out = row.pool;
	return LFPOOL_OK;
}

lfpool_status_t lfpool_registry_create_pool(lfpool_registry_t *registry, const char *name, const lfpool_config_t *config,
					    lfpool_t **pool_out)
{
	lfpool_config_t own;

	if (pool_out)
		*pool_out = NULL;
	if (!name || !config || !pool_out)
		return LFPOOL_E_ARGUMENT;
	if (!profile_name_fits(name, strlen(name)))
		return LFPOOL_E_CONFIG_NAME;
	if (!config_copy(&own, config))
		return LFPOOL_E_CONFIG_STRUCT_SIZE;
	(void)pthread_mutex_lock(&registry->change);
	const lfpool_status_t status = make_pool(registry, name, &own, pool_out);

	(void)pthread_mutex_unlock(&registry->change);
	return status;
}

enum row_step { ROW_LEAVES, ROW_STAYS, ROW_GONE };

/* The row of a pool that is being destroyed; false: it has none. */
static bool step_row(lfpool_registry_t *registry, const lfpool_t *pool, enum row_step step)
{
	size_t place = 0;

	write_lock(registry);
	while (place < registry->count && registry->rows[place].pool != pool)
		place++;
	const bool found = place < registry->count;

	if (found)
		registry->rows[place].leaves = step == ROW_LEAVES;
	if (found && step == ROW_GONE)
		memmove(&registry->rows[place], &registry->rows[place + 1],
			(--registry->count - place) * sizeof(*registry->rows));
	write_unlock(registry);
	return found;
}

size_t lfpool_registry_destroy_pool(lfpool_registry_t *registry, lfpool_t *pool)
{
	if (!pool || !step_row(registry, pool, ROW_LEAVES))
		return 0;
	/* Without a mutex, also below: hooks run, and may do with the registry what they like. */
	if (!pool_finish(pool)) {
		(void)step_row(registry, pool, ROW_STAYS);
		return SIZE_MAX;
	}
	(void)step_row(registry, pool, ROW_GONE);
	return pool_end(pool);
}

/* ---- A switch ---- */

/* All that can be given back; how many bytes that was. */
static size_t trim(lfpool_t *pool, size_t keep)
{
	lfpool_stats_t before = LFPOOL_STATS_INIT, after = LFPOOL_STATS_INIT;

	(void)lfpool_stats(pool, &before);
	(void)lfpool_trim(pool, keep, SIZE_MAX);
	(void)lfpool_stats(pool, &after);
	return (size_t)(after.given_back - before.given_back);
}

/* Where growing ends; smaller if need be; memory given back. */
static void give_up(struct pool_row *row, lfpool_registry_report_t *report)
{
	const uint32_t wanted = row->wanted.value[PROFILE_capacity], most = policy_max_capacity(&row->wanted);
	const size_t settled = resize_settled(row->pool);

	if (most)
		(void)lfpool_limit(row->pool, most < row->reserved ? most : row->reserved);
	if (wanted && settled > wanted)
		report->objects_removed += lfpool_shrink(row->pool, settled - wanted);
	if (row->wanted.value[PROFILE_trim])
		report->bytes_trimmed += trim(row->pool, row->wanted.value[PROFILE_keep]);
}

/* Larger if need be; and what has come of it all. */
static void get_more(struct pool_row *row, lfpool_registry_report_t *report)
{
	const uint32_t wanted = row->wanted.value[PROFILE_capacity];
	size_t settled = resize_settled(row->pool);
	const uint32_t *is = &row->made.value[PROFILE_FIXED], *shall = &row->wanted.value[PROFILE_FIXED];

	if (settled < wanted) {
		report->objects_added += lfpool_reserve(row->pool, wanted);
		settled = resize_settled(row->pool);
	}
	const size_t owed = lfpool_shrink_owed(row->pool);

	report->pools++;
	report->pools_short += settled < wanted;
	report->pools_owing += owed > 0;
	report->objects_owed += owed;
	report->pools_fixed += memcmp(is, shall, (PROFILE_KEY_COUNT - PROFILE_FIXED) * sizeof(*is)) != 0 ||
			       memcmp(&row->made.modes, &row->wanted.modes, sizeof(row->made.modes)) != 0;
}

lfpool_status_t lfpool_registry_switch(lfpool_registry_t *registry, const char *scenario, lfpool_registry_report_t *report_out)
{
	const size_t size = report_out ? report_out->struct_size : 0;
	lfpool_registry_report_t report = {.struct_size = size};
	uint32_t number;

	if (!scenario || (report_out && (size < offsetof(lfpool_registry_report_t, pools) || size > REPORT_SIZE_MAX)))
		return LFPOOL_E_ARGUMENT;
	(void)pthread_mutex_lock(&registry->change);
	const bool found = profile_find_scenario(&registry->profile, scenario, &number);

	if (found) {
		(void)pthread_mutex_lock(&registry->look);
		registry->scenario = number;
		(void)pthread_mutex_unlock(&registry->look);
		for (size_t i = 0; i < registry->count; i++) {
			struct pool_row *row = &registry->rows[i];

			if (row->leaves)
				continue;
			row->wanted = row->base;
			profile_apply(&registry->profile, row->name, number, &row->wanted);
			give_up(row, &report);
		}
		/* Now there is memory for these. */
		for (size_t i = 0; i < registry->count; i++)
			if (!registry->rows[i].leaves)
				get_more(&registry->rows[i], &report);
	}
	(void)pthread_mutex_unlock(&registry->change);
	if (report_out) {
		memset(report_out, 0, size);
		memcpy(report_out, &report, size < sizeof(report) ? size : sizeof(report));
	}
	return found ? LFPOOL_OK : LFPOOL_E_SCENARIO;
}
