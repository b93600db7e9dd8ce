/* SPDX-License-Identifier: MIT */
/*
 * count.h - counts a directory tree, twice over: in one thread without a pool, and with jobs and pooled records.
 */
#ifndef EXAMPLE_COUNT_H
#define EXAMPLE_COUNT_H

#include "jobs.h"
#include "reader.h"

/* What a tree comes to, however it was counted. */
struct outcome {
	struct counts counts;
	struct words names;
	uint64_t ns; /* how long it took */
};

bool outcome_equal(const struct outcome *a, const struct outcome *b);
void outcome_free(struct outcome *outcome);

/* A plain loop: what all other ways have to agree with. */
void count_alone(struct outcome *outcome_out, const char *path);

struct job_options {
	unsigned workers;
	size_t capacity; /* job records, and as many result records */
	lfpool_backend_t backend;
};

/* How the pools fared. */
struct figures {
	struct jobs_report jobs;
	uint64_t results_posted;
	uint64_t results_without_record;
	uint64_t results_from_others; /* released by another worker than the one that acquired */
	uint64_t results_largest_batch;
	size_t results_active;
	size_t results_available;
	size_t leaked; /* what lfpool_destroy() said of both pools */
};

/* A job for each entry of the tree.  After a failure the outcome is empty. */
lfpool_status_t count_with_jobs(struct outcome *outcome_out, struct figures *figures_out, const char *path,
				const struct job_options *options);

#endif
