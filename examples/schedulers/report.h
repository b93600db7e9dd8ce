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

#include "harness.h"
#include "records.h"
#include "tree.h"

#include <stdalign.h>

#define WORKERS_MAX 64

struct options {
	const char *scheduler;
	unsigned workers;
	enum allocator allocator;
	size_t capacity; /* records; malloc knows of none */
	struct tree tree;
};

/* What one worker has done, or all have. */
struct tally {
	alignas(128) uint64_t nodes; /* visited                                                                 */
	uint64_t inlined;            /* of these: without a record, by the worker that wanted to spawn it */
};

/* Ends the program when they are wrong. */
struct options parse_options(const char *scheduler, int argc, char **argv);

/* Says what so many did in that time, and closes the records.  Returns what main() returns. */
int report(const struct options *options, struct records *records, uint64_t took_ns, const struct tally *tallies, size_t count);

#endif
