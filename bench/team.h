/* SPDX-License-Identifier: MIT */
/*
 * team.h - one cell of the tables as a benchmark: some threads, one subject, one workload, objects of one size.
 *
 * Idea         Google Benchmark decides the number of chunks and starts the threads (main.cpp). They warm up and
 *              start together, pinned to a processor each if there are enough.  Each reads the clock when it starts
 *              and when it ends.  The first to finish all chunks stops the others, unless they need each other
 *              (hand-off, jobs).
 *              The loops use a worker (subject.h); a member is a worker with the runner's own data.  No two members
 *              share a cache line, and neither do their arrays.
 * Order        member_make, member_begin, the loop, member_end, member_unmake.  All have begun before any thread
 *              starts the loop; all have ended before any goes on.
 * Languages    The loops and everything next to them are C; main.cpp talks to Google Benchmark.
 * The figure   ns per pair = elapsed time x min(threads, CPUs) / pairs.  Elapsed from the first thread's start to the
 *              last thread's end; a pair is one acquire and its release; CPUs are those the process may use.  So it
 *              is the CPU time available per pair, and stays comparable with more threads than CPUs.  Google
 *              Benchmark's column "CPU" is meaningless here: its clock does not run during the loop.
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

/* A figure of a row, in addition to its time. */
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
	size_t pairs;       /* released by this member */
	size_t asked, done; /* chunks                               */
	uint64_t start_ns, end_ns;
	cpu_set_t affinity; /* as it was before */
	bool pinned;
};

/* One run at a time. */
struct team {
	/* Constant while the clock runs. */
	const struct cell *cell;
	void *shared;
	unsigned threads;
	unsigned at_once;       /* threads that can run at the same time */
	size_t work;            /* work: rounds per object */
	void *pools[POOLS_MAX]; /* turns: all pools; `shared` is the first */
	struct ring *rings[THREADS_MAX];
	unsigned ring_count;
	/* exhausted: threads that have used the pool and now rest, each with the cache that the pool keeps for it.
	 * The pool must search those caches before it may return NULL. */
	pthread_t resting[RESTING_THREADS];
	pthread_barrier_t turn;
	void **nodes; /* retire: the table; its entries are atomic */
	uint64_t cpu_ns[2],
		settled_ns; /* retire: processor time at the start, and when all was free; and that moment */

	void **table __attribute__((aligned(128)));    /* larson's extra one, in the mailbox; atomic  */
	size_t finished __attribute__((aligned(128))); /* jobs; atomic                                */
	uint64_t clock __attribute__((aligned(128)));  /* evict: the operations of all, and more; atomic */
	bool over __attribute__((aligned(128)));       /* a thread has done all chunks; atomic */
	struct member members[THREADS_MAX];
};
extern struct team team;

/* The number of CPUs that this process may use. */
unsigned cpus(void);

/* By one thread, before the members are made: opens the subject. */
void team_make(const struct cell *cell, unsigned threads);
/* After all members are unmade. */
void team_unmake(void);

/* 0 .. count - 1, for free(): descending, or with `random` in random order (Fisher and Yates 1938, Durstenfeld 1964).
 */
uint32_t *order_make(size_t count, struct random *random);
/* Pins the calling thread, if there are enough CPUs, lets it join, and prepares its loop's data. */
void member_make(struct member *member, unsigned index);
/* Acquires the objects that are out before the loop, and touches pages. */
void member_begin(struct member *member);
/* Does it only read, as long as others update? */
bool member_reads(const struct member *member);
/* Its loop. */
loop_fn *member_loop(const struct member *member);
/* Releases the objects that are out after the loop. */
void member_end(struct member *member);
void member_unmake(struct member *member);
/* retire: blocks until all deferred nodes are free; each thread of the team calls it. */
void member_settle(struct member *member);

/* Once, before everything else. */
void teams_init(void);
/* A run, by each of its threads.  All begin, measure and end together. */
void team_begin(const struct cell *cell, unsigned threads, unsigned index);
/* Runs `chunks` chunks, or fewer if another thread has done all of its own.  Returns the seconds that all would have
 * taken.  When it returns in thread 0 the figures are ready. */
double team_measure(unsigned index, size_t chunks);
void team_end(unsigned index);

/* One thread runs `pairs` pairs without measuring: for counting instructions from outside. */
void team_run_exactly(const struct cell *cell, size_t pairs);

#ifdef __cplusplus
}
#endif

#endif
