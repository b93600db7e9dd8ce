/* SPDX-License-Identifier: MIT */
/*
 * test_async.c - continuations: called at once or later, exactly once or, when cancelled, never; in order, from a loop
 * and not from a recursion, with a pool that they may use.
 */
#include "kinds.h"

#include <pthread.h>
#include <sched.h>

enum { FEW = 3 };

/* A continuation's context: what it was called with. */
struct call {
	struct stage *stage;
	void *object;
	unsigned calls;
	size_t order;          /* the how-manieth it was */
	lfpool_ticket_t ticket;
};

static size_t calls_so_far;

static void keep(void *context, lfpool_t *pool, void *object)
{
	struct call *c = context;

	REQUIRE(pool == c->stage->pool);
	REQUIRE(!object || !kind_tracked(c->stage->kind) || lfpool_in_use(pool, object));
	c->object = object;
	c->calls++;
	c->order = calls_so_far++;
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

/* ---- At once, later, never ---- */

static void at_once(const struct kind *kind)
{
	struct stage s;
	struct call calls[FEW];

	stage_open(&s, kind, FEW, 0);
	for (size_t i = 0; i < FEW; i++) {
		ask(&s, &calls[i], keep);
		assert_int_equal(calls[i].calls, 1);
		assert_non_null(calls[i].object);
		assert_true(calls[i].ticket == 0);
		mark_write(calls[i].object, i);
	}
	assert_null(lfpool_acquire(s.pool));
	require_counts(s.pool, FEW, FEW);
	for (size_t i = 0; i < FEW; i++) {
		assert_true(mark_holds(calls[i].object, i));
		assert_int_equal(lfpool_release(s.pool, calls[i].object), LFPOOL_OK);
	}
	stage_close(&s);
}

TEST(called_at_once_if_there_is_an_object)
{
	on_every_kind(at_once);
}

static void later(const struct kind *kind)
{
	struct stage s;
	struct call calls[2 * FEW];

	stage_open(&s, kind, FEW, 0);
	for (size_t i = 0; i < 2 * FEW; i++)
		ask(&s, &calls[i], keep);
	calls_so_far = 0;
	for (size_t i = FEW; i < 2 * FEW; i++) {
		assert_int_equal(calls[i].calls, 0);
		assert_true(calls[i].ticket != 0);
		/* First come, first served. */
		assert_int_equal(lfpool_release(s.pool, calls[i - FEW].object), LFPOOL_OK);
		assert_int_equal(calls[i].calls, 1);
		assert_int_equal(calls[i].order, i - FEW);
		assert_non_null(calls[i].object);
		assert_int_equal(lfpool_active_count(s.pool), FEW);
		assert_null(lfpool_acquire(s.pool));
		/* It has run: its name is none any more. */
		assert_false(lfpool_cancel(s.pool, calls[i].ticket));
	}
	for (size_t i = FEW; i < 2 * FEW; i++)
		assert_int_equal(lfpool_release(s.pool, calls[i].object), LFPOOL_OK);
	for (size_t i = 0; i < 2 * FEW; i++)
		assert_int_equal(calls[i].calls, 1);
	stage_close(&s);
}

TEST(called_by_the_release_otherwise_in_order)
{
	on_every_kind(later);
}

static void never(const struct kind *kind)
{
	enum { MANY = 100 };
	struct stage s;
	struct call calls[MANY];
	void *object;
	size_t next = 0;

	stage_open(&s, kind, 1, 0);
	assert_false(lfpool_cancel(s.pool, 0));
	assert_non_null(object = lfpool_acquire(s.pool));
	assert_false(lfpool_cancel(s.pool, 0));
	for (size_t i = 0; i < MANY; i++)
		ask(&s, &calls[i], keep);
	/* All but every seventh. */
	for (size_t i = MANY; i-- > 0;)
		if (i % 7) {
			assert_true(lfpool_cancel(s.pool, calls[i].ticket));
			assert_false(lfpool_cancel(s.pool, calls[i].ticket));
		}
	for (size_t i = 0; i < MANY; i += 7) {
		assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
		object = calls[i].object;
		assert_non_null(object);
		next++;
	}
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(calls[i].calls, i % 7 == 0);
	assert_int_equal(next, (MANY + 6) / 7);
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	/* Tickets of old name nobody new. */
	assert_non_null(object = lfpool_acquire(s.pool));
	struct call fresh;

	ask(&s, &fresh, keep);
	for (size_t i = 0; i < MANY; i++)
		assert_false(lfpool_cancel(s.pool, calls[i].ticket));
	assert_int_equal(fresh.calls, 0);
	assert_true(lfpool_cancel(s.pool, fresh.ticket));
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	assert_int_equal(fresh.calls, 0);
	stage_close(&s);
}

TEST(never_called_when_cancelled)
{
	on_every_kind(never);
}

/* The context may be NULL, and the ticket may not be wanted. */
static void count_null(void *context, lfpool_t *pool, void *object)
{
	REQUIRE(!context && object);
	calls_so_far++;
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

static void nulls(const struct kind *kind)
{
	struct stage s;
	void *object;

	stage_open(&s, kind, 1, 0);
	calls_so_far = 0;
	assert_int_equal(lfpool_acquire_async(s.pool, count_null, NULL, NULL), LFPOOL_OK);
	assert_int_equal(calls_so_far, 1);
	assert_non_null(object = lfpool_acquire(s.pool));
	assert_int_equal(lfpool_acquire_async(s.pool, count_null, NULL, NULL), LFPOOL_OK);
	assert_int_equal(calls_so_far, 1);
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	assert_int_equal(calls_so_far, 2);
	lfpool_ticket_t ticket = 77;

	assert_int_equal(lfpool_acquire_async(s.pool, NULL, &s, &ticket), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_acquire_async(s.pool, NULL, NULL, NULL), LFPOOL_E_ARGUMENT);
	require_counts(s.pool, 1, 0);
	stage_close(&s);
}

TEST(no_context_and_no_ticket)
{
	on_every_kind(nulls);
}

static void at_destroy(const struct kind *kind)
{
	enum { MANY = 100 };
	struct stage s;
	struct call calls[MANY];
	size_t active = kind->backend != LFPOOL_BACKEND_MALLOC;

	stage_open(&s, kind, 1, 0);
	/* The malloc backend would leave it as it is, for a leak checker to see: there the pool has no object. */
	if (active)
		assert_non_null(lfpool_acquire(s.pool));
	else
		assert_int_equal(lfpool_shrink(s.pool, 1), 1);
	for (size_t i = 0; i < MANY; i++)
		ask(&s, &calls[i], keep);
	for (size_t i = 0; i < MANY; i += 3)
		assert_true(lfpool_cancel(s.pool, calls[i].ticket));
	assert_int_equal(lfpool_destroy(s.pool), active);
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(calls[i].calls, i % 3 != 0);
		assert_null(calls[i].object);
	}
	assert_int_equal(s.findings, 0);
}

TEST(called_with_null_by_destroy)
{
	on_every_kind(at_destroy);
}

/* ---- By every way back ---- */

enum way { ONE, BY_CACHE, BULK, BULK_BY_CACHE, HANDLE, SELF, ALL, GROW, BY_EXITING_THREAD, WAYS };

static void *release_and_exit(void *argument)
{
	struct call *c = argument;

	REQUIRE(lfpool_release(c->stage->pool, c->object) == LFPOOL_OK);
	return NULL;
}

static void ways(const struct kind *kind)
{
	for (enum way way = ONE; way < WAYS; way++) {
		struct stage s;
		struct call first, second;
		pthread_t thread;

		if (!kind_tracked(kind) && (way == HANDLE || way == ALL))
			continue;
		stage_open(&s, kind, 1, 2);
		lfpool_cache_t *cache = lfpool_cache_create(s.pool);
		ask(&s, &first, keep);
		ask(&s, &second, keep);
		switch (way) {
		case ONE:
			assert_int_equal(lfpool_release(s.pool, first.object), LFPOOL_OK);
			break;
		case BY_CACHE:
			assert_int_equal(lfpool_cache_release(cache, first.object), LFPOOL_OK);
			break;
		case BULK:
			assert_int_equal(lfpool_release_bulk(s.pool, &first.object, 1), 1);
			break;
		case BULK_BY_CACHE:
			assert_int_equal(lfpool_cache_release_bulk(cache, &first.object, 1), 1);
			break;
		case HANDLE:
			assert_int_equal(lfpool_release_handle(s.pool, lfpool_handle_of(s.pool, first.object)), LFPOOL_OK);
			break;
		case SELF:
			assert_int_equal(lfpool_release_self(first.object), LFPOOL_OK);
			break;
		case ALL:
			(void)lfpool_release_all(s.pool);
			break;
		case GROW:
			assert_int_equal(lfpool_grow(s.pool, 1), 1);
			break;
		default:
			thread_start(&thread, release_and_exit, &first);
			pthread_join(thread, NULL);
			break;
		}
		assert_int_equal(second.calls, 1);
		assert_non_null(second.object);
		if (way == GROW)
			assert_int_equal(lfpool_release(s.pool, first.object), LFPOOL_OK);
		/* An object that the walk of release_all() meets again, it may release again. */
		if (way != ALL || lfpool_active_count(s.pool))
			assert_int_equal(lfpool_release(s.pool, second.object), LFPOOL_OK);
		lfpool_cache_destroy(cache);
		stage_close(&s);
	}
}

TEST(served_by_every_way_back_and_by_growth)
{
	on_every_kind(ways);
}

/* One bulk release serves as many as it has objects. */
static void bulk_serves(const struct kind *kind)
{
	enum { MANY = 30 };
	struct stage s;
	void *objects[MANY];
	struct call calls[2 * MANY];

	stage_open(&s, kind, MANY, 2 * MANY);
	assert_int_equal(lfpool_acquire_bulk(s.pool, objects, MANY), MANY);
	for (size_t i = 0; i < 2 * MANY; i++)
		ask(&s, &calls[i], keep);
	calls_so_far = 0;
	assert_int_equal(lfpool_release_bulk(s.pool, objects, MANY), MANY);
	assert_int_equal(calls_so_far, MANY);
	require_counts(s.pool, MANY, MANY);
	assert_int_equal(lfpool_grow(s.pool, MANY - 1), MANY - 1);
	assert_int_equal(calls_so_far, 2 * MANY - 1);
	/* By itself a pool grows when a call finds nothing, but this one's step is 0. */
	assert_int_equal(lfpool_reserve(s.pool, 2 * MANY), 1);
	for (size_t i = 0; i < 2 * MANY; i++) {
		assert_int_equal(calls[i].order, i);
		assert_int_equal(lfpool_release(s.pool, calls[i].object), LFPOOL_OK);
	}
	stage_close(&s);
}

TEST(served_by_bulk_release_and_by_growth)
{
	on_every_kind(bulk_serves);
}

static void owed_first(const struct kind *kind)
{
	struct stage s;
	void *objects[10];
	struct call calls[4];

	stage_open(&s, kind, 10, 0);
	assert_int_equal(lfpool_acquire_bulk(s.pool, objects, 10), 10);
	for (size_t i = 0; i < 4; i++)
		ask(&s, &calls[i], keep);
	assert_int_equal(lfpool_shrink(s.pool, 3), 0);
	/* Three go, and only then do those who wait get some. */
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(lfpool_release(s.pool, objects[i]), LFPOOL_OK);
		assert_int_equal(calls[0].calls, 0);
		assert_int_equal(lfpool_capacity(s.pool), 9 - i);
		assert_int_equal(lfpool_shrink_owed(s.pool), 2 - i);
	}
	assert_int_equal(lfpool_release(s.pool, objects[3]), LFPOOL_OK);
	assert_int_equal(calls[0].calls, 1);
	/* One is owed again; forgiveness does not make objects, growing does. */
	assert_int_equal(lfpool_shrink(s.pool, 2), 0);
	assert_int_equal(lfpool_shrink_cancel(s.pool), 2);
	assert_int_equal(calls[1].calls, 0);
	assert_int_equal(lfpool_grow(s.pool, 2), 2);
	assert_int_equal(calls[1].calls + calls[2].calls, 2);
	assert_int_equal(calls[3].calls, 0);
	assert_true(lfpool_cancel(s.pool, calls[3].ticket));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(lfpool_release(s.pool, calls[i].object), LFPOOL_OK);
	release_all(s.pool, objects + 4, 6);
	require_counts(s.pool, 9, 0);
	stage_close(&s);
}

TEST(a_debt_is_paid_before_those_who_wait)
{
	on_every_kind(owed_first);
}

/* ---- Hooks ---- */

static void refused(const struct kind *kind)
{
	struct stage s;
	void *object;
	struct call calls[3];

	if (!kind->hooks)
		return;
	stage_open(&s, kind, 1, 0);
	/* There is an object now, but it is refused. */
	s.activate_refuses = SIZE_MAX;
	ask(&s, &calls[0], keep);
	assert_int_equal(calls[0].calls, 1);
	assert_null(calls[0].object);
	/* It may have queued for it: the name is of one that has run. */
	assert_false(lfpool_cancel(s.pool, calls[0].ticket));
	s.activate_refuses = 0;
	require_counts(s.pool, 1, 0);
	/* Refused to the first of three who wait: the second gets it. */
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

TEST(a_hook_refuses_and_the_next_is_served)
{
	on_every_kind(refused);
}

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

static void chain(const struct kind *kind)
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

TEST(a_chain_of_continuations_that_release_is_no_recursion)
{
	on_every_kind(chain);
}

TEST(a_chain_of_very_many)
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

	stage_open(&s, kind, 1, 0);
	/* Holding what there is: each is queued, and called by the release of the one before. */
	r = (struct relay){.call = {.stage = &s}, .left = CHAIN / 8};
	on_small_stack(start_relay, &r);
	assert_int_equal(r.call.calls, CHAIN / 8 + 1);
	/* Having released it: called by the call itself, which is a recursion of the program's making. */
	r = (struct relay){.call = {.stage = &s}, .left = 20, .release_first = true};
	on_small_stack(start_relay, &r);
	assert_int_equal(r.call.calls, 21);
	stage_close(&s);
}

TEST(a_continuation_may_ask_again)
{
	on_every_kind(relay);
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

static void uses_the_pool(const struct kind *kind)
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

TEST(a_continuation_may_use_the_pool)
{
	on_every_kind(uses_the_pool);
}

/* ---- Races ---- */

enum { RACES = TIMES(150, 30), THREADS = 4 };

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

static void race_of(const struct kind *kind)
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

TEST(cancel_against_release_is_exactly_one)
{
	on_every_kind(race_of);
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

TEST(a_crowd_that_asks_and_cancels)
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

static void fickle_on(const struct kind *kind)
{
	struct stage s;
	struct fickle f = {.stage = &s, .asks = kind->backend || kind->debug || kind->hooks ? TIMES(500, 100) : TIMES(4000, 1500)};
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

TEST(asked_and_cancelled_while_the_object_comes_and_goes)
{
	on_every_kind(fickle_on);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIND_TEST(called_at_once_if_there_is_an_object),
		KIND_TEST(called_by_the_release_otherwise_in_order),
		KIND_TEST(never_called_when_cancelled),
		KIND_TEST(no_context_and_no_ticket),
		KIND_TEST(called_with_null_by_destroy),
		KIND_TEST(served_by_every_way_back_and_by_growth),
		KIND_TEST(served_by_bulk_release_and_by_growth),
		KIND_TEST(a_debt_is_paid_before_those_who_wait),
		KIND_TEST(a_hook_refuses_and_the_next_is_served),
		KIND_TEST(a_chain_of_continuations_that_release_is_no_recursion),
		KIND_TEST(a_chain_of_very_many),
		KIND_TEST(a_continuation_may_ask_again),
		KIND_TEST(a_continuation_may_use_the_pool),
		KIND_TEST(cancel_against_release_is_exactly_one),
		KIND_TEST(a_crowd_that_asks_and_cancels),
		KIND_TEST(asked_and_cancelled_while_the_object_comes_and_goes),
	};

	return cmocka_run_group_tests_name("async", tests, NULL, NULL);
}
