/* SPDX-License-Identifier: MIT */
/*
 * stats_fields.c - reads, adds and writes the fields of lfpool_stats_t, see stats_fields.h.
 */
#include "base/stats_fields.h"

#include <inttypes.h>
#include <string.h>

struct stats_row {
	const char *name, *line, *unit;
	size_t offset, bytes; /* in lfpool_stats_t; the bytes are 4 or 8 */
};

#define BYTES_OF(field) sizeof(((lfpool_stats_t *)0)->field)

static const struct stats_row stats_rows[STATS_FIELDS] = {
#define STATS_ROW(field, line, unit) {#field, line, unit, offsetof(lfpool_stats_t, field), BYTES_OF(field)},
	STATS_MAP(STATS_ROW)
#undef STATS_ROW
};

/* SF1: the sizes of the fields add up to the size of the struct.  (On 64-bit systems the struct has no padding.) */
#if SIZE_MAX > UINT32_MAX
#define PLUS_BYTES(field, line, unit) +BYTES_OF(field)
_Static_assert(BYTES_OF(backend) STATS_MAP(PLUS_BYTES) == sizeof(lfpool_stats_t),
	       "STATS_MAP lacks a field of lfpool_stats_t, or the struct has padding");
#endif

uint64_t stats_value(const lfpool_stats_t *stats, enum stats_field field)
{
	const char *at = (const char *)stats + stats_rows[field].offset;
	uint64_t wide;
	uint32_t narrow;

	if (stats_rows[field].bytes == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}

void stats_add(lfpool_stats_t *sum, const lfpool_stats_t *more)
{
	for (enum stats_field f = 0; f < STATS_FIELDS; f++) {
		const uint64_t a = stats_value(sum, f), b = stats_value(more, f);
		const uint64_t wide = f != STATS_wait_ns_max ? a + b : a > b ? a : b;
		const uint32_t narrow = (uint32_t)wide;
		const bool is_wide = stats_rows[f].bytes == sizeof(wide);

		memcpy((char *)sum + stats_rows[f].offset, is_wide ? (const void *)&wide : &narrow,
		       stats_rows[f].bytes);
	}
	sum->backend = more->backend;
}

void stats_put_text(struct text *t, const lfpool_stats_t *stats)
{
	const char *line = NULL;

	for (enum stats_field f = 0; f < STATS_FIELDS; f++) {
		const struct stats_row *row = &stats_rows[f];

		if (!row->line)
			continue;
		if (line && strcmp(line, row->line) == 0)
			text_put(t, ", ");
		else
			text_put(t, "%s%-12s", line ? "\n" : "", row->line);
		text_put(t, "%" PRIu64 "%s", stats_value(stats, f), row->unit);
		line = row->line;
	}
	text_put(t, "\n");
}

void stats_put_json(struct text *t, const lfpool_stats_t *stats)
{
	for (enum stats_field f = 0; f < STATS_FIELDS; f++) {
		text_put(t, "%s\"%s\":", f ? "," : "", stats_rows[f].name);
		/* The only signed field. */
		if (f == STATS_unaccounted)
			text_put(t, "%" PRId64, stats->unaccounted);
		else
			text_put(t, "%" PRIu64, stats_value(stats, f));
	}
}
