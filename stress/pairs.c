/* SPDX-License-Identifier: MIT */
/*
 * pairs.c - scenario: acquire one, or a few, and release them again.
 *
 * The hot path, over and over, with nothing else to order the threads: here ThreadSanitizer sees the library's own
 * edges only.
 */
#include "round.h"
#include "scenario.h"

#define HOLD_MAX 4

static void pairs_plan(struct round *round)
{
	round_capacity(round, (size_t)round->cell->threads * HOLD_MAX);
}

static void pairs_work(struct worker *worker)
{
	struct held held[HOLD_MAX];

	while (worker_goes_on(worker, 32)) {
		size_t wanted = 1 + random_below(&worker->random, HOLD_MAX), got = 0;

		while (got < wanted && worker_acquire(worker, &held[got]))
			got++;
		if (worker_chance(worker, 16))
			worker_rescan(worker, held, got);
		while (got > 0)
			worker_release(worker, &held[--got]);
		if (worker_chance(worker, 4096))
			worker_drop_cache(worker);
	}
}

const struct scenario scenario_pairs = {
	.name = "pairs",
	.description = "each thread acquires one to four objects and releases them",
	.plan = pairs_plan,
	.work = pairs_work,
};
