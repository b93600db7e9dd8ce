/* SPDX-License-Identifier: MIT */
/* history_check.c - holds, full times, victims, and descriptions of faults; history_check.h has the argument. */
#include "history_check.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

#define FOREVER UINT64_MAX
/* A NULL that a longer chain of free objects refutes is described in part. */
#define CHAIN_MAX 6

/* One hold of one object. */
struct held_once {
	uint64_t object;
	const struct history_record *acquire, *release; /* release: NULL = not yet                        */
	uint64_t release_begin, release_end;            /* its stamps, or for ever                        */
};

struct check {
	const struct history_log *logs;
	size_t log_count;
	const struct history_terms *terms;
	history_found *found;
	void *context;
	size_t messages;         /* how many faults to describe           */
	struct held_once *holds; /* by object, and in the order of time   */
	size_t hold_count;
	const struct history_record **nulls;
	size_t objects; /* different ones                        */
	struct history_counts counts;
};

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

/* By object, then in the only order in which its definite holds can follow each other. */
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

/* A line for one operation: when, which thread, what. */
static void add_operation(struct text *text, const struct check *check, const struct history_record *record,
			  const char *remark)
{
	static const char *const verb[] = {
		[HISTORY_ACQUIRE] = "acquires",
		[HISTORY_RELEASE] = "releases",
		[HISTORY_STEADY] = "leaves an evictable object of rank",
		[HISTORY_CHANGE] = "changes",
		[HISTORY_VICTIM] = "evicts an object of rank",
	};
	const uint32_t thread = record->thread, keeper = check->terms->keeper;
	const uint64_t origin = check->terms->origin;

	/* Signed: a history may be hand-made. */
	text_add(text, "\n    [%" PRId64 ", %" PRId64 "] ", (int64_t)(record->begin - origin),
		 (int64_t)(record->end - origin));
	if (thread == keeper)
		text_add(text, "keeper ");
	else
		text_add(text, "%s %" PRIu32 " ", thread < keeper ? "thread" : "child",
			 thread < keeper ? thread : thread - keeper - 1);
	if (record->kind == HISTORY_NULL)
		text_add(text, "acquires: NULL%s", remark);
	else
		text_add(text, "%s 0x%" PRIx64 "%s", verb[record->kind], record->object, remark);
}

/* Counts a fault; true if it should be described: then `text` begins with `what`. */
static bool found_one(struct check *check, enum history_fault fault, struct text *text, const char *what)
{
	size_t before = 0;

	for (size_t i = 0; i < HISTORY_FAULTS; i++)
		before += check->counts.faults[i];
	check->counts.faults[fault]++;
	if (before >= check->messages)
		return false;
	text->used = 0;
	text_add(text, "%s\n    (%zu operations, %zu NULLs; stamps in ns since the round began)", what,
		 check->counts.operations, check->counts.nulls);
	return true;
}

/* A fault that consists of these operations; the second may be missing. */
static void tell_operations(struct check *check, enum history_fault fault, const char *what,
			    const struct history_record *first, const struct history_record *second)
{
	struct text text;

	if (!found_one(check, fault, &text, what))
		return;
	add_operation(&text, check, first, "");
	if (second)
		add_operation(&text, check, second, "");
	check->found(check->context, fault, text.characters);
}

/* ---- Holds: which thread had what ---- */

static void end_hold(struct check *check, const size_t *offsets, struct held_once *holds,
		     const struct history_record *release)
{
	struct held_once *hold = NULL;

	if (release->log < check->log_count && release->index < check->logs[release->log].count)
		hold = &holds[offsets[release->log] + release->index];
	if (!hold || !hold->acquire || hold->object != release->object) {
		tell_operations(check, HISTORY_FAULT_RELEASE, "a release of an object that was not acquired", release,
				NULL);
	} else if (hold->release) {
		tell_operations(check, HISTORY_FAULT_RELEASE, "two releases of one acquisition succeeded",
				hold->release, release);
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
	/* A release may be in an earlier log than its acquire. */
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
	const struct held_once *longest = NULL; /* among the holds of this object so far */
	struct text text;

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
	if (check->terms->fixed && check->objects > check->terms->capacity &&
	    found_one(check, HISTORY_FAULT_OBJECTS, &text, "more different objects were acquired than there are")) {
		text_add(&text, "\n    %zu different objects of %zu", check->objects, check->terms->capacity);
		check->found(check->context, HISTORY_FAULT_OBJECTS, text.characters);
	}
}

/* ---- Full times: when are all objects possibly in use? ---- */

/* The begin or the end of a hold, at its outermost stamps. */
struct edge {
	uint64_t at;
	bool ends;
	uint32_t object; /* its number */
};

/* A hold that ends at a tick overlaps one that begins at it. */
static int by_time(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	return a->at == b->at ? a->ends - b->ends : order(a->at, b->at);
}

struct full {
	uint64_t begin, end;
};

/* In order of time, disjoint.  Objects that are only counted, without addresses: each hold counts as a different
 * object. */
static size_t find_full(const struct check *check, struct full *full)
{
	struct edge *edges = room_for(2 * check->hold_count, sizeof(*edges));
	uint32_t *holds = room_for(check->hold_count, sizeof(*holds)), object = 0;
	size_t in_use = 0, count = 0;

	for (size_t i = 0; i < check->hold_count; i++) {
		const struct held_once *hold = &check->holds[i];

		object += i > 0 && (!check->terms->fixed || hold->object != hold[-1].object);
		edges[2 * i] = (struct edge){hold->acquire->begin, false, object};
		edges[2 * i + 1] = (struct edge){hold->release_end, true, object};
	}
	qsort(edges, 2 * check->hold_count, sizeof(*edges), by_time);
	for (const struct edge *edge = edges; edge < edges + 2 * check->hold_count; edge++) {
		if (!edge->ends && holds[edge->object]++ == 0 && ++in_use == check->terms->capacity)
			full[count].begin = edge->at;
		if (edge->ends && --holds[edge->object] == 0 && in_use-- == check->terms->capacity)
			full[count++].end = edge->at;
	}
	free(edges);
	free(holds);
	return count;
}

static bool meets_full(const struct full *full, size_t count, const struct history_record *null)
{
	size_t low = 0, high = count;

	/* How many full times begin before the call has ended? */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (full[middle].begin <= null->end)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && full[low - 1].end >= null->begin;
}

/* An object that is free at a moment. */
struct gap {
	const struct history_record *before,
		*after; /* the end of its last hold, and the begin of its next; NULL: none */
	uint64_t until; /* the object is free until then */
};

/* The gap of the object with hold `first`; also returns the first hold of the next object. */
static const struct held_once *find_gap(const struct check *check, const struct held_once *first, uint64_t moment,
					struct gap *gap_out)
{
	const struct held_once *hold = first;
	struct gap gap = {NULL, NULL, FOREVER};

	for (; hold < check->holds + check->hold_count && hold->object == first->object; hold++) {
		if (hold->acquire->begin > moment) {
			if (hold->acquire->begin < gap.until)
				gap = (struct gap){gap.before, hold->acquire, hold->acquire->begin};
		} else if (hold->release_end >= moment) {
			gap.until = moment;
		} else if (!gap.before || gap.before->end < hold->release_end) {
			gap.before = hold->release;
		}
	}
	*gap_out = gap;
	return hold;
}

/* The objects whose free times cover a NULL, one after the other; a line or two for each. */
static void add_free_objects(struct text *text, const struct check *check, const struct history_record *null)
{
	uint64_t moment = null->begin;

	for (unsigned links = 0; links < CHAIN_MAX && moment <= null->end; links++) {
		struct gap gap, longest = {NULL, NULL, moment};

		for (const struct held_once *hold = check->holds; hold < check->holds + check->hold_count;) {
			hold = find_gap(check, hold, moment, &gap);
			if (gap.until > longest.until)
				longest = gap;
		}
		if (longest.until == moment)
			return;
		if (longest.before)
			add_operation(text, check, longest.before, ": free from here");
		if (longest.after)
			add_operation(text, check, longest.after,
				      longest.before ? ": until here" : " for the first time");
		moment = longest.until;
	}
	if (moment <= null->end)
		text_add(text, "\n    and so on");
}

static void tell_null(struct check *check, const struct history_record *null)
{
	const size_t capacity = check->terms->capacity;
	struct text text;

	if (!found_one(check, HISTORY_FAULT_NULL, &text, "NULL though at every moment of the call an object was free"))
		return;
	add_operation(&text, check, null, "");
	if (!check->terms->fixed)
		text_add(&text, "\n    at no moment were all %zu objects in use, or being acquired or released",
			 capacity);
	else if (check->objects < capacity)
		text_add(&text, "\n    %zu of the %zu objects were never acquired", capacity - check->objects,
			 capacity);
	else
		add_free_objects(&text, check, null);
	check->found(check->context, HISTORY_FAULT_NULL, text.characters);
}

static void check_nulls(struct check *check)
{
	struct full *full = room_for(check->hold_count, sizeof(*full));
	const size_t count = find_full(check, full);

	for (size_t i = 0; i < check->counts.nulls; i++)
		if (!meets_full(full, count, check->nulls[i]))
			tell_null(check, check->nulls[i]);
	free(full);
}

/* ---- Victims ---- */

/* A time in which an object could be evicted for certain. */
struct span {
	const struct history_record *steady, *ended; /* ended: by a CHANGE or a VICTIM; NULL: not yet */
	uint64_t until;
	size_t before; /* the object's span before, by number from 1; 0: none */
};

struct victims {
	struct check *check;
	struct span *spans;
	size_t span_count;
	const struct history_record **judged; /* victims and NULLs */
	size_t judged_count;

	/* A tree over the spans, by `until` from the last to the first: the number of the one with the least rank. */
	size_t *least;
};

static void end_span(struct span *span, const struct history_record *record)
{
	if (record->begin >= span->until)
		return;
	span->until = record->begin;
	span->ended = record;
}

/* An object's records are in its holder's log, except that another thread may have made it a victim. */
static void read_spans(struct victims *victims)
{
	const struct check *check = victims->check;
	size_t *offsets = room_for(check->log_count + 1, sizeof(*offsets)), *newest;

	for (size_t i = 0; i < check->log_count; i++)
		offsets[i + 1] = offsets[i] + check->logs[i].count;
	newest = room_for(offsets[check->log_count], sizeof(*newest));
	victims->spans = room_for(offsets[check->log_count], sizeof(*victims->spans));
	victims->judged = room_for(offsets[check->log_count], sizeof(struct history_record *));
	for (size_t i = 0; i < check->log_count; i++)
		for (size_t j = 0; j < check->logs[i].count; j++) {
			const struct history_record *record = &check->logs[i].records[j];
			size_t *last = &newest[offsets[record->log] + record->index];

			if (record->kind == HISTORY_STEADY) {
				victims->spans[victims->span_count] = (struct span){record, NULL, FOREVER, *last};
				*last = ++victims->span_count;
			} else if (record->kind == HISTORY_CHANGE && *last) {
				end_span(&victims->spans[*last - 1], record);
			} else if (record->kind == HISTORY_VICTIM || record->kind == HISTORY_NULL) {
				victims->judged[victims->judged_count++] = record;
			}
		}
	for (size_t i = 0; i < victims->judged_count; i++) {
		const struct history_record *victim = victims->judged[i];

		if (victim->kind == HISTORY_VICTIM)
			for (size_t span = newest[offsets[victim->log] + victim->index]; span;
			     span = victims->spans[span - 1].before)
				end_span(&victims->spans[span - 1], victim);
	}
	free(newest);
	free(offsets);
}

static int by_until(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	return order(b->until, a->until);
}

static const struct span *sorted_spans;

static int by_steady_end(const void *left, const void *right)
{
	const size_t a = *(const size_t *)left, b = *(const size_t *)right;

	return order(sorted_spans[a].steady->end, sorted_spans[b].steady->end);
}

static int by_begin(const void *left, const void *right)
{
	const struct history_record *const *a = left, *const *b = right;

	return order((*a)->begin, (*b)->begin);
}

/* A Fenwick tree of minima. */
static size_t lower_rank(const struct victims *victims, size_t a, size_t b)
{
	if (!a || !b)
		return a + b;
	return victims->spans[a - 1].steady->object <= victims->spans[b - 1].steady->object ? a : b;
}

static void add_span(struct victims *victims, size_t span)
{
	for (size_t at = span + 1; at <= victims->span_count; at += at & -at)
		victims->least[at] = lower_rank(victims, victims->least[at], span + 1);
}

/* The span of least rank among those that have been added and end after `moment`. */
static const struct span *least_after(const struct victims *victims, uint64_t moment)
{
	size_t low = 0, high = victims->span_count, found = 0;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (victims->spans[middle].until > moment)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t at = low; at; at &= at - 1)
		found = lower_rank(victims, found, victims->least[at]);
	return found ? &victims->spans[found - 1] : NULL;
}

static void tell_victim(struct check *check, const struct history_record *victim, const struct span *span)
{
	struct text text;

	if (!found_one(check, HISTORY_FAULT_VICTIM, &text,
		       victim->kind == HISTORY_NULL
			       ? "NULL though an object that gives way could be evicted during the whole call"
			       : "a victim though one of lower rank could be evicted during the whole call"))
		return;
	add_operation(&text, check, victim, "");
	add_operation(&text, check, span->steady, ": from here");
	if (span->ended)
		add_operation(&text, check, span->ended, ": until here");
	check->found(check->context, HISTORY_FAULT_VICTIM, text.characters);
}

static void check_victims(struct check *check)
{
	struct victims victims = {.check = check};
	size_t *by_start, added = 0;

	read_spans(&victims);
	for (size_t i = 0; i < check->log_count; i++)
		check->counts.operations += check->logs[i].count;
	for (size_t i = 0; i < victims.judged_count; i++)
		check->counts.nulls += victims.judged[i]->kind == HISTORY_NULL;
	qsort(victims.spans, victims.span_count, sizeof(*victims.spans), by_until);
	victims.least = room_for(victims.span_count + 1, sizeof(*victims.least));
	by_start = room_for(victims.span_count, sizeof(*by_start));
	for (size_t i = 0; i < victims.span_count; i++)
		by_start[i] = i;
	sorted_spans = victims.spans;
	qsort(by_start, victims.span_count, sizeof(*by_start), by_steady_end);
	qsort(victims.judged, victims.judged_count, sizeof(struct history_record *), by_begin);
	for (size_t i = 0; i < victims.judged_count; i++) {
		const struct history_record *victim = victims.judged[i];
		const struct span *span;

		while (added < victims.span_count && victims.spans[by_start[added]].steady->end < victim->begin)
			add_span(&victims, by_start[added++]);
		span = least_after(&victims, victim->end);
		if (span && span->steady->object < victim->object)
			tell_victim(check, victim, span);
	}
	free(by_start);
	free(victims.least);
	free(victims.judged);
	free(victims.spans);
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

	if (terms->evicting) {
		check_victims(&check);
		return check.counts;
	}
	read_logs(&check);
	check_objects(&check);
	check_nulls(&check);
	free(check.holds);
	free(check.nulls);
	return check.counts;
}
