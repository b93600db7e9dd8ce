/* SPDX-License-Identifier: MIT */
/*
 * owner.c - the records of owners, the call sites in them, and the table of holders; see owner.h.
 *
 * Idea         The C library's backtrace() finds call sites.  Names of functions come from the dynamic symbols, which a
 *              program has if it is linked with -rdynamic.  Other frames are written as "program+0x1234", which
 *              addr2line -e program 0x1234 turns into a line.  The table has a row for each holder.  A holder is the
 *              object's label (or thread, if it has no label) plus the call site, if known.  Rows are
 *              found by a linear search, so there are at most ROWS_MAX rows; all further holders share one row.
 * Orders       All relaxed: a record belongs to the slot's holder.
 */
#include "object/owner.h"

#include "base/text.h"
#include "object/debugging.h"
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

/* ---- Call sites ---- */

/* The number of innermost frames to skip: os_backtrace(), callsite_find(), record() and owner_acquired(). */
#define FRAMES_OURS 4
#define FRAMES_OURS_MAX 12
#define FRAMES_MAX 32

/* Makes the first call of backtrace() now, because that call loads a library and allocates. */
static void callsite_prepare(void)
{
	void *frame;

	(void)os_backtrace(&frame, 1);
}

/* The index of the first frame outside this library.  The library's internal functions have no dynamic symbol, and so
 * no name.  So the search passes frames without a name, and stops at the first name that does not begin with lfpool_.
 * The result is the frame after the last lfpool_ function that it has passed. */
static uint32_t first_foreign(void *const *frames, uint32_t count)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < count && i < FRAMES_OURS_MAX; i++) {
		const char *name = os_symbol_at((const char *)frames[i] - 1).name;

		if (!name)
			continue;
		if (strncmp(name, "lfpool_", 7) != 0)
			break;
		first = i + 1;
	}
	return first;
}

/* Stores return addresses, innermost first, without the frames that are known to be this library's.  Returns the number
 * of addresses. */
static NOINLINE uint32_t callsite_find(void **frames_out, uint32_t room)
{
	void *frames[FRAMES_MAX];
	const uint32_t found = os_backtrace(frames, FRAMES_MAX);
	uint32_t count = 0;

	if (found <= FRAMES_OURS)
		return 0;

	const uint32_t outside = found - FRAMES_OURS;

	for (uint32_t i = first_foreign(frames + FRAMES_OURS, outside); i < outside && count < room; i++)
		frames_out[count++] = frames[FRAMES_OURS + i];
	return count;
}

static void put_frame(struct text *text, const char *frame)
{
	/* A return address may be the first byte of the next function. */
	const char *call = frame - 1;
	const struct os_symbol symbol = os_symbol_at(call);

	if (!symbol.file) {
		text_put(text, "%p", (const void *)frame);
	} else if (symbol.name) {
		text_put(text, "%s+0x%zx", symbol.name, (size_t)(frame - symbol.name_base));
	} else {
		const char *slash = strrchr(symbol.file, '/');

		text_put(text, "%s+0x%zx", slash ? slash + 1 : symbol.file, (size_t)(call - symbol.file_base));
	}
}

/* Writes for example "spawn+0x1f < main+0x88". */
static void callsite_put(struct text *text, void *const *frames, uint32_t count)
{
	const char *between = "";

	for (uint32_t i = 0; i < count; i++) {
		text_put(text, "%s", between);
		put_frame(text, frames[i]);
		between = " < ";
	}
}

/* ---- Life ---- */

bool owners_open(struct owners *owners, size_t capacity, bool timed, uint32_t one_in)
{
	*owners = (struct owners){.timed = timed, .one_in = one_in};
	if (__builtin_mul_overflow(capacity + 1, sizeof(struct owner_record), &owners->mapped_bytes))
		return false;
	owners->record = os_map(owners->mapped_bytes);
	if (owners->record && one_in)
		callsite_prepare();
	return owners->record != NULL;
}

void owners_close(struct owners *owners)
{
	if (owners->record)
		os_unmap(owners->record, owners->mapped_bytes);
}

/* ---- Recording ---- */

/* True for one call in `one_in`.  relaxed: a counter.  All threads share it, because one counter per thread would need
 * memory for each thread. */
static bool sampled(_Atomic(uint32_t) *count, uint32_t one_in)
{
	return one_in && fetch_add_relaxed(count, UINT32_C(1)) % one_in == 0;
}

static NOINLINE void record(const struct owners *owners, struct owner_end *end, bool with_site)
{
	void *frames[OWNER_FRAMES];
	const uint32_t count = with_site ? callsite_find(frames, OWNER_FRAMES) : 0;

	for (uint32_t i = 0; i < count; i++)
		store_relaxed(&end->frame[i], (uintptr_t)frames[i]);
	store_relaxed(&end->frames, count);
	store_relaxed(&end->thread, os_thread_id());
	store_relaxed(&end->when, owners->timed ? os_now_ns() : 0);
}

void owner_acquired(struct owners *owners, uint32_t slot)
{
	struct owner_record *r = &owners->record[slot];

	store_relaxed(&r->label, NULL);
	record(owners, &r->acquired, sampled(&owners->acquires, owners->one_in));
}

void owner_released(struct owners *owners, uint32_t slot)
{
	record(owners, &owners->record[slot].released, sampled(&owners->releases, owners->one_in));
}

/* ---- Writing ---- */

static void put_age(struct text *text, uint64_t when)
{
	const uint64_t now = os_now_ns();
	const uint64_t ms = now > when ? (now - when) / 1000000 : 0;

	text_put(text, " %llu.%03llu s ago", (unsigned long long)(ms / 1000), (unsigned long long)(ms % 1000));
}

/* Writes nothing if the call site was not sampled. */
static void owner_put_site(const struct owner_end *end, struct text *text)
{
	void *frames[OWNER_FRAMES];
	uint32_t count = load_relaxed(&end->frames);

	if (!count)
		return;
	if (count > OWNER_FRAMES)
		count = OWNER_FRAMES;
	for (uint32_t i = 0; i < count; i++)
		frames[i] = (void *)load_relaxed(&end->frame[i]);
	callsite_put(text, frames, count);
}

static void put_end(const struct owner_record *r, const struct owner_end *end, const char *verb, struct text *text)
{
	const uint32_t thread = load_relaxed(&end->thread);
	const uint64_t when = load_relaxed(&end->when);
	const char *label = load_relaxed(&r->label);

	if (!thread)
		return;
	text_put(text, "%s by thread %u", verb, thread);
	if (label)
		text_put(text, " (\"%s\")", label);
	if (when)
		put_age(text, when);
	if (load_relaxed(&end->frames)) {
		text_put(text, " at ");
		owner_put_site(end, text);
	}
	text_put(text, ".");
}

void owner_put_acquired(const struct owners *owners, uint32_t slot, struct text *text)
{
	put_end(&owners->record[slot], &owners->record[slot].acquired, "Acquired", text);
}

void owner_put_released(const struct owners *owners, uint32_t slot, struct text *text)
{
	put_end(&owners->record[slot], &owners->record[slot].released, "Released", text);
}

/* ---- The table of holders ---- */

#define ROWS_MAX 1024
#define ROWS_SHOWN 20
#define SITE_BYTES 512

struct row {
	uint32_t slot; /* one of the holder's slots */
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

/* The holder with the most objects comes first; among equal counts, the one with the oldest object. */
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

	text_put(v->text, json ? "{\"objects\":%zu,\"oldest_ms\":%llu," : "  %8zu %6llu.", row->count,
		 json ? ms : ms / 1000);
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
		text_put(v->text, json ? ",{\"objects\":%zu,\"others\":true}" : "  %8zu             other holders\n",
			 left);
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
