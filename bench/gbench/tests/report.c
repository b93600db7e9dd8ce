/* SPDX-License-Identifier: MIT */
/*
 * report.c - benchmarks whose report is known beforehand; report.cmake reads it.
 */
#include "gbench/gbench.h"

#define ITERATIONS 10

/* With T threads of ITERATIONS iterations, of 0.5 seconds each in manual time: T x 5 seconds, a mean of 5. */
static void everything(gbench_state_t *state, void *context)
{
	static const unsigned flags[] = {
		GBENCH_COUNTER_PLAIN, GBENCH_COUNTER_RATE, GBENCH_COUNTER_AVG_THREADS,
		GBENCH_COUNTER_ITERATION_INVARIANT, GBENCH_COUNTER_PER_ITERATION, GBENCH_COUNTER_INVERT,
		GBENCH_COUNTER_AVG_THREADS | GBENCH_COUNTER_RATE,
	};
	static const char *const names[] = {"plain", "rate", "avg_threads", "invariant", "per_iteration", "invert",
					    "avg_rate"};

	(void)context;
	while (gbench_next(state))
		gbench_set_iteration_time(state, 0.5);
	for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
		gbench_counter(state, names[i], 1e6, flags[i]);
		/* Again: replaces. */
		gbench_counter(state, names[i], 20, flags[i]);
	}
	gbench_counter(state, "kibi", 1024, GBENCH_COUNTER_1024);
	gbench_set_items(state, 100);
	gbench_set_bytes(state, 1000);
	gbench_set_label(state, "a label, \"quoted\"");
}

static void once(gbench_state_t *state, void *context)
{
	(void)context;
	gbench_counter(state, "once", 1, GBENCH_COUNTER_PLAIN);
}

static void batches(gbench_state_t *state, void *context)
{
	double done = 0;

	(void)context;
	while (gbench_next_batch(state, 7))
		done += 7;
	gbench_counter(state, "done", done, GBENCH_COUNTER_PLAIN);
}

static void give_up(gbench_state_t *state, void *context)
{
	(void)context;
	if (gbench_state_thread_index(state) == 0)
		gbench_skip(state, "no luck");
	while (gbench_next(state))
		;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"bytes", "count"};
	static const int64_t values[] = {64, -3};
	gbench_t *benchmark = gbench_register("everything", everything, NULL);

	gbench_fixture(benchmark, NULL, once);
	gbench_args(benchmark, values, 2);
	gbench_arg_names(benchmark, names, 2);
	gbench_threads(benchmark, 4);
	gbench_iterations(benchmark, ITERATIONS);
	gbench_use_manual_time(benchmark);
	gbench_unit(benchmark, GBENCH_MILLISECOND);

	benchmark = gbench_register("batches", batches, NULL);
	gbench_threads(benchmark, 3);
	gbench_iterations(benchmark, 100);

	benchmark = gbench_register("give_up", give_up, NULL);
	gbench_threads(benchmark, 2);
	gbench_iterations(benchmark, ITERATIONS);

	benchmark = gbench_register("repeated", batches, NULL);
	gbench_process_cpu_time(benchmark);
	gbench_use_real_time(benchmark);
	gbench_min_time(benchmark, 0.001);
	gbench_repetitions(benchmark, 3);

	gbench_add_context("subject.malloc", "allocator|glibc|2.36");
	return gbench_main(argc, argv);
}
