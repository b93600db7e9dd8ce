/* SPDX-License-Identifier: MIT */
/*
 * report.h - what all programs of this folder have in common: their options, and what they say at the end.
 *
 *     scheduler-NAME [--workers N] [--allocator lfpool|mutex|malloc] [--capacity N] [--nodes-seed N] [--small] [--work N]
 *
 * The last line is always of this form, for scripts:
 *
 *     openmp lfpool 2 workers: 1234567 jobs in 1.234 s: 1000461 jobs/s
 *
 * Exit status  0: every node was visited once, and every record came back.  1: not so, or there is no pool.  2: wrong usage.
 *              3: no thread or no memory.
 */
#ifndef EXAMPLE_SCHEDULERS_REPORT_H
#define EXAMPLE_SCHEDULERS_REPORT_H

#include "records.h"
#include "tree.h"

struct options {
	const char *scheduler;
	unsigned workers;
	enum allocator allocator;
	size_t capacity; /* records; malloc knows of none */
	struct tree tree;
};

struct result {
	uint64_t nodes;    /* that were visited                                         */
	uint64_t inlined;  /* of these: without a record, by the worker that wanted to spawn it */
	uint64_t began_ns; /* now_ns() before the first job ...                         */
	uint64_t ended_ns; /* ... and after the last                                    */
};

/* Ends the program when they are wrong. */
struct options parse_options(const char *scheduler, int argc, char **argv);

/* Counts the tree again, closes the records, prints all that there is to say.  Returns the exit status. */
int report(const struct options *options, struct records *records, const struct result *result);

#endif
