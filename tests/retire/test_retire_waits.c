/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_retire_waits.c - what waits for retired objects (lfpool/retire.h): calls and continuations, lfpool_drain() and
 * lfpool_destroy(); and what is refused where a thread must not wait.
 */
#include "../support/continuations.h"
#include "../support/scheme_stage.h"
#include "../support/waiters.h"
#include "../support/told.h"

enum { PLENTY = 60 };

/* All there are: one alone, the others after it. */
static void retire_all(struct stage *s, size_t capacity)
{
	void *objects[PLENTY];

	REQUIRE(acquire_all(s->pool, objects, PLENTY) == capacity);
	for (size_t i = 0; i < capacity; i++)
		REQUIRE(lfpool_retire(s->pool, objects[i]) == LFPOOL_OK);
	REQUIRE(!lfpool_acquire(s->pool));
}

/* They go on asking. */
static void await_asks(void)
{
	for (size_t asks = fake.asks; atomic_load(&fake.asks) < asks + 3;)
		sched_yield();
}

/* ---- Calls that wait ---- */

/* They sleep until something is reclaimed; where the scheme is asked, they ask, and no other thread is there to do so. */
STAGED_TEST(calls_that_wait_get_what_is_reclaimed, FIRST, 0)
{
	struct waiter waiters[THREADS] = {{.keep = false}};

	retire_all(s, FIRST);
	for (size_t i = 0; i < THREADS; i++)
		waiter_start(&waiters[i], s);
	await_waiting(s, THREADS);
	if (fake.kind == ASKED) {
		await_asks();
		atomic_store(&fake.yes, true);
	} else {
		REQUIRE(fake_period(s->pool) == 1);
	}
	/* One object is enough: each releases it. */
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(waiters[i].thread, NULL);
		REQUIRE(waiters[i].object);
	}
	if (fake.kind == KEPT)
		REQUIRE(lfpool_retired_count(s->pool) == FIRST - 1);
}

STAGED_TEST(a_continuation_gets_what_is_reclaimed, FIRST, 0)
{
	struct call calls[2];

	retire_all(s, FIRST);
	ask(s, &calls[0], keep);
	ask(s, &calls[1], give_back);
	REQUIRE(!calls[0].calls && !calls[1].calls);
	/* The first batch is one object. */
	REQUIRE(fake_period(s->pool) == 1);
	REQUIRE(calls[0].calls == 1 && calls[0].object && !calls[1].calls);
	REQUIRE(fake_period(s->pool) == 1);
	REQUIRE(calls[1].calls == 1 && calls[1].object);
	REQUIRE(lfpool_retired_count(s->pool) == 0);
	REQUIRE(lfpool_release(s->pool, calls[0].object) == LFPOOL_OK);
}

/* ---- Draining and destroying ---- */

struct drainer {
	lfpool_t *pool;
	atomic_bool done;
	pthread_t thread;
};

static void *drain(void *argument)
{
	struct drainer *d = argument;

	REQUIRE(lfpool_drain(d->pool) == LFPOOL_OK);
	atomic_store(&d->done, true);
	return NULL;
}

STAGED_TEST(with_nothing_retired_nobody_is_asked, FIRST, 0)
{
	void *object = lfpool_acquire(s->pool);

	REQUIRE(lfpool_drain(s->pool) == LFPOOL_OK);
	REQUIRE(fake.waits == 0 && fake.asks == 0);
	/* Released, not retired. */
	REQUIRE(lfpool_release(s->pool, object) == LFPOOL_OK);
	REQUIRE(lfpool_drain(s->pool) == LFPOOL_OK);
	/* Over already. */
	REQUIRE(lfpool_retire(s->pool, lfpool_acquire(s->pool)) == LFPOOL_OK);
	fake_end_all(s->pool);
	const size_t waits = fake.waits, asks = fake.asks;

	REQUIRE(lfpool_drain(s->pool) == LFPOOL_OK);
	REQUIRE(fake.waits == waits && fake.asks == asks);
}

/* `wait` ends a period each time. */
KIND_TEST(draining_waits_as_the_scheme_does)
{
	struct stage s;

	scheme_stage_open(&s, kind, KEPT, PLENTY, 0);
	for (int round = 0; round < 2; round++) {
		retire_all(&s, PLENTY);
		REQUIRE(lfpool_drain(s.pool) == LFPOOL_OK);
		REQUIRE(fake.waits >= 2);
		REQUIRE(lfpool_retired_count(s.pool) == 0);
	}
	stage_close(&s);
}

static void *destroy(void *argument)
{
	struct drainer *d = argument;

	REQUIRE(lfpool_destroy(d->pool) == 0);
	atomic_store(&d->done, true);
	return NULL;
}

/* They go on asking, and do not return before the answer is yes. */
KIND_TEST(draining_and_destroying_ask_until_they_are_told_yes)
{
	for (int destroys = 0; destroys < 2; destroys++) {
		struct drainer d = {0};
		struct stage s;

		scheme_stage_open(&s, kind, ASKED, PLENTY, 0);
		retire_all(&s, PLENTY);
		d.pool = s.pool;
		thread_start(&d.thread, destroys ? destroy : drain, &d);
		await_asks();
		REQUIRE(!atomic_load(&d.done) && s.deactivated == 0);
		atomic_store(&fake.yes, true);
		pthread_join(d.thread, NULL);
		REQUIRE(s.deactivated == (kind->hooks ? PLENTY : 0));
		if (destroys) {
			REQUIRE(s.activated == s.deactivated && s.created == s.destroyed && s.findings == 0);
		} else {
			REQUIRE(lfpool_retired_count(s.pool) == 0);
			stage_close(&s);
		}
	}
}

struct reclaimer {
	lfpool_t *pool;
	atomic_bool over;
};

static void *reclaim_slowly(void *argument)
{
	struct reclaimer *r = argument;

	while (!atomic_load(&r->over)) {
		usleep(100);
		(void)fake_period(r->pool);
	}
	return NULL;
}

/* A scheme that has neither `ready` nor `wait`, and a thread of its own; and this thread goes on retiring. */
KIND_TEST(draining_ends_while_others_go_on_retiring)
{
	struct reclaimer r = {0};
	struct drainer d = {0};
	struct stage s;
	pthread_t thread;

	lfpool_config_t config = stage_config(&s, kind, PLENTY, 0);

	config.scheme = fake_scheme(KEPT);
	config.scheme.wait = NULL;
	s.pool = r.pool = d.pool = pool_with(&config);
	retire_all(&s, PLENTY);
	thread_start(&d.thread, drain, &d);
	REQUIRE(!atomic_load(&d.done));
	thread_start(&thread, reclaim_slowly, &r);
	while (!atomic_load(&d.done))
		REQUIRE(lfpool_retire(s.pool, lfpool_acquire(s.pool)) == LFPOOL_OK);
	pthread_join(d.thread, NULL);
	/* The one that went alone, and the others. */
	REQUIRE(atomic_load(&fake.ended) >= 2);
	REQUIRE(lfpool_drain(s.pool) == LFPOOL_OK);
	REQUIRE(lfpool_retired_count(s.pool) == 0);
	atomic_store(&r.over, true);
	pthread_join(thread, NULL);
	stage_close(&s);
}

/* ---- Where no thread may wait ---- */

TEST_WITH(inside_a_section_draining_and_destroying_are_refused, NULL, kind_teardown)
{
	for (size_t b = 0; b < COUNT(backends); b++) {
		void *objects[FIRST];
		lfpool_t *pool = POOL_OF(SIZE, FIRST, .backend = backends[b], .scheme = fake_scheme(KEPT), .hooks.misuse = hear);
		struct stage s = {.pool = pool, .kind = &kinds[0]};
		struct call call;

		told_forget();
		assert_int_equal(acquire_all(pool, objects, FIRST), FIRST);
		assert_int_equal(lfpool_retire_bulk(pool, objects, FIRST - 1), FIRST - 1);
		mark_write(objects[0], 1);
		/* It lives on as it is: a continuation that waits goes on waiting. */
		ask(&s, &call, keep);
		atomic_store(&fake.in_section, true);
		assert_int_equal(lfpool_drain(pool), LFPOOL_E_IN_SECTION);
		assert_int_equal(lfpool_retired_count(pool), FIRST - 1);
		assert_int_equal(told.count, 0);
		assert_true(lfpool_destroy(pool) == SIZE_MAX);
		assert_int_equal(told.count, 1);
		assert_ptr_equal(told.misuse.pool, pool);
		assert_int_equal(told.misuse.status, LFPOOL_E_IN_SECTION);
		assert_null(told.misuse.object);
		assert_int_equal(lfpool_misuse_count(pool), 1);
		assert_int_equal(call.calls, 0);
		require_intact(pool);
		assert_int_equal(lfpool_retired_count(pool), FIRST - 1);
		assert_true(mark_holds(objects[0], 1));
		assert_ptr_equal(lfpool_of(objects[FIRST - 1]), pool);
		assert_int_equal(lfpool_release(pool, objects[FIRST - 1]), LFPOOL_OK);
		assert_int_equal(call.calls, 1);
		assert_int_equal(lfpool_retire(pool, call.object), LFPOOL_OK);
		/* Outside it again. */
		atomic_store(&fake.in_section, false);
		assert_int_equal(lfpool_drain(pool), LFPOOL_OK);
		require_whole(pool, SIZE);
		assert_int_equal(lfpool_retire(pool, lfpool_acquire(pool)), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(pool), 0);
		assert_int_equal(told.count, 1);
	}
}

RUN_TESTS()
