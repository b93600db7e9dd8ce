/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * unit_fork.c - the child of a fork is not locked out of its copy of the pool, although another thread held the
 * library's lock during fork().
 *
 * (Every inactive object is there for the child, at any instruction of any call, including evicting pools:
 * verify/step, step.fork and step.evict.fork.)
 */
#include "pool/live_pools.h"

#include "../support/child.h"
#include "../support/workers.h"

#include <sched.h>
#include <time.h>

enum { SIZE = 40, CAPACITY = 400, ROUNDS = 5 };

static _Atomic(bool) locked;

/* Like a thread that makes or destroys pools, or exits with caches in many, but it keeps the lock longer. */
static void hold_the_lock(struct worker *me)
{
	while (!told_to_end(me)) {
		live_pools_lock();
		atomic_store(&locked, true);
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
		atomic_store(&locked, false);
		live_pools_unlock();
		sched_yield();
	}
}

static void *use(void *argument)
{
	lfpool_t *pool = argument;
	void *objects[CAPACITY];

	REQUIRE(acquire_all(pool, objects, CAPACITY) == CAPACITY);
	release_all(pool, objects, CAPACITY);
	return NULL;
}

/* It may also make pools and start threads. */
static void first_call(void *argument)
{
	(void)use(argument);
	lfpool_t *pool = pool_of(SIZE, CAPACITY);
	(void)use(pool);
	threads_run(1, use, argument, 0);
	threads_run(1, use, pool, 0);
	(void)use(argument);
	REQUIRE(lfpool_destroy(pool) == 0);
}

TEST(child_can_call_after_fork_under_lock)
{
	struct workers workers;

	if (SANITIZED)
		SKIP("the sanitizers' own allocators are not ready for a fork in the midst of them");
	workers_start(&workers, 1, hold_the_lock, NULL, 0);
	for (int round = 0; round < ROUNDS; round++) {
		lfpool_t *pool = pool_of(SIZE, CAPACITY);

		while (!atomic_load(&locked))
			sched_yield();
		child_run(first_call, pool);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
	(void)workers_end(&workers);
}

RUN_TESTS()
