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
#include "waiting/waiters.h"

#include <string.h>

#define REPORT_SIZE_MAX 4096 /* beyond this it is not a size */

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
	*registry = (lfpool_registry_t){.face.calls = &registered};

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
		const struct pool_row *row = &registry->rows[registry->count - 1 - refused];
		const size_t more = row->kind ? row->kind->destroy(row->pool) : lfpool_registry_destroy_pool(registry, row->pool);

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

size_t row_place(const lfpool_registry_t *registry, const char *name, bool *found_out)
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

bool row_room(lfpool_registry_t *registry)
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

void row_insert(lfpool_registry_t *registry, size_t place, const struct pool_row *row)
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

	if (found && !registry->rows[place].kind)
		pool = registry->rows[place].pool;
	os_mutex_unlock(&registry->look);
	return pool;
}

/* ---- An end ---- */

enum row_step { ROW_LEAVES, ROW_STAYS, ROW_GONE };

/* The row of a pool that is being destroyed; false: it has none. */
static bool step_row(lfpool_registry_t *registry, const void *pool, enum row_step step)
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

void row_leave(lfpool_registry_t *registry, const void *pool)
{
	(void)step_row(registry, pool, ROW_GONE);
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

/* Other values than were it made now, of keys that a switch cannot change: for other kinds, any. */
static bool is_fixed(const struct pool_row *row)
{
	const size_t first = row->kind ? 0 : PROFILE_FIXED;
	const uint32_t *is = &row->made.value[first], *shall = &row->wanted.value[first];

	return memcmp(is, shall, (PROFILE_KEY_COUNT - first) * sizeof(*is)) != 0 ||
	       memcmp(&row->made.modes, &row->wanted.modes, sizeof(row->made.modes)) != 0;
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

	if (settled < wanted) {
		report->objects_added += lfpool_reserve(row->pool, wanted);
		settled = resize_settled(row->pool);
	}
	const size_t owed = lfpool_quick_stats(row->pool).owed;

	report->pools_short += settled < wanted;
	report->pools_owing += owed > 0;
	report->objects_owed += owed;
}

lfpool_status_t lfpool_registry_switch(lfpool_registry_t *registry, const char *scenario, lfpool_registry_report_t *report_out)
{
	const size_t size = report_out ? report_out->struct_size : 0;
	lfpool_registry_report_t report = {.struct_size = size};
	uint32_t number;

	if (!scenario || (report_out && (size < offsetof(lfpool_registry_report_t, pools) || size > REPORT_SIZE_MAX)))
		return LFPOOL_E_ARGUMENT;
	os_mutex_lock(&registry->change);
	const bool found = profile_find_scenario(&registry->profile, scenario, &number);

	if (found) {
		os_mutex_lock(&registry->look);
		registry->scenario = number;
		os_mutex_unlock(&registry->look);
		for (size_t i = 0; i < registry->count; i++) {
			struct pool_row *row = &registry->rows[i];

			if (row->leaves)
				continue;
			row->wanted = row->base;
			profile_apply(&registry->profile, row->name, number, &row->wanted);
			report.pools++;
			report.pools_fixed += is_fixed(row);
			if (!row->kind)
				give_up(row, &report);
		}
		/* Now there is memory for these. */
		for (size_t i = 0; i < registry->count; i++)
			if (!registry->rows[i].leaves && !registry->rows[i].kind)
				get_more(&registry->rows[i], &report);
	}
	os_mutex_unlock(&registry->change);
	if (report_out) {
		memset(report_out, 0, size);
		memcpy(report_out, &report, size < sizeof(report) ? size : sizeof(report));
	}
	return found ? LFPOOL_OK : LFPOOL_E_SCENARIO;
}
