/* SPDX-License-Identifier: MIT */
/*
 * report.h - everything the harness prints while it runs.
 *
 * Idea         One lock around stdout, so that lines of several threads do not mix, and one line that is rewritten in
 *              place when stdout is a terminal.  The lock would order threads, so nothing prints on the way of a
 *              healthy acquire or release.
 */
#ifndef STRESS_REPORT_H
#define STRESS_REPORT_H

struct cell;
struct round;

/* One or more whole lines. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* The line that is rewritten; nothing when stdout is no terminal. */
__attribute__((format(printf, 1, 2))) void say_progress(const char *format, ...);

/*
 * The pool broke a promise.  Says what, in which round of which cell, with which configuration, and how to replay it;
 * counts it; and makes the cell stop.  Any thread.  Prints at most three of a cell's.  Silent with --history-only.
 */
__attribute__((format(printf, 2, 3))) void violation(struct round *round, const char *format, ...);

/* The same, for what the history shows. */
__attribute__((format(printf, 2, 3))) void violation_of_history(struct round *round, const char *format, ...);

/* The cell makes no progress: names it, and how to replay it. */
void say_hang(const struct cell *cell);

#endif
