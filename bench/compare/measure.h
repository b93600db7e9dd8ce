/* SPDX-License-Identifier: MIT */
/*
 * measure.h - one measurement: some threads, one subject, one workload, for some time.
 *
 * Idea         The threads warm up, start together, and run chunks of CHUNK_PAIRS pairs until a flag says stop.  Each
 *              notes its own start and end, so the clock is read twice per thread and never in a loop.
 * The figure   ns per pair = elapsed time x min(threads, CPUs) / pairs.
 *              Elapsed from the first thread's start to the last thread's end; a pair is one acquire and its release;
 *              CPUs are those the process may use.  So it is the CPU time that there was for each pair, and stays
 *              comparable when there are more threads than CPUs.  In the hand-off it holds the producer's time, the
 *              consumer's, and the ring's.
 */
#ifndef LFPOOL_COMPARE_MEASURE_H
#define LFPOOL_COMPARE_MEASURE_H

#include "subject.h"

#define THREADS_MAX 256

/* A workload with its number, as the tables list it. */
struct work {
	enum workload kind;
	size_t burst; /* BURSTS: objects */
};

/* How many CPUs this process may use. */
unsigned cpus(void);

/* min(threads, cpus()): how many threads can run at once. */
unsigned running(unsigned threads);

/* ns per pair.  `threads` must be even for HANDOFF. */
double measure(const struct subject *subject, const struct work *work, unsigned threads, uint64_t duration_ns);

/* Runs `pairs` pairs (in BURSTS, rounded up to whole bursts) in one thread and measures nothing: for counting
 * instructions from outside.  Not HANDOFF. */
void run_exactly(const struct subject *subject, const struct work *work, size_t pairs);

#endif
