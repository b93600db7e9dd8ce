/* SPDX-License-Identifier: MIT */
/*
 * compare.h - the job system on one page (one_page.c) with its records from lfpool, malloc, and a list under a mutex.
 *
 * Idea         compared_lfpool.c, compared_malloc.c and compared_mutex.c each compile the same job system.  The last
 *              two replace its calls lfpool_cache_acquire() and lfpool_cache_release(); all three inline these calls.
 *              compare.c runs the same trees of jobs on each of the three.
 */
#ifndef EXAMPLE_COMPARE_H
#define EXAMPLE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A binary tree of 2^(depth + 1) - 1 jobs, each with `steps` steps of arithmetic, two or three nanoseconds each. */
struct tree {
	int64_t depth, steps;
};

struct compared {
	const char *name;
	/* Returns the nanoseconds that the tree took. *jobs_out: the number of jobs that ran; *lost_out: the number of
	 * records that were not released. */
	uint64_t (*measure)(int workers, size_t records, struct tree tree, int64_t *jobs_out, size_t *lost_out);
};

extern const struct compared compared_lfpool, compared_malloc, compared_mutex;

#define COMPARE_WORKERS_MAX 64
#define COMPARE_DEPTH_MIN 5
#define COMPARE_DEPTH_MAX 26
#define COMPARE_ROUNDS_MAX 99

/* Prints a table for one worker, and for `workers`.  The trees have up to `depth` levels below the first.  False: a job
 * did not run, or ran twice, or a record was lost; the reason is printed. */
bool compare(int workers, size_t records, unsigned depth, unsigned rounds);

#endif
