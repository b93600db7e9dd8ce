/* SPDX-License-Identifier: MIT */
/*
 * churn.c - scenario: threads come and go.
 *
 * Each worker starts short-lived children, two of them alive at a time.  A child does a few steps on a table, and
 * ends: with objects held, which its successor or, through the slots, any other child releases; and with objects in
 * its cache, which must be found.
 */
#include "scenario.h"
#include "swap.h"

#define CHILDREN 2

struct child {
	struct worker worker; /* lives longer than the thread, so that no token is used twice */
	struct swap *swap;
	unsigned table;
};

struct churn_state {
	struct swap *swap;
	struct child *children; /* CHILDREN for each worker */
};

static void churn_plan(struct round *round)
{
	struct churn_state *state = round_memory(1, sizeof(*state));
	unsigned children = round->cell->threads * CHILDREN;

	state->swap = swap_create(1 + random_below(&round->random, 16), children, 1 + random_below(&round->random, 16));
	state->children = round_memory(children, sizeof(*state->children));
	for (unsigned i = 0; i < children; i++) {
		worker_init(&state->children[i].worker, round, round->cell->threads + 1 + i);
		state->children[i].swap = state->swap;
		state->children[i].table = i;
	}
	round->shared = state;
	round_capacity(round, swap_nodes(state->swap));
}

static void *child_main(void *argument)
{
	struct child *child = argument;

	for (uint32_t steps = 1 + random_below(&child->worker.random, 64); steps > 0; steps--)
		swap_step(child->swap, child->table, &child->worker);
	if (worker_chance(&child->worker, 4))
		swap_empty(child->swap, child->table, &child->worker);
	worker_drop_cache(&child->worker);
	return NULL;
}

static void churn_work(struct worker *worker)
{
	struct churn_state *state = worker->round->shared;
	struct child *children = &state->children[worker->index * CHILDREN];
	unsigned started = 0, joined = 0;

	while (worker_goes_on(worker, 1)) {
		struct child *child = &children[started % CHILDREN];

		/* The predecessor, whose table it inherits. */
		if (started - joined == CHILDREN)
			(void)pthread_join(children[joined++ % CHILDREN].worker.thread, NULL);
		thread_start(&child->worker.thread, child_main, child);
		started++;
	}
	while (joined < started)
		(void)pthread_join(children[joined++ % CHILDREN].worker.thread, NULL);
}

static void churn_finish(struct round *round)
{
	struct churn_state *state = round->shared;

	swap_destroy(state->swap, &round->keeper);
	free(state->children);
	free(state);
}

const struct scenario scenario_churn = {
	.name = "churn",
	.description = "threads come and go; what they held or cached when they ended is released or found by others",
	.plan = churn_plan,
	.work = churn_work,
	.finish = churn_finish,
};
