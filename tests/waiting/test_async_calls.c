/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_async_calls.c - continuations that use the pool, from a loop and not from a recursion, in whatever way; and, of cancel
 * and release at the same instant, exactly one.
 */
#include "../support/continuations.h"

#include <pthread.h>
#include <sched.h>

/* ---- Continuations that use the pool ---- */

enum { CHAIN = TIMES(8000, 4000) };

/* Runs body(argument) on a thread whose stack would not bear a recursion. */
static void on_small_stack(void *(*body)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	REQUIRE(pthread_attr_init(&attributes) == 0);
	REQUIRE(pthread_attr_setstacksize(&attributes, TIMES(64, 512) * 1024) == 0);
	REQUIRE(pthread_create(&thread, &attributes, body, argument) == 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
}

static void *release_first(void *argument)
{
	struct call *first = argument;

	REQUIRE(lfpool_release(first->stage->pool, first->object) == LFPOOL_OK);
	return NULL;
}

KIND_TEST(a_chain_of_continuations_that_release_is_no_recursion)
{
	static struct call calls[CHAIN];
	struct stage s;
	struct call first;

	stage_open(&s, kind, 1, 0);
	ask(&s, &first, keep);
	for (size_t i = 0; i < CHAIN / 8; i++)
		ask(&s, &calls[i], give_back);
	calls_so_far = 0;
	on_small_stack(release_first, &first);
	for (size_t i = 0; i < CHAIN / 8; i++)
		REQUIRE(calls[i].calls == 1 && calls[i].order == i);
	require_counts(s.pool, 1, 0);
	stage_close(&s);
}

TEST_WITH(a_chain_of_very_many, NULL, kind_teardown)
{
	static struct call calls[CHAIN];
	const struct kind kind = {0};
	struct stage s;
	struct call first;

	stage_open(&s, &kind, 1, 0);
	ask(&s, &first, keep);
	for (size_t i = 0; i < CHAIN; i++)
		ask(&s, &calls[i], give_back);
	calls_so_far = 0;
	on_small_stack(release_first, &first);
	for (size_t i = 0; i < CHAIN; i++)
		REQUIRE(calls[i].calls == 1 && calls[i].order == i);
	stage_close(&s);
}

/* Of two pools: a continuation of the one has the other serve a call, and then releases. */
struct both {
	struct call call, other;
};

static void serve_other_and_give_back(void *context, lfpool_t *pool, void *object)
{
	struct both *b = context;
	lfpool_t *other = b->other.stage->pool;
	void *held = b->other.object;

	REQUIRE(lfpool_acquire_async(other, keep, &b->other, NULL) == LFPOOL_OK);
	b->other.object = NULL;
	REQUIRE(lfpool_release(other, held) == LFPOOL_OK);
	REQUIRE(b->other.object);
	give_back(&b->call, pool, object);
}

KIND_TEST(a_chain_that_goes_through_another_pool_is_no_recursion)
{
	struct stage s, beside;
	struct call first;
	struct both b = {.call = {.stage = &s}, .other = {.stage = &beside}};

	stage_open(&s, kind, 1, 0);
	stage_open(&beside, kind, 1, 0);
	ask(&s, &first, keep);
	b.other.object = lfpool_acquire(beside.pool);
	for (size_t i = 0; i < CHAIN / 8; i++)
		assert_int_equal(lfpool_acquire_async(s.pool, serve_other_and_give_back, &b, NULL), LFPOOL_OK);
	on_small_stack(release_first, &first);
	assert_int_equal(b.call.calls, CHAIN / 8);
	assert_int_equal(b.other.calls, CHAIN / 8);
	assert_int_equal(lfpool_release(beside.pool, b.other.object), LFPOOL_OK);
	stage_close(&beside);
	stage_close(&s);
}

/* A continuation that asks again, at once or later, until it has been called often enough. */
struct relay {
	struct call call;
	size_t left;
	bool release_first;
};

static void pass_on(void *context, lfpool_t *pool, void *object)
{
	struct relay *r = context;

	REQUIRE(object);
	r->call.calls++;
	if (r->release_first)
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	if (r->left) {
		r->left--;
		REQUIRE(lfpool_acquire_async(pool, pass_on, r, NULL) == LFPOOL_OK);
	}
	if (!r->release_first)
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

static void *start_relay(void *argument)
{
	struct relay *r = argument;

	REQUIRE(lfpool_acquire_async(r->call.stage->pool, pass_on, r, NULL) == LFPOOL_OK);
	return NULL;
}

static void relay(const struct kind *kind)
{
	struct stage s;
	struct relay r;

	/* Holding what there is, having released it, and while there is another object. */
	for (unsigned way = 0; way < 4; way++) {
		stage_open(&s, kind, 1 + way / 2, 0);
		r = (struct relay){.call = {.stage = &s}, .left = CHAIN / 8, .release_first = way % 2};
		on_small_stack(start_relay, &r);
		assert_int_equal(r.call.calls, CHAIN / 8 + 1);
		require_counts(s.pool, 1 + way / 2, 0);
		stage_close(&s);
	}
}

TEST_WITH(a_continuation_may_ask_again, NULL, kind_teardown)
{
	on_every_kind(relay);
}

/* Two that take turns, a million times: each releases and asks again. */
TEST_WITH(a_million_that_ask_again, NULL, kind_teardown)
{
	const struct kind kind = {0};
	struct stage s;
	struct call first;
	struct relay two[2];

	stage_open(&s, &kind, 1, 0);
	ask(&s, &first, keep);
	for (size_t i = 0; i < 2; i++) {
		two[i] = (struct relay){.call = {.stage = &s}, .left = TIMES(500000, 10000), .release_first = true};
		assert_int_equal(lfpool_acquire_async(s.pool, pass_on, &two[i], NULL), LFPOOL_OK);
	}
	on_small_stack(release_first, &first);
	assert_int_equal(two[0].call.calls + two[1].call.calls, 2 * (TIMES(500000, 10000) + 1));
	stage_close(&s);
}

/* Continuations that make objects free, or look for some, in every way: those behind them run when they have returned. */
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
		/* For ever, and what was released is there: the call that called us would serve it. */
		REQUIRE(object = lfpool_acquire_wait(pool, m->call.calls % 2 ? -1 : 1));
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
		break;
	default: (void)lfpool_shrink(pool, 0); break;
	}
	m->depth--;
}

KIND_TEST(whatever_a_continuation_calls_the_next_waits_for_it)
{
	for (enum way way = TRIM; way < WAYS; way++) {
		struct stage s;
		struct call first;
		struct maker m = {.call = {.stage = &s}, .way = way};

		stage_open(&s, kind, 1, 100);
		ask(&s, &first, keep);
		for (size_t i = 0; i < CHAIN / 16; i++)
			REQUIRE(lfpool_acquire_async(s.pool, make, &m, NULL) == LFPOOL_OK);
		on_small_stack(release_first, &first);
		assert_int_equal(m.call.calls, CHAIN / 16);
		assert_int_equal(m.deepest, 1);
		stage_close(&s);
	}
}

/* In one, a debt that was made and what was freed meet behind its back: it is never more than there is (W4). */
static void owe_and_take(void *context, lfpool_t *pool, void *object)
{
	keep(context, pool, object);
	REQUIRE(lfpool_shrink(pool, 1) == 0 && lfpool_shrink_owed(pool) == 1);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	(void)lfpool_trim(pool, 0, SIZE_MAX);
	(void)lfpool_shrink(pool, 1);
	REQUIRE(lfpool_shrink_owed(pool) <= lfpool_capacity(pool));
}

KIND_TEST(a_continuation_that_shrinks_what_it_owes)
{
	struct stage s;
	struct call call;

	stage_open(&s, kind, 1, 3);
	ask(&s, &call, owe_and_take);
	require_counts(s.pool, 0, 0);
	assert_int_equal(lfpool_shrink_owed(s.pool), 0);
	assert_int_equal(lfpool_reserve(s.pool, 3), 3);
	require_counts(s.pool, 3, 0);
	stage_close(&s);
}

/* A continuation that does a bit of everything: acquires, waits, cancels others and itself, grows, shrinks. */
struct busy {
	struct call call;
	struct call *victim;
	struct call *spared;
	bool cancelled;
};

static void be_busy(void *context, lfpool_t *pool, void *object)
{
	struct busy *b = context;
	void *second;

	keep(&b->call, pool, object);
	REQUIRE(!lfpool_cancel(pool, b->call.ticket));
	REQUIRE(!lfpool_acquire(pool));
	REQUIRE(!lfpool_acquire_wait(pool, 0));
	REQUIRE(!lfpool_acquire_wait(pool, 1000));
	b->cancelled = lfpool_cancel(pool, b->victim->ticket);
	REQUIRE(b->spared->calls == 0);
	/* What it adds goes to the one who still waits, not to this call. */
	REQUIRE(lfpool_grow(pool, 1) == 1);
	REQUIRE(b->spared->calls <= 1);
	REQUIRE(lfpool_grow(pool, 1) == 1);
	second = lfpool_acquire_wait(pool, -1);
	REQUIRE(second && second != object);
	REQUIRE(lfpool_release(pool, second) == LFPOOL_OK);
	REQUIRE(lfpool_shrink(pool, 1) <= 1);
}

KIND_TEST(a_continuation_may_use_the_pool)
{
	struct stage s;
	struct call holder, victim, spared;
	struct busy b;

	stage_open(&s, kind, 1, 5);
	ask(&s, &holder, keep);
	b = (struct busy){.call = {.stage = &s}, .victim = &victim, .spared = &spared};
	assert_int_equal(lfpool_acquire_async(s.pool, be_busy, &b, &b.call.ticket), LFPOOL_OK);
	ask(&s, &victim, keep);
	ask(&s, &spared, keep);
	assert_int_equal(lfpool_release(s.pool, holder.object), LFPOOL_OK);
	assert_int_equal(b.call.calls, 1);
	assert_true(b.cancelled);
	assert_int_equal(victim.calls, 0);
	assert_int_equal(spared.calls, 1);
	assert_int_equal(lfpool_release(s.pool, b.call.object), LFPOOL_OK);
	assert_int_equal(lfpool_release(s.pool, spared.object), LFPOOL_OK);
	assert_int_equal(lfpool_shrink_owed(s.pool), 0);
	stage_close(&s);
}

/* ---- Races ---- */

enum { RACES = TIMES(150, 20), THREADS = 4 };

/* Two threads at once: one cancels, one releases. */
struct race {
	struct stage *stage;
	pthread_barrier_t start;
	void *object;
	lfpool_ticket_t ticket;
	bool cancelled;
	atomic_uint calls;
	_Atomic(void *) got;
	unsigned rounds;
};

static void count_call(void *context, lfpool_t *pool, void *object)
{
	struct race *r = context;

	(void)pool;
	REQUIRE(object);
	atomic_store(&r->got, object);
	atomic_fetch_add(&r->calls, 1);
}

static void *cancel_each(void *argument)
{
	struct race *r = argument;

	for (unsigned i = 0; i < r->rounds; i++) {
		pthread_barrier_wait(&r->start);
		r->cancelled = lfpool_cancel(r->stage->pool, r->ticket);
		pthread_barrier_wait(&r->start);
	}
	return NULL;
}

KIND_TEST(cancel_against_release_is_exactly_one)
{
	struct stage s;
	struct race r = {.stage = &s, .rounds = RACES};
	pthread_t thread;

	stage_open(&s, kind, 1, 0);
	pthread_barrier_init(&r.start, NULL, 2);
	thread_start(&thread, cancel_each, &r);
	for (unsigned i = 0; i < RACES; i++) {
		atomic_store(&r.calls, 0);
		REQUIRE(r.object = lfpool_acquire(s.pool));
		REQUIRE(lfpool_acquire_async(s.pool, count_call, &r, &r.ticket) == LFPOOL_OK);
		pthread_barrier_wait(&r.start);
		REQUIRE(lfpool_release(s.pool, r.object) == LFPOOL_OK);
		pthread_barrier_wait(&r.start);
		REQUIRE(atomic_load(&r.calls) == (r.cancelled ? 0 : 1));
		if (!r.cancelled)
			REQUIRE(lfpool_release(s.pool, atomic_load(&r.got)) == LFPOOL_OK);
		REQUIRE(lfpool_active_count(s.pool) == 0);
	}
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&r.start);
	stage_close(&s);
}

/* Many threads ask, cancel and release; every continuation is called once, or cancelled. */
enum { ASKS = TIMES(1000, 300) };

struct crowd {
	struct stage *stage;
	struct random random;
	pthread_t thread;
	struct ask {
		atomic_uint calls;
		bool cancelled;
	} asks[ASKS];
};

static void hand_on(void *context, lfpool_t *pool, void *object)
{
	struct ask *a = context;

	REQUIRE(object);
	atomic_fetch_add(&a->calls, 1);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

static void *ask_and_cancel(void *argument)
{
	struct crowd *c = argument;
	lfpool_t *pool = c->stage->pool;

	for (size_t i = 0; i < ASKS; i++) {
		void *object = random_below(&c->random, 2) ? lfpool_acquire(pool) : NULL;
		lfpool_ticket_t ticket;

		REQUIRE(lfpool_acquire_async(pool, hand_on, &c->asks[i], &ticket) == LFPOOL_OK);
		if (ticket && random_below(&c->random, 2))
			c->asks[i].cancelled = lfpool_cancel(pool, ticket);
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	}
	return NULL;
}

static uint64_t crowd_seed;

static void crowded(const struct kind *kind)
{
	static struct crowd crowds[THREADS];
	struct stage s;

	memset(crowds, 0, sizeof(crowds));
	stage_open(&s, kind, 2, 0);
	for (unsigned i = 0; i < THREADS; i++) {
		crowds[i].stage = &s;
		crowds[i].random = random_for(crowd_seed, i);
		thread_start(&crowds[i].thread, ask_and_cancel, &crowds[i]);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(crowds[i].thread, NULL);
	/* Nothing is held any more, so nobody waits any more. */
	for (unsigned i = 0; i < THREADS; i++)
		for (size_t k = 0; k < ASKS; k++)
			REQUIRE(crowds[i].asks[k].calls == (crowds[i].asks[k].cancelled ? 0 : 1));
	require_counts(s.pool, 2, 0);
	stage_close(&s);
}

TEST_WITH(a_crowd_that_asks_and_cancels, NULL, kind_teardown)
{
	crowd_seed = test_seed("a_crowd_that_asks_and_cancels");
	on_every_kind(crowded);
}

/* One thread asks and takes its word back, again and again, while others hand the only object around. */
struct fickle {
	struct stage *stage;
	atomic_uint calls, cancelled;
	atomic_bool stop;
	unsigned asks;
};

static void count_and_release(void *context, lfpool_t *pool, void *object)
{
	struct fickle *f = context;

	REQUIRE(object);
	atomic_fetch_add(&f->calls, 1);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

static void *hand_around(void *argument)
{
	struct fickle *f = argument;

	/* relaxed: a sign only. */
	while (!atomic_load_explicit(&f->stop, memory_order_relaxed)) {
		void *object = lfpool_acquire(f->stage->pool);

		if (!object)
			sched_yield();
		REQUIRE(lfpool_release(f->stage->pool, object) == LFPOOL_OK);
	}
	return NULL;
}

static void *ask_in_vain(void *argument)
{
	struct fickle *f = argument;

	for (unsigned i = 0; i < f->asks; i++) {
		lfpool_ticket_t ticket;

		REQUIRE(lfpool_acquire_async(f->stage->pool, count_and_release, f, &ticket) == LFPOOL_OK);
		if (ticket && lfpool_cancel(f->stage->pool, ticket))
			atomic_fetch_add(&f->cancelled, 1);
	}
	return NULL;
}

KIND_TEST(asked_and_cancelled_while_the_object_comes_and_goes)
{
	struct stage s;
	struct fickle f = {.stage = &s, .asks = kind->backend || kind->debug || kind->hooks ? TIMES(500, 100) : TIMES(4000, 700)};
	pthread_t around[2], asking[2];

	stage_open(&s, kind, 1, 0);
	for (size_t i = 0; i < 2; i++) {
		thread_start(&around[i], hand_around, &f);
		thread_start(&asking[i], ask_in_vain, &f);
	}
	for (size_t i = 0; i < 2; i++)
		pthread_join(asking[i], NULL);
	/* relaxed: a sign only. */
	atomic_store_explicit(&f.stop, true, memory_order_relaxed);
	for (size_t i = 0; i < 2; i++)
		pthread_join(around[i], NULL);
	REQUIRE(f.calls + f.cancelled == 2 * f.asks);
	stage_close(&s);
}

RUN_TESTS()
