/* SPDX-License-Identifier: MIT */
/*
 * bursts.c - scenario: many out at once, then all back, in several orders.
 *
 * Bursts longer than a magazine send whole magazines to the depot and fetch them again.
 */
#include "round.h"
#include "scenario.h"

#define BURST_MAX 512

static void bursts_plan(struct round *round)
{
	round_capacity(round, (size_t)round->cell->threads * BURST_MAX);
}

static void swap(struct held *a, struct held *b)
{
	struct held was = *a;

	*a = *b;
	*b = was;
}

/* As they came (first in, first out), or reversed (last in, first out), or shuffled. */
static void arrange(struct random *random, struct held *held, size_t count)
{
	switch (random_below(random, 3)) {
	case 0:
		for (size_t i = 0; i < count / 2; i++)
			swap(&held[i], &held[count - 1 - i]);
		break;
	case 1:
		for (size_t i = count; i > 1; i--)
			swap(&held[i - 1], &held[random_below(random, (uint32_t)i)]);
		break;
	}
}

static void bursts_work(struct worker *worker)
{
	struct held held[BURST_MAX];

	while (worker_goes_on(worker, 32)) {
		uint32_t longest = BURST_MAX >> 3 * random_below(&worker->random, 4);
		size_t got = worker_acquire_many(worker, held, 1 + random_below(&worker->random, longest));

		if (worker_chance(worker, 4))
			worker_rescan(worker, held, got);
		arrange(&worker->random, held, got);
		worker_release_many(worker, held, got);
	}
}

const struct scenario scenario_bursts = {
	.name = "bursts",
	.description = "each thread acquires up to 512 objects, then releases them, oldest, newest or any first",
	.plan = bursts_plan,
	.work = bursts_work,
};
