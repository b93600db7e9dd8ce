/* SPDX-License-Identifier: MIT */
/*
 * tables.c - scenario: random tables of held objects, swapped between threads.
 *
 * Objects live for random times and are released by the thread that holds them then.  Half of the threads end with a table
 * full of objects.
 */
#include "scenario.h"
#include "swap.h"

static void tables_plan(struct round *round)
{
	struct swap *swap = swap_create(1 + random_below(&round->random, 64), round->cell->threads,
					1 + random_below(&round->random, 128));

	round->shared = swap;
	round_capacity(round, swap_nodes(swap));
}

static void tables_work(struct worker *worker)
{
	while (worker_goes_on(worker, 32))
		swap_step(worker->round->shared, worker->index, worker);
	if (worker_chance(worker, 2))
		swap_empty(worker->round->shared, worker->index, worker);
}

static void tables_finish(struct round *round)
{
	swap_destroy(round->shared, &round->keeper);
}

const struct scenario scenario_tables = {
	.name = "tables",
	.description = "each thread has a table of objects and swaps them with others through shared slots",
	.plan = tables_plan,
	.work = tables_work,
	.finish = tables_finish,
};
