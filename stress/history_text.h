/* SPDX-License-Identifier: MIT */
/*
 * history_text.h - what the checker knows of a history, and how it describes a fault.
 */
#ifndef STRESS_HISTORY_TEXT_H
#define STRESS_HISTORY_TEXT_H

#include "history_check.h"

/* One hold of one object. */
struct held_once {
	uintptr_t object;
	const struct history_record *acquire, *release; /* release: NULL = not yet                        */
	uint64_t release_begin, release_end;            /* its stamps, or for ever                        */
	uint64_t free_after, free_until;                /* free between the two, if the first is smaller   */
};

struct check {
	const struct history_log *logs;
	size_t log_count;
	const struct history_terms *terms;
	history_found *found;
	void *context;
	size_t messages;               /* how many faults to describe           */
	struct held_once *holds;       /* by object, and in the order of time   */
	size_t hold_count;
	const struct history_record **nulls;
	size_t objects;                /* different ones                        */
	struct history_counts counts;
};

struct text {
	size_t used;
	char characters[HISTORY_TEXT_BYTES];
};

__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);

/* What the numbers in the lines that follow mean. */
void text_legend(struct text *text, const struct check *check);

/* A line for one operation: which thread, what, when. */
void text_operation(struct text *text, const struct check *check, const struct history_record *record,
		    const char *remark);

/* The objects that were free, one after the other, all through a NULL; a line or two for each. */
void text_free_objects(struct text *text, const struct check *check, const struct history_record *null);

/* The calls that were under way at the same time; a line for each of the first few. */
void text_meanwhile(struct text *text, const struct check *check, const struct history_record *call);

#endif
