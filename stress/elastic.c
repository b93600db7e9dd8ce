/* SPDX-License-Identifier: MIT */
/*
 * elastic.c - see elastic.h.
 */
#include "elastic.h"

#include "refusals.h"
#include "round.h"

#define TRIM_STEP_BYTES ((size_t)64 << 10)

size_t elastic_trim_objects(const struct round *round)
{
	const lfpool_config_t *config = &round->config;
	const size_t alignment = config->object_alignment ? config->object_alignment : _Alignof(max_align_t);
	const size_t stride = (config->object_size + alignment - 1) / alignment * alignment;

	/* Those on the pages of a step, two that lie there in part, one that is being taken out of the free lists, and one
	 * that is being given to a waiter. */
	return TRIM_STEP_BYTES / stride + 4;
}

void elastic_draw(struct round *round)
{
	static const size_t steps[] = {1, 1, 2, 7, 64, 1000};
	/* A choice of its own, so that a seed draws what it drew before. */
	struct random random = random_for(round->seed, 1001);

	if (round->plain)
		return;
	round->refusals = round->demand.unjudged && round->cell->options->fault == FAULT_NONE && refusals_draw(round->seed);
	/* A scenario may have decided. */
	if (!round->initial && round->capacity > 1 && random_below(&random, 5) == 0) {
		round->initial = 1 + random_below(&random, (uint32_t)(random_below(&random, 2) ? 1 : round->capacity - 1));
		round->config.growth_step = steps[random_below(&random, sizeof(steps) / sizeof(steps[0]))];
	}
	/* The history knows nothing of objects in the hands of a trim. */
	if (random_below(&random, 6) != 0 || round->cell->options->history)
		return;
	if (round->demand.counted) {
		round->trims = true;
	} else if (round->roomy) {
		round->capacity += elastic_trim_objects(round);
		round->trims = true;
	}
}

void elastic_trim(struct worker *worker)
{
	struct round *round = worker->round;
	const uint32_t objects = (uint32_t)elastic_trim_objects(round);
	const size_t keep = worker_chance(worker, 2) ? 0 : random_below(&worker->random, (uint32_t)round->most);

	/* relaxed, here and below: orders nothing that the library ought to. */
	if (atomic_exchange_explicit(&round->trimming, 1, memory_order_relaxed))
		return;
	(void)demand_raise(&round->demand, objects);
	(void)lfpool_trim(round->pool, keep, (size_t)1 << random_below(&worker->random, 21));
	demand_lower(&round->demand, objects);
	atomic_store_explicit(&round->trimming, 0, memory_order_relaxed);
}
