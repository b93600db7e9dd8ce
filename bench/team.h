/* SPDX-License-Identifier: MIT */
/*
 * team.h - one benchmark, a cell of the tables: threads run a workload on a subject, with objects of one size.
 *
 * Idea         Google Benchmark decides the number of chunks and starts the threads (main.cpp).  They warm up and
 *              start the loop together.  If there are enough processors, each thread is pinned to one.  Each thread
 *              reads the clock when it starts and when it ends.  The first thread to finish its chunks stops the
 *              others, except in hand-off and jobs, where threads need each other.  The loops use a worker (subject.h);
 *              a member is a worker with the runner's own data.  No two members share a cache line, and neither do
 *              their arrays.
 * Order        member_make, member_begin, the loop, member_end, member_unmake.  No thread starts the loop before all
 *              threads have returned from member_begin, and none calls member_unmake before all have returned from
 *              member_end.
 * Languages    The loops and everything next to them are C; main.cpp talks to Google Benchmark.
 * The figure   ns per pair = elapsed time x min(threads, CPUs) / pairs.  The elapsed time begins with the start of the
 *              first thread and ends with the end of the last one.  A pair is one acquire and its release.  CPUs are
 *              the processors that the process may use.  So the figure is the CPU time available per pair, and
 *              figures stay comparable with more threads than CPUs.  Google Benchmark's column "CPU" is meaningless
 *              here: its clock does not run during the loop.
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
	size_t asked, done; /* chunks: to run, and run so far */
	uint64_t start_ns, end_ns;
	cpu_set_t affinity; /* the thread's affinity before it was pinned */
	bool pinned;
};

/* The data of a run.  Only one run is active at a time. */
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
	/* exhausted: threads that have used the pool and now rest.  The pool keeps a cache for each of them, and must
	 * search these caches before it may return NULL. */
	pthread_t resting[RESTING_THREADS];
	pthread_barrier_t turn; /* exhausted: between the resting threads and thread 0 */
	void **nodes;           /* retire: the table; its entries are atomic */
	uint64_t cpu_ns[2];     /* retire: processor time at the start, and when all deferred nodes were free */
	uint64_t settled_ns;    /* retire: when all deferred nodes were free */

	void **table __attribute__((aligned(128)));    /* larson: the extra table, in the mailbox; atomic */
	size_t finished __attribute__((aligned(128))); /* jobs; atomic */
	uint64_t clock __attribute__((aligned(128)));  /* evict: the capacity, plus all operations so far; atomic */
	bool over __attribute__((aligned(128)));       /* a thread has run all its chunks; atomic */
	struct member members[THREADS_MAX];
};
extern struct team team;

/* The number of CPUs that this process may use. */
unsigned cpus(void);

/* Opens the subject.  One thread calls it, before any member_make(). */
void team_make(const struct cell *cell, unsigned threads);
/* Closes the subject.  One thread calls it, after all calls of member_unmake(). */
void team_unmake(void);

/* Returns an array of 0 .. count - 1, to be freed with free(): descending, or with `random` in random order (Fisher and
 * Yates 1938, Durstenfeld 1964). */
uint32_t *order_make(size_t count, struct random *random);
/* Pins the calling thread, if there are enough CPUs, lets it join the subject, and prepares the data of its loop. */
void member_make(struct member *member, unsigned index);
/* Acquires the objects that are out before the loop, and touches pages. */
void member_begin(struct member *member);
/* Does this member only read while others update? */
bool member_reads(const struct member *member);
/* Returns the member's loop. */
loop_fn *member_loop(const struct member *member);
/* Releases the objects that are out after the loop. */
void member_end(struct member *member);
void member_unmake(struct member *member);
/* retire: blocks until all deferred nodes are free; each thread of the team calls it. */
void member_settle(struct member *member);

/* Called once, before all other functions here. */
void teams_init(void);
/* Each thread of a run calls team_begin(), team_measure() and team_end(), and waits for the other threads in each. */
void team_begin(const struct cell *cell, unsigned threads, unsigned index);
/* Runs `chunks` chunks, or fewer if another thread has already run all of its chunks.  Returns the seconds that
 * `chunks` chunks would have taken.  When it returns in thread 0 the figures are ready. */
double team_measure(unsigned index, size_t chunks);
void team_end(unsigned index);

/* Runs `pairs` pairs on the calling thread without measuring.  An outside tool can count the instructions. */
void team_run_exactly(const struct cell *cell, size_t pairs);

#ifdef __cplusplus
}
#endif

#endif
