/* SPDX-License-Identifier: MIT */
/*
 * pool_table.c - lfpool_registry_dump(): all pools as one table.
 *
 * Idea         The statistics of each pool are read once and kept in its row until the table is written, so the widths
 *              and the sums match the numbers in the table.
 */
#include "registry/pool_registry.h"

#include "base/stats_fields.h"
#include "base/text.h"

#include "lfpool/report.h"

#include <inttypes.h>
#include <string.h>

/* A column is a field of lfpool_stats_t, or one of these. */
enum { COLUMN_SIZE = STATS_FIELDS, COLUMN_BYTES };

static const struct column {
	const char *title;
	int field;
} columns[] = {
	{"size", COLUMN_SIZE},          {"capacity", STATS_capacity}, {"max", STATS_max_capacity},
	{"active", STATS_active},       {"cached", STATS_cached},     {"shared", STATS_shared},
	{"untouched", STATS_untouched}, {"owed", STATS_owed},         {"bytes", COLUMN_BYTES},
	{"exhausted", STATS_exhausted}, {"misuses", STATS_misuses},
};
#define COLUMNS (sizeof(columns) / sizeof(*columns))

static uint64_t cell(const struct row_numbers *n, const struct column *column)
{
	switch (column->field) {
	case COLUMN_SIZE: return n->object_size;
	case COLUMN_BYTES: return n->bytes;
	default: return stats_value(&n->stats, (enum stats_field)column->field);
	}
}

/* The first row with a pool, from `row` on; NULL: no such row. */
static struct pool_row *shown_from(const lfpool_registry_t *registry, struct pool_row *row)
{
	struct pool_row *end = registry->rows + registry->count;

	while (row < end && !row->pool)
		row++;
	return row < end ? row : NULL;
}

/* Reads the numbers of all pools and adds them up; returns the number of pools. */
static size_t read_rows(lfpool_registry_t *registry, struct row_numbers *sum)
{
	size_t count = 0;

	*sum = (struct row_numbers){0};
	for (struct pool_row *row = registry->rows; (row = shown_from(registry, row)); row++) {
		struct row_numbers *n = &row->numbers;

		n->object_size = row->object_size;
		n->stats = (lfpool_stats_t){0};
		(void)lfpool_stats(row->pool, &n->stats);
		n->bytes = (uint64_t)n->stats.capacity * n->object_size;
		sum->bytes += n->bytes;
		stats_add(&sum->stats, &n->stats);
		count++;
	}
	return count;
}

/* ---- Text ---- */

static int width_of(uint64_t number, int least)
{
	int digits = 1;

	for (; number >= 10; number /= 10)
		digits++;
	return digits > least ? digits : least;
}

static int wider(int width, const char *text)
{
	return (int)strlen(text) > width ? (int)strlen(text) : width;
}

static void put_registry_text(struct text *t, const lfpool_registry_t *registry, size_t pools,
			      const struct row_numbers *sum)
{
	int widths[COLUMNS], name = wider(0, "total");

	for (size_t c = 0; c < COLUMNS; c++)
		widths[c] = width_of(cell(sum, &columns[c]), wider(0, columns[c].title));
	for (struct pool_row *row = registry->rows; (row = shown_from(registry, row)); row++) {
		name = wider(name, row->name);
		/* The column of sizes has no sum, so the rows determine its width. */
		widths[0] = width_of(row->object_size, widths[0]);
	}
	text_put(t, "scenario %s, %zu pool%s\n%-*s", registry->profile.scenarios[registry->scenario].name, pools,
		 pools == 1 ? "" : "s", name, "name");
	for (size_t c = 0; c < COLUMNS; c++)
		text_put(t, "  %*s", widths[c], columns[c].title);
	text_put(t, "  full");
	for (struct pool_row *row = registry->rows; (row = shown_from(registry, row)); row++) {
		text_put(t, "\n%-*s", name, row->name);
		for (size_t c = 0; c < COLUMNS; c++)
			text_put(t, "  %*" PRIu64, widths[c], cell(&row->numbers, &columns[c]));
		text_put(t, "  %s", row->full);
	}
	text_put(t, "\n%-*s  %*s", name, "total", widths[0], "");
	for (size_t c = 1; c < COLUMNS; c++)
		text_put(t, "  %*" PRIu64, widths[c], cell(sum, &columns[c]));
	text_put(t, "\n");
}

/* ---- JSON ---- */

static void put_registry_json(struct text *t, const lfpool_registry_t *registry, const struct row_numbers *sum)
{
	const char *comma = "";

	text_put(t, "{\"scenario\":");
	text_put_quoted(t, registry->profile.scenarios[registry->scenario].name);
	text_put(t, ",\"pools\":[");
	for (struct pool_row *row = registry->rows; (row = shown_from(registry, row)); row++) {
		text_put(t, "%s{\"name\":", comma);
		text_put_quoted(t, row->name);
		text_put(t, ",\"full\":\"%s\",\"object_size\":%zu,\"bytes\":%" PRIu64 ",", row->full, row->object_size,
			 row->numbers.bytes);
		stats_put_json(t, &row->numbers.stats);
		text_put(t, "}");
		comma = ",";
	}
	text_put(t, "],\"total\":{\"bytes\":%" PRIu64 ",", sum->bytes);
	stats_put_json(t, &sum->stats);
	text_put(t, "}}");
}

size_t lfpool_registry_dump(lfpool_registry_t *registry, lfpool_format_t format, char *text_out, size_t room)
{
	struct row_numbers sum;
	struct text t;

	text_open(&t, text_out, room);
	registry_lock(registry);

	const size_t pools = read_rows(registry, &sum);

	switch (format) {
	case LFPOOL_TEXT: put_registry_text(&t, registry, pools, &sum); break;
	case LFPOOL_JSON: put_registry_json(&t, registry, &sum); break;
	}
	registry_unlock(registry);
	return t.wanted;
}
