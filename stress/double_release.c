/* SPDX-License-Identifier: MIT */
/*
 * double_release.c - scenario: all threads release the same object at the same instant.
 *
 * With LFPOOL_CHECK_RACES exactly one of them succeeds.  No thread acquires until all have tried, so the object cannot
 * have gone to another thread.  In between, each thread has other objects in its caches.
 */
#include "meeting.h"
#include "scenario.h"

static struct {
	struct rendezvous rendezvous;
	struct held held;           /* the object they race for; thread 0's between two meetings */
	void *object;               /* its address, for all                                      */
	_Atomic(unsigned) accepted; /* how many releases succeeded                               */
	bool go_on;
} race;

static void race_plan(void)
{
	race.rendezvous.threads = current.threads;
	current.config.flags |= LFPOOL_CHECK_RACES;
	/* One object each, and the one they race for. */
	current.capacity = current.threads + 1 + random_below(&current.random, 64);
}

/* Thread 0 prepares the next race, or decides that there is none. */
static void prepare(struct worker *worker)
{
	race.go_on = worker_goes_on(worker, 1) && worker_acquire(worker, &race.held);
	if (!race.go_on)
		return;
	race.object = race.held.object;
	(void)ledger_leave(&race.held);
	/* relaxed, here and below: the meetings order it. */
	atomic_store_explicit(&race.accepted, 0, memory_order_relaxed);
}

static void release_raced(struct worker *worker)
{
	lfpool_status_t status = worker_release_raced(worker, &race.held);

	if (status == LFPOOL_OK)
		atomic_fetch_add_explicit(&race.accepted, 1, memory_order_relaxed);
	else if (status == LFPOOL_E_NOT_IN_USE)
		atomic_fetch_add_explicit(&current.provoked, 1, memory_order_relaxed);
	else
		violation("a racing release of %p was refused as \"%s\"", race.object, lfpool_status_string(status));
}

static void race_work(struct worker *worker)
{
	struct held own;

	for (;;) {
		if (worker->index == 0)
			prepare(worker);
		if (worker_acquire(worker, &own))
			worker_release(worker, &own);
		rendezvous_meet(&race.rendezvous);
		if (!race.go_on)
			return;
		release_raced(worker);
		if (race.rendezvous.threads == 1)
			release_raced(worker);
		rendezvous_meet(&race.rendezvous);
		/* relaxed: the meeting orders it. */
		unsigned accepted = atomic_load_explicit(&race.accepted, memory_order_relaxed);
		if (worker->index == 0 && accepted != 1)
			violation("%u of %u racing releases of %p succeeded, not 1", accepted, race.rendezvous.threads,
				  race.object);
	}
}

const struct scenario scenario_double_release = {
	.name = "double-release",
	.description = "all threads release one object at one instant: with LFPOOL_CHECK_RACES exactly one succeeds",
	.needs_refusals = true,
	.plan = race_plan,
	.work = race_work,
};
