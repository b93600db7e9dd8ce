/* SPDX-License-Identifier: MIT */
/*
 * holding.c - scenarios: the threads acquire, hold and release, and hand no object to each other.
 *
 * So only the library orders them, unless NULLs are counted, and ThreadSanitizer sees only the library's edges.
 */
#include "round.h"

/* ---- pairs: the fast path, repeatedly ---- */

#define PAIRS_MAX 4

static void pairs_step(struct worker *worker)
{
	const size_t wanted = 1 + draw(worker, PAIRS_MAX);

	while (worker->count < wanted && worker_take(worker))
		;
	if (chance(worker, 16))
		worker_look(worker);
	while (worker->count)
		worker_release(worker, &worker->hands[--worker->count]);
	if (chance(worker, 4096))
		worker_drop_cache(worker);
}

SCENARIO(pairs, "pairs", "each thread acquires one to four objects and releases them", .hands = PAIRS_MAX,
	 .step = pairs_step);

/* ---- bursts: longer than a magazine, so whole magazines go to the depot and come back ---- */

#define BURST_MAX 512

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

static void bursts_step(struct worker *worker)
{
	worker_hold(worker, 1 + draw(worker, BURST_MAX >> 3 * draw(worker, 4)));
	if (chance(worker, 4))
		worker_look(worker);
	arrange(&worker->random, worker->hands, worker->count);
	worker_keep(worker, 0);
}

SCENARIO(bursts, "bursts",
	 "each thread acquires up to 512 objects, then releases them: oldest first, newest first, or in random order",
	 .hands = BURST_MAX, .step = bursts_step);

/* ---- exhaustion, over-demand-free: each thread holds a varying number of objects; exactly enough for all, or too
 * few ---- */

#define HOLD_MAX 64

static void hold_any(struct worker *worker, size_t wanted)
{
	worker_adjust(worker, wanted);
	if (chance(worker, 16))
		worker_look(worker);
}

/* When all threads but one hold their maximum, the last objects are in those threads' caches.  A pool that strands
 * them there returns NULL within milliseconds. */
static void exhaustion_plan(void)
{
	current.capacity = current.threads * (size_t)(1 + random_below(&current.random, HOLD_MAX));
}

static void exhaustion_step(struct worker *worker)
{
	const uint32_t most = (uint32_t)current.capacity / current.threads;

	hold_any(worker, chance(worker, 2) ? most : draw(worker, most + 1));
}

SCENARIO(exhaustion, "exhaustion", "the capacity is exactly what all threads together may hold: NULL is always wrong",
	 .hands = HOLD_MAX, .plan = exhaustion_plan, .step = exhaustion_step);

static void free_running_plan(void)
{
	current.capacity = 1 + random_below(&current.random, current.threads * HOLD_MAX / 2);
	current.demand.counted = true;
}

static void free_running_step(struct worker *worker)
{
	hold_any(worker, draw(worker, HOLD_MAX + 1));
}

SCENARIO(over_demand_free, "over-demand-free",
	 "threads want more than the capacity, freely; each NULL is checked against an exact count", .hands = HOLD_MAX,
	 .plan = free_running_plan, .step = free_running_step);

/* ---- over-demand: all acquire in step and together get exactly the capacity, whichever caches the objects were in
 * ---- */

static size_t wish; /* attempts of each thread */

static void in_step_plan(void)
{
	wish = 1 + random_below(&current.random, HOLD_MAX);
	/* At most the demand, often nearly that: so any cache may hold the last object. */
	current.capacity = 1 + random_below(&current.random, (uint32_t)(current.threads * wish));
	current.demand.counted = true;
}

static void expect_all(struct worker *worker)
{
	(void)worker;
	if (meeting_held() != current.capacity && !cell_failed())
		violation("%u threads wanted %zu objects each but got %zu together, not all %zu", current.threads, wish,
			  meeting_held(), current.capacity);
}

static void in_step_meet(struct worker *worker)
{
	for (size_t attempt = 0; attempt < wish; attempt++)
		(void)worker_take(worker);
	meeting_alone(worker, expect_all);
	worker_look(worker);
	worker_keep(worker, 0);
}

SCENARIO(over_demand, "over-demand",
	 "in step: all want more than the capacity, get exactly the capacity, then release everything",
	 .hands = HOLD_MAX, .plan = in_step_plan, .meet = in_step_meet);
