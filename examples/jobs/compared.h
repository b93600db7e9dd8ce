/* SPDX-License-Identifier: MIT */
/*
 * compared.h - the job system on one page, and a tree of jobs that is timed.  A file that includes it defines COMPARED,
 * a name, and possibly macros in place of the two calls for records.
 */
#include "compare.h"
#include "harness.h"

#define COMPARED_JOIN_(left, right) left##right
#define COMPARED_JOIN(left, right) COMPARED_JOIN_(left, right)

/* The application of one_page.c is not called.  Its main() is an ordinary function here. */
#define main COMPARED_JOIN(one_page_of_, COMPARED)
int main(int argc, char **argv);
#include "one_page.c"
#undef main

_Static_assert((int)WORKERS_MAX >= COMPARE_WORKERS_MAX, "compare() checks the number of workers");

static void node(struct worker *worker, int64_t depth, int64_t steps)
{
	uint64_t state = (uint64_t)steps + 1;

	/* Xorshift: each step needs the result of the last one, and the state is never 0. */
	for (int64_t i = 0; i < steps; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
	}
	worker->found += state != 0;
	if (depth > 0) {
		spawn(worker, node, depth - 1, steps);
		spawn(worker, node, depth - 1, steps);
	}
}

static uint64_t measure(int count, size_t records, struct tree tree, int64_t *jobs_out, size_t *lost_out)
{
	for (int i = 0; i < count; i++)
		workers[i].found = 0;

	const uint64_t begin = now_ns();

	*lost_out = run(count, records, node, tree.depth, tree.steps);

	const uint64_t end = now_ns();

	*jobs_out = 0;
	for (int i = 0; i < count; i++)
		*jobs_out += workers[i].found;
	return end - begin;
}
