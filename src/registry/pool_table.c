/* SPDX-License-Identifier: MIT */
/*
 * pool_table.c - lfpool_registry_dump(): all pools as one table.
 *
 * Idea         What the table shows is asked of each pool once, and kept in its row until the table is written: so its
 *              columns are as wide as they must be, and the sums are those of what is shown.
 */
#include "registry/pool_registry.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

static const char *const titles[] = {
#define TABLE_COLUMN(name, title, json) title,
	TABLE_COLUMNS(TABLE_COLUMN)
#undef TABLE_COLUMN
};

static const char *const json_titles[] = {
#define TABLE_COLUMN(name, title, json) json,
	TABLE_COLUMNS(TABLE_COLUMN)
#undef TABLE_COLUMN
};

/* The sum of the pools' sizes would mean nothing. */
#define COLUMN_SUMMED (COLUMN_size + 1)
_Static_assert(COLUMN_size == 0, "the sums begin with the column after the size");

static void fill_cells(struct pool_row *row)
{
	struct registered_state state = {.stats = LFPOOL_STATS_INIT, .object_size = row->object_size};

	if (row->kind) {
		row->kind->look(row->pool, &state);
	} else {
		(void)lfpool_stats(row->pool, &state.stats);
		state.bytes = (uint64_t)state.stats.capacity * row->object_size;
	}

	const lfpool_stats_t stats = state.stats;

	row->cells[COLUMN_size] = state.object_size;
	row->cells[COLUMN_capacity] = stats.capacity;
	row->cells[COLUMN_max] = stats.max_capacity;
	row->cells[COLUMN_active] = stats.active;
	row->cells[COLUMN_cached] = stats.cached;
	row->cells[COLUMN_shared] = stats.shared;
	row->cells[COLUMN_untouched] = stats.untouched;
	row->cells[COLUMN_owed] = stats.owed;
	row->cells[COLUMN_bytes] = state.bytes;
	row->cells[COLUMN_exhausted] = stats.exhausted;
	row->cells[COLUMN_misuses] = stats.misuses;
}

/* ---- Text ---- */

static int digits_of(uint64_t number)
{
	int digits = 1;

	for (; number >= 10; number /= 10)
		digits++;
	return digits;
}

static int at_least(int width, int wanted)
{
	return width > wanted ? width : wanted;
}

/* How wide each column is, the names' first. */
static void measure(const lfpool_registry_t *registry, const uint64_t *sums, int widths[1 + COLUMN_COUNT])
{
	widths[0] = (int)strlen("total");
	for (size_t i = 0; i < registry->count; i++)
		widths[0] = at_least(widths[0], (int)strlen(registry->rows[i].name));
	for (int c = 0; c < COLUMN_COUNT; c++) {
		int width = at_least((int)strlen(titles[c]), digits_of(sums[c]));

		for (size_t i = 0; i < registry->count; i++)
			width = at_least(width, digits_of(registry->rows[i].cells[c]));
		widths[1 + c] = width;
	}
}

static void put_text(struct text *t, const lfpool_registry_t *registry, const uint64_t *sums)
{
	int widths[1 + COLUMN_COUNT];

	measure(registry, sums, widths);
	text_put(t, "scenario %s, %zu pool%s\n%-*s", registry->profile.scenarios[registry->scenario].name, registry->count,
		 registry->count == 1 ? "" : "s", widths[0], "name");
	for (int c = 0; c < COLUMN_COUNT; c++)
		text_put(t, "  %*s", widths[1 + c], titles[c]);
	text_put(t, "  full");
	for (size_t i = 0; i < registry->count; i++) {
		text_put(t, "\n%-*s", widths[0], registry->rows[i].name);
		for (int c = 0; c < COLUMN_COUNT; c++)
			text_put(t, "  %*" PRIu64, widths[1 + c], registry->rows[i].cells[c]);
		text_put(t, "  %s", registry->rows[i].full);
	}
	text_put(t, "\n%-*s  %*s", widths[0], "total", widths[1], "");
	for (int c = COLUMN_SUMMED; c < COLUMN_COUNT; c++)
		text_put(t, "  %*" PRIu64, widths[1 + c], sums[c]);
	text_put(t, "\n");
}

/* ---- JSON ---- */

static void put_json_cells(struct text *t, const uint64_t *cells, int first, const char *comma)
{
	for (int c = first; c < COLUMN_COUNT; c++, comma = ",")
		text_put(t, "%s\"%s\":%" PRIu64, comma, json_titles[c], cells[c]);
}

static void put_json(struct text *t, const lfpool_registry_t *registry, const uint64_t *sums)
{
	text_put(t, "{\"scenario\":");
	text_put_quoted(t, registry->profile.scenarios[registry->scenario].name);
	text_put(t, ",\"pools\":[");
	for (size_t i = 0; i < registry->count; i++) {
		text_put(t, "%s{\"name\":", i ? "," : "");
		text_put_quoted(t, registry->rows[i].name);
		put_json_cells(t, registry->rows[i].cells, 0, ",");
		text_put(t, ",\"full\":\"%s\"}", registry->rows[i].full);
	}
	text_put(t, "],\"total\":{");
	put_json_cells(t, sums, COLUMN_SUMMED, "");
	text_put(t, "}}");
}

size_t lfpool_registry_dump(lfpool_registry_t *registry, lfpool_format_t format, char *text_out, size_t room)
{
	uint64_t sums[COLUMN_COUNT] = {0};
	struct text t;

	text_open(&t, text_out, room);
	os_mutex_lock(&registry->look);
	for (size_t i = 0; i < registry->count; i++) {
		fill_cells(&registry->rows[i]);
		for (int c = COLUMN_SUMMED; c < COLUMN_COUNT; c++)
			sums[c] += registry->rows[i].cells[c];
	}
	switch (format) {
	case LFPOOL_TEXT: put_text(&t, registry, sums); break;
	case LFPOOL_JSON: put_json(&t, registry, sums); break;
	}
	os_mutex_unlock(&registry->look);
	return t.wanted;
}
