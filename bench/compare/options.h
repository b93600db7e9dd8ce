/* SPDX-License-Identifier: MIT */
/*
 * options.h - the command line of lfpool-compare.
 */
#ifndef LFPOOL_COMPARE_OPTIONS_H
#define LFPOOL_COMPARE_OPTIONS_H

#include "measure.h"

#include <stdbool.h>

#define OPTION_NUMBERS_MAX 16 /* numbers in one list */

struct options {
	bool workloads[WORKLOADS];
	bool subjects[SUBJECTS];
	unsigned long threads[OPTION_NUMBERS_MAX];
	size_t thread_counts;
	unsigned long bursts[OPTION_NUMBERS_MAX]; /* objects */
	size_t burst_counts;
	unsigned long repetitions;
	unsigned long milliseconds; /* of one measurement                            */
	const char *csv;            /* path, or NULL                                 */
	unsigned long pairs;        /* count mode: how many to run; 0 = measure      */
};

/* Reads the command line; ends the program for --help and for what it cannot understand (status 2). */
void options_read(struct options *options, int argc, char **argv);

#endif
