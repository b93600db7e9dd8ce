/* SPDX-License-Identifier: MIT */
/*
 * team.h - one cell of the tables as a benchmark: some threads, one subject, one workload, objects of one size.
 *
 * Idea         Google Benchmark decides how many chunks are run and starts the threads (main.cpp).  They warm up and
 *              start together, pinned to a processor each if there are enough; each reads the clock when it starts and
 *              when it ends.  The first that has done all chunks stops the others, unless they need each other
 *              (hand-off, jobs).
 *                 A worker (subject.h) is what the loops see; a member is the worker with what only the runner needs.
 *                 No two
 *              members share a cache line, and neither do their arrays.
 * Order        member_make, member_begin, the loop, member_end, member_unmake.  All have begun before any thread starts
 *              the loop; all have come to the end before any does what follows.
 * C and C++    The loops are C's, and so is all that runs beside them; main.cpp speaks with Google Benchmark.
 * The figure   ns per pair = elapsed time x min(threads, CPUs) / pairs.
 *              Elapsed from the first thread's start to the last thread's end; a pair is one acquire and its release;
 *              CPUs are those the process may use.  So it is the CPU time that there was for each pair, and stays
 *              comparable when there are more threads than CPUs.
 *              The column "CPU" of Google Benchmark means nothing here: its clock does not run meanwhile.
 */
#ifndef LFPOOL_BENCH_TEAM_H
#define LFPOOL_BENCH_TEAM_H

#include "workload.h"

#include <pthread.h>
#include <sched.h>

#ifdef __cplusplus
extern "C" {
#endif

#define THREADS_MAX 256
#define POOLS_MAX 64
#define RESTING_THREADS 16

/* A cell of the tables. */
struct cell {
	const struct subject *subject;
	const struct workload *workload;
	size_t object_bytes;
};

/* What a row says besides its time. */
struct figure {
	char name[40];
	double value;
};
#define FIGURES_MAX 16
extern struct figure figures[FIGURES_MAX];
extern size_t figure_count;
void say_figure(const char *name, double value);

struct member {
	struct worker worker __attribute__((aligned(128)));
	size_t pairs;       /* of which this member saw the release */
	size_t asked, done; /* chunks                               */
	uint64_t start_ns, end_ns;
	cpu_set_t affinity; /* as it was                            */
	bool pinned;
};

/* One run at a time. */
struct team {
	/* Not written while the clock runs. */
	const struct cell *cell;
	void *shared;
	unsigned threads;
	unsigned at_once;       /* threads that can run at the same time */
	size_t work;            /* work: rounds that take its time       */
	void *pools[POOLS_MAX]; /* turns: all of them; `shared` is the first */
	struct ring *rings[THREADS_MAX];
	unsigned ring_count;
	/* exhausted: threads that have used the pool and now rest, each with whatever cache the pool keeps for a
	 * thread.  It must look into those before it may say NULL. */
	pthread_t resting[RESTING_THREADS];
	pthread_barrier_t turn;
	void **nodes; /* retire: the table; its entries are atomic */
	uint64_t cpu_ns[2],
		settled_ns; /* retire: processor time at the start, and when all was free; and when that was */

	void **table __attribute__((aligned(128)));    /* larson's extra one, in the mailbox; atomic  */
	size_t finished __attribute__((aligned(128))); /* jobs; atomic                                */
	uint64_t clock __attribute__((aligned(128)));  /* evict: operations of all, and more; atomic  */
	bool over __attribute__((aligned(128)));       /* a thread has done all chunks; atomic        */
	struct member members[THREADS_MAX];
};
extern struct team team;

/* How many CPUs this process may use. */
unsigned cpus(void);

/* By one thread, before the members are made: opens the subject. */
void team_make(const struct cell *cell, unsigned threads);
/* And when all are unmade. */
void team_unmake(void);

/* 0 .. count - 1, for free(): falling; with `random` in random order (Fisher and Yates 1938, Durstenfeld 1964). */
uint32_t *order_make(size_t count, struct random *random);
/* Pins the calling thread, if there are enough CPUs, lets it join, and gives it what its loop needs. */
void member_make(struct member *member, unsigned index);
/* Objects that are out before the loop, and pages that should be there. */
void member_begin(struct member *member);
/* Does it only read, as long as the others do something? */
bool member_reads(const struct member *member);
/* What it runs. */
loop_fn *member_loop(const struct member *member);
/* Releases what is out after the loop. */
void member_end(struct member *member);
void member_unmake(struct member *member);
/* retire: blocks until all is free that was deferred; each thread of the team calls it. */
void member_settle(struct member *member);

/* Once, before all others. */
void teams_init(void);
/* A run, by each of its threads.  All begin, measure and end together. */
void team_begin(const struct cell *cell, unsigned threads, unsigned index);
/* Runs so many chunks, or fewer if another thread has done all of its own; the seconds that all would have taken.  The
 * figures are there when it returns in thread 0. */
double team_measure(unsigned index, size_t chunks);
void team_end(unsigned index);

/* One thread runs `pairs` pairs, and nothing is measured: for counting instructions from outside. */
void team_run_exactly(const struct cell *cell, size_t pairs);

#ifdef __cplusplus
}
#endif

#endif
