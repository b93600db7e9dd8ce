/* SPDX-License-Identifier: MIT */
/*
 * team.h - one cell of the tables as a benchmark: some threads, one subject, one workload, objects of one size.
 *
 * Idea         Google Benchmark decides how many chunks are run and starts the threads.  They warm up and start together,
 *              pinned to a processor each if there are enough; each reads the clock when it starts and when it ends.  The
 *              first that has done all chunks stops the others, unless they need each other (hand-off, jobs).
 * The figure   ns per pair = elapsed time x min(threads, CPUs) / pairs.
 *              Elapsed from the first thread's start to the last thread's end; a pair is one acquire and its release;
 *              CPUs are those the process may use.  So it is the CPU time that there was for each pair, and stays
 *              comparable when there are more threads than CPUs.
 *              Fairness = what a chunk took the slowest thread / what it took them on average.
 *              The column "CPU" of Google Benchmark means nothing here: its clock does not run meanwhile.
 */
#ifndef LFPOOL_BENCH_TEAM_H
#define LFPOOL_BENCH_TEAM_H

#include "workload.h"

#include "gbench.h"

#define THREADS_MAX 64

/* A cell of the tables. */
struct cell {
	const struct subject *subject;
	/* One of these; none of them for "memory". */
	const struct workload *workload;
	const struct creation *creation;
	const struct backlog *backlog;
	size_t object_bytes; /* of workloads, and of "memory" */
	struct cell *before; /* main.c's                      */
};

/* How many CPUs this process may use. */
unsigned cpus(void);

/* For gbench: a run of a workload.  The context is a `struct cell`. */
void team_run(gbench_state_t *state, void *cell);

/* One thread runs `pairs` pairs, and nothing is measured: for counting instructions from outside. */
void team_run_exactly(const struct cell *cell, size_t pairs);

#endif
