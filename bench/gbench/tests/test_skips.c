/* SPDX-License-Identifier: MIT */
/*
 * test_skips.c - a thread that skips keeps no other waiting (G2), wherever it does so and whatever the others wait for.
 *
 * Idea         Each way to skip is run with 1 to 4 threads, where one thread skips or all do, with gbench_next() and
 *              batches, with and without a rendezvous in the loop.  What could go wrong is that it never ends.
 */
#include "scenario.h"

#include <stdatomic.h>

#define ITERATIONS 100
#define THREADS_MAX 4

enum place { BEFORE_LOOP, IN_LOOP, AFTER_LOOP, PAUSED, SETUP, TEARDOWN };

struct plan {
	enum place place;
	bool leave;      /* the function returns at once after the skip, else goes on */
	bool all;        /* all threads skip, else only the last one                  */
	bool batches;    /* gbench_next_batch()                                       */
	bool rendezvous; /* in the loop, and after it                                 */

	atomic_int setups, teardowns, entries, skips;
};

static void skip(gbench_state_t *state, struct plan *plan)
{
	atomic_fetch_add(&plan->skips, 1);
	gbench_skip(state, "as planned");
	/* Only the first counts. */
	gbench_skip(state, "once more");
	CHECK(gbench_skipped(state));
	/* Neither may wait, or complain. */
	gbench_pause(state);
	gbench_resume(state);
}

static void setup(gbench_state_t *state, void *context)
{
	struct plan *plan = context;

	CHECK(!gbench_skipped(state));
	atomic_fetch_add(&plan->setups, 1);
	if (plan->place == SETUP)
		skip(state, plan);
}

static void teardown(gbench_state_t *state, void *context)
{
	struct plan *plan = context;

	CHECK(gbench_skipped(state) == (plan->place != TEARDOWN));
	atomic_fetch_add(&plan->teardowns, 1);
	if (plan->place == TEARDOWN)
		skip(state, plan);
}

static bool more(gbench_state_t *state, const struct plan *plan)
{
	return plan->batches ? gbench_next_batch(state, 7) : gbench_next(state);
}

static void run(gbench_state_t *state, void *context)
{
	struct plan *plan = context;
	const bool ours = plan->all || gbench_state_thread_index(state) == gbench_state_threads(state) - 1;
	int rounds = 0;

	atomic_fetch_add(&plan->entries, 1);
	if (ours && plan->place == BEFORE_LOOP) {
		skip(state, plan);
		if (plan->leave)
			return;
	}
	while (more(state, plan)) {
		rounds++;
		if (ours && rounds == 3 && (plan->place == IN_LOOP || plan->place == PAUSED)) {
			if (plan->place == PAUSED)
				gbench_pause(state);
			skip(state, plan);
			if (plan->leave)
				return;
			continue;
		}
		if (plan->rendezvous)
			gbench_rendezvous(state);
	}
	/* The end of the loop stays where it is. */
	CHECK(!more(state, plan) && !more(state, plan));
	if (ours && plan->place == BEFORE_LOOP)
		CHECK(rounds == 0);
	if (ours && (plan->place == IN_LOOP || plan->place == PAUSED))
		CHECK(rounds == 3);
	if (ours && plan->place == AFTER_LOOP)
		skip(state, plan);
	if (plan->rendezvous)
		gbench_rendezvous(state);
}

static int expected_skips(const struct plan *plan)
{
	int skips = 0;

	for (int threads = 1; threads <= THREADS_MAX; threads++)
		skips += plan->all && plan->place != SETUP && plan->place != TEARDOWN ? threads : 1;
	return skips;
}

static void skip_at(enum place place)
{
	static struct plan plans[16];

	for (unsigned i = 0; i < COUNT(plans); i++) {
		struct plan *plan = &plans[i];
		gbench_t *benchmark = gbench_register("skip", run, plan);

		plan->place = place;
		plan->leave = i & 1;
		plan->all = i & 2;
		plan->batches = i & 4;
		plan->rendezvous = i & 8;
		gbench_fixture(benchmark, setup, teardown);
		gbench_thread_range(benchmark, 1, THREADS_MAX);
		gbench_threads(benchmark, 3);
		gbench_iterations(benchmark, ITERATIONS);
		gbench_use_real_time(benchmark);
	}
	CHECK(run_rows(NULL) == COUNT(plans) * THREADS_MAX);
	for (unsigned i = 0; i < COUNT(plans); i++) {
		struct plan *plan = &plans[i];

		CHECK(atomic_load(&plan->setups) == THREADS_MAX);
		CHECK(atomic_load(&plan->teardowns) == THREADS_MAX);
		CHECK(atomic_load(&plan->entries) == (place == SETUP ? 0 : 1 + 2 + 3 + 4));
		CHECK(atomic_load(&plan->skips) == expected_skips(plan));
	}
}

static void before_loop(void)
{
	skip_at(BEFORE_LOOP);
}

static void in_loop(void)
{
	skip_at(IN_LOOP);
}

static void after_loop(void)
{
	skip_at(AFTER_LOOP);
}

static void while_paused(void)
{
	skip_at(PAUSED);
}

static void in_setup(void)
{
	skip_at(SETUP);
}

static void in_teardown(void)
{
	skip_at(TEARDOWN);
}

/* A run that skips must leave nothing to the runs of other rows. */
static void skip_odd(gbench_state_t *state, void *context)
{
	const bool odd = gbench_state_arg(state, 0) % 2 == 1;

	(void)context;
	CHECK(!gbench_skipped(state) || odd);
	if (odd && gbench_state_thread_index(state) == 1)
		gbench_skip(state, "odd");
	while (gbench_next(state))
		gbench_rendezvous(state);
	gbench_rendezvous(state);
	CHECK(gbench_skipped(state) == odd);
}

static void nothing_stays(void)
{
	gbench_t *benchmark = gbench_register("odd", skip_odd, NULL);

	gbench_threads(benchmark, 3);
	gbench_dense_range(benchmark, 1, 8, 1);
	gbench_iterations(benchmark, ITERATIONS);
	CHECK(run_rows(NULL) == 8);
}

/* ---- Repetitions ---- */

#define REPETITIONS 6

/* Skips in one repetition, at one place; the batches do not divide the iterations. */
struct repeated {
	enum place place;
	bool batches;
	int good; /* repetitions before that one */
	atomic_int setups, teardowns, runs;
};

static void repeated_setup(gbench_state_t *state, void *context)
{
	struct repeated *repeated = context;

	if (atomic_fetch_add(&repeated->setups, 1) == repeated->good && repeated->place == SETUP)
		gbench_skip(state, "in setup");
}

static void repeated_teardown(gbench_state_t *state, void *context)
{
	struct repeated *repeated = context;

	if (atomic_fetch_add(&repeated->teardowns, 1) == repeated->good && repeated->place == TEARDOWN)
		gbench_skip(state, "in teardown");
}

static void repeated_run(gbench_state_t *state, void *context)
{
	struct repeated *repeated = context;
	const bool ours = atomic_load(&repeated->setups) == repeated->good + 1 && gbench_state_thread_index(state) == 1;
	int rounds = 0;

	atomic_fetch_add(&repeated->runs, 1);
	if (ours && repeated->place == BEFORE_LOOP) {
		gbench_skip(state, "before the loop");
		return;
	}
	while (repeated->batches ? gbench_next_batch(state, 7) : gbench_next(state))
		if (ours && ++rounds == 2 && repeated->place == IN_LOOP)
			gbench_skip(state, "in the loop");
	if (ours && repeated->place == AFTER_LOOP)
		gbench_skip(state, "after the loop");
}

/* The library would end the program by a signal if it was given what it cannot take statistics over. */
static void repetitions(void)
{
	static const enum place places[] = {BEFORE_LOOP, IN_LOOP, AFTER_LOOP, SETUP, TEARDOWN};
	static struct repeated plans[COUNT(places) * 2 * REPETITIONS];

	for (unsigned i = 0; i < COUNT(plans); i++) {
		gbench_t *benchmark = gbench_register("repeated", repeated_run, &plans[i]);

		plans[i].place = places[i / (2 * REPETITIONS)];
		plans[i].batches = i % 2;
		plans[i].good = (int)(i / 2) % REPETITIONS;
		gbench_fixture(benchmark, repeated_setup, repeated_teardown);
		gbench_threads(benchmark, 2);
		gbench_iterations(benchmark, ITERATIONS);
		gbench_repetitions(benchmark, REPETITIONS);
	}
	CHECK(run_rows("--benchmark_enable_random_interleaving=true") == COUNT(plans));
	for (unsigned i = 0; i < COUNT(plans); i++) {
		const int made = plans[i].good + 1;

		/* Nothing is called after the skip. */
		CHECK(atomic_load(&plans[i].setups) == made && atomic_load(&plans[i].teardowns) == made);
		CHECK(atomic_load(&plans[i].runs) == 2 * (plans[i].place == SETUP ? made - 1 : made));
	}
}

/* A thread that returns is not waited for either. */
static void meet_alone(gbench_state_t *state, void *context)
{
	(void)context;
	while (gbench_next(state))
		;
	if (gbench_state_thread_index(state) == 0)
		gbench_rendezvous(state);
}

static void returned(void)
{
	gbench_t *benchmark = gbench_register("returned", meet_alone, NULL);

	gbench_threads(benchmark, 4);
	gbench_iterations(benchmark, 1);
	CHECK(run_rows(NULL) == 1);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{"before_loop", before_loop, NULL},   {"in_loop", in_loop, NULL},
		{"after_loop", after_loop, NULL},     {"while_paused", while_paused, NULL},
		{"in_setup", in_setup, NULL},         {"in_teardown", in_teardown, NULL},
		{"nothing_stays", nothing_stays, NULL}, {"repetitions", repetitions, NULL},
		{"returned", returned, NULL},
	};

	return scenarios_main(argc, argv, scenarios, COUNT(scenarios));
}
