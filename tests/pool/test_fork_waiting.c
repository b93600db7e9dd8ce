/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_fork_waiting.c - fork in the middle of a call that waits or serves: in parent and child each continuation is
 * called once, and the call continues.
 *
 * Objects on their way to a call, or continuation, of a thread that the child lacks: verify/step, step.heirs.
 */
#include "../support/child.h"
#include "../support/kinds.h"

/* ---- In a hook of the calling thread ---- */

/* Forks once, at a given place. */
static struct {
	bool armed;
	pid_t child;
} forker;

static void fork_once(void)
{
	if (forker.armed) {
		forker.armed = false;
		forker.child = child_start();
	}
}

/* Parent and child have the same number of waiters. */
static bool fork_in_hook(void *context, void *object)
{
	const lfpool_t *pool = lfpool_of(object);
	const size_t waiting = stats_of(pool).waiting;

	(void)context;
	fork_once();
	REQUIRE(stats_of(pool).waiting == waiting);
	return true;
}

/* Both continue; the child ends here. */
static void end_both(lfpool_t *pool)
{
	REQUIRE(forker.child >= 0);
	REQUIRE(lfpool_destroy(pool) == 0);
	if (forker.child == 0)
		_exit(0);
	child_end(forker.child);
	forker.child = -1;
}

static lfpool_t *forking_pool(lfpool_config_t config)
{
	forker.armed = false;
	forker.child = -1;
	return pool_with(&config);
}

/* Makes a waiting call ask, and reclaim while it waits. */
static bool after_a_few(void *context, const lfpool_batch_t *batch)
{
	(void)batch;
	return ++*(int *)context > 3;
}

TEST(fork_in_a_hook_run_by_a_waiting_call)
{
	int asked = 0;
	lfpool_t *pool = forking_pool(CONFIG_OF(SIZE, 1, .scheme.ready = after_a_few, .scheme.context = &asked,
						.hooks.deactivate = fork_in_hook));

	REQUIRE(lfpool_retire(pool, lfpool_acquire(pool)) == LFPOOL_OK);
	forker.armed = true;
	void *object = lfpool_acquire_wait(pool, -1);

	REQUIRE(object && !lfpool_acquire(pool));
	require_counts(pool, 1, 1);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	end_both(pool);
}

static size_t continued;

static void release_it(void *context, lfpool_t *pool, void *object)
{
	(void)context;
	continued++;
	REQUIRE(object && lfpool_release(pool, object) == LFPOOL_OK);
}

static void fork_and_release(void *context, lfpool_t *pool, void *object)
{
	fork_once();
	release_it(context, pool, object);
}

TEST(fork_in_a_continuation)
{
	lfpool_t *pool = forking_pool(CONFIG_OF(SIZE, 1, .hooks.activate = fork_in_hook));

	for (int queued = 0; queued < 2; queued++) {
		void *object = queued ? lfpool_acquire(pool) : NULL;

		continued = 0;
		forker.armed = !queued;
		REQUIRE(lfpool_acquire_async(pool, fork_and_release, NULL, NULL) == LFPOOL_OK);
		REQUIRE(lfpool_acquire_async(pool, fork_and_release, NULL, NULL) == LFPOOL_OK);
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
		REQUIRE(continued == 2);
		require_counts(pool, 1, 0);
	}
	end_both(pool);
}

RUN_TESTS()
