/* SPDX-License-Identifier: MIT */
/*
 * test_gbench.c - Google Benchmark through gbench.h: the loops do the iterations that the report counts, and the report says
 * what it was told; and the barrier of a run, by threads that Google Benchmark starts.
 *
 * It can run once in a process: so all rows are registered, run once, and looked at by the tests after that.
 */
#include "support.h"

#include "barrier.h"
#include "gbench.h"

#include <string.h>
#include <unistd.h>

#define THREADS 8
#define ROUNDS 200

static char *report;

/* A figure of a row, by the names in the JSON. */
static double figure(const char *row, const char *key)
{
	char text[128];

	(void)snprintf(text, sizeof(text), "\"name\": \"%s\"", row);
	const char *at = strstr(report, text);

	assert_non_null(at);
	(void)snprintf(text, sizeof(text), "\"%s\": ", key);
	at = strstr(at, text);
	assert_non_null(at);
	return strtod(at + strlen(text), NULL);
}

/* ---- Iterations, times, counters ---- */

#define BATCHES "batches/7/iterations:100/manual_time/threads:3"

/* Whole batches, 5 seconds for each thread. */
static void run_batches(gbench_state_t *state, void *context)
{
	double done = 0;

	REQUIRE(context == &report && gbench_state_threads(state) == 3);
	while (gbench_next(state, 7))
		done += 7;
	REQUIRE(done == 105);
	gbench_set_iteration_time(state, 2);
	gbench_set_iteration_time(state, 3);
	gbench_counter(state, "done", -1);
	gbench_counter(state, "done", done);
	if (gbench_state_thread_index(state) == 2)
		gbench_counter(state, "once", .5);
}

TEST(test_a_report_has_the_sums_over_the_threads)
{
	assert_true(figure(BATCHES, "threads") == 3);
	assert_true(figure(BATCHES, "iterations") == 315);
	assert_true(figure(BATCHES, "done") == 315);
	assert_true(figure(BATCHES, "once") == .5);
	assert_non_null(strstr(report, "\"subject.malloc\": \"allocator|glibc|2.36\""));
}

TEST(test_a_report_has_the_mean_of_the_times)
{
	assert_float_equal(figure(BATCHES, "real_time"), 5e9 / 315, 1);
}

#define HALVES "halves/manual_time/threads:2"
static unsigned halves_runs, halves_done;

/* As long as the user asks for: 1.5 seconds. */
static void run_halves(gbench_state_t *state, void *context)
{
	unsigned done = 0;

	(void)context;
	for (; gbench_next(state, 1); done++)
		gbench_set_iteration_time(state, .5);
	if (gbench_state_thread_index(state) == 0) {
		halves_done = done;
		halves_runs++;
	}
}

TEST(test_the_time_that_is_set_decides_how_long_a_run_is)
{
	assert_true(halves_runs > 1);
	/* Runs are 1 and then about 1.4 times what would be enough. */
	assert_in_range(halves_done, 3, 6);
	assert_true(figure(HALVES, "iterations") == 2 * halves_done);
}

/* ---- The barrier ---- */

static struct barrier barrier = BARRIER_INITIALIZER;
static int rounds[THREADS]; /* plain: each written by one thread, read by all; the barrier orders it */
static unsigned met;

static void run_barrier(gbench_state_t *state, void *context)
{
	const int threads = gbench_state_threads(state), index = gbench_state_thread_index(state);

	(void)context;
	for (int round = 0; round < ROUNDS; round++) {
		/* The last thread is late now and then: the others fall asleep. */
		if (index == threads - 1 && round % 50 == 0)
			(void)usleep(1000);
		rounds[index] = round;
		barrier_wait(&barrier, threads);
		for (int i = 0; i < threads; i++)
			REQUIRE(rounds[i] == round);
		barrier_wait(&barrier, threads);
	}
	while (gbench_next(state, 1))
		;
	if (index == 0)
		met++;
}

TEST(test_a_barrier_lets_nobody_pass_before_the_last)
{
	assert_int_equal(met, THREADS);
}

static void read_report(const char *name)
{
	enum { ROOM = 1 << 20 };
	FILE *file = fopen(name, "r");

	REQUIRE(file && (report = calloc(1, ROOM)));
	REQUIRE(fread(report, 1, ROOM - 1, file) > 0);
	(void)fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_report_has_the_sums_over_the_threads),
		cmocka_unit_test(test_a_report_has_the_mean_of_the_times),
		cmocka_unit_test(test_the_time_that_is_set_decides_how_long_a_run_is),
		cmocka_unit_test(test_a_barrier_lets_nobody_pass_before_the_last),
	};
	char folder[] = "/tmp/test_gbench.XXXXXX", out[64], program[] = "test_gbench", time[] = "--benchmark_min_time=1.5";
	char *arguments[] = {program, time, out, NULL};
	gbench_t *benchmark = gbench_register(run_batches, &report, "%s/%d", "batches", 7);

	gbench_iterations(benchmark, 100);
	gbench_threads(benchmark, 3);
	gbench_threads(gbench_register(run_halves, NULL, "halves"), 2);
	benchmark = gbench_register(run_barrier, NULL, "barrier");
	gbench_iterations(benchmark, 1);
	for (int threads = 1; threads <= THREADS; threads++)
		gbench_threads(benchmark, threads);
	gbench_add_context("subject.malloc", "allocator|glibc|2.36");

	REQUIRE(mkdtemp(folder));
	(void)snprintf(out, sizeof(out), "--benchmark_out=%s/report", folder);
	REQUIRE(gbench_main(3, arguments) == 0);
	read_report(strchr(out, '=') + 1);
	(void)unlink(strchr(out, '=') + 1);
	(void)rmdir(folder);

	const int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(report);
	return failed;
}
