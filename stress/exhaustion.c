/* SPDX-License-Identifier: MIT */
/*
 * exhaustion.c - scenario: the capacity is the sum of all demands, exactly, so NULL is always wrong.
 *
 * When all threads but one hold all they may, the last objects lie in the caches of those others.  A pool that
 * strands them there answers NULL here within milliseconds.
 */
#include "round.h"
#include "scenario.h"

#define HOLD_MAX 64

static void exhaustion_plan(struct round *round)
{
	size_t hold = 1 + random_below(&round->random, HOLD_MAX);

	round->capacity = round->cell->threads * hold;
}

static void exhaustion_work(struct worker *worker)
{
	size_t most = worker->round->capacity / worker->round->cell->threads, count = 0;
	struct held held[HOLD_MAX];

	while (worker_goes_on(worker, 32)) {
		/* Half of the time all that this thread may hold, else any number. */
		size_t wanted = worker_chance(worker, 2) ? most : random_below(&worker->random, (uint32_t)most);

		if (count < wanted)
			count += worker_acquire_many(worker, held + count, wanted - count);
		else
			worker_release_many(worker, held + wanted, count - wanted);
		if (count > wanted)
			count = wanted;
		if (worker_chance(worker, 16))
			worker_rescan(worker, held, count);
	}
	worker_release_many(worker, held, count);
}

const struct scenario scenario_exhaustion = {
	.name = "exhaustion",
	.description = "the capacity is exactly what all threads together may hold: NULL is always wrong",
	.plan = exhaustion_plan,
	.work = exhaustion_work,
};
