/* SPDX-License-Identifier: MIT */
/*
 * pool_make.c - pools made from a profile: what it says of one, put over its config, and the row.
 *
 * Idea         A pool of any kind is made by a function of its own from an lfpool_config_t, in which each kind reads what it has
 *              (registered.h): so a profile's line means the same for all.
 */
#include "registry/pool_registry.h"

#include "base/text.h"
#include "os/os.h"
#include "pool/configure.h"

#include <string.h>

#define DEBUG_WORDS_BYTES 256
#define GROWTH_PART 8 /* full=grow without a step: of the capacity */

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

static bool wait_for_ever(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	(void)context, (void)pool, (void)attempt;
	*wait_ns = -1;
	return true;
}

/* After the capacity and the step. */
static void full_into(lfpool_config_t *config, enum full_policy full)
{
	if (full == FULL_GROW && !config->growth_step)
		config->growth_step = config->capacity / GROWTH_PART + 1;
	if (full == FULL_FAIL)
		config->growth_step = 0;
	if (full == FULL_FAIL || full == FULL_WAIT)
		config->hooks.exhausted = full == FULL_WAIT ? wait_for_ever : NULL;
}

static const char *full_of(const lfpool_config_t *config, bool evicts, enum full_policy full)
{
	if (evicts)
		return full == FULL_FAIL ? "fail" : "evict";
	if (config->hooks.exhausted)
		return config->hooks.exhausted == wait_for_ever ? "wait" : "hook";
	return config->growth_step ? "grow" : "fail";
}

/* May a pool of this kind? */
static bool full_fits(enum full_policy full, bool evicts)
{
	return full == FULL_AS_CONFIGURED || full == FULL_FAIL || evicts == (full == FULL_EVICT);
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

/* ---- A pool ---- */

/* `change` is held. */
static lfpool_status_t make_row(lfpool_registry_t *registry, const struct registered_kind *kind, lfpool_config_t *config,
				registered_make_t make, void *context, void **pool_out)
{
	char words[DEBUG_WORDS_BYTES];
	struct pool_row row = {.kind = kind, .object_size = config->object_size, .base = policy_of(config)};
	const bool evicts = kind && kind->evicts;
	bool found;
	const size_t place = row_place(registry, config->name, &found);

	if (found)
		return LFPOOL_E_EXISTS;
	if (!row_room(registry))
		return LFPOOL_E_NO_MEMORY;
	strcpy(row.name, config->name);
	row.made = row.base;
	profile_apply(&registry->profile, row.name, registry->scenario, &row.made);

	const enum full_policy full = (enum full_policy)row.made.value[PROFILE_full];

	if (!full_fits(full, evicts))
		return LFPOOL_E_PROFILE;
	/* The others stay as they are made. */
	row.reserved = kind ? policy_max_capacity(&row.made) : profile_reserve(&registry->profile, row.name, &row.base);
	policy_into(config, &row.made, (uint32_t)row.reserved, words);
	row.full = full_of(config, evicts, full);
	config->name = row.name;

	const lfpool_status_t status = make(context, config, full, &row.pool);

	if (status != LFPOOL_OK)
		return status;
	/* Nobody has it yet.  Reserved is at least this. */
	if (!kind)
		(void)lfpool_limit(row.pool, policy_max_capacity(&row.made));
	row_insert(registry, place, &row);
	*pool_out = row.pool;
	return LFPOOL_OK;
}

static lfpool_status_t make_in(lfpool_registry_t *registry, const struct registered_kind *kind, lfpool_config_t *config,
			       registered_make_t make, void *context, void **pool_out)
{
	if (!config->name || !profile_name_fits(config->name, strlen(config->name)))
		return LFPOOL_E_CONFIG_NAME;
	os_mutex_lock(&registry->change);
	const lfpool_status_t status = make_row(registry, kind, config, make, context, pool_out);

	os_mutex_unlock(&registry->change);
	return status;
}

const struct registered_calls registered = {.make = make_in, .leave = row_leave};

static lfpool_status_t make_plain(void *context, const lfpool_config_t *config, enum full_policy full, void **pool_out)
{
	lfpool_t *pool;
	const lfpool_status_t status = lfpool_create(&pool, config);

	(void)context, (void)full;
	*pool_out = pool;
	return status;
}

lfpool_status_t lfpool_registry_create_pool(lfpool_registry_t *registry, const char *name, const lfpool_config_t *config,
					    lfpool_t **pool_out)
{
	lfpool_config_t own;
	void *pool = NULL;

	if (pool_out)
		*pool_out = NULL;
	if (!name || !config || !pool_out)
		return LFPOOL_E_ARGUMENT;
	if (!config_copy(&own, config))
		return LFPOOL_E_CONFIG_STRUCT_SIZE;
	own.name = name;

	const lfpool_status_t status = make_in(registry, NULL, &own, make_plain, NULL, &pool);

	*pool_out = pool;
	return status;
}
