/* SPDX-License-Identifier: MIT */
/*
 * check_jobs.c - promises of jobs.h that no example shows: wake-ups, jobs from outside.  (Trees are in `jobs`;
 * dependencies, continuations and loops in `graph`.)
 *
 * Idea         Every job leaves a mark, and at the end every record is back.  A job that needs another worker to wake
 *              up waits for it without a limit: after a lost wake-up the test hangs, and its time limit ends it.
 */
#include "harness.h"
#include "jobs.h"
#include "require.h"
#include "sanitizers.h"

#include "lfpool/report.h"

#include <sched.h>

#define WAKE_UPS (UNDER_TSAN || UNDER_ASAN ? 300 : 3000)

static unsigned workers;
static uint64_t seed;
static lfpool_t *pool;
static struct jobs *jobs;

/* While no job runs: every record is back. */
static void require_whole(void)
{
	REQUIRE(lfpool_active_count(pool) == 0 && lfpool_available_count(pool) == lfpool_capacity(pool));
}

/* ---- Sleep: a worker that is needed wakes up ---------------------------------------------------------------- */

static void raise_flag(struct jobs_worker *worker, const void *payload)
{
	(void)worker;
	atomic_store_explicit(*(_Atomic(bool) *const *)payload, true, memory_order_relaxed);
}

static void await_flag(_Atomic(bool) *flag)
{
	while (!atomic_load_explicit(flag, memory_order_relaxed))
		sched_yield();
}

/* Afterwards the workers are asleep, or about to be. */
static void linger(struct random *random)
{
	for (unsigned i = random_below(random, 60); i > 0; i--)
		sched_yield();
}

/* Cannot return before another worker has done a job, from this one's deque or from its own inbox. */
static void rendezvous(struct jobs_worker *worker, const void *payload)
{
	_Atomic(bool) met = false, *flag = &met;

	if (*(const char *)payload == 'd')
		jobs_submit(worker, raise_flag, &flag, sizeof(flag));
	else
		REQUIRE(jobs_submit_to(worker, !jobs_worker_index(worker), raise_flag, &flag, sizeof(flag)));
	await_flag(flag);
	jobs_wait(worker);
}

static void wakes_up(void)
{
	struct random random = random_for(seed, 7);

	for (unsigned round = 0; round < WAKE_UPS; round++) {
		_Atomic(bool) ran = false, *flag = &ran;

		/* A job that its submitter runs meets no other worker. */
		if (workers > 1 && lfpool_capacity(pool) > 1) {
			linger(&random);
			jobs_run(jobs, rendezvous, round % 2 ? "d" : "i", 1);
		}
		linger(&random);
		REQUIRE(jobs_inject(jobs, raise_flag, &flag, sizeof(flag), -1));
		if (workers > 1)
			await_flag(flag);
		jobs_finish(jobs);
		REQUIRE(atomic_load_explicit(flag, memory_order_relaxed));
	}
	require_whole();
}

static void check(unsigned with_workers, size_t records)
{
	workers = with_workers;
	REQUIRE(jobs_pool_create(&pool, records, LFPOOL_BACKEND_LOCKFREE) == LFPOOL_OK);
	jobs = jobs_create(workers, pool, NULL);
	REQUIRE(jobs);
	wakes_up();
	jobs_destroy(jobs);
	REQUIRE(!lfpool_check(pool, NULL) && lfpool_destroy(pool) == 0);
}

int main(void)
{
	seed = test_seed("check_jobs");
	check(1, 1);
	check(2, 4);
	check(8, 500);
	return 0;
}
