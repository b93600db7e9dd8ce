/* SPDX-License-Identifier: MIT */
/*
 * extras.c - what some rounds have besides, whatever the scenario: growth, trims, refusals.
 *
 * Growth       A pool that starts with less than the scenario needs, and may grow to just that, must answer as if it
 *              had it all: NULL is as wrong as before.
 * Trims        Memory that lfpool_trim() gives back must be that of free objects.  While it does so a step of objects
 *              is in its hands, and NULL may be right: so a round is trimmed only where that can be counted (demand.h),
 *              or where the scenario leaves room, and then by one worker at a time.
 * Refusals     In the chaos build the linker puts refuse.c between the library and its requests to the system (--wrap);
 *              the workers have it refuse the n-th request from now on.  A call may then do less, and says so; nothing
 *              may be lost, and all sums must hold.  NULL may be right at any time, so only in rounds where it is not
 *              judged.  At meetings nothing is refused.
 */
#include "round.h"

#include "lfpool/resize.h"

/* refuse.c; not there in the other builds. */
extern void refuse_request(unsigned long n) __attribute__((weak));

void refusals_next(bool wanted, unsigned long n)
{
	if (wanted)
		refuse_request(n);
}

#define TRIM_STEP_BYTES ((size_t)64 << 10)

/* So many objects one call of lfpool_trim() has in its hands, at most. */
static size_t elastic_trim_objects(void)
{
	const lfpool_config_t *config = &current.config;
	const size_t alignment = config->object_alignment ? config->object_alignment : _Alignof(max_align_t);
	const size_t stride = (config->object_size + alignment - 1) / alignment * alignment;

	/* Those on the pages of a step, two that lie there in part, one that is being taken out of the free lists, and
	 * one that is being given to a waiter. */
	return TRIM_STEP_BYTES / stride + 4;
}

void elastic_draw(void)
{
	static const size_t steps[] = {1, 1, 2, 7, 64, 1000};
	struct random *random = &current.random;
	const bool refuses = random_below(random, 3) == 0;

	if (current.plain)
		return;
	current.refusals = refuses && refuse_request && current.demand.unjudged && options.fault == FAULT_NONE;
	/* A scenario may have decided. */
	if (!current.initial && current.capacity > 1 && random_below(random, 5) == 0) {
		current.initial = 1 +
				  random_below(random, (uint32_t)(random_below(random, 2) ? 1 : current.capacity - 1));
		current.config.growth_step = PICK(random, steps);
	}
	/* The history knows nothing of objects in the hands of a trim. */
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

	/* relaxed, here and below: orders nothing that the library ought to. */
	if (exchange_relaxed(&current.trimming, 1))
		return;
	(void)demand_raise(&current.demand, objects);
	(void)lfpool_trim(current.pool, keep, (size_t)1 << draw(worker, 21));
	demand_lower(&current.demand, objects);
	store_relaxed(&current.trimming, 0);
}
