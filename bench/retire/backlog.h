/* SPDX-License-Identifier: MIT */
/*
 * backlog.h - the workloads "backlog-...": what is deferred and not yet free, at most, and how much memory it takes.
 *
 * Idea         Two threads update as in `retire`, so many times a second together, for a second: a little each millisecond, and
 *              sleep until the next one; or as often as they can.  After each such piece they look how much is in flight.
 *              In backlog-stalled a third thread is inside one section for the first half; in backlog-bounded as well, and
 *              the pool has BOUNDED_CAPACITY objects more than the table: a thread that finds none waits.
 * The figures  most_objects          in flight
 *              most_objects_early    the same, in the first half: a backlog that grows has twice as much in the end
 *              most_resident_bytes   growth of the resident memory since the table was filled, at its greatest
 *              updates_per_second    that were made
 *              waits                 of the updates: the pool was empty
 * What counts  Each row is measured in a process of its own: elsewhere.h.
 */
#ifndef LFPOOL_BENCH_BACKLOG_H
#define LFPOOL_BENCH_BACKLOG_H

#include "../team.h"

#define BACKLOG_COUNT 6
#define BOUNDED_CAPACITY 16384

struct backlog {
	const char *name;
	const char *what; /* in one line                           */
	size_t rate;      /* updates a second; 0: no limit         */
	bool stalls;      /* a thread reads, and does not come to an end */
	bool bounded;     /* a small pool, of those that have one  */
};
extern const struct backlog backlogs[BACKLOG_COUNT];

bool backlog_fits(const struct backlog *backlog, const struct subject *subject);
/* By name; NULL: none. */
const struct backlog *backlog_find(const char *name);
void backlog_register(struct cell *cell);
/* What the process of a row does: it writes its figures to `file`. */
#define BACKLOG_OPTION "--backlog"
void backlog_play(const struct backlog *backlog, const struct subject *subject, FILE *file);

#endif
