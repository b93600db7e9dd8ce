/* SPDX-License-Identifier: MIT */
/*
 * table.h - the cells of a comparison and what was measured in them; the table on the terminal and in the CSV.
 */
#ifndef LFPOOL_COMPARE_TABLE_H
#define LFPOOL_COMPARE_TABLE_H

#include "options.h"

#include <stdio.h>

struct cell {
	const struct subject *subject;
	struct work work;
	unsigned threads;
	double *ns; /* per pair, one for each repetition; sorted by table_finish() */
};

struct table {
	struct cell *cells; /* by workload, then threads, then subject */
	size_t count;
	size_t repetitions;
};

/* All cells that the options ask for, empty. */
void table_make(struct table *table, const struct options *options);

void table_free(struct table *table);

/* When all has been measured: makes the figures that the two functions below print. */
void table_finish(struct table *table);

/* For people. */
void table_print(const struct table *table);

/* For programs: one line for each cell, after a line with the columns' names.  False when it could not be written. */
bool table_write_csv(const struct table *table, FILE *file);

#endif
