/* SPDX-License-Identifier: MIT */
/*
 * holding.c - scenarios: the threads acquire, hold and release, and hand nothing to each other.
 *
 * So nothing but the library orders them, unless NULLs are counted, and ThreadSanitizer sees the library's own edges only.
 */
#include "meeting.h"
#include "scenario.h"

/* ---- pairs: the hot path, over and over ---- */

#define PAIRS_MAX 4

static void pairs_plan(void)
{
	round_capacity((size_t)current.threads * PAIRS_MAX);
}

static void pairs_work(struct worker *worker)
{
	struct held held[PAIRS_MAX];

	while (worker_goes_on(worker, 32)) {
		size_t wanted = 1 + random_below(&worker->random, PAIRS_MAX), got = 0;

		while (got < wanted && worker_acquire(worker, &held[got]))
			got++;
		if (worker_chance(worker, 16))
			worker_rescan(held, got);
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

/* ---- bursts: longer than a magazine, so whole magazines go to the depot and come back ---- */

#define BURST_MAX 512

static void bursts_plan(void)
{
	round_capacity((size_t)current.threads * BURST_MAX);
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
			worker_rescan(held, got);
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

/* ---- exhaustion, over-demand-free: each thread holds any number of objects, exactly enough for all or too few ---- */

#define HOLD_MAX 64

/* Holds up to `most`; if `greedy`, all of them half of the time. */
static void hold_any(struct worker *worker, uint32_t most, bool greedy)
{
	struct held held[HOLD_MAX];
	size_t count = 0;

	while (worker_goes_on(worker, 32)) {
		size_t wanted = greedy && worker_chance(worker, 2) ? most : random_below(&worker->random, most + 1);

		if (count < wanted) {
			count += worker_acquire_many(worker, held + count, wanted - count);
		} else {
			worker_release_many(worker, held + wanted, count - wanted);
			count = wanted;
		}
		if (worker_chance(worker, 16))
			worker_rescan(held, count);
	}
	worker_release_many(worker, held, count);
}

/* When all threads but one hold all they may, the last objects lie in the caches of those others.  A pool that strands them
 * there answers NULL here within milliseconds. */
static void exhaustion_plan(void)
{
	current.capacity = current.threads * (size_t)(1 + random_below(&current.random, HOLD_MAX));
}

static void exhaustion_work(struct worker *worker)
{
	hold_any(worker, (uint32_t)current.capacity / current.threads, true);
}

const struct scenario scenario_exhaustion = {
	.name = "exhaustion",
	.description = "the capacity is exactly what all threads together may hold: NULL is always wrong",
	.plan = exhaustion_plan,
	.work = exhaustion_work,
};

static void free_running_plan(void)
{
	current.capacity = 1 + random_below(&current.random, current.threads * HOLD_MAX / 2);
	current.demand.counted = true;
}

static void free_running_work(struct worker *worker)
{
	hold_any(worker, HOLD_MAX, false);
}

const struct scenario scenario_over_demand_free = {
	.name = "over-demand-free",
	.description = "free running: more is wanted than there is, and each NULL is checked against an exact count",
	.plan = free_running_plan,
	.work = free_running_work,
};

/* ---- over-demand: in step all acquire, and together get exactly the capacity, whichever caches the objects lay in ---- */

static struct {
	struct rendezvous rendezvous;
	_Atomic(size_t) got; /* objects that all threads hold together            */
	size_t wish;         /* attempts of each thread                           */
	bool go_on;          /* thread 0 decides for all, between two meetings    */
} stage;

static void in_step_plan(void)
{
	stage.rendezvous.threads = current.threads;
	stage.wish = 1 + random_below(&current.random, HOLD_MAX);
	/* At most what is wanted, often nearly that: so any cache may hold the last object. */
	current.capacity = 1 + random_below(&current.random, (uint32_t)(current.threads * stage.wish));
	current.demand.counted = true;
}

static void in_step_work(struct worker *worker)
{
	struct held held[HOLD_MAX];

	for (;;) {
		size_t got = 0;

		if (worker->index == 0) {
			stage.go_on = worker_goes_on(worker, 1);
			/* relaxed, here and below: the meetings order it. */
			atomic_store_explicit(&stage.got, 0, memory_order_relaxed);
		}
		rendezvous_meet(&stage.rendezvous);
		if (!stage.go_on)
			return;
		for (size_t attempt = 0; attempt < stage.wish; attempt++)
			got += worker_acquire(worker, &held[got]);
		atomic_fetch_add_explicit(&stage.got, got, memory_order_relaxed);
		rendezvous_meet(&stage.rendezvous);
		if (worker->index == 0 && !cell_failed() &&
		    atomic_load_explicit(&stage.got, memory_order_relaxed) != current.capacity)
			violation("%u threads wanted %zu objects each and got %zu together, not all %zu", current.threads,
				  stage.wish, atomic_load_explicit(&stage.got, memory_order_relaxed), current.capacity);
		worker_rescan(held, got);
		worker_release_many(worker, held, got);
		rendezvous_meet(&stage.rendezvous);
	}
}

const struct scenario scenario_over_demand = {
	.name = "over-demand",
	.description = "in step: all want more than there is, and get exactly that; then all is released",
	.plan = in_step_plan,
	.work = in_step_work,
};
