/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_fork_waiting.c - fork while others wait, and while they are served: the child has the continuations, each once, and
 * every object but those in the hands of a call that it does not have; calls of the thread that forks go on in both.
 */
#include "../support/child.h"
#include "../support/continuations.h"
#include "../support/waiters.h"

/* Who waits in the child, and who in the parent: the mutex backend is not for a fork (LFPOOL_BACKEND_MUTEX). */
static bool may_fork(const struct kind *kind)
{
	return kind->backend != LFPOOL_BACKEND_MUTEX;
}

/* ---- A call that is parked where it waits ---- */

static atomic_int parked, may_go_on;

static void park(int number)
{
	(void)number;
	atomic_store(&parked, true);
	while (!atomic_load(&may_go_on))
		sched_yield();
}

/* As the kernel says it. */
static bool is_asleep(int thread_id)
{
	char path[64], text[256];

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread_id);
	FILE *file = fopen(path, "r");

	REQUIRE(file);
	const size_t read = fread(text, 1, sizeof(text) - 1, file);

	fclose(file);
	text[read] = '\0';
	return strstr(text, ") S ") != NULL;
}

/* It sleeps before it is parked, so it is in the middle of nothing else.  The handler ends the sleep (no SA_RESTART): where a
 * sanitizer delays handlers, this one runs as soon as the call looks whether it was given something. */
static void park_call(struct waiter *w)
{
	const struct sigaction action = {.sa_handler = park};

	atomic_store(&parked, false);
	atomic_store(&may_go_on, false);
	REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
	while (!atomic_load(&w->thread_id) || !is_asleep(atomic_load(&w->thread_id)))
		sched_yield();
	REQUIRE(pthread_kill(w->thread, SIGUSR1) == 0);
	while (!atomic_load(&parked))
		sched_yield();
}

/* ---- What was given to a call that has not fetched it ---- */

KIND_TEST(what_was_given_and_not_fetched_is_free_and_served)
{
	struct stage s;
	void *object, *again;
	struct call calls[3];

	if (!may_fork(kind))
		return;
	for (size_t continuations = 0; continuations < 3; continuations++) {
		struct waiter w = {.timeout_ns = 0};

		stage_open(&s, kind, 1, 0);
		hold_all(&s, &object, 1);
		waiter_start(&w, &s);
		await_waiting(&s, 1);
		park_call(&w);
		for (size_t i = 0; i < continuations; i++)
			ask(&s, &calls[i], continuations == 2 && i == 0 ? give_back : keep);
		/* It is the parked call's now. */
		REQUIRE(lfpool_release(s.pool, object) == LFPOOL_OK);
		pid_t pid = child_start();

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
		child_end(pid);
		for (size_t i = 0; i < continuations; i++)
			REQUIRE(calls[i].calls == 0);
		atomic_store(&may_go_on, true);
		pthread_join(w.thread, NULL);
		if (continuations)
			REQUIRE(lfpool_release(s.pool, calls[continuations - 1].object) == LFPOOL_OK);
		stage_close(&s);
	}
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
		forker.child = child_start();
	}
}

/* On both sides as many wait as did. */
static bool fork_in_hook(void *context, void *object)
{
	const lfpool_t *pool = lfpool_of(object);
	const size_t waiting = stats_of(pool).waiting;

	(void)context;
	fork_once();
	REQUIRE(stats_of(pool).waiting == waiting);
	return true;
}

/* Both go on; the child ends here. */
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

/* So that a call that waits asks, and reclaims while it waits. */
static bool after_a_few(void *context, const lfpool_batch_t *batch)
{
	(void)batch;
	return ++*(int *)context > 3;
}

TEST(in_a_hook_that_a_waiting_call_runs)
{
	int asked = 0;
	lfpool_t *pool = forking_pool(
		CONFIG_OF(SIZE, 1, .scheme.ready = after_a_few, .scheme.context = &asked, .hooks.deactivate = fork_in_hook));

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
	lfpool_t *pool = forking_pool(CONFIG_OF(SIZE, 1, .hooks.activate = fork_in_hook));
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

static void *release_its_object(void *object)
{
	REQUIRE(lfpool_release_self(object) == LFPOOL_OK);
	return NULL;
}

static struct call calls_two[2];

static void require_both_called_in_order(void)
{
	REQUIRE(calls_so_far == 2 && calls_two[0].order == 1 && calls_two[1].order == 2);
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
	lfpool_t *pool = POOL_OF(SIZE, 2, .hooks.activate = stand_in_hook);
	void *theirs = lfpool_acquire(pool), *mine = lfpool_acquire(pool);

	calls_so_far = 0;
	memset(calls_two, 0, sizeof(calls_two));
	for (size_t i = 0; i < 2; i++)
		REQUIRE(lfpool_acquire_async(pool, note_order, &calls_two[i], NULL) == LFPOOL_OK);
	atomic_store(&hook_waits, true);
	const struct threads other = threads_start(1, release_its_object, theirs, 0);
	while (!atomic_load(&hook_stands))
		sched_yield();
	pid_t pid = child_start();

	if (pid == 0) {
		/* The object is lost with the thread, its continuation is not, nor its place. */
		REQUIRE(calls_so_far == 0);
		REQUIRE(lfpool_release(pool, mine) == LFPOOL_OK);
		require_both_called_in_order();
		REQUIRE(lfpool_available_count(pool) == 1);
		_exit(0);
	}
	child_end(pid);
	atomic_store(&hook_stands, false);
	threads_join(&other);
	require_both_called_in_order();
	REQUIRE(lfpool_release(pool, mine) == LFPOOL_OK);
	REQUIRE(lfpool_destroy(pool) == 0);
}

RUN_TESTS()
