/* SPDX-License-Identifier: MIT */
/*
 * over_demand.c - scenarios: the threads want more than there is, and NULL is right exactly when it is.
 *
 * In step: all threads acquire without releasing, and together get exactly the capacity, whichever caches the objects
 * lay in; then all release.  Free running: every thread acquires and releases, and each NULL is held against the count
 * of demand.h.
 */
#include "rendezvous.h"
#include "report.h"
#include "round.h"
#include "scenario.h"

#include <sched.h>

#define HOLD_MAX 64

/* ---- In step ---- */

struct stage {
	struct rendezvous rendezvous;
	_Atomic(size_t) got; /* objects that all threads hold together            */
	size_t wish;         /* attempts of each thread                           */
	bool go_on;          /* thread 0 decides for all, between two meetings    */
};

static void in_step_plan(struct round *round)
{
	struct stage *stage = round_memory(1, sizeof(*stage));
	unsigned threads = round->cell->threads;

	stage->rendezvous.threads = threads;
	stage->wish = 1 + random_below(&round->random, HOLD_MAX);
	/* At most what is wanted, often nearly that: so any cache may hold the last object. */
	round->capacity = 1 + random_below(&round->random, (uint32_t)(threads * stage->wish));
	round->demand.counted = true;
	round->shared = stage;
}

static void in_step_work(struct worker *worker)
{
	struct round *round = worker->round;
	struct stage *stage = round->shared;
	struct held held[HOLD_MAX];

	for (;;) {
		size_t got = 0;

		if (worker->index == 0) {
			stage->go_on = worker_goes_on(worker, 1);
			/* relaxed, here and below: the meetings order it. */
			atomic_store_explicit(&stage->got, 0, memory_order_relaxed);
		}
		rendezvous_meet(&stage->rendezvous);
		if (!stage->go_on)
			return;
		for (size_t attempt = 0; attempt < stage->wish; attempt++)
			got += worker_acquire(worker, &held[got]);
		atomic_fetch_add_explicit(&stage->got, got, memory_order_relaxed);
		rendezvous_meet(&stage->rendezvous);
		if (worker->index == 0 && !cell_failed(round->cell) &&
		    atomic_load_explicit(&stage->got, memory_order_relaxed) != round->capacity)
			violation(round, "%u threads wanted %zu objects each and got %zu together, not all %zu",
				  round->cell->threads, stage->wish,
				  atomic_load_explicit(&stage->got, memory_order_relaxed), round->capacity);
		worker_rescan(worker, held, got);
		worker_release_many(worker, held, got);
		rendezvous_meet(&stage->rendezvous);
	}
}

const struct scenario scenario_over_demand = {
	.name = "over-demand",
	.description = "in step: all want more than there is, and get exactly that; then all is released",
	.plan = in_step_plan,
	.work = in_step_work,
};

/* ---- Free running ---- */

static void free_running_plan(struct round *round)
{
	round->capacity = 1 + random_below(&round->random, round->cell->threads * HOLD_MAX / 2);
	round->demand.counted = true;
}

static void free_running_work(struct worker *worker)
{
	struct held held[HOLD_MAX];
	size_t count = 0;

	while (worker_goes_on(worker, 32)) {
		size_t wanted = random_below(&worker->random, HOLD_MAX + 1);

		if (count < wanted)
			count += worker_acquire_many(worker, held + count, wanted - count);
		else
			for (; count > wanted; count--)
				worker_release(worker, &held[count - 1]);
		if (worker_chance(worker, 16))
			worker_rescan(worker, held, count);
	}
	worker_release_many(worker, held, count);
}

const struct scenario scenario_over_demand_free = {
	.name = "over-demand-free",
	.description = "free running: more is wanted than there is, and each NULL is checked against an exact count",
	.plan = free_running_plan,
	.work = free_running_work,
};
