/* SPDX-License-Identifier: MIT */
/*
 * test_fixtures.c - setup and teardown once in each run (G1), and the rendezvous.
 */
#include "scenario.h"

#include <stdatomic.h>
#include <string.h>

#define THREADS_MAX 8
#define ROUNDS 200

/* ---- G1 ---- */

struct counted {
	atomic_int setups, teardowns, entries, exits;
	int during; /* written by setup, read by all: an edge, or ThreadSanitizer sees it */
};

static void count_setup(gbench_state_t *state, void *context)
{
	struct counted *counted = context;

	CHECK(gbench_state_thread_index(state) == 0);
	/* The run before is over, in all its threads, and nobody is in the function. */
	CHECK(atomic_load(&counted->setups) == atomic_load(&counted->teardowns));
	CHECK(atomic_load(&counted->entries) == atomic_load(&counted->exits));
	atomic_store(&counted->entries, 0);
	atomic_store(&counted->exits, 0);
	atomic_fetch_add(&counted->setups, 1);
	counted->during = 1;
}

static void count_teardown(gbench_state_t *state, void *context)
{
	struct counted *counted = context;

	CHECK(gbench_state_thread_index(state) == 0);
	CHECK(atomic_load(&counted->setups) == atomic_load(&counted->teardowns) + 1);
	CHECK(atomic_load(&counted->entries) == gbench_state_threads(state));
	CHECK(atomic_load(&counted->exits) == gbench_state_threads(state));
	atomic_fetch_add(&counted->teardowns, 1);
	counted->during = 0;
}

static void count_run(gbench_state_t *state, void *context)
{
	struct counted *counted = context;

	CHECK(atomic_load(&counted->setups) == atomic_load(&counted->teardowns) + 1);
	CHECK(counted->during == 1);
	atomic_fetch_add(&counted->entries, 1);
	while (gbench_next(state))
		CHECK(counted->during == 1);
	CHECK(counted->during == 1);
	atomic_fetch_add(&counted->exits, 1);
}

static void once_per_run(void)
{
	static struct counted counted;
	gbench_t *benchmark = gbench_register("fixture", count_run, &counted);

	gbench_fixture(benchmark, count_setup, count_teardown);
	gbench_thread_range(benchmark, 1, THREADS_MAX);
	gbench_use_real_time(benchmark);
	CHECK(run_rows(NULL) == 4);
	/* Several runs for each row. */
	CHECK(atomic_load(&counted.setups) > 4);
	CHECK(atomic_load(&counted.setups) == atomic_load(&counted.teardowns));
}

/* With a given number of iterations, a run is a repetition. */
static void once_per_repetition(void)
{
	static struct counted counted;
	gbench_t *benchmark = gbench_register("fixture", count_run, &counted);

	gbench_fixture(benchmark, count_setup, count_teardown);
	gbench_threads(benchmark, 3);
	gbench_iterations(benchmark, 10);
	gbench_repetitions(benchmark, 7);
	CHECK(run_rows(NULL) == 1);
	CHECK(atomic_load(&counted.setups) == 7 && atomic_load(&counted.teardowns) == 7);
}

static void one_of_the_two(void)
{
	static struct counted with_setup, with_teardown;
	gbench_t *benchmark = gbench_register("setup", count_run, &with_setup);

	gbench_fixture(benchmark, count_setup, NULL);
	gbench_iterations(benchmark, 10);
	gbench_threads(benchmark, 2);
	benchmark = gbench_register("teardown", count_run, &with_teardown);
	gbench_fixture(benchmark, NULL, count_teardown);
	gbench_iterations(benchmark, 10);
	gbench_threads(benchmark, 2);
	/* As if the fixture that is missing had been called. */
	with_teardown.during = 1;
	atomic_store(&with_teardown.setups, 1);
	CHECK(run_rows(NULL) == 2);
	CHECK(atomic_load(&with_setup.setups) == 1 && atomic_load(&with_setup.teardowns) == 0);
	CHECK(atomic_load(&with_teardown.setups) == 1 && atomic_load(&with_teardown.teardowns) == 1);
}

/* ---- Random interleaving ---- */

#define REPETITIONS 20

static struct {
	struct counted counted[2];
	char order[2 * REPETITIONS + 1]; /* a or b for each run */
	size_t runs;
} mixed;

static void mixed_setup(gbench_state_t *state, void *context)
{
	struct counted *counted = context;

	CHECK(mixed.runs < 2 * REPETITIONS);
	mixed.order[mixed.runs++] = counted == &mixed.counted[0] ? 'a' : 'b';
	count_setup(state, context);
}

static void interleaving(void)
{
	for (size_t i = 0; i < 2; i++) {
		gbench_t *benchmark = gbench_register(i ? "b" : "a", count_run, &mixed.counted[i]);

		gbench_fixture(benchmark, mixed_setup, count_teardown);
		gbench_threads(benchmark, i ? 4 : 2);
		gbench_iterations(benchmark, 50);
		gbench_repetitions(benchmark, REPETITIONS);
	}
	CHECK(run_rows("--benchmark_enable_random_interleaving=true") == 2);
	CHECK(mixed.runs == 2 * REPETITIONS);
	for (size_t i = 0; i < 2; i++) {
		CHECK(atomic_load(&mixed.counted[i].setups) == REPETITIONS);
		CHECK(atomic_load(&mixed.counted[i].teardowns) == REPETITIONS);
	}
	/* Not all of one before all of the other: by chance that happens once in 10^11. */
	CHECK(strncmp(mixed.order, "aaaaaaaaaaaaaaaaaaaa", REPETITIONS) != 0);
	CHECK(strncmp(mixed.order, "bbbbbbbbbbbbbbbbbbbb", REPETITIONS) != 0);
}

/* ---- The rendezvous ---- */

struct rounds {
	int64_t round[THREADS_MAX]; /* plain: written by one thread each, read by all; the rendezvous is all there is */
};

static void all_are_in(gbench_state_t *state, struct rounds *rounds, int64_t round)
{
	rounds->round[gbench_state_thread_index(state)] = round;
	gbench_rendezvous(state);
	for (int i = 0; i < gbench_state_threads(state); i++)
		CHECK(rounds->round[i] == round);
	gbench_rendezvous(state);
}

static void meet_everywhere(gbench_state_t *state, void *context)
{
	all_are_in(state, context, -1);
	all_are_in(state, context, -2);
	while (gbench_next(state))
		all_are_in(state, context, gbench_state_iterations(state));
	CHECK(gbench_state_iterations(state) == ROUNDS);
	all_are_in(state, context, -3);
}

static void rendezvous(void)
{
	static struct rounds rounds;
	gbench_t *benchmark = gbench_register("rendezvous", meet_everywhere, &rounds);

	for (int threads = 1; threads <= THREADS_MAX; threads++)
		gbench_threads(benchmark, threads);
	gbench_iterations(benchmark, ROUNDS);
	CHECK(run_rows(NULL) == THREADS_MAX);
}

/* Only some come to a rendezvous while the others are still on their way: nobody may pass. */
static void wait_for_the_last(gbench_state_t *state, void *context)
{
	atomic_int *passed = context;
	const bool last = gbench_state_thread_index(state) == gbench_state_threads(state) - 1;

	while (gbench_next(state)) {
		if (last) {
			/* Long enough for the others to fall asleep. */
			for (volatile int i = 0; i < 1000000; i++)
				;
			CHECK(atomic_load(passed) == 0);
		}
		gbench_rendezvous(state);
		atomic_fetch_add(passed, 1);
	}
	CHECK(atomic_load(passed) >= 1);
}

static void late_thread(void)
{
	static atomic_int passed;
	gbench_t *benchmark = gbench_register("late", wait_for_the_last, &passed);

	gbench_threads(benchmark, THREADS_MAX);
	gbench_iterations(benchmark, 1);
	CHECK(run_rows(NULL) == 1);
	CHECK(atomic_load(&passed) == THREADS_MAX);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{"once_per_run", once_per_run, NULL},
		{"once_per_repetition", once_per_repetition, NULL},
		{"one_of_the_two", one_of_the_two, NULL},
		{"interleaving", interleaving, NULL},
		{"rendezvous", rendezvous, NULL},
		{"late_thread", late_thread, NULL},
	};

	return scenarios_main(argc, argv, scenarios, COUNT(scenarios));
}
