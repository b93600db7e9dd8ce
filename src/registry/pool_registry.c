/* SPDX-License-Identifier: MIT */
/*
 * pool_registry.c - makes pools from a profile, and brings them to another scenario; see lfpool/registry.h and
 * pool_registry.h.
 */
#include "registry/pool_registry.h"

#include "base/sized.h"
#include "base/text.h"

#include "lfpool/report.h"
#include "lfpool/resize.h"

#include <string.h>

#define DEBUG_WORDS_BYTES 256
#define GROWTH_PART 8 /* full=grow without a step: the step is 1 / GROWTH_PART of the capacity */

/* ---- A config as a policy, and back ---- */

static uint64_t as_value(size_t number)
{
	/* LFPOOL_CACHE_NONE becomes PROFILE_NONE (UINT32_MAX).  lfpool_create() refuses others above the limit. */
	return number > PROFILE_OBJECTS_MAX ? UINT32_MAX : number;
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
				[PROFILE_backend] = (uint64_t)config->backend,
			},
	};

	/* lfpool_create() reports wrong words, unless the profile replaces them. */
	(void)debug_words_read(&policy.modes, config->debug);
	return policy;
}

/* Does the config or the profile have a capacity?  (In the profile it can be 0.) */
static bool has_capacity(const struct policy *policy)
{
	return policy_gives(policy, PROFILE_capacity) || policy->value[PROFILE_capacity];
}

/* Sets the fields for `full`, after the capacity and the step are set. */
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
	/* LFPOOL_EVICT_NEVER keeps the priorities, because the program may use them. */
	if ((full == FULL_FAIL || full == FULL_GROW) && config->evict != LFPOOL_EVICT_NONE)
		config->evict = LFPOOL_EVICT_NEVER;
}

/* The word for `full`; called after the capacities are set. */
static const char *full_of(const lfpool_config_t *config)
{
	if (config->evict == LFPOOL_EVICT_LESS || config->evict == LFPOOL_EVICT_LESS_OR_EQUAL)
		return "evict";
	if (config->hooks.exhausted)
		return "hook";
	return config->growth_step && config->max_capacity > config->capacity ? "grow" : "fail";
}

/* Puts the settings of the profile into the config, and reserves addresses for `reserve` objects.  `words` receives
 * the text of config->debug. */
static void policy_into(lfpool_config_t *config, const struct policy *policy, uint64_t reserve,
			char words[DEBUG_WORDS_BYTES])
{
	const uint64_t *value = policy->value;
	const struct debug_modes none = {0};
	struct text text;

	if (policy_gives(policy, PROFILE_capacity))
		config->capacity = (size_t)value[PROFILE_capacity];
	/* A wrong max_capacity stays wrong unless the profile sets a capacity, so that lfpool_create() refuses the
	 * config. */
	if (!config->max_capacity || config->max_capacity >= config->capacity ||
	    policy_gives(policy, PROFILE_capacity) || policy_gives(policy, PROFILE_max_capacity))
		config->max_capacity = (size_t)reserve;
	if (policy_gives(policy, PROFILE_growth_step))
		config->growth_step = (size_t)value[PROFILE_growth_step];
	if (policy_gives(policy, PROFILE_cache_capacity))
		config->cache_capacity = value[PROFILE_cache_capacity] == PROFILE_NONE
						 ? LFPOOL_CACHE_NONE
						 : (size_t)value[PROFILE_cache_capacity];
	if (policy_gives(policy, PROFILE_depot_shards))
		config->depot_shards = (size_t)value[PROFILE_depot_shards];
	if (policy_gives(policy, PROFILE_flags))
		config->flags = (uint32_t)value[PROFILE_flags];
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
	registry->forks = process_forks();
	if (!fork_mutex_open(&registry->mutex)) {
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
	/* registry_lock() takes back the rows of calls that a fork has interrupted. */
	registry_lock(registry);
	registry_unlock(registry);
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
	fork_mutex_close(&registry->mutex);
	os_heap_free(registry);
	return active;
}

/* ---- Rows: these functions are called with the mutex held, except lfpool_registry_find() ---- */

void registry_inherit(lfpool_registry_t *registry)
{
	size_t kept = 0;

	registry->forks = process_forks();
	registry->sleepers = 0;
	for (size_t i = 0; i < registry->count; i++) {
		struct pool_row *row = &registry->rows[i];

		/* If the thread that forked was in a hook, it continues its call, and keeps its row. */
		if (row->user != process_forker()) {
			row->busy = row->again = false;
			/* The call was making or destroying the pool, so the row is dropped. */
			if (!row->pool)
				continue;
		}
		registry->rows[kept++] = *row;
	}
	registry->count = kept;
}

/* The index of the row with this name, or the index that the row would have. */
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

/* The row with this name, or NULL. */
static struct pool_row *row_named(const lfpool_registry_t *registry, const char *name)
{
	bool found;
	const size_t place = row_place(registry, name, &found);

	return found ? &registry->rows[place] : NULL;
}

/* Makes room for one more row; false when the system refuses. */
static bool row_room(lfpool_registry_t *registry)
{
	const size_t room = registry->room ? 2 * registry->room : 8;

	if (registry->count < registry->room)
		return true;

	struct pool_row *rows = os_heap_resize(registry->rows, room * sizeof(*rows));

	if (rows) {
		registry->rows = rows;
		registry->room = room;
	}
	return rows != NULL;
}

static void row_remove(lfpool_registry_t *registry, struct pool_row *row)
{
	memmove(row, row + 1, (size_t)(registry->rows + --registry->count - row) * sizeof(*row));
}

lfpool_t *lfpool_registry_find(lfpool_registry_t *registry, const char *name)
{
	registry_lock(registry);

	const struct pool_row *row = row_named(registry, name);
	lfpool_t *pool = row ? row->pool : NULL;

	registry_unlock(registry);
	return pool;
}

/* ---- Bringing a pool to the present scenario ---- */

/* A pool and its settings, copied from its row, because the mutex is not held while the pool changes. */
struct target {
	lfpool_t *pool;
	size_t reserved;
	struct policy wanted;
};

enum { GIVE_UP = 1, GET_MORE = 2 };

/* Sets the limit of the pool's growth, if the policy has one. */
static void limit(const struct target *t)
{
	const uint64_t most = policy_max_capacity(&t->wanted);

	if (has_capacity(&t->wanted) || most)
		(void)lfpool_limit(t->pool, most < t->reserved ? (size_t)most : t->reserved);
}

/* Sets the limit of growth, shrinks the pool if it is too large, and returns memory. */
static void give_up(const struct target *t, lfpool_registry_report_t *report)
{
	const size_t wanted = (size_t)t->wanted.value[PROFILE_capacity], settled = lfpool_settled_capacity(t->pool);
	const uint64_t given_back = lfpool_quick_stats(t->pool).given_back;

	limit(t);
	if (has_capacity(&t->wanted) && settled > wanted)
		report->objects_removed += lfpool_shrink(t->pool, settled - wanted);
	if (!t->wanted.value[PROFILE_trim])
		return;
	/* bytes_trimmed includes the memory that the shrink returned. */
	(void)lfpool_trim(t->pool, (size_t)t->wanted.value[PROFILE_keep], SIZE_MAX);
	report->bytes_trimmed += (size_t)(lfpool_quick_stats(t->pool).given_back - given_back);
}

static void get_more(const struct target *t, lfpool_registry_report_t *report)
{
	const size_t wanted = (size_t)t->wanted.value[PROFILE_capacity];

	if (lfpool_settled_capacity(t->pool) < wanted)
		report->objects_added += lfpool_reserve(t->pool, wanted);
}

/* Called with the mutex held. */
static struct policy policy_wanted(const lfpool_registry_t *registry, const struct pool_row *row)
{
	struct policy wanted = row->base;

	profile_apply(&registry->profile, row->name, row->object_size, registry->scenario, &wanted);
	return wanted;
}

/*
 * Called with the mutex held; releases it while the pool changes.  The caller has the row (PR4).  Takes the steps in
 * `steps`, which may be 0.  If another switch finds the row busy during the call, takes all steps again.  Returns the
 * row, which may have moved.
 */
static struct pool_row *bring(lfpool_registry_t *registry, struct pool_row *row, lfpool_t *pool, int steps,
			      lfpool_registry_report_t *report)
{
	char name[PROFILE_NAME_BYTES];

	strcpy(name, row->name);
	/* Repeats only after another switch. */
	for (; steps || row->again; steps = 0) {
		const struct target t = {pool, row->reserved, policy_wanted(registry, row)};
		const int now = row->again ? GIVE_UP | GET_MORE : steps;

		row->again = false;
		registry_unlock(registry);
		if (now & GIVE_UP)
			give_up(&t, report);
		if (now & GET_MORE)
			get_more(&t, report);
		registry_lock(registry);
		row = row_named(registry, name);
	}
	return row;
}

/* ---- Making a pool ---- */

/* Called with the mutex held.  Puts the settings for the row's name into the config. */
static void configure(lfpool_registry_t *registry, struct pool_row *row, lfpool_config_t *config,
		      char words[DEBUG_WORDS_BYTES])
{
	row->object_size = config->object_size;
	row->base = policy_of(config);
	row->made = policy_wanted(registry, row);
	policy_into(config, &row->made, profile_reserve(&registry->profile, row->name, row->object_size, &row->base),
		    words);
	config->name = row->name;
}

/* Configures the pool, and enters its row, whose `pool` is NULL. */
static lfpool_status_t enter_row(lfpool_registry_t *registry, struct pool_row *row, lfpool_config_t *config,
				 const struct window_range *range, char words[DEBUG_WORDS_BYTES])
{
	bool found;
	const size_t place = row_place(registry, row->name, &found);

	if (found)
		return LFPOOL_E_EXISTS;
	if (!row_room(registry))
		return LFPOOL_E_NO_MEMORY;
	configure(registry, row, config, words);
	if (range)
		window_fit(config, *range);
	row->reserved = larger_of(config->max_capacity, config->capacity);
	row->full = full_of(config);
	row->user = os_thread_self();

	struct pool_row *at = &registry->rows[place];

	memmove(at + 1, at, (registry->count++ - place) * sizeof(*at));
	*at = *row;
	return LFPOOL_OK;
}

/* Ends a call that has the row: stores the pool, or removes the row if `pool` is NULL. */
static void complete_row(lfpool_registry_t *registry, const char *name, lfpool_t *pool)
{
	lfpool_registry_report_t report = {0};

	registry_lock(registry);

	struct pool_row *row = row_named(registry, name);

	if (pool) {
		row = bring(registry, row, pool, 0, &report);
		row->pool = pool;
	} else {
		row_remove(registry, row);
	}
	registry_unlock(registry);
}

/* Copies the config, and makes a row that has only the name. */
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
	registry_lock(registry);
	configure(registry, &row, &config, words);
	registry_unlock(registry);
	return window_bytes(&config, bytes_out);
}

lfpool_status_t registry_create_in(lfpool_registry_t *registry, const char *name, const lfpool_config_t *given,
				   const struct window_range *range, lfpool_t **pool_out)
{
	char words[DEBUG_WORDS_BYTES];
	lfpool_config_t config;
	struct pool_row row;
	lfpool_status_t status = read_request(name, given, &config, &row);

	*pool_out = NULL;
	if (status != LFPOOL_OK)
		return status;
	registry_lock(registry);
	status = enter_row(registry, &row, &config, range, words);
	registry_unlock(registry);
	if (status != LFPOOL_OK)
		return status;
	status = range ? window_create_pool(&row.pool, &config, *range) : lfpool_create(&row.pool, &config);
	if (status == LFPOOL_OK)
		limit(&(struct target){row.pool, row.reserved, row.made}); /* no other thread has the pool yet */
	complete_row(registry, name, status == LFPOOL_OK ? row.pool : NULL);
	*pool_out = status == LFPOOL_OK ? row.pool : NULL;
	return status;
}

lfpool_status_t lfpool_registry_create_pool(lfpool_registry_t *registry, const char *name,
					    const lfpool_config_t *config, lfpool_t **pool_out)
{
	return pool_out ? registry_create_in(registry, name, config, NULL, pool_out) : LFPOOL_E_ARGUMENT;
}

/* ---- Destroying a pool ---- */

/* Takes the pool out of its row, which keeps the name until the pool is destroyed.  False: the pool has no row.  After
 * the destroy only the name identifies the row (PR2), so the caller gets the name. */
static bool row_leave(lfpool_registry_t *registry, const lfpool_t *pool, char name_out[PROFILE_NAME_BYTES])
{
	struct pool_row *row;
	bool busy = true;

	registry_lock(registry);
	/* Repeats only after another thread has brought a pool to its scenario. */
	for (;;) {
		for (row = registry->rows; row < registry->rows + registry->count && row->pool != pool;)
			row++;
		busy = row < registry->rows + registry->count && row->busy;
		if (!busy)
			break;
		/* relaxed: the word changes only under the mutex. */
		const uint64_t seen = load_relaxed(&registry->brought);

		registry->sleepers++;
		registry_unlock(registry);
		os_sleep_on(&registry->brought, seen, UINT64_MAX);
		registry_lock(registry);
		registry->sleepers--;
	}

	const bool found = row < registry->rows + registry->count;

	if (found) {
		row->pool = NULL;
		row->user = os_thread_self();
		strcpy(name_out, row->name);
	}
	registry_unlock(registry);
	return found;
}

size_t lfpool_registry_destroy_pool(lfpool_registry_t *registry, lfpool_t *pool)
{
	char name[PROFILE_NAME_BYTES];

	if (!pool || !row_leave(registry, pool, name))
		return 0;

	const size_t active = lfpool_destroy(pool);

	complete_row(registry, name, active == SIZE_MAX ? pool : NULL);
	return active;
}

/* ---- A switch ---- */

/* Would a pool made now have other values for the settings that a switch cannot change? */
static bool is_fixed(const struct policy *made, const struct policy *wanted)
{
	const size_t bytes = (PROFILE_KEY_COUNT - PROFILE_FIXED) * sizeof(*made->value);

	return memcmp(&made->value[PROFILE_FIXED], &wanted->value[PROFILE_FIXED], bytes) != 0 ||
	       memcmp(&made->modes, &wanted->modes, sizeof(made->modes)) != 0;
}

/* Called with the mutex held; releases it while the pool changes.  If another call has the row, the change is left to
 * that call. */
static void bring_row(lfpool_registry_t *registry, struct pool_row *row, int steps, lfpool_registry_report_t *report)
{
	if (!row->pool || row->busy) {
		row->again = true;
		return;
	}
	row->busy = true;
	row->user = os_thread_self();
	row = bring(registry, row, row->pool, steps, report);
	row->busy = false;
	if (!registry->sleepers)
		return;
	/* relaxed: os_sleep_on() compares the word before it sleeps, and the wake-up follows the store. */
	store_relaxed(&registry->brought, load_relaxed(&registry->brought) + 1);
	os_wake(&registry->brought);
}

/* Brings all rows to the scenario.  It finds the next row by name, because rows may be added and removed while a pool
 * changes. */
static void bring_all(lfpool_registry_t *registry, int steps, lfpool_registry_report_t *report)
{
	char name[PROFILE_NAME_BYTES] = "";
	bool found;

	registry_lock(registry);
	for (size_t place = 0; place < registry->count; place = row_place(registry, name, &found), place += found) {
		strcpy(name, registry->rows[place].name);
		bring_row(registry, &registry->rows[place], steps, report);
	}
	registry_unlock(registry);
}

static void count_all(lfpool_registry_t *registry, lfpool_registry_report_t *report)
{
	registry_lock(registry);
	for (size_t i = 0; i < registry->count; i++) {
		const struct pool_row *row = &registry->rows[i];

		if (!row->pool)
			continue;

		const struct policy wanted = policy_wanted(registry, row);
		const size_t owed = lfpool_quick_stats(row->pool).owed;

		report->pools++;
		report->pools_fixed += is_fixed(&row->made, &wanted);
		report->pools_busy += row->busy;
		report->pools_short += !row->busy &&
				       lfpool_settled_capacity(row->pool) < wanted.value[PROFILE_capacity];
		report->pools_owing += owed > 0;
		report->objects_owed += owed;
	}
	registry_unlock(registry);
}

/* Enters the scenario.  If `fresh` is not NULL, also exchanges it for the registry's profile.  False: the scenario is
 * unknown, and nothing changes. */
static bool enter_scenario(lfpool_registry_t *registry, struct profile *fresh, const char *scenario)
{
	uint32_t number;

	registry_lock(registry);

	const bool known = profile_find_scenario(fresh ? fresh : &registry->profile, scenario, &number);

	if (known)
		registry->scenario = number;
	if (known && fresh) {
		const struct profile old = registry->profile;

		registry->profile = *fresh;
		*fresh = old;
	}
	registry_unlock(registry);
	return known;
}

lfpool_status_t lfpool_registry_switch_sized(lfpool_registry_t *registry, const char *profile, const char *scenario,
					     lfpool_registry_report_t *report_out, size_t bytes)
{
	lfpool_registry_report_t report = {0};
	lfpool_status_t status = scenario ? LFPOOL_OK : LFPOOL_E_ARGUMENT;
	struct profile fresh = {0};

	if (status == LFPOOL_OK && profile)
		status = profile_read(&fresh, profile, &report.error);
	if (status == LFPOOL_OK && !enter_scenario(registry, profile ? &fresh : NULL, scenario))
		status = LFPOOL_E_SCENARIO;
	profile_free(&fresh);
	if (status == LFPOOL_OK) {
		bring_all(registry, GIVE_UP, &report);
		/* Pools grow only now, when the pools that shrank have given up their memory. */
		bring_all(registry, GET_MORE, &report);
		count_all(registry, &report);
	}
	if (report_out)
		sized_write(report_out, bytes, &report, sizeof(report));
	return status;
}
