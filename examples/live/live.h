/* SPDX-License-Identifier: MIT */
/*
 * live.h - the pools of a running program, to look at: as a table that is drawn again and again, and as a dump on
 * SIGUSR1.
 *
 *     live_start(500);
 *     live_watch(jobs, "jobs", sizeof(struct job));
 *     ...
 *     live_forget(jobs);                                 before lfpool_destroy()
 *     live_stop();
 *
 *     kill -USR1 PID                                     the table once, and what lfpool_dump() says of each pool
 *
 * Two files to be copied into a program.  What a look costs is what lfpool_stats() costs, on a thread of its own: no
 * thread that acquires or releases waits for it.
 */
#ifndef EXAMPLE_LIVE_H
#define EXAMPLE_LIVE_H

#include "lfpool/lfpool.h"

#ifdef _WIN32
#define LIVE_SIGNAL SIGBREAK /* Ctrl-Break in the console */
#else
#define LIVE_SIGNAL SIGUSR1
#endif

/*
 * Starts a thread that looks whether LIVE_SIGNAL was sent, and then writes to stderr, a few hundredths of a second
 * later.  top_ms: draws the table on stdout, too, each time so many milliseconds have gone by; in a terminal always at
 * the same place.  0: it does not.  False: the system refuses a thread.
 */
bool live_start(unsigned top_ms);
/* At most 64 pools; one more is not shown.  `name` is kept. */
void live_watch(const lfpool_t *pool, const char *name, size_t object_size);
void live_forget(const lfpool_t *pool);
/* After a last table, if they are drawn. */
void live_stop(void);

#endif
