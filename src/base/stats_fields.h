/* SPDX-License-Identifier: MIT */
/*
 * stats_fields.h - the fields of lfpool_stats_t as a table, for code that writes or adds all of them.
 *
 * Idea         A new counter needs one line in lfpool_stats_t (lfpool/report.h) and one line here.  The table serves
 *              the code that adds up the pools of a set, and the code that writes a dump as text or JSON.
 * Invariants   SF1 each field of lfpool_stats_t except backend has one row; a missing row is a compile error.
 */
#ifndef LFPOOL_STATS_FIELDS_H
#define LFPOOL_STATS_FIELDS_H

#include "base/base.h"
#include "base/text.h"

#include "lfpool/report.h"

/*
 * X(field, line, unit).  In a text dump, neighbouring fields with the same `line` are written as one line:
 * "line   value unit, value unit".  dump.c writes the fields whose line is NULL.
 */
#define STATS_MAP(X)                                    \
	X(capacity, NULL, NULL)                         \
	X(active, NULL, NULL)                           \
	X(cached, NULL, NULL)                           \
	X(shared, NULL, NULL)                           \
	X(retired, NULL, NULL)                          \
	X(untouched, NULL, NULL)                        \
	X(unaccounted, NULL, NULL)                      \
	X(evicted, NULL, NULL)                          \
	X(not_evicted, NULL, NULL)                      \
	X(caches, NULL, NULL)                           \
	X(caches_in_use, NULL, NULL)                    \
	X(max_capacity, "resizing", " objects at most") \
	X(owed, "resizing", " to be removed")           \
	X(given_back, "resizing", " bytes given back")  \
	X(waiting, "waiting", " now")                   \
	X(waits, "waiting", " waited")                  \
	X(timeouts, "waiting", " timed out")            \
	X(wait_ns, "waiting", " ns in all")             \
	X(wait_ns_max, "waiting", " ns at most")        \
	X(high_water, "high water", "")                 \
	X(acquires, "calls", " acquires")               \
	X(releases, "calls", " releases")               \
	X(exhausted, "calls", " exhausted")             \
	X(misuses, "misuses", "")                       \
	X(refills, "misses", " refills")                \
	X(drains, "misses", " drains")                  \
	X(depot_trips, "misses", " trips")              \
	X(steals, "misses", " steals")                  \
	X(retries, "retries", "")

enum stats_field {
#define STATS_ENUM(field, line, unit) STATS_##field,
	STATS_MAP(STATS_ENUM)
#undef STATS_ENUM
		STATS_FIELDS
};

/* The value of a field.  A negative value is in two's complement. */
uint64_t stats_value(const lfpool_stats_t *stats, enum stats_field field);
/* Adds each field of *more to *sum, except that wait_ns_max becomes the larger of the two.  Also copies the backend of
 * *more. */
void stats_add(lfpool_stats_t *sum, const lfpool_stats_t *more);

void stats_put_text(struct text *t, const lfpool_stats_t *stats);
/* Writes all fields as members of a JSON object, without its braces: "capacity":100,"active":10 */
void stats_put_json(struct text *t, const lfpool_stats_t *stats);

#endif
