/* SPDX-License-Identifier: MIT */
/*
 * owner_table.c - who holds how many objects, ranked.
 *
 * Idea         Active slots of one holder are one row.  A holder is a label, or where there is none a thread; and the
 *              call site, where it is known.  Rows are found by search, so there are at most ROWS_MAX; what does
 *              not fit is counted and said.
 */
#include "object/owner.h"

#include "base/text.h"
#include "object/debugging.h"
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 1024
#define ROWS_SHOWN 20
#define SITE_BYTES 512

struct row {
	uint32_t slot; /* one of its slots */
	size_t count;
	uint64_t since;
};

struct table {
	size_t rows, active;
	struct row row[ROWS_MAX];
};

static bool same_site(const struct owner_end *a, const struct owner_end *b)
{
	const uint32_t frames = load_relaxed(&a->frames);

	if (frames != load_relaxed(&b->frames))
		return false;
	for (uint32_t i = 0; i < frames && i < OWNER_FRAMES; i++)
		if (load_relaxed(&a->frame[i]) != load_relaxed(&b->frame[i]))
			return false;
	return true;
}

static bool same_holder(const struct owner_record *a, const struct owner_record *b)
{
	const char *x = load_relaxed(&a->label), *y = load_relaxed(&b->label);

	if (x || y ? !x || !y || (x != y && strcmp(x, y) != 0)
		   : load_relaxed(&a->acquired.thread) != load_relaxed(&b->acquired.thread))
		return false;
	return same_site(&a->acquired, &b->acquired);
}

static void count_slot(struct table *table, const struct owners *owners, uint32_t slot)
{
	const struct owner_record *r = &owners->record[slot];
	const uint64_t since = load_relaxed(&r->acquired.when);
	size_t i = 0;

	table->active++;
	while (i < table->rows && !same_holder(r, &owners->record[table->row[i].slot]))
		i++;
	if (i == ROWS_MAX)
		return;
	if (i == table->rows)
		table->row[table->rows++] = (struct row){slot, 0, since};
	table->row[i].count++;
	if (since < table->row[i].since)
		table->row[i].since = since;
}

/* Most objects first; of those with equally many the oldest. */
static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return (x->since > y->since) - (x->since < y->since);
}

struct view {
	const struct owners *owners;
	uint64_t now;
	lfpool_format_t format;
	struct text *text;
};

static void put_site(const struct view *v, const struct owner_end *end)
{
	char site[SITE_BYTES];
	struct text text;

	text_open(&text, site, sizeof(site));
	owner_put_site(end, &text);
	if (v->format == LFPOOL_JSON)
		text_put_quoted(v->text, site);
	else
		text_put(v->text, "%s", site);
}

static void put_row(const struct view *v, const struct row *row)
{
	const struct owner_record *r = &v->owners->record[row->slot];
	const char *label = load_relaxed(&r->label);
	const uint32_t thread = load_relaxed(&r->acquired.thread);
	const bool json = v->format == LFPOOL_JSON;
	const unsigned long long ms = row->since && v->now > row->since ? (v->now - row->since) / 1000000 : 0;

	text_put(v->text, json ? "{\"objects\":%zu,\"oldest_ms\":%llu," : "  %8zu %6llu.", row->count, json ? ms : ms / 1000);
	if (!json)
		text_put(v->text, "%03llu s  ", ms % 1000);
	if (json)
		text_put(v->text, label ? "\"label\":" : "\"thread\":");
	if (label)
		text_put_quoted(v->text, label);
	else
		text_put(v->text, json ? "%u" : "thread %u", thread);
	if (load_relaxed(&r->acquired.frames)) {
		text_put(v->text, json ? ",\"at\":" : "  at ");
		put_site(v, &r->acquired);
	}
	text_put(v->text, json ? "}" : "\n");
}

static void put_rows(const struct view *v, const struct table *table)
{
	const bool json = v->format == LFPOOL_JSON;
	size_t left = table->active;

	text_put(v->text, json ? "[" : "    active     oldest  holder\n");
	for (size_t i = 0; i < table->rows && i < ROWS_SHOWN; i++) {
		if (json && i)
			text_put(v->text, ",");
		put_row(v, &table->row[i]);
		left -= table->row[i].count;
	}
	if (left)
		text_put(v->text, json ? ",{\"objects\":%zu,\"others\":true}" : "  %8zu             other holders\n", left);
	text_put(v->text, json ? "]" : "  %8zu             in all\n", table->active);
}

void owners_put_table(const struct owners *owners, const struct debug_home *home, size_t used, lfpool_format_t format,
		      struct text *text)
{
	const struct view view = {owners, os_now_ns(), format, text};
	struct table *table = os_map(sizeof(*table));

	if (!table) {
		text_put(text, format == LFPOOL_JSON ? "[]" : "no memory for the table of holders\n");
		return;
	}
	for (uint32_t slot = 1; slot <= used; slot++)
		if (home->is_active(home->pool, slot))
			count_slot(table, owners, slot);
	qsort(table->row, table->rows, sizeof(*table->row), compare_rows);
	put_rows(&view, table);
	os_unmap(table, sizeof(*table));
}
