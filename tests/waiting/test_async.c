/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_async.c - continuations: never called after a cancel; behind a pending shrink; with hooks that refuse; and
 * continuations that use the pool.
 *
 * (Order, cancel, pending shrinks and NULL by lfpool_destroy(), in any sequence of calls: verify/fuzz, verify/pairs.
 * Every way to release an object: test_wait.c.  Continuations that ask again: verify/pairs.  Threads that ask, cancel
 * and release at once: the stress scenario `wait`.)
 */
#include "../support/kinds.h"

enum { FEW = 3, MANY = 100 };

/* A continuation's context: the arguments of its call. */
struct call {
	struct stage *stage;
	void *object;
	unsigned calls;
	lfpool_ticket_t ticket;
};

static void keep(void *context, lfpool_t *pool, void *object)
{
	struct call *c = context;

	REQUIRE(pool == c->stage->pool);
	REQUIRE(!object || lfpool_in_use(pool, object));
	c->object = object;
	c->calls++;
}

static void give_back(void *context, lfpool_t *pool, void *object)
{
	keep(context, pool, object);
	REQUIRE(object && lfpool_release(pool, object) == LFPOOL_OK);
}

static void ask(struct stage *s, struct call *c, lfpool_continuation_t then)
{
	*c = (struct call){.stage = s, .ticket = 77};
	assert_int_equal(lfpool_acquire_async(s->pool, then, c, &c->ticket), LFPOOL_OK);
}

/* Old tickets, of cancelled continuations, match no new one. */
KIND_TEST(cancelled_continuation_is_never_called)
{
	struct stage s;
	struct call old[MANY], fresh;
	void *object;

	stage_open(&s, kind, 1, 0);
	assert_non_null(object = lfpool_acquire(s.pool));
	assert_false(lfpool_cancel(s.pool, 0));
	for (size_t i = 0; i < MANY; i++)
		ask(&s, &old[i], keep);
	for (size_t i = 0; i < MANY; i++)
		assert_true(lfpool_cancel(s.pool, old[i].ticket));
	ask(&s, &fresh, keep);
	for (size_t i = 0; i < MANY; i++)
		assert_false(lfpool_cancel(s.pool, old[i].ticket));
	assert_true(lfpool_cancel(s.pool, fresh.ticket));
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(old[i].calls + fresh.calls, 0);
	stage_close(&s);
}

/* A continuation that is called with NULL and asks again is refused: otherwise it would never end. */
static void ask_for_ever(void *context, lfpool_t *pool, void *object)
{
	struct call *c = context;

	keep(context, pool, object);
	c->ticket = 77;
	assert_int_equal(lfpool_acquire_async(pool, ask_for_ever, context, &c->ticket), LFPOOL_E_CLOSED);
	assert_true(c->ticket == 0);
}

KIND_TEST(asking_again_during_destroy_is_refused)
{
	struct stage s;
	struct call calls[FEW];

	stage_open(&s, kind, 1, 0);
	assert_int_equal(lfpool_shrink(s.pool, 1), 1);
	for (size_t i = 0; i < FEW; i++)
		ask(&s, &calls[i], ask_for_ever);
	assert_int_equal(lfpool_destroy(s.pool), 0);
	for (size_t i = 0; i < FEW; i++)
		assert_int_equal(calls[i].calls, 1);
}

KIND_TEST(pending_shrink_is_served_before_waiters)
{
	struct stage s;
	void *objects[3];
	struct call call;

	stage_open(&s, kind, 3, 0);
	assert_int_equal(lfpool_acquire_bulk(s.pool, objects, 3), 3);
	ask(&s, &call, keep);
	assert_int_equal(lfpool_shrink(s.pool, 2), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(lfpool_release(s.pool, objects[i]), LFPOOL_OK);
		assert_int_equal(call.calls, i == 2);
	}
	assert_int_equal(lfpool_release(s.pool, call.object), LFPOOL_OK);
	require_counts(s.pool, 1, 0);
	stage_close(&s);
}

KIND_TEST(activate_refusal_serves_the_next_waiter)
{
	struct stage s;
	void *object;
	struct call calls[3];

	if (!kind->hooks)
		return;
	stage_open(&s, kind, 1, 0);
	/* Now there is an object, but it is refused. */
	s.activate_refuses = SIZE_MAX;
	ask(&s, &calls[0], keep);
	assert_int_equal(calls[0].calls, 1);
	assert_null(calls[0].object);
	/* It may have queued for it: the ticket is of one that has run. */
	assert_false(lfpool_cancel(s.pool, calls[0].ticket));
	s.activate_refuses = 0;
	require_counts(s.pool, 1, 0);
	/* Refused to the first of three waiters: the second gets it. */
	assert_non_null(object = lfpool_acquire(s.pool));
	for (size_t i = 0; i < 3; i++)
		ask(&s, &calls[i], keep);
	s.activate_refuses = 1;
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	assert_int_equal(calls[0].calls, 1);
	assert_null(calls[0].object);
	assert_int_equal(calls[1].calls, 1);
	assert_non_null(calls[1].object);
	assert_int_equal(calls[2].calls, 0);
	/* The last one is refused too: the object is free. */
	s.activate_refuses = 1;
	assert_int_equal(lfpool_release(s.pool, calls[1].object), LFPOOL_OK);
	assert_int_equal(calls[2].calls, 1);
	assert_null(calls[2].object);
	require_counts(s.pool, 1, 0);
	stage_close(&s);
}

/* ---- Continuations that use the pool in every way: each runs from a loop, not from a recursion ---- */

enum { CHAIN = TIMES(1000, 500) };

/* Runs body(argument) on a thread whose stack is too small for a recursion. */
static void on_small_stack(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	thread_start_small(&thread, body, argument);
	pthread_join(thread, NULL);
}

static void *release_first(void *argument)
{
	struct call *first = argument;

	REQUIRE(lfpool_release(first->stage->pool, first->object) == LFPOOL_OK);
	return NULL;
}

/* Continuations that make objects free, or search for some, in every way: the continuations behind them run after
 * they have returned. */
enum way { TRIM, GROW, FORGIVE, LIMIT, WAIT, SHRINK, WAYS };

struct maker {
	struct call call;
	enum way way;
	unsigned depth, deepest;
};

static void make(void *context, lfpool_t *pool, void *object)
{
	struct maker *m = context;

	m->depth++;
	m->deepest = m->depth > m->deepest ? m->depth : m->deepest;
	give_back(&m->call, pool, object);
	switch (m->way) {
	case TRIM: (void)lfpool_trim(pool, 0, 1); break;
	case GROW: (void)lfpool_grow(pool, 1); break;
	case FORGIVE: (void)lfpool_shrink_cancel(pool); break;
	case LIMIT: (void)lfpool_limit(pool, 100); break;
	case WAIT:
		/* Without a timeout, and the released object is there: otherwise the call that called this one would
		 * have to serve it. */
		REQUIRE(object = lfpool_acquire_wait(pool, m->call.calls % 2 ? -1 : 1));
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
		break;
	default: (void)lfpool_shrink(pool, 0); break;
	}
	m->depth--;
}

KIND_TEST(continuations_do_not_nest)
{
	for (enum way way = TRIM; way < WAYS; way++) {
		struct stage s;
		struct call first;
		struct maker m = {.call = {.stage = &s}, .way = way};

		stage_open(&s, kind, 1, 100);
		ask(&s, &first, keep);
		for (size_t i = 0; i < CHAIN / 2; i++)
			REQUIRE(lfpool_acquire_async(s.pool, make, &m, NULL) == LFPOOL_OK);
		on_small_stack(release_first, &first);
		assert_int_equal(m.call.calls, CHAIN / 2);
		assert_int_equal(m.deepest, 1);
		stage_close(&s);
	}
}

/* ---- Many threads in continuations at once: each thread knows its own ---- */

enum { BUSY_THREADS = 150 };

static struct {
	lfpool_t *pool;
	pthread_barrier_t begun, over;
	unsigned calls, depth, deepest;
} crowd;

static void stay_a_while(void *context, lfpool_t *pool, void *object)
{
	(void)context;
	pthread_barrier_wait(&crowd.begun);
	pthread_barrier_wait(&crowd.over);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

static void *run_a_continuation(void *argument)
{
	REQUIRE(lfpool_acquire_async(crowd.pool, stay_a_while, argument, NULL) == LFPOOL_OK);
	return NULL;
}

static void ask_in_a_crowd(void *context, lfpool_t *pool, void *object)
{
	crowd.deepest = ++crowd.depth > crowd.deepest ? crowd.depth : crowd.deepest;
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	if (++crowd.calls < MANY)
		REQUIRE(lfpool_acquire_async(pool, ask_in_a_crowd, context, NULL) == LFPOOL_OK);
	crowd.depth--;
}

TEST(continuations_do_not_nest_however_many_threads_are_in_some)
{
	lfpool_t *own = pool_of(SIZE, FEW);
	static pthread_t busy[BUSY_THREADS];

	crowd.pool = pool_of(SIZE, BUSY_THREADS + 1);
	REQUIRE(pthread_barrier_init(&crowd.begun, NULL, BUSY_THREADS + 1) == 0);
	REQUIRE(pthread_barrier_init(&crowd.over, NULL, BUSY_THREADS + 1) == 0);
	for (size_t i = 0; i < BUSY_THREADS; i++)
		thread_start_small(&busy[i], run_a_continuation, NULL);
	pthread_barrier_wait(&crowd.begun);
	for (unsigned i = 0; i < 2; i++) {
		crowd.calls = crowd.deepest = 0;
		REQUIRE(lfpool_acquire_async(i ? crowd.pool : own, ask_in_a_crowd, NULL, NULL) == LFPOOL_OK);
		assert_int_equal(crowd.calls, MANY);
		assert_int_equal(crowd.deepest, 1);
	}
	pthread_barrier_wait(&crowd.over);
	for (size_t i = 0; i < BUSY_THREADS; i++)
		REQUIRE(pthread_join(busy[i], NULL) == 0);
	assert_int_equal(lfpool_destroy(crowd.pool), 0);
	assert_int_equal(lfpool_destroy(own), 0);
}

/* During a continuation, free objects meet a pending shrink, which never exceeds the capacity (W4). */
static void owe_and_take(void *context, lfpool_t *pool, void *object)
{
	keep(context, pool, object);
	REQUIRE(lfpool_shrink(pool, 1) == 0 && lfpool_quick_stats(pool).owed == 1);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	(void)lfpool_trim(pool, 0, SIZE_MAX);
	(void)lfpool_shrink(pool, 1);
	REQUIRE(lfpool_quick_stats(pool).owed <= lfpool_capacity(pool));
}

/* In a trim, hooks.destroy queues a continuation: the trim holds the only object. */
static struct {
	lfpool_t *pool;
	bool trims;
	unsigned created, called;
} during_trim;

static void call_in_trim(void *context, lfpool_t *pool, void *object)
{
	(void)context;
	REQUIRE(during_trim.trims && lfpool_release(pool, object) == LFPOOL_OK);
	during_trim.called++;
}

static bool create_in_trim(void *context, void *object)
{
	(void)context, (void)object;
	during_trim.created++;
	return true;
}

static void destroy_in_trim(void *context, void *object)
{
	(void)context, (void)object;
	if (during_trim.trims && !during_trim.called)
		REQUIRE(lfpool_acquire_async(during_trim.pool, call_in_trim, NULL, NULL) == LFPOOL_OK);
}

/* As resize.h says: a continuation that waits for an object of lfpool_trim() gets it in that call. */
BACKEND_TEST(trim_serves_the_continuations_that_wait_for_its_objects, LFPOOL_BACKEND_MUTEX)
{
	lfpool_config_t config = CONFIG_OF(SIZE, 1, .backend = backend);

	config.hooks = (lfpool_hooks_t){.create = create_in_trim, .destroy = destroy_in_trim};
	during_trim.created = during_trim.called = 0;
	assert_int_equal(lfpool_create(&during_trim.pool, &config), LFPOOL_OK);
	if (lfpool_quick_stats(during_trim.pool).backend == LFPOOL_BACKEND_MALLOC) {
		/* lfpool_trim() does nothing. */
		assert_int_equal(lfpool_destroy(during_trim.pool), 0);
		return;
	}
	assert_int_equal(lfpool_release(during_trim.pool, lfpool_acquire(during_trim.pool)), LFPOOL_OK);
	during_trim.trims = true;
	assert_false(lfpool_trim(during_trim.pool, 0, SIZE_MAX));
	during_trim.trims = false;
	assert_int_equal(during_trim.called, 1);
	assert_int_equal(during_trim.created, 2);
	assert_int_equal(lfpool_destroy(during_trim.pool), 0);
}

KIND_TEST(continuation_that_shrinks_its_pool)
{
	struct stage s;
	struct call call;

	stage_open(&s, kind, 1, 3);
	ask(&s, &call, owe_and_take);
	require_counts(s.pool, 0, 0);
	assert_int_equal(lfpool_quick_stats(s.pool).owed, 0);
	assert_int_equal(lfpool_reserve(s.pool, 3), 3);
	require_counts(s.pool, 3, 0);
	stage_close(&s);
}

RUN_TESTS()
