/* SPDX-License-Identifier: MIT */
/*
 * history_text.c - descriptions of faults.
 *
 * Objects are numbered in the order of their addresses, from 1, among those that were acquired at all: when the keeper
 * has emptied the pool that is all of them.
 */
#include "history_check.h"

#include <inttypes.h>
#include <stdarg.h>

/* A NULL that a chain of more free objects refutes is not described to the end. */
#define CHAIN_MAX 6
/* So many calls are named that were under way at the same time. */
#define MEANWHILE_MAX 6

void text_add(struct text *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(text->characters + text->used, sizeof(text->characters) - text->used, format, arguments);
	va_end(arguments);
	if (length > 0)
		text->used += (size_t)length;
	if (text->used >= sizeof(text->characters))
		text->used = sizeof(text->characters) - 1;
}

void text_legend(struct text *text, const struct check *check)
{
	text_add(text, "\n    (%zu operations, %zu NULLs; stamps in ticks since the round began)", check->counts.operations,
		 check->counts.nulls);
}

/* Which log a record lies in. */
static uint32_t log_of(const struct check *check, const struct history_record *record)
{
	for (size_t i = 0; i < check->log_count; i++) {
		uintptr_t first = (uintptr_t)check->logs[i].records;

		if ((uintptr_t)record - first < check->logs[i].count * sizeof(*record))
			return (uint32_t)i;
	}
	return UINT32_MAX;
}

static void add_thread(struct text *text, const struct check *check, const struct history_record *record)
{
	uint32_t log = log_of(check, record), keeper = check->terms->keeper;

	if (log < keeper)
		text_add(text, "thread %" PRIu32, log);
	else if (log == keeper)
		text_add(text, "keeper");
	else
		text_add(text, "child %" PRIu32, log - keeper - 1);
}

/* The number of an object; 0 if it was never acquired. */
static size_t object_number(const struct check *check, uintptr_t object)
{
	size_t number = 0;

	for (size_t i = 0; i < check->hold_count; i++) {
		number += i == 0 || check->holds[i].object != check->holds[i - 1].object;
		if (check->holds[i].object == object)
			return number;
	}
	return 0;
}

/* Signed: a history may have been made by hand. */
static int64_t since_origin(const struct check *check, uint64_t stamp)
{
	return (int64_t)(stamp - check->terms->origin);
}

void text_operation(struct text *text, const struct check *check, const struct history_record *record, const char *remark)
{
	text_add(text, "\n    [%" PRId64 ", %" PRId64 "] ", since_origin(check, record->begin), since_origin(check, record->end));
	add_thread(text, check, record);
	if (record->kind == HISTORY_NULL) {
		text_add(text, " acquires: NULL%s", remark);
	} else {
		text_add(text, " %s", record->kind == HISTORY_ACQUIRE ? "acquires" : "releases");
		if (check->hold_count > 0)
			text_add(text, " object %zu", object_number(check, record->object));
		text_add(text, " at 0x%" PRIxPTR "%s", record->object, remark);
	}
}

/* What a free object was before and after. */
struct gap {
	const struct held_once *before, *after; /* NULL: none */
	uint64_t until;
};

static void consider(struct gap *best, const struct held_once *before, const struct held_once *after, uint64_t until)
{
	if (best->until < until)
		*best = (struct gap){before, after, until};
}

/* The gap that contains `moment` and lasts longest after it; until == 0 if there is none. */
static struct gap gap_at(const struct check *check, uint64_t moment)
{
	struct gap best = {NULL, NULL, 0};

	for (size_t i = 0; i < check->hold_count; i++) {
		const struct held_once *hold = &check->holds[i];
		uint64_t first = hold->free_until < hold->acquire->begin ? hold->free_until : hold->acquire->begin;
		bool last = i + 1 == check->hold_count || hold[1].object != hold->object;

		/* Before the first acquire of it. */
		if ((i == 0 || hold[-1].object != hold->object) && moment < first)
			consider(&best, NULL, hold, first);
		if (hold->free_after < moment && moment < hold->free_until)
			consider(&best, hold, last ? NULL : hold + 1, hold->free_until);
	}
	return best;
}

void text_free_objects(struct text *text, const struct check *check, const struct history_record *null)
{
	uint64_t moment = null->begin;
	struct gap gap;

	if (!check->terms->fixed) {
		text_add(text, "\n    and never were all %zu objects in use or on their way", check->terms->capacity);
		return;
	}
	if (check->objects < check->terms->capacity) {
		text_add(text, "\n    %zu of the %zu objects were never acquired at all", check->terms->capacity - check->objects,
			 check->terms->capacity);
		return;
	}
	for (unsigned links = 0; links < CHAIN_MAX && moment <= null->end; links++) {
		gap = gap_at(check, moment);
		if (gap.until == 0)
			return;
		if (gap.before)
			text_operation(text, check, gap.before->release, ": free from here");
		if (gap.after)
			text_operation(text, check, gap.after->acquire, gap.before ? ": until here" : " for the first time");
		moment = gap.until;
	}
	if (moment <= null->end)
		text_add(text, "\n    and so on");
}

void text_meanwhile(struct text *text, const struct check *check, const struct history_record *call)
{
	unsigned named = 0;

	for (size_t i = 0; i < check->log_count; i++)
		for (size_t j = 0; j < check->logs[i].count && named < MEANWHILE_MAX; j++) {
			const struct history_record *other = &check->logs[i].records[j];

			if (other == call || other->begin > call->end || other->end < call->begin)
				continue;
			text_operation(text, check, other, ", meanwhile");
			named++;
		}
}
