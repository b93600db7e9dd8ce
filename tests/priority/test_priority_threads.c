/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_priority_threads.c - many threads do everything to one evicting pool: no object is lost, none has two holders, none
 * is taken twice, no stale handle leads anywhere.
 *
 * Idea         For each acquire there is a ticket, which is the owner that the hook is told of: it is punched by who ends
 *              it, the release that succeeds or the hook, and must not have been punched before.  An object says whose it
 *              is, in plain words, written while it is new; who has it pinned reads them, and must find what belongs to
 *              his handle (and ThreadSanitizer, whether he may).
 */
#include "../support/priority_support.h"

#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 4, BOARD = 32, STEPS = 300000, WORDS = 6 };

struct ticket {
	_Atomic(unsigned) ended;
	lfpool_handle_t handle;
};

struct thing {
	struct ticket *ticket;
	uint64_t words[WORDS]; /* all equal to the handle */
};

struct fair {
	lfpool_priority_t *pool;
	/* Handles of anybody's objects, some of them stale: {ticket, handle} of the ticket's. */
	_Atomic(struct ticket *) board[BOARD];
	_Atomic(size_t) acquired, evicted, refused, released;
	uint32_t range; /* of priorities */
};

struct visitor {
	struct fair *fair;
	struct random random;
	struct ticket *tickets, *next;
};

static void punch(struct ticket *t)
{
	REQUIRE(atomic_fetch_add(&t->ended, 1) == 0);
}

static void on_evict(void *context, const lfpool_evicted_t *e)
{
	struct fair *f = context;
	struct ticket *t = e->owner;
	struct thing *thing = e->object;

	REQUIRE(t && t->handle == e->handle && thing->ticket == t && thing->words[WORDS - 1] == e->handle);
	REQUIRE(!lfpool_priority_is_active(e->pool, e->handle));
	punch(t);
	/* Nobody else has it. */
	memset(thing, 0, sizeof(*thing));
	atomic_fetch_add(&f->evicted, 1);
}

static void require_its_own(const struct thing *thing, const struct ticket *t)
{
	REQUIRE(thing->ticket == t);
	for (size_t i = 0; i < WORDS; i++)
		REQUIRE(thing->words[i] == t->handle);
}

static void give_back(struct fair *f, struct ticket *t)
{
	const lfpool_status_t status = lfpool_priority_release(f->pool, t->handle);

	if (status == LFPOOL_OK) {
		punch(t);
		atomic_fetch_add(&f->released, 1);
	} else {
		REQUIRE(status == LFPOOL_E_STALE);
	}
}

/* Acquires, fills, and mostly publishes: the ticket goes on the board. */
static void come(struct visitor *v)
{
	struct fair *f = v->fair;
	struct ticket *t = v->next;
	const uint64_t priority = random_below(&v->random, f->range);
	struct thing *thing = lfpool_priority_acquire(f->pool, priority, t, &t->handle);

	if (!thing) {
		atomic_fetch_add(&f->refused, 1);
		return;
	}
	v->next++;
	atomic_fetch_add(&f->acquired, 1);
	thing->ticket = t;
	for (size_t i = 0; i < WORDS; i++)
		thing->words[i] = t->handle;
	if (random_below(&v->random, 8) == 0) {
		require_its_own(thing, t);
		give_back(f, t);
		REQUIRE(atomic_load(&t->ended));
		return;
	}
	REQUIRE(lfpool_priority_publish(f->pool, t->handle) == LFPOOL_OK);
	atomic_store(&f->board[random_below(&v->random, BOARD)], t);
}

/* Once or several times, and something else is done meanwhile. */
static void pin_and_read(struct visitor *v, struct ticket *t)
{
	lfpool_priority_t *pool = v->fair->pool;
	const bool had_ended = atomic_load(&t->ended);
	const struct thing *thing = lfpool_priority_pin(pool, t->handle);
	const uint32_t what = random_below(&v->random, 8);

	REQUIRE(!thing || !had_ended);
	if (!thing)
		return;
	require_its_own(thing, t);
	if (what == 0)
		give_back(v->fair, t);
	else if (what == 1)
		(void)lfpool_priority_update(pool, t->handle, random_below(&v->random, v->fair->range));
	else if (what == 2)
		come(v);
	else if (what == 3)
		sched_yield();
	require_its_own(thing, t);
	/* By the hand of this thread or another's, but never by an eviction. */
	REQUIRE(lfpool_priority_unpin(pool, t->handle) == LFPOOL_OK);
}

static void ask(struct visitor *v, const struct ticket *t)
{
	const lfpool_priority_t *pool = v->fair->pool;
	const bool had_ended = atomic_load(&t->ended);
	uint64_t priority = 0;
	const bool known = lfpool_priority_get(pool, t->handle, &priority);

	REQUIRE(!known || priority < v->fair->range);
	REQUIRE(!had_ended || (!known && !lfpool_priority_is_active(pool, t->handle)));
	REQUIRE(!had_ended || !lfpool_priority_look(pool, t->handle));
	REQUIRE(lfpool_priority_count(pool) <= lfpool_priority_capacity(pool));
}

static void *visit(void *argument)
{
	struct visitor *v = argument;
	struct fair *f = v->fair;
	uint64_t priority;

	for (int step = 0; step < TIMES(STEPS, STEPS / 15); step++) {
		struct ticket *t = atomic_load(&f->board[random_below(&v->random, BOARD)]);
		const uint32_t what = random_below(&v->random, 64);

		if (!t || what < 20)
			come(v);
		else if (what < 32)
			pin_and_read(v, t);
		else if (what < 44)
			(void)lfpool_priority_update(f->pool, t->handle, random_below(&v->random, f->range));
		else if (what < 50)
			give_back(f, t);
		else if (what < 58)
			ask(v, t);
		else if (what < 59)
			(void)lfpool_priority_release_min(f->pool, random_below(&v->random, 3));
		else if (lfpool_priority_peek_min(f->pool, &priority))
			REQUIRE(priority < f->range);
	}
	return NULL;
}

/* Every ticket that is not punched is an object that is active. */
static size_t count_active(const struct fair *f, const struct visitor *v)
{
	size_t active = 0;

	for (const struct ticket *t = v->tickets; t < v->next; t++) {
		REQUIRE(atomic_load(&t->ended) <= 1);
		REQUIRE(lfpool_priority_is_active(f->pool, t->handle) == !atomic_load(&t->ended));
		active += !atomic_load(&t->ended);
	}
	return active;
}

/* What is left goes in order. */
static void drain(const struct fair *f)
{
	uint64_t priority = 0, last = 0;

	while (lfpool_priority_peek_min(f->pool, &priority)) {
		REQUIRE(priority >= last);
		last = priority;
		REQUIRE(lfpool_priority_release_min(f->pool, 1) == 1);
	}
}

static void all_at_once(size_t capacity, uint32_t range, uint32_t flags, uint64_t seed)
{
	struct visitor visitors[THREADS];
	struct fair f = {.range = range};
	size_t active = 0;

	f.pool = PRIORITY_WITH(.object_size = sizeof(struct thing), .capacity = capacity, .on_evict = on_evict, .context = &f,
			       .flags = flags);
	for (unsigned i = 0; i < THREADS; i++) {
		struct ticket *tickets = calloc((size_t)TIMES(STEPS, STEPS / 15) + 1, sizeof(*tickets));

		REQUIRE(tickets);
		visitors[i] = (struct visitor){&f, random_for(seed, i), tickets, tickets};
	}
	threads_run(THREADS, visit, visitors, sizeof(visitors[0]));
	for (unsigned i = 0; i < THREADS; i++)
		active += count_active(&f, &visitors[i]);

	const lfpool_priority_stats_t stats = priority_stats_of(f.pool);

	REQUIRE(stats.acquired == f.acquired && stats.evicted == f.evicted && stats.refused == f.refused);
	REQUIRE(f.acquired == f.evicted + f.released + active && lfpool_priority_count(f.pool) == active);
	drain(&f);
	priority_close(f.pool, sizeof(struct thing));
	for (unsigned i = 0; i < THREADS; i++)
		free(visitors[i].tickets);
}

TEST(all_at_once_with_few_objects)
{
	const uint64_t seed = test_seed("all_at_once_with_few_objects");

	all_at_once(1, 10, 0, seed);
	all_at_once(2, 3, 0, seed + 1);
	all_at_once(3, 1000000, LFPOOL_EVICT_EQUAL, seed + 2);
}

TEST(all_at_once_with_more_objects)
{
	const uint64_t seed = test_seed("all_at_once_with_more_objects");

	all_at_once(16, 100, 0, seed);
	all_at_once(17, 2, LFPOOL_EVICT_EQUAL, seed + 1);
	all_at_once(40, 1000000, 0, seed + 2);
	all_at_once(300, 50, 0, seed + 3);
}

/* Where records come from the heap, or are locked: nothing of it may be noticed. */
TEST(all_at_once_in_any_environment)
{
	const uint64_t seed = test_seed("all_at_once_in_any_environment");

	assert_int_equal(setenv("LFPOOL_BACKEND", "malloc", 1), 0);
	all_at_once(2, 10, 0, seed);
	assert_int_equal(setenv("LFPOOL_BACKEND", "mutex", 1), 0);
	all_at_once(2, 10, 0, seed + 1);
	assert_int_equal(unsetenv("LFPOOL_BACKEND"), 0);
	assert_int_equal(setenv("LFPOOL_DEBUG", "poison,guard,quarantine=5", 1), 0);
	all_at_once(2, 10, 0, seed + 2);
	assert_int_equal(unsetenv("LFPOOL_DEBUG"), 0);
}

RUN_TESTS()
