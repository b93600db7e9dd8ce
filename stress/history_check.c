/* SPDX-License-Identifier: MIT */
/*
 * history_check.c - holds, spans, full times; see history_check.h for why.
 */
#include "history_check.h"

#include <string.h>

#define FOREVER UINT64_MAX

/* ---- Memory and order ---- */

static void *room_for(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);

	if (!memory) {
		fprintf(stderr, "history_check: no memory\n");
		exit(3);
	}
	return memory;
}

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_time(const void *a, const void *b)
{
	return order(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Object by object, in the only order in which its definite holds can follow each other. */
static int by_object(const void *left, const void *right)
{
	const struct held_once *a = left, *b = right;
	int result = order(a->object, b->object);

	if (result == 0)
		result = order(a->acquire->end, b->acquire->end);
	if (result == 0)
		result = order(a->release_begin, b->release_begin);
	return result;
}

/* ---- Reporting ---- */

/* Counts a fault; true if it should be described. */
static bool found_one(struct check *check, enum history_fault fault)
{
	size_t before = 0;

	for (size_t i = 0; i < HISTORY_FAULTS; i++)
		before += check->counts.faults[i];
	check->counts.faults[fault]++;
	return before < check->messages;
}

static void tell(struct check *check, enum history_fault fault, const struct text *text)
{
	check->found(check->context, fault, text->characters);
}

/* A fault that is all about these operations, of which the second may be missing. */
static void tell_operations(struct check *check, enum history_fault fault, const char *what, const struct history_record *first,
			    const struct history_record *second)
{
	struct text text = {.used = 0};

	if (!found_one(check, fault))
		return;
	text_add(&text, "%s", what);
	text_legend(&text, check);
	text_operation(&text, check, first, "");
	if (second)
		text_operation(&text, check, second, "");
	tell(check, fault, &text);
}

/* ---- Holds: which thread had what ---- */

static void end_hold(struct check *check, const size_t *offsets, struct held_once *holds, const struct history_record *release)
{
	struct held_once *hold = NULL;

	if (release->log < check->log_count && release->index < check->logs[release->log].count)
		hold = &holds[offsets[release->log] + release->index];
	if (!hold || !hold->acquire || hold->object != release->object) {
		tell_operations(check, HISTORY_FAULT_RELEASE, "a release of an object that was not acquired", release, NULL);
	} else if (hold->release) {
		tell_operations(check, HISTORY_FAULT_RELEASE, "two releases of one acquisition succeeded", hold->release,
				release);
	} else {
		hold->release = release;
		hold->release_begin = release->begin;
		hold->release_end = release->end;
		if (release->begin < hold->acquire->end)
			tell_operations(check, HISTORY_FAULT_RELEASE, "a release began before its acquire had ended",
					hold->acquire, release);
	}
}

/* Pairs acquires with releases and keeps the NULLs. */
static void read_logs(struct check *check)
{
	size_t *offsets = room_for(check->log_count, sizeof(*offsets)), total = 0, used = 0;
	struct held_once *holds;

	for (size_t i = 0; i < check->log_count; i++) {
		offsets[i] = total;
		total += check->logs[i].count;
	}
	check->counts.operations = total;
	check->holds = holds = room_for(total, sizeof(*holds));
	check->nulls = room_for(total, sizeof(struct history_record *));
	for (size_t i = 0; i < check->log_count; i++)
		for (size_t j = 0; j < check->logs[i].count; j++) {
			const struct history_record *record = &check->logs[i].records[j];

			if (record->kind == HISTORY_ACQUIRE)
				holds[offsets[i] + j] = (struct held_once){.object = record->object,
									   .acquire = record,
									   .release_begin = FOREVER,
									   .release_end = FOREVER};
			else if (record->kind == HISTORY_NULL)
				check->nulls[check->counts.nulls++] = record;
		}
	/* A release may lie in an earlier log than its acquire. */
	for (size_t i = 0; i < check->log_count; i++)
		for (size_t j = 0; j < check->logs[i].count; j++)
			if (check->logs[i].records[j].kind == HISTORY_RELEASE)
				end_hold(check, offsets, holds, &check->logs[i].records[j]);
	for (size_t at = 0; at < total; at++)
		if (holds[at].acquire)
			holds[used++] = holds[at];
	check->hold_count = used;
	qsort(holds, used, sizeof(*holds), by_object);
	free(offsets);
}

/* ---- Ownership and conservation ---- */

static void check_objects(struct check *check)
{
	const struct held_once *longest = NULL; /* of the holds of this object so far */

	for (size_t i = 0; i < check->hold_count; i++) {
		const struct held_once *hold = &check->holds[i];

		if (i == 0 || hold->object != hold[-1].object) {
			check->objects++;
			longest = hold;
		} else {
			if (longest->release_begin > hold->acquire->end)
				tell_operations(check, HISTORY_FAULT_OVERLAP, "an object had two holders at once",
						longest->acquire, hold->acquire);
			if (longest->release_begin <= hold->release_begin)
				longest = hold;
		}
		if (!hold->release && check->terms->ended)
			tell_operations(check, HISTORY_FAULT_HELD, "an object was not released", hold->acquire, NULL);
	}
	if (check->terms->fixed && check->objects > check->terms->capacity && found_one(check, HISTORY_FAULT_OBJECTS)) {
		struct text text = {.used = 0};

		text_add(&text, "%zu different objects were acquired, though there are %zu", check->objects,
			 check->terms->capacity);
		tell(check, HISTORY_FAULT_OBJECTS, &text);
	}
}

/* ---- Spans: when is an object possibly in use? ---- */

/* For each hold: when the first acquire of a later hold of the same object begins, and when the last release of an
 * earlier one or its own ends.  Between the two the object is definitely free. */
static void find_gaps(struct check *check)
{
	for (size_t i = check->hold_count; i-- > 0;) {
		struct held_once *hold = &check->holds[i], *next = hold + 1;

		hold->free_until = FOREVER;
		if (i + 1 < check->hold_count && next->object == hold->object)
			hold->free_until = next->free_until < next->acquire->begin ? next->free_until : next->acquire->begin;
	}
	for (size_t i = 0; i < check->hold_count; i++) {
		struct held_once *hold = &check->holds[i];

		hold->free_after = hold->release_end;
		if (i > 0 && hold[-1].object == hold->object && hold[-1].free_after > hold->free_after)
			hold->free_after = hold[-1].free_after;
	}
}

/* The first moment of the span that begins with hold `first`. */
static uint64_t span_begin(const struct held_once *first)
{
	return first->free_until < first->acquire->begin ? first->free_until : first->acquire->begin;
}

/* The ends of all spans; returns how many spans there are. */
static size_t find_spans(const struct check *check, uint64_t *begins, uint64_t *ends)
{
	bool fixed = check->terms->fixed, inside = false;
	size_t count = 0;

	for (size_t i = 0; i < check->hold_count; i++) {
		const struct held_once *hold = &check->holds[i];
		bool last = i + 1 == check->hold_count || hold[1].object != hold->object;

		if (!fixed) {
			begins[count] = hold->acquire->begin;
			ends[count++] = hold->release_end;
			continue;
		}
		if (!inside)
			begins[count] = span_begin(hold);
		inside = !last && hold->free_after >= hold->free_until;
		if (!inside)
			ends[count++] = hold->free_after;
	}
	qsort(begins, count, sizeof(*begins), by_time);
	qsort(ends, count, sizeof(*ends), by_time);
	return count;
}

/* ---- Full times: when are all objects possibly in use? ---- */

struct full {
	uint64_t begin, end;
};

/* In order of time, disjoint. */
static size_t find_full(const struct check *check, struct full *full)
{
	uint64_t *begins = room_for(check->hold_count, sizeof(*begins)), *ends = room_for(check->hold_count, sizeof(*ends));
	size_t spans = find_spans(check, begins, ends), opened = 0, count = 0;

	for (size_t closed = 0; closed < spans;) {
		/* A span that begins at the tick at which another ends overlaps it. */
		if (opened < spans && begins[opened] <= ends[closed]) {
			if (++opened - closed == check->terms->capacity)
				full[count].begin = begins[opened - 1];
		} else {
			if (opened - closed == check->terms->capacity)
				full[count++].end = ends[closed];
			closed++;
		}
	}
	free(begins);
	free(ends);
	return count;
}

static bool meets_full(const struct full *full, size_t count, const struct history_record *null)
{
	size_t low = 0, high = count;

	/* How many begin before the call has ended? */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (full[middle].begin <= null->end)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && full[low - 1].end >= null->begin;
}

static void check_nulls(struct check *check)
{
	struct full *full = room_for(check->hold_count, sizeof(*full));
	size_t count;

	find_gaps(check);
	count = find_full(check, full);
	for (size_t i = 0; i < check->counts.nulls; i++) {
		const struct history_record *null = check->nulls[i];
		struct text text = {.used = 0};

		if (meets_full(full, count, null) || !found_one(check, HISTORY_FAULT_NULL))
			continue;
		text_add(&text, "NULL though at every moment of the call an object was free");
		text_legend(&text, check);
		text_operation(&text, check, null, "");
		text_free_objects(&text, check, null);
		text_meanwhile(&text, check, null);
		tell(check, HISTORY_FAULT_NULL, &text);
	}
	free(full);
}

struct history_counts history_check(const struct history_log *logs, size_t log_count, const struct history_terms *terms,
				    history_found *found, void *context, size_t messages)
{
	struct check check = {
		.logs = logs,
		.log_count = log_count,
		.terms = terms,
		.found = found,
		.context = context,
		.messages = messages,
	};

	read_logs(&check);
	check_objects(&check);
	check_nulls(&check);
	free(check.holds);
	free(check.nulls);
	return check.counts;
}
