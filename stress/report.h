/* SPDX-License-Identifier: MIT */
/*
 * report.h - everything the harness prints while it runs.
 *
 * Idea         One lock around stdout, so that lines of several threads do not mix.  The lock would order threads, so nothing
 *              prints on the way of a healthy acquire or release.
 * Hangs        A hang is a finding too.  Every worker counts its operations (struct pulse).  One thread adds them up from time
 *              to time; when the sum has not moved for too long it names the cell and ends the program with status 3.  A
 *              single stuck thread is seen as well: the others end their round, and then the sum stands still.
 */
#ifndef STRESS_REPORT_H
#define STRESS_REPORT_H

/* One or more whole lines. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* There is no memory for this: ends the program. */
_Noreturn void say_no_memory(const char *for_what);

/*
 * The pool broke a promise.  Says what, in which round, with which configuration, and how to replay it;
 * counts it; and makes the cell stop.  Any thread.  Prints at most three of a cell's.  Silent with --history-only.
 */
__attribute__((format(printf, 1, 2))) void violation(const char *format, ...);

/* The same, for what the history shows. */
__attribute__((format(printf, 1, 2))) void violation_of_history(const char *format, ...);

struct cell;

/* From now on this cell must make progress; NULL: the run is over. */
void watchdog_watch(const struct cell *cell);

#endif
