/* SPDX-License-Identifier: MIT */
/*
 * scenario.h - the tests' frame: each scenario in a process of its own.
 *
 * Idea         The library can run once in a process, and some scenarios shall end theirs.  So each is run by a child,
 *              which registers, runs and checks.  A child that hangs is killed after a minute and counts as failed.
 */
#ifndef GBENCH_TESTS_SCENARIO_H
#define GBENCH_TESTS_SCENARIO_H

#include "gbench/gbench.h"

struct scenario {
	const char *name;
	void (*run)(void);
	const char *dies; /* NULL: must end normally; else by abort(3), with this on stderr */
};

/* Runs all that there are, or those named on the command line; the program's exit status. */
int scenarios_main(int argc, char **argv, const struct scenario *scenarios, size_t count);

/* Ends the child as failed unless `right`.  From any thread. */
#define CHECK(right) check_that((right), #right, __FILE__, __LINE__)
void check_that(bool right, const char *what, const char *file, int line);

/* gbench_run() with short times and these other arguments; `flag` may be NULL.  How many rows. */
size_t run_rows(const char *flag);

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
