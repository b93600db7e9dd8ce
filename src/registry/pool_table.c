/* SPDX-License-Identifier: MIT */
/*
 * pool_table.c - lfpool_registry_dump(): all pools as one table.
 *
 * Idea         The statistics of each pool are read once and kept in its row until the table is written.  So the width
 *              of each column and the sums follow from the numbers that the table shows.
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
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	(void)lfpool_stats(row->pool, &stats);
	row->cells[COLUMN_size] = row->object_size;
	row->cells[COLUMN_capacity] = stats.capacity;
	row->cells[COLUMN_max] = stats.max_capacity;
	row->cells[COLUMN_active] = stats.active;
	row->cells[COLUMN_cached] = stats.cached;
	row->cells[COLUMN_shared] = stats.shared;
	row->cells[COLUMN_untouched] = stats.untouched;
	row->cells[COLUMN_owed] = stats.owed;
	row->cells[COLUMN_bytes] = (uint64_t)stats.capacity * row->object_size;
	row->cells[COLUMN_exhausted] = stats.exhausted;
	row->cells[COLUMN_misuses] = stats.misuses;
}

/* The next row from `row` on whose pool is not being destroyed; NULL: there is none. */
static struct pool_row *shown_from(const lfpool_registry_t *registry, struct pool_row *row)
{
	while (row < registry->rows + registry->count && row->leaves)
		row++;
	return row < registry->rows + registry->count ? row : NULL;
}

#define EACH_ROW(row)                                                \
	struct pool_row *row = shown_from(registry, registry->rows); \
	row;                                                         \
	row = shown_from(registry, row + 1)

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

/* The width of each column, first that of the names. */
static void measure(const lfpool_registry_t *registry, const uint64_t *sums, int widths[1 + COLUMN_COUNT])
{
	widths[0] = (int)strlen("total");
	for (EACH_ROW(row))
		widths[0] = at_least(widths[0], (int)strlen(row->name));
	for (int c = 0; c < COLUMN_COUNT; c++) {
		int width = at_least((int)strlen(titles[c]), digits_of(sums[c]));

		for (EACH_ROW(row))
			width = at_least(width, digits_of(row->cells[c]));
		widths[1 + c] = width;
	}
}

static void put_text(struct text *t, const lfpool_registry_t *registry, size_t pools, const uint64_t *sums)
{
	int widths[1 + COLUMN_COUNT];

	measure(registry, sums, widths);
	text_put(t, "scenario %s, %zu pool%s\n%-*s", registry->profile.scenarios[registry->scenario].name, pools,
		 pools == 1 ? "" : "s", widths[0], "name");
	for (int c = 0; c < COLUMN_COUNT; c++)
		text_put(t, "  %*s", widths[1 + c], titles[c]);
	text_put(t, "  full");
	for (EACH_ROW(row)) {
		text_put(t, "\n%-*s", widths[0], row->name);
		for (int c = 0; c < COLUMN_COUNT; c++)
			text_put(t, "  %*" PRIu64, widths[1 + c], row->cells[c]);
		text_put(t, "  %s", row->full);
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
	const char *comma = "";

	text_put(t, "{\"scenario\":");
	text_put_quoted(t, registry->profile.scenarios[registry->scenario].name);
	text_put(t, ",\"pools\":[");
	for (EACH_ROW(row)) {
		text_put(t, "%s{\"name\":", comma);
		text_put_quoted(t, row->name);
		put_json_cells(t, row->cells, 0, ",");
		text_put(t, ",\"full\":\"%s\"}", row->full);
		comma = ",";
	}
	text_put(t, "],\"total\":{");
	put_json_cells(t, sums, COLUMN_SUMMED, "");
	text_put(t, "}}");
}

size_t lfpool_registry_dump(lfpool_registry_t *registry, lfpool_format_t format, char *text_out, size_t room)
{
	uint64_t sums[COLUMN_COUNT] = {0};
	size_t pools = 0;
	struct text t;

	text_open(&t, text_out, room);
	os_mutex_lock(&registry->look);
	for (EACH_ROW(row)) {
		fill_cells(row);
		for (int c = COLUMN_SUMMED; c < COLUMN_COUNT; c++)
			sums[c] += row->cells[c];
		pools++;
	}
	switch (format) {
	case LFPOOL_TEXT: put_text(&t, registry, pools, sums); break;
	case LFPOOL_JSON: put_json(&t, registry, sums); break;
	}
	os_mutex_unlock(&registry->look);
	return t.wanted;
}
