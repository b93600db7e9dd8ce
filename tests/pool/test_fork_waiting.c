/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_fork_waiting.c - fork while others wait, and while they are served: the child has the continuations, each once, and
 * every object but those in the hands of a call that it does not have; calls of the thread that forks go on in both.
 *
 * The child speaks through its exit: REQUIRE, then _exit(); an alarm ends one that hangs.
 */
#include "../support/continuations.h"
#include "../support/waiters.h"

#include <sys/wait.h>

/* ---- Children ---- */

static pid_t fork_here(void)
{
	fflush(stdout);
	pid_t pid = fork();

	REQUIRE(pid >= 0);
	if (pid == 0)
		alarm(20);
	return pid;
}

static void require_child_ended(pid_t pid)
{
	int status = 0;

	REQUIRE(waitpid(pid, &status, 0) == pid);
	REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Who waits in the child, and who in the parent: the mutex backend is not for a fork (LFPOOL_BACKEND_MUTEX). */
static bool may_fork(const struct kind *kind)
{
	return kind->backend != LFPOOL_BACKEND_MUTEX;
}

/* ---- A thread that is parked, wherever it is ---- */

static atomic_int parked, may_go_on;

static void park(int number)
{
	(void)number;
	atomic_store(&parked, true);
	while (!atomic_load(&may_go_on))
		sched_yield();
}

static void park_thread(pthread_t thread)
{
	atomic_store(&parked, false);
	atomic_store(&may_go_on, false);
	signal(SIGUSR1, park);
	REQUIRE(pthread_kill(thread, SIGUSR1) == 0);
	while (!atomic_load(&parked))
		sched_yield();
}

/* ---- What was given to a call that has not fetched it ---- */

static void given_to_a_call(const struct kind *kind)
{
	struct stage s;
	struct waiter w = {.timeout_ns = 0};
	void *object, *again;
	struct call calls[3];

	if (!may_fork(kind))
		return;
	for (size_t continuations = 0; continuations < 3; continuations++) {
		stage_open(&s, kind, 1, 0);
		hold_all(&s, &object, 1);
		waiter_start(&w, &s);
		await_waiting(&s, 1);
		park_thread(w.thread);
		for (size_t i = 0; i < continuations; i++)
			ask(&s, &calls[i], continuations == 2 && i == 0 ? give_back : keep);
		/* It is the parked call's now. */
		REQUIRE(lfpool_release(s.pool, object) == LFPOOL_OK);
		pid_t pid = fork_here();

		if (pid == 0) {
			/* Continuations have been called when fork() returns; each got the only object there is. */
			for (size_t i = 0; i < continuations; i++)
				REQUIRE(calls[i].calls == 1 && calls[i].object);
			again = continuations ? calls[continuations - 1].object : lfpool_acquire(s.pool);
			REQUIRE(again && !lfpool_acquire(s.pool));
			require_counts(s.pool, 1, 1);
			REQUIRE(lfpool_release(s.pool, again) == LFPOOL_OK);
			stage_close(&s);
			_exit(0);
		}
		require_child_ended(pid);
		for (size_t i = 0; i < continuations; i++)
			REQUIRE(calls[i].calls == 0);
		atomic_store(&may_go_on, true);
		pthread_join(w.thread, NULL);
		if (continuations)
			REQUIRE(lfpool_release(s.pool, calls[continuations - 1].object) == LFPOOL_OK);
		stage_close(&s);
	}
}

TEST(what_was_given_and_not_fetched_is_free_and_served)
{
	on_every_kind(given_to_a_call);
}

/* ---- In a hook of the calling thread's ---- */

/* Forks, once, where it is told to. */
static struct {
	bool armed;
	pid_t child;
} forker;

static void fork_once(void)
{
	if (forker.armed) {
		forker.armed = false;
		forker.child = fork_here();
	}
}

static size_t waiting_of(const lfpool_t *pool)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	REQUIRE(lfpool_stats(pool, &stats) == LFPOOL_OK);
	return stats.waiting;
}

/* On both sides as many wait as did. */
static bool fork_in_hook(void *context, void *object)
{
	const lfpool_t *pool = lfpool_of(object);
	const size_t waiting = waiting_of(pool);

	(void)context;
	fork_once();
	REQUIRE(waiting_of(pool) == waiting);
	return true;
}

/* Both go on; the child ends here. */
static void end_both(lfpool_t *pool)
{
	REQUIRE(forker.child >= 0);
	REQUIRE(lfpool_destroy(pool) == 0);
	if (forker.child == 0)
		_exit(0);
	require_child_ended(forker.child);
	forker.child = -1;
}

static lfpool_t *forking_pool(size_t capacity, bool in_activate)
{
	lfpool_config_t config = config_of(SIZE, capacity);

	if (in_activate)
		config.hooks.activate = fork_in_hook;
	else
		config.hooks.deactivate = fork_in_hook;
	forker.armed = false;
	forker.child = -1;
	return pool_with(&config);
}

/* So that a call that waits asks, and reclaims while it waits. */
static bool after_a_few(void *context, const lfpool_batch_t *batch)
{
	(void)batch;
	return ++*(int *)context > 3;
}

TEST(in_a_hook_that_a_waiting_call_runs)
{
	lfpool_config_t config = config_of(SIZE, 1);
	int asked = 0;

	config.scheme.ready = after_a_few;
	config.scheme.context = &asked;
	config.hooks.deactivate = fork_in_hook;
	forker.armed = false;
	lfpool_t *pool = pool_with(&config);

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

TEST(in_a_hook_before_a_continuation)
{
	lfpool_t *pool = forking_pool(1, true);
	void *object = lfpool_acquire(pool);

	continued = 0;
	REQUIRE(lfpool_acquire_async(pool, release_it, NULL, NULL) == LFPOOL_OK);
	REQUIRE(lfpool_acquire_async(pool, release_it, NULL, NULL) == LFPOOL_OK);
	forker.armed = true;
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	REQUIRE(continued == 2);
	require_counts(pool, 1, 0);
	end_both(pool);
}

static void fork_and_release(void *context, lfpool_t *pool, void *object)
{
	fork_once();
	release_it(context, pool, object);
}

TEST(in_a_continuation)
{
	lfpool_t *pool = forking_pool(1, true);

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

/* ---- In another thread's server ---- */

static atomic_int hook_waits, hook_stands;

static bool stand_in_hook(void *context, void *object)
{
	(void)context;
	(void)object;
	/* Once. */
	if (atomic_exchange(&hook_waits, false)) {
		atomic_store(&hook_stands, true);
		while (atomic_load(&hook_stands))
			sched_yield();
	}
	return true;
}

struct releaser {
	lfpool_t *pool;
	void *object;
};

static void *release_one(void *argument)
{
	const struct releaser *r = argument;

	REQUIRE(lfpool_release(r->pool, r->object) == LFPOOL_OK);
	return NULL;
}

static struct call calls_two[2];
static size_t order_of(size_t i)
{
	return calls_two[i].order;
}

static void note_order(void *context, lfpool_t *pool, void *object)
{
	struct call *c = context;

	c->calls++;
	c->order = ++calls_so_far;
	REQUIRE(object && lfpool_release(pool, object) == LFPOOL_OK);
}

TEST(while_another_thread_is_about_to_call_a_continuation)
{
	lfpool_config_t config = config_of(SIZE, 2);
	pthread_t thread;

	config.hooks.activate = stand_in_hook;
	lfpool_t *pool = pool_with(&config);
	struct releaser r = {pool, lfpool_acquire(pool)};
	void *mine = lfpool_acquire(pool);

	calls_so_far = 0;
	memset(calls_two, 0, sizeof(calls_two));
	for (size_t i = 0; i < 2; i++)
		REQUIRE(lfpool_acquire_async(pool, note_order, &calls_two[i], NULL) == LFPOOL_OK);
	atomic_store(&hook_waits, true);
	thread_start(&thread, release_one, &r);
	while (!atomic_load(&hook_stands))
		sched_yield();
	pid_t pid = fork_here();

	if (pid == 0) {
		/* The object is lost with the thread, its continuation is not, nor its place. */
		REQUIRE(calls_so_far == 0);
		REQUIRE(lfpool_release(pool, mine) == LFPOOL_OK);
		REQUIRE(calls_so_far == 2 && order_of(0) == 1 && order_of(1) == 2);
		REQUIRE(lfpool_available_count(pool) == 1);
		_exit(0);
	}
	require_child_ended(pid);
	atomic_store(&hook_stands, false);
	pthread_join(thread, NULL);
	REQUIRE(calls_so_far == 2 && order_of(0) == 1 && order_of(1) == 2);
	REQUIRE(lfpool_release(pool, mine) == LFPOOL_OK);
	REQUIRE(lfpool_destroy(pool) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIND_TEST(what_was_given_and_not_fetched_is_free_and_served),
		cmocka_unit_test(in_a_hook_that_a_waiting_call_runs),
		cmocka_unit_test(in_a_hook_before_a_continuation),
		cmocka_unit_test(in_a_continuation),
		cmocka_unit_test(while_another_thread_is_about_to_call_a_continuation),
	};

	return cmocka_run_group_tests_name("fork waiting", tests, NULL, NULL);
}
