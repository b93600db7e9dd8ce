/* SPDX-License-Identifier: MIT */
/*
 * debugging.c - see debugging.h.
 */
#include "object/debugging.h"

#include "base/text.h"
#include "core/arena.h"
#include "object/owner.h"
#include "object/quarantine.h"
#include "os/os.h"

#include <string.h>

#define GUARD_BYTES 16
#define TABLE_BYTES 8192

struct debug {
	struct debug_home home; /* valid from debug_attach() on */
	struct debug_modes modes;
	size_t object_size;
	bool poisons, uses_tools;
	struct tools tools; /* tools.h does nothing if no tool was found     */
	struct owners owners;
	struct quarantine quarantine;
	size_t mapped_bytes;
	_Atomic(uint8_t) contents[]; /* by slot, if `poisons` (B2); written by the slot's holder */
};

enum contents {
	FRESH,    /* free and not filled: never used, or its slot became cold           */
	POISON,   /* free, and filled with the poison                                   */
	A_USER_S, /* active, or shown since its last release: the user may have written */
};

/* ---- Life ---- */

static bool open_parts(struct debug *debug, const lfpool_config_t *config)
{
	const struct debug_modes *modes = &debug->modes;

	/* The modes poison and guard need records too, because their reports name the last holder. */
	if ((modes->owner || modes->poison || modes->guard) &&
	    !owners_open(&debug->owners, config->max_capacity, modes->owner, modes->backtrace))
		return false;
	if (!modes->quarantine)
		return true;
	/* One entry for each object is enough: more entries change nothing. */
	debug->quarantine.places = modes->quarantine;
	if (config->max_capacity < modes->quarantine)
		debug->quarantine.places = (uint32_t)config->max_capacity;
	debug->quarantine.place = os_map(debug->quarantine.places * sizeof(*debug->quarantine.place));
	return debug->quarantine.place;
}

bool debug_open(struct debug **debug_out, const lfpool_config_t *config, const struct debug_modes *modes)
{
	/* Objects that hooks built must stay intact, so they get no poison. */
	const bool poisons = modes->poison && !config->hooks.create && !config->hooks.destroy;
	struct tools tools = {0};
	const bool uses_tools = config->backend != LFPOOL_BACKEND_MALLOC && !modes->no_tools && tools_find(&tools);
	size_t bytes = 0;

	*debug_out = NULL;
	if (!uses_tools && !debug_modes_each_call(modes))
		return true;
	if ((poisons && __builtin_add_overflow(config->max_capacity, 1, &bytes)) ||
	    __builtin_add_overflow(bytes, sizeof(struct debug), &bytes))
		return false;

	struct debug *debug = os_map(bytes);

	if (!debug)
		return false;
	debug->mapped_bytes = bytes;
	debug->modes = *modes;
	debug->object_size = config->object_size;
	debug->poisons = poisons;
	debug->uses_tools = uses_tools;
	debug->tools = tools;
	if (!open_parts(debug, config)) {
		debug_close(debug);
		return false;
	}
	*debug_out = debug;
	return true;
}

void debug_close(struct debug *debug)
{
	if (!debug)
		return;
	if (debug->quarantine.place)
		os_unmap(debug->quarantine.place, debug->quarantine.places * sizeof(*debug->quarantine.place));
	owners_close(&debug->owners);
	os_unmap(debug, debug->mapped_bytes);
}

void debug_plan(const struct debug *debug, struct arena_plan *plan)
{
	if (!debug)
		return;
	if (debug->modes.guard)
		plan->front_bytes = plan->back_bytes = GUARD_BYTES;
	if (debug->uses_tools) {
		plan->veiled = true;
		/* Sanitizers work in granules of eight bytes.  With the gap after each object, an overrun hits memory
		 * that belongs to no object. */
		plan->back_bytes = GUARD_BYTES;
		if (plan->object_alignment < 8)
			plan->object_alignment = 8;
	}
}

void debug_attach(struct debug *debug, const struct debug_home *home)
{
	if (!debug)
		return;
	debug->home = *home;
	tools_attach(&debug->tools, &home->range, !debug->poisons);
}

/* ---- Patterns: four bytes in the processor's order, so that a debugger shows the number ---- */

#define PATTERN_POISON UINT32_C(0x1deadb0b) /* an object after its release           */
#define PATTERN_GUARD UINT32_C(0xc35aa53c)  /* the guard bytes of an active object   */
#define PATTERN_WORD sizeof(uint64_t)

/* The byte of the pattern at `offset` from its start. */
static unsigned char pattern_byte(uint32_t pattern, size_t offset)
{
	unsigned char bytes[sizeof(pattern)];

	memcpy(bytes, &pattern, sizeof(pattern));
	return bytes[offset % sizeof(pattern)];
}

static uint64_t pattern_twice(uint32_t pattern)
{
	return (uint64_t)pattern << 32 | pattern;
}

static void pattern_fill(void *memory, size_t bytes, uint32_t pattern)
{
	const uint64_t word = pattern_twice(pattern);
	char *at = memory;

	for (; bytes >= PATTERN_WORD; bytes -= PATTERN_WORD, at += PATTERN_WORD)
		memcpy(at, &word, PATTERN_WORD);
	memcpy(at, &word, bytes);
}

/* The offset of the first wrong byte, or `bytes` if all are right.  *wrong_out: the number of wrong bytes. */
static size_t pattern_first_wrong(const void *memory, size_t bytes, uint32_t pattern, size_t *wrong_out)
{
	const uint64_t word = pattern_twice(pattern);
	const unsigned char *at = memory;
	size_t first = bytes, offset = 0;

	*wrong_out = 0;
	while (offset + PATTERN_WORD <= bytes && memcmp(at + offset, &word, PATTERN_WORD) == 0)
		offset += PATTERN_WORD;
	for (; offset < bytes; offset++) {
		if (at[offset] == pattern_byte(pattern, offset))
			continue;
		first = first < bytes ? first : offset;
		++*wrong_out;
	}
	return first;
}

/* ---- The parts of a slot ---- */

static void *front_of(const struct debug *debug, void *object)
{
	return (char *)object - debug->home.range.front;
}

static void *back_of(const struct debug *debug, void *object)
{
	return (char *)object + debug->object_size;
}

static size_t back_bytes(const struct debug *debug)
{
	return debug->home.range.stride - debug->home.range.front - debug->object_size;
}

/* ---- Findings ---- */

static void tell(struct debug *debug, const void *object, lfpool_status_t status, ptrdiff_t offset, const char *detail)
{
	debug->home.tell(debug->home.pool,
			 &(lfpool_misuse_t){.object = object, .status = status, .offset = offset, .detail = detail});
}

/* Checks the bytes at `offset` from the object.  If they do not have the pattern, reports that and returns true. */
static bool check_pattern(struct debug *debug, uint32_t slot, void *object, ptrdiff_t offset, size_t bytes,
			  uint32_t pattern)
{
	const unsigned char *at = (const unsigned char *)object + offset;
	const bool freed = pattern == PATTERN_POISON;
	char detail[DETAIL_BYTES];
	struct text text;
	size_t wrong;

	plain_read(object);
	const size_t first = pattern_first_wrong(at, bytes, pattern, &wrong);

	if (likely(first == bytes))
		return false;
	text_open(&text, detail, sizeof(detail));
	text_put(&text, "%zu %s wrong, the first at offset %td: 0x%02x instead of 0x%02x.  ", wrong,
		 wrong == 1 ? "byte is" : "bytes are", offset + (ptrdiff_t)first, at[first],
		 pattern_byte(pattern, first));
	(freed ? owner_put_released : owner_put_acquired)(&debug->owners, slot, &text);
	tell(debug, object, freed ? LFPOOL_E_WRITTEN_WHEN_FREE : LFPOOL_E_GUARD, offset + (ptrdiff_t)first, detail);
	return true;
}

static bool check_poison(struct debug *debug, uint32_t slot, void *object)
{
	/* relaxed, here and below: the edges that pass the slot on publish `contents`, as they publish the slot's state
	 * (arena.h). */
	return debug->poisons && load_relaxed(&debug->contents[slot]) == POISON &&
	       check_pattern(debug, slot, object, 0, debug->object_size, PATTERN_POISON);
}

static void check_guards(struct debug *debug, uint32_t slot, void *object)
{
	const size_t front = debug->home.range.front;

	if (!check_pattern(debug, slot, object, -(ptrdiff_t)front, front, PATTERN_GUARD))
		(void)check_pattern(debug, slot, object, (ptrdiff_t)debug->object_size, back_bytes(debug),
				    PATTERN_GUARD);
}

/* ---- One slot ---- */

static void open_beside(struct debug *debug, void *object)
{
	tools_open(&debug->tools, front_of(debug, object), debug->home.range.front);
	tools_open(&debug->tools, back_of(debug, object), back_bytes(debug));
}

static void shut_beside(struct debug *debug, void *object)
{
	tools_shut(&debug->tools, front_of(debug, object), debug->home.range.front);
	tools_shut(&debug->tools, back_of(debug, object), back_bytes(debug));
}

static void poison_object(const struct debug *debug, void *object)
{
	plain_written(object);
	pattern_fill(object, debug->object_size, PATTERN_POISON);
}

void debug_slot_open(struct debug *debug, uint32_t slot, void *object)
{
	tools_open(&debug->tools, object, debug->object_size);
	(void)check_poison(debug, slot, object);
	if (debug->poisons) {
		if (load_relaxed(&debug->contents[slot]) == FRESH)
			poison_object(debug, object);
		store_relaxed(&debug->contents[slot], A_USER_S);
	}
	if (debug->modes.guard) {
		open_beside(debug, object);
		pattern_fill(front_of(debug, object), debug->home.range.front, PATTERN_GUARD);
		pattern_fill(back_of(debug, object), back_bytes(debug), PATTERN_GUARD);
	}
	shut_beside(debug, object);
	tools_acquired(&debug->tools, slot, object, debug->object_size);
}

/* Fills a free object with the poison, and records that (B2). */
static void fill_poison(struct debug *debug, uint32_t slot, void *object)
{
	if (!debug->poisons)
		return;
	poison_object(debug, object);
	store_relaxed(&debug->contents[slot], POISON);
}

void debug_slot_refused(struct debug *debug, uint32_t slot, void *object)
{
	fill_poison(debug, slot, object);
	tools_released(&debug->tools, object, debug->object_size);
}

void debug_slot_begun(struct debug *debug, uint32_t slot)
{
	if (debug->owners.record)
		owner_acquired(&debug->owners, slot);
}

void debug_slot_ending(struct debug *debug, uint32_t slot, void *object)
{
	if (debug->modes.guard) {
		open_beside(debug, object);
		check_guards(debug, slot, object);
		shut_beside(debug, object);
	}
	if (debug->owners.record)
		owner_released(&debug->owners, slot);
}

/* Checks a slot that leaves the quarantine, and reports a write to its object during the quarantine.  `slot` may be
 * SLOT_NONE. */
static void check_leaving(struct debug *debug, uint32_t slot)
{
	if (!slot || !debug->poisons)
		return;
	void *object = range_object(&debug->home.range, slot);

	tools_open(&debug->tools, object, debug->object_size);
	if (check_poison(debug, slot, object))
		/* Restores the poison, so that the write is reported only once. */
		pattern_fill(object, debug->object_size, PATTERN_POISON);
	tools_shut(&debug->tools, object, debug->object_size);
}

uint32_t debug_slot_end(struct debug *debug, uint32_t slot, void *object)
{
	uint32_t leaving;

	fill_poison(debug, slot, object);
	tools_released(&debug->tools, object, debug->object_size);
	if (!debug->quarantine.places)
		return slot;
	leaving = quarantine_put(&debug->quarantine, slot);
	check_leaving(debug, leaving);
	return leaving;
}

void debug_slot_cool(struct debug *debug, uint32_t slot, void *object)
{
	debug_slot_lend(debug, object, true);
	(void)check_poison(debug, slot, object);
	if (debug->poisons)
		store_relaxed(&debug->contents[slot], FRESH);
	debug_slot_lend(debug, object, false);
}

void debug_slot_lend(struct debug *debug, void *object, bool begins)
{
	(begins ? tools_open : tools_shut)(&debug->tools, object, debug->object_size);
}

void debug_slot_show(struct debug *debug, uint32_t slot, void *object)
{
	if (!debug)
		return;
	/* The object stays accessible, because another thread may be acquiring it at this moment. */
	tools_open(&debug->tools, object, debug->object_size);
	if (debug->poisons)
		/* relaxed: as in check_poison(). */
		store_relaxed(&debug->contents[slot], A_USER_S);
}

struct quarantine *debug_quarantine(struct debug *debug)
{
	return debug && debug->quarantine.places ? &debug->quarantine : NULL;
}

/* ---- Reports ---- */

void debug_label(struct debug *debug, uint32_t slot, const char *label)
{
	if (debug->owners.record)
		/* relaxed: the record belongs to the slot's holder. */
		store_relaxed(&debug->owners.record[slot].label, label);
}

void debug_put_released(const struct debug *debug, uint32_t slot, struct text *text)
{
	if (debug->owners.record)
		owner_put_released(&debug->owners, slot, text);
}

void debug_put_report(const struct debug *debug, const struct debug_modes *modes, size_t used, lfpool_format_t format,
		      struct text *text)
{
	const bool json = format == LFPOOL_JSON;

	text_put(text, json ? ",\"debug\":" : "debug       ");
	debug_words_write(modes, format, text);
	text_put(text, json ? ",\"holders\":" : "\n");
	if (debug && debug->modes.owner)
		owners_put_table(&debug->owners, &debug->home, used, format, text);
	else
		text_put(text, json ? "null" : "");
	text_put(text, json ? "}" : "");
}

static void tell_active(struct debug *debug, uint32_t slot, void *object)
{
	char detail[DETAIL_BYTES];
	struct text text;

	text_open(&text, detail, sizeof(detail));
	owner_put_acquired(&debug->owners, slot, &text);
	tell(debug, object, LFPOOL_E_STILL_ACTIVE, 0, detail);
}

static void print_holders(const struct debug *debug, size_t used)
{
	/* If there is no memory for the table, prints only the first line. */
	char first[256], *table = os_heap_resize(NULL, TABLE_BYTES);
	struct text text;

	text_open(&text, table ? table : first, table ? TABLE_BYTES : sizeof(first));
	text_put(&text, "lfpool: pool \"%s\" is destroyed while objects are active.\n", debug->home.name);
	if (table)
		owners_put_table(&debug->owners, &debug->home, used, LFPOOL_TEXT, &text);
	os_print(text.out);
	os_heap_free(table);
}

void debug_detach(struct debug *debug, size_t used)
{
	if (!debug)
		return;

	const struct debug_home *home = &debug->home;
	size_t active = 0;

	tools_detach(&debug->tools, used);
	for (uint32_t slot = 1; slot <= used; slot++) {
		void *object = range_object(&home->range, slot);

		if (!home->is_active(home->pool, slot)) {
			(void)check_poison(debug, slot, object);
			continue;
		}
		active++;
		if (debug->modes.guard)
			check_guards(debug, slot, object);
		if (debug->modes.owner && home->tells_each)
			tell_active(debug, slot, object);
	}
	if (debug->modes.owner && !home->tells_each && active)
		print_holders(debug, used);
}
