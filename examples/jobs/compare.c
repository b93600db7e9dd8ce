/* SPDX-License-Identifier: MIT */
/*
 * compare.c - times the job system on one page with records from three sources, see compare.h.
 *
 * Idea         A round runs each tree once with each source, in an order that changes from round to round, so a
 *              disturbance hits all sources.  The first round only warms up.  The table has medians, and marks results
 *              whose ranges over the rounds overlap.
 */
#include "compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SUBJECTS = 3 };

static const struct compared *const subjects[SUBJECTS] = {&compared_lfpool, &compared_malloc, &compared_mutex};

/* With more work for each job the trees are smaller, so that each takes about the same time. */
static const struct load {
	const char *what;
	int64_t steps;
	unsigned less_depth;
} loads[] = {
	{"nothing", 0, 0},
	{"50 steps", 50, 2},
	{"500 steps", 500, 5},
};

enum { LOADS = sizeof(loads) / sizeof(*loads) };

/* A line of the table: a load on a number of workers. */
struct line {
	const struct load *load;
	int workers;
	double ns[SUBJECTS][COMPARE_ROUNDS_MAX]; /* nanoseconds per job of each round; sorted at the end */
};

static int by_size(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static bool measure_once(const struct line *line, unsigned subject, size_t records, unsigned depth, double *ns_out)
{
	const struct tree tree = {depth - line->load->less_depth, line->load->steps};
	const int64_t wanted = (INT64_C(2) << tree.depth) - 1;
	int64_t jobs;
	size_t lost;
	const uint64_t taken = subjects[subject]->measure(line->workers, records, tree, &jobs, &lost);

	*ns_out = (double)taken / (double)wanted;
	if (jobs == wanted && lost == 0)
		return true;
	printf("%s: %" PRId64 " jobs of %" PRId64 " ran, %zu records lost\n", subjects[subject]->name, jobs, wanted,
	       lost);
	return false;
}

static void print_line(const struct line *line, unsigned rounds)
{
	printf("%-10s %7d", line->load->what, line->workers);
	for (unsigned i = 0; i < SUBJECTS; i++)
		printf(" %8.1f %8.1f", line->ns[i][rounds / 2], line->ns[i][0]);
	for (unsigned i = 1; i < SUBJECTS; i++) {
		const double *ours = line->ns[0], *its = line->ns[i];
		const bool overlap = ours[0] <= its[rounds - 1] && its[0] <= ours[rounds - 1];

		printf(" %12.2f%c", its[rounds / 2] / ours[rounds / 2], overlap ? '=' : ' ');
	}
	printf("\n");
}

static void print_table(struct line *lines, unsigned count, size_t records, unsigned rounds)
{
	printf("ns for each job, elapsed time / jobs: the median of %u rounds, and the least; %zu records\n"
	       "ratios: of the medians; =: the ranges over the rounds overlap\n\n",
	       rounds, records);
	printf("%-10s %7s", "work", "workers");
	for (unsigned i = 0; i < SUBJECTS; i++)
		printf(" %8s %8s", subjects[i]->name, "least");
	for (unsigned i = 1; i < SUBJECTS; i++)
		printf(" %6s/lfpool", subjects[i]->name);
	printf("\n");
	for (unsigned i = 0; i < count; i++) {
		for (unsigned subject = 0; subject < SUBJECTS; subject++)
			qsort(lines[i].ns[subject], rounds, sizeof(double), by_size);
		print_line(&lines[i], rounds);
	}
}

bool compare(int workers, size_t records, unsigned depth, unsigned rounds)
{
	static struct line lines[2 * LOADS];
	unsigned count = 0;
	bool good = true;

	for (int used = 1;; used = workers) {
		for (unsigned i = 0; i < LOADS; i++)
			lines[count++] = (struct line){&loads[i], used, {{0}}};
		if (used == workers)
			break;
	}
	for (unsigned round = 0; round <= rounds; round++)
		for (unsigned i = 0; i < count; i++)
			for (unsigned j = 0; j < SUBJECTS; j++) {
				const unsigned subject = (round + j) % SUBJECTS;
				double ns;

				good &= measure_once(&lines[i], subject, records, depth, &ns);
				if (round > 0)
					lines[i].ns[subject][round - 1] = ns;
			}
	print_table(lines, count, records, rounds);
	return good;
}
