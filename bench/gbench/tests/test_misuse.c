/* SPDX-License-Identifier: MIT */
/*
 * test_misuse.c - what a program does wrong ends it, with a line that names the call and the benchmark.
 */
#include "scenario.h"

#include <math.h>

/* ---- Before the run ---- */

static void nothing(gbench_state_t *state, void *context)
{
	(void)context;
	while (gbench_next(state))
		;
}

static gbench_t *plain(void)
{
	return gbench_register("wrong", nothing, NULL);
}

/* SCENARIO(name, statement): a scenario that does `statement` with a benchmark `b`. */
#define SCENARIO(name, statement)                                                                                      \
	static void name(void)                                                                                         \
	{                                                                                                              \
		gbench_t *b = plain();                                                                                 \
                                                                                                                       \
		(void)b;                                                                                               \
		statement;                                                                                             \
	}

static const int64_t two_values[] = {1, 2};
static const char *const no_name[] = {NULL};

SCENARIO(no_registered_name, gbench_register("", nothing, NULL))
SCENARIO(no_function, gbench_register("wrong", NULL, NULL))
SCENARIO(no_benchmark, gbench_arg(NULL, 1))
SCENARIO(no_values, gbench_args(b, NULL, 2))
SCENARIO(other_count, gbench_arg(b, 1); gbench_args(b, two_values, 2))
SCENARIO(name_missing, gbench_arg_names(b, no_name, 1))
SCENARIO(other_names, gbench_args(b, two_values, 2); gbench_arg_names(b, (const char *const[]){"a"}, 1))
SCENARIO(backward_range, gbench_range(b, 2, 1))
SCENARIO(small_multiplier, gbench_range_multiplier(b, 1))
SCENARIO(no_step, gbench_dense_range(b, 1, 2, 0))
SCENARIO(no_threads, gbench_threads(b, 0))
SCENARIO(no_thread_range, gbench_thread_range(b, 0, 2))
SCENARIO(no_unit, gbench_unit(b, (enum gbench_unit)4))
SCENARIO(no_min_time, gbench_min_time(b, 0))
SCENARIO(nan_min_time, gbench_min_time(b, NAN))
SCENARIO(no_iterations, gbench_iterations(b, 0))
SCENARIO(time_and_iterations, gbench_min_time(b, 1); gbench_iterations(b, 1))
SCENARIO(iterations_and_time, gbench_iterations(b, 1); gbench_min_time(b, 1))
SCENARIO(no_repetitions, gbench_repetitions(b, 0))
SCENARIO(real_and_manual, gbench_use_real_time(b); gbench_use_manual_time(b))
SCENARIO(manual_and_real, gbench_use_manual_time(b); gbench_use_real_time(b))
SCENARIO(no_key, gbench_add_context(NULL, "value"))
SCENARIO(run_twice, (void)run_rows(NULL); (void)run_rows(NULL))

/* ---- In the function: 3 threads, and the others must not wait for ever ---- */

static void run_it(gbench_fn *run, gbench_fn *setup)
{
	gbench_t *benchmark = gbench_register("wrong", run, NULL);

	gbench_fixture(benchmark, setup, NULL);
	gbench_arg(benchmark, 1);
	gbench_threads(benchmark, 3);
	gbench_iterations(benchmark, 10);
	(void)run_rows(NULL);
}

/* IN_LOOP(name, statement): in the loop of one thread.  IN_SETUP: in setup.  IN_FUNCTION: instead of the loop. */
#define IN_LOOP(name, statement)                                                                                       \
	static void name##_run(gbench_state_t *state, void *context)                                                   \
	{                                                                                                              \
		(void)context;                                                                                         \
		while (gbench_next(state))                                                                             \
			if (gbench_state_thread_index(state) == 1) {                                                   \
				statement;                                                                             \
			}                                                                                              \
	}                                                                                                              \
	static void name(void)                                                                                         \
	{                                                                                                              \
		run_it(name##_run, NULL);                                                                              \
	}
#define IN_SETUP(name, statement)                                                                                      \
	static void name##_setup(gbench_state_t *state, void *context)                                                 \
	{                                                                                                              \
		(void)context;                                                                                         \
		statement;                                                                                             \
	}                                                                                                              \
	static void name(void)                                                                                         \
	{                                                                                                              \
		run_it(nothing, name##_setup);                                                                         \
	}
#define IN_FUNCTION(name, statement)                                                                                   \
	static void name##_run(gbench_state_t *state, void *context)                                                   \
	{                                                                                                              \
		if (gbench_state_thread_index(state) == 1) {                                                           \
			statement;                                                                                     \
		}                                                                                                      \
		nothing(state, context);                                                                               \
	}                                                                                                              \
	static void name(void)                                                                                         \
	{                                                                                                              \
		run_it(name##_run, NULL);                                                                              \
	}

IN_LOOP(early_return, return)
IN_FUNCTION(no_loop, return)
IN_LOOP(batch_of_none, gbench_next_batch(state, 0))
IN_LOOP(batch_of_too_many, gbench_next_batch(state, SIZE_MAX))
IN_LOOP(pause_twice, gbench_pause(state); gbench_pause(state))
IN_LOOP(resume_alone, gbench_resume(state))
IN_LOOP(paused_next, gbench_pause(state))
IN_FUNCTION(pause_before, gbench_pause(state))
IN_LOOP(negative_time, gbench_set_iteration_time(state, -1e-9))
IN_LOOP(nan_time, gbench_set_iteration_time(state, NAN))
IN_LOOP(no_reason, gbench_skip(state, NULL))
IN_LOOP(no_such_argument, (void)gbench_state_arg(state, 1))
IN_LOOP(no_label, gbench_set_label(state, NULL))
IN_LOOP(no_counter_name, gbench_counter(state, "", 1, GBENCH_COUNTER_PLAIN))
IN_LOOP(no_such_flag, gbench_counter(state, "c", 1, 64))
IN_SETUP(next_in_setup, gbench_next(state))
IN_SETUP(batch_in_setup, gbench_next_batch(state, 1))
IN_SETUP(pause_in_setup, gbench_pause(state))
IN_SETUP(rendezvous_in_setup, gbench_rendezvous(state))

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{"no_registered_name", no_registered_name, "gbench_register: no name"},
		{"no_function", no_function, "gbench_register: wrong: no function"},
		{"no_benchmark", no_benchmark, "gbench_arg: no benchmark"},
		{"no_values", no_values, "gbench_args: wrong: no values"},
		{"other_count", other_count, "gbench_args: wrong: 2 in a row, but 1 before"},
		{"name_missing", name_missing, "gbench_arg_names: wrong: a name is NULL"},
		{"other_names", other_names, "gbench_arg_names: wrong: 1 in a row, but 2 before"},
		{"backward_range", backward_range, "gbench_range: wrong: first > last"},
		{"small_multiplier", small_multiplier, "gbench_range_multiplier: wrong: a multiplier below 2"},
		{"no_step", no_step, "gbench_dense_range: wrong: first > last, or a step below 1"},
		{"no_threads", no_threads, "gbench_threads: wrong: less than 1 thread"},
		{"no_thread_range", no_thread_range, "gbench_thread_range: wrong: not 1 <= first <= last"},
		{"no_unit", no_unit, "gbench_unit: wrong: no such unit"},
		{"no_min_time", no_min_time, "gbench_min_time: wrong: not a time above 0"},
		{"nan_min_time", nan_min_time, "gbench_min_time: wrong: not a time above 0"},
		{"no_iterations", no_iterations, "gbench_iterations: wrong: less than 1 iteration"},
		{"time_and_iterations", time_and_iterations, "gbench_iterations: wrong: not with gbench_min_time()"},
		{"iterations_and_time", iterations_and_time, "gbench_min_time: wrong: not with gbench_iterations()"},
		{"no_repetitions", no_repetitions, "gbench_repetitions: wrong: less than 1 repetition"},
		{"real_and_manual", real_and_manual, "gbench_use_manual_time: wrong: not with gbench_use_real_time()"},
		{"manual_and_real", manual_and_real, "gbench_use_real_time: wrong: not with gbench_use_manual_time()"},
		{"no_key", no_key, "gbench_add_context: no key, or no value"},
		{"run_twice", run_twice, "gbench_run: only once in a process"},
		{"early_return", early_return, "gbench_run: wrong: the function returned before gbench_next()"},
		{"no_loop", no_loop, "gbench_run: wrong: the function returned before gbench_next()"},
		{"batch_of_none", batch_of_none, "gbench_next_batch: wrong: not a number of iterations"},
		{"batch_of_too_many", batch_of_too_many, "gbench_next_batch: wrong: not a number of iterations"},
		{"pause_twice", pause_twice, "gbench_pause: wrong: paused already"},
		{"resume_alone", resume_alone, "gbench_resume: wrong: not paused"},
		{"paused_next", paused_next, "gbench_next: wrong: the timing is paused, gbench_resume() is missing"},
		{"pause_before", pause_before, "gbench_pause: wrong: not in the loop"},
		{"negative_time", negative_time, "gbench_set_iteration_time: wrong: not a time"},
		{"nan_time", nan_time, "gbench_set_iteration_time: wrong: not a time"},
		{"no_reason", no_reason, "gbench_skip: wrong: no reason"},
		{"no_such_argument", no_such_argument, "gbench_state_arg: wrong: argument 1 of 1"},
		{"no_label", no_label, "gbench_set_label: wrong: no label"},
		{"no_counter_name", no_counter_name, "gbench_counter: wrong: no name"},
		{"no_such_flag", no_such_flag, "gbench_counter: wrong: unknown flags"},
		{"next_in_setup", next_in_setup, "gbench_next: wrong: not in setup or teardown"},
		{"batch_in_setup", batch_in_setup, "gbench_next_batch: wrong: not in setup or teardown"},
		{"pause_in_setup", pause_in_setup, "gbench_pause: wrong: not in the loop"},
		{"rendezvous_in_setup", rendezvous_in_setup, "gbench_rendezvous: wrong: not in setup or teardown"},
	};

	return scenarios_main(argc, argv, scenarios, COUNT(scenarios));
}
