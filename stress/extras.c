/* SPDX-License-Identifier: MIT */
/*
 * extras.c - extras of some rounds in every scenario: growth, trims, refusals.
 *
 * Growth       A pool that starts smaller than the scenario needs, and may grow to just that need, must answer like one
 *              that starts with all objects: NULL is as wrong as without growth.
 * Trims        lfpool_trim() may only give back memory of free objects.  Meanwhile the call holds the objects of one
 *              step, and NULL may be right.  So a round is trimmed only where demand.h can count these objects, or
 *              where the scenario leaves room, and then by one worker at a time.
 * Refusals     In the chaos build the linker puts refuse.c between the library and its system calls (--wrap); the
 *              workers make that file refuse the n-th next request.  A call may then do less, and must report it; no
 *              object may be lost, and all sums must hold.  NULL may be right at any time, so this happens only in
 *              rounds that do not judge NULL, and never at meetings.
 */
#include "round.h"

#include "lfpool/resize.h"

/* In refuse.c; absent in the other builds. */
extern void refuse_request(unsigned long n) __attribute__((weak));

void refusals_next(bool wanted, unsigned long n)
{
	if (wanted)
		refuse_request(n);
}

#define TRIM_STEP_BYTES ((size_t)64 << 10)

/* The most objects that one call of lfpool_trim() holds. */
static size_t elastic_trim_objects(void)
{
	const lfpool_config_t *config = &current.config;
	const size_t alignment = config->object_alignment ? config->object_alignment : _Alignof(max_align_t);
	const size_t stride = (config->object_size + alignment - 1) / alignment * alignment;

	/* The objects on the pages of a step, two that lie there partly, one being taken out of the free lists, and
	 * one being given to a waiter. */
	return TRIM_STEP_BYTES / stride + 4;
}

void elastic_draw(void)
{
	static const size_t steps[] = {1, 1, 2, 7, 64, 1000};
	struct random *random = &current.random;
	const bool refuses = random_below(random, 3) == 0;

	if (current.plain)
		return;
	/* With malloc every acquire makes a request. */
	current.refusals = refuses && refuse_request && current.demand.unjudged && options.fault == FAULT_NONE &&
			   options.backend != LFPOOL_BACKEND_MALLOC;
	/* If the scenario has not decided itself. */
	if (!current.initial && current.capacity > 1 && random_below(random, 5) == 0) {
		current.initial = 1 +
				  random_below(random, (uint32_t)(random_below(random, 2) ? 1 : current.capacity - 1));
		current.config.growth_step = PICK(random, steps);
	}
	/* The history cannot see the objects that a trim holds. */
	if (random_below(random, 6) != 0 || options.history)
		return;
	if (current.demand.counted) {
		current.trims = true;
	} else if (current.roomy) {
		current.capacity += elastic_trim_objects();
		current.trims = true;
	}
}

void elastic_trim(struct worker *worker)
{
	const uint32_t objects = (uint32_t)elastic_trim_objects();
	const size_t keep = chance(worker, 2) ? 0 : draw(worker, (uint32_t)current.most);

	/* relaxed, here and below: must not order anything that the library has to order. */
	if (exchange_relaxed(&current.trimming, 1))
		return;
	(void)demand_raise(&current.demand, objects);
	(void)doing(lfpool_trim)(current.pool, keep, (size_t)1 << draw(worker, 21));
	demand_lower(&current.demand, objects);
	store_relaxed(&current.trimming, 0);
}
