/* SPDX-License-Identifier: MIT */
/*
 * check_jobs.h - what the tests of the job system share.
 *
 *     check_jobs WORKERS RECORDS SEED        submit, wait, wake up, inject
 *     check_graph WORKERS RECORDS SEED       dependencies, continuations, parallel for
 *
 * Idea         Each part gives the system work whose every step leaves a mark, and then reads the marks: run exactly once, not
 *              before what had to end before, on the worker it was promised to.  Then every record is back.
 */
#ifndef EXAMPLE_CHECK_JOBS_H
#define EXAMPLE_CHECK_JOBS_H

#include "harness.h"
#include "jobs.h"

#include <string.h>

#define REQUIRE(condition) ((condition) ? (void)0 : failed(#condition, __FILE__, __LINE__))

static unsigned workers;
static size_t records;
static uint64_t seed;

static inline _Noreturn void failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: required: %s (%u workers, %zu records, seed %llu)\n", file, line, condition, workers, records,
		(unsigned long long)seed);
	exit(1);
}

static inline struct jobs *system_with(size_t edges, size_t deque_capacity)
{
	struct jobs_config config = {.workers = workers, .capacity = records, .edges = edges, .deque_capacity = deque_capacity};
	struct jobs *jobs;

	REQUIRE(jobs_create(&jobs, &config) == LFPOOL_OK);
	return jobs;
}

/* Nothing runs, and every record is back. */
static inline struct jobs_report whole(struct jobs *jobs)
{
	struct jobs_report report = jobs_report(jobs);

	REQUIRE(report.active == 0 && report.available == records && report.edges_active == 0);
	return report;
}

static inline void count_up(_Atomic(uint64_t) *count)
{
	atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

static inline uint64_t counted(_Atomic(uint64_t) *count)
{
	return atomic_load_explicit(count, memory_order_relaxed);
}

static inline void parse_arguments(int argc, char **argv)
{
	unsigned long number[3];
	size_t count;

	for (int i = 1; i < 4; i++) {
		if (argc != 4 || !parse_numbers(argv[i], 1, 1 << 20, &number[i - 1], 1, &count)) {
			fprintf(stderr, "usage: %s WORKERS RECORDS SEED\n", argv[0]);
			exit(2);
		}
	}
	workers = (unsigned)number[0];
	records = number[1];
	seed = number[2];
}

#endif
