/* SPDX-License-Identifier: MIT */
/*
 * test_loops.c - arguments reach the state, loops do the iterations that they count (G3).
 */
#include "scenario.h"

#include <stdatomic.h>

/* ---- Arguments ---- */

#define ROWS_MAX 32

struct seen {
	size_t arguments;
	size_t rows;
	int64_t values[ROWS_MAX][3];
};

static void note_arguments(gbench_state_t *state, void *context)
{
	struct seen *seen = context;

	CHECK(seen->rows < ROWS_MAX);
	for (size_t i = 0; i < seen->arguments; i++)
		seen->values[seen->rows][i] = gbench_state_arg(state, i);
	seen->rows++;
	CHECK(gbench_state_threads(state) == 1 && gbench_state_thread_index(state) == 0);
	CHECK(gbench_state_iterations(state) == 0);
	while (gbench_next(state))
		;
	CHECK(gbench_state_iterations(state) == 1);
}

static gbench_t *noted(const char *name, struct seen *seen, size_t arguments)
{
	gbench_t *benchmark = gbench_register(name, note_arguments, seen);

	seen->arguments = arguments;
	gbench_iterations(benchmark, 1);
	return benchmark;
}

static void saw(const struct seen *seen, size_t rows, const int64_t *values)
{
	CHECK(seen->rows == rows);
	for (size_t i = 0; i < rows; i++)
		for (size_t a = 0; a < seen->arguments; a++)
			CHECK(seen->values[i][a] == values[i * seen->arguments + a]);
}

static void arguments(void)
{
	static struct seen none, one, three, range, dense;
	static const int64_t triples[] = {1, -2, INT64_MAX, INT64_MIN, 0, 7};
	static const char *const names[] = {"a", "b", "c"};
	gbench_t *benchmark;

	noted("none", &none, 0);
	benchmark = noted("one", &one, 1);
	gbench_arg(benchmark, 5);
	gbench_arg(benchmark, -6);
	benchmark = noted("three", &three, 3);
	gbench_arg_names(benchmark, names, 3);
	gbench_args(benchmark, triples, 3);
	gbench_args(benchmark, triples + 3, 3);
	benchmark = noted("range", &range, 1);
	gbench_range(benchmark, 1, 100);
	gbench_range_multiplier(benchmark, 10);
	gbench_range(benchmark, 5, 200);
	benchmark = noted("dense", &dense, 1);
	gbench_dense_range(benchmark, -1, 6, 3);

	CHECK(run_rows(NULL) == 1 + 2 + 2 + 8 + 3);
	saw(&none, 1, NULL);
	saw(&one, 2, (const int64_t[]){5, -6});
	saw(&three, 2, triples);
	saw(&range, 8, (const int64_t[]){1, 8, 64, 100, 5, 10, 100, 200});
	saw(&dense, 3, (const int64_t[]){-1, 2, 5});
}

/* ---- Batches ---- */

struct batch {
	size_t count;    /* iterations in one batch              */
	int64_t asked;   /* gbench_iterations(), or 0: by time   */
	atomic_int runs;
};

static void whole_batches(gbench_state_t *state, void *context)
{
	struct batch *batch = context;
	const int64_t count = (int64_t)batch->count;
	int64_t done = 0;

	while (gbench_next_batch(state, batch->count)) {
		for (size_t i = 0; i < batch->count; i++) {
			gbench_clobber();
			done++;
		}
		CHECK(gbench_state_iterations(state) == done);
	}
	CHECK(gbench_state_iterations(state) == done);
	CHECK(done % count == 0);
	/* Up to count - 1 more than asked for, and not fewer. */
	if (batch->asked)
		CHECK(done == (batch->asked + count - 1) / count * count);
	atomic_fetch_add(&batch->runs, 1);
}

static void batches(void)
{
	static struct batch plan[] = {
		{.count = 1, .asked = 1},	{.count = 1, .asked = 1000},   {.count = 7, .asked = 7},
		{.count = 7, .asked = 6},	{.count = 7, .asked = 1000},   {.count = 1024, .asked = 1},
		{.count = 1024, .asked = 1023}, {.count = 1024, .asked = 1025}, {.count = 1024},
		{.count = 1},
	};

	for (size_t i = 0; i < COUNT(plan); i++) {
		gbench_t *benchmark = gbench_register("batch", whole_batches, &plan[i]);

		if (plan[i].asked)
			gbench_iterations(benchmark, plan[i].asked);
		gbench_threads(benchmark, 1);
		gbench_threads(benchmark, 3);
	}
	CHECK(run_rows(NULL) == 2 * COUNT(plan));
	for (size_t i = 0; i < COUNT(plan); i++)
		CHECK(plan[i].asked ? atomic_load(&plan[i].runs) == 1 + 3 : atomic_load(&plan[i].runs) > 1 + 3);
}

/* ---- One by one ---- */

static void count_one_by_one(gbench_state_t *state, void *context)
{
	int64_t done = 0;

	while (gbench_next(state))
		CHECK(gbench_state_iterations(state) == ++done);
	CHECK(done == *(int64_t *)context && gbench_state_iterations(state) == done);
	/* Said once, said for good. */
	CHECK(!gbench_next(state) && !gbench_next_batch(state, 10));
	CHECK(gbench_state_iterations(state) == done);
}

static void one_by_one(void)
{
	static int64_t asked = 1234;
	gbench_t *benchmark = gbench_register("next", count_one_by_one, &asked);

	gbench_iterations(benchmark, asked);
	gbench_threads(benchmark, 1);
	gbench_threads(benchmark, 2);
	CHECK(run_rows(NULL) == 2);
}

/* ---- Time ---- */

/* Pausing changes what is measured, not what is done. */
static void pause_each(gbench_state_t *state, void *context)
{
	int64_t done = 0;

	(void)context;
	while (gbench_next(state)) {
		gbench_pause(state);
		done++;
		gbench_resume(state);
	}
	CHECK(done == 100 && gbench_state_iterations(state) == 100);
}

static void pauses(void)
{
	gbench_t *benchmark = gbench_register("pause", pause_each, NULL);

	gbench_iterations(benchmark, 100);
	gbench_threads(benchmark, 3);
	CHECK(run_rows(NULL) == 1);
}

static int64_t asked_last;

static void half_a_second(gbench_state_t *state, void *context)
{
	(void)context;
	while (gbench_next(state))
		gbench_set_iteration_time(state, 0.5);
	if (gbench_state_thread_index(state) == 0)
		asked_last = gbench_state_iterations(state);
}

/* The manual time decides how long a run is.  It is the mean over the threads: 1.5 s are 3 iterations of each. */
static void manual_time(void)
{
	gbench_t *benchmark = gbench_register("manual", half_a_second, NULL);

	gbench_use_manual_time(benchmark);
	gbench_threads(benchmark, 2);
	gbench_min_time(benchmark, 1.5);
	CHECK(run_rows(NULL) == 1);
	/* Runs are 1 and then about 1.4 times what would be enough. */
	CHECK(asked_last >= 3 && asked_last <= 6);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{"arguments", arguments, NULL}, {"batches", batches, NULL},	    {"one_by_one", one_by_one, NULL},
		{"pauses", pauses, NULL},	{"manual_time", manual_time, NULL},
	};

	return scenarios_main(argc, argv, scenarios, COUNT(scenarios));
}
