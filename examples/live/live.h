/* SPDX-License-Identifier: MIT */
/*
 * live.h - shows the pools of a running program: as a table that is redrawn regularly, as a dump on SIGUSR1, and as a
 *          trace, for a picture over time.
 *
 *     live_start(500);
 *     live_watch(jobs, "jobs", sizeof(struct job));
 *     ...
 *     live_forget(jobs);                                 before lfpool_destroy()
 *     live_stop();
 *
 *     kill -USR1 PID                                     the table once, and lfpool_dump() of each pool
 *
 * Two files to copy into a program.  A look costs one lfpool_stats(), on a separate thread: no thread that acquires
 * or releases waits for it.
 */
#ifndef EXAMPLE_LIVE_H
#define EXAMPLE_LIVE_H

#include "lfpool/lfpool.h"

#ifdef _WIN32
#define LIVE_SIGNAL SIGBREAK /* Ctrl-Break in the console */
#else
#define LIVE_SIGNAL SIGUSR1
#endif

/* Before live_start(): also writes each pool's active, cached and waiting numbers to this file, about every
 * millisecond.  ui.perfetto.dev, chrome://tracing and examples/live/draw show it, even if the program crashed.  False:
 * the file cannot be written. */
bool live_trace(const char *path);
/* Starts a thread that checks for LIVE_SIGNAL, and then writes to stderr, within a few hundredths of a second.
 * top_ms: also draws the table on stdout every `top_ms` milliseconds; in a terminal always at the same place.  0: no
 * table.  False: the system refuses a thread. */
bool live_start(unsigned top_ms);
/* At most 64 pools; more are not shown.  `name` is kept. */
void live_watch(const lfpool_t *pool, const char *name, size_t object_size);
void live_forget(const lfpool_t *pool);
/* Ends the thread, after a last table if tables are drawn. */
void live_stop(void);

#endif
