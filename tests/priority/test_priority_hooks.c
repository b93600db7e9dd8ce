/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_priority_hooks.c - create, activate, deactivate and destroy in an evicting pool: when each is called, what a refusal does,
 * and each step once, in whatever way an object ends: released, unpinned for the last time, or evicted.
 *
 * Idea         A hook leads its object through free -> built -> active -> built -> free and writes that into it, plainly: a
 *              step out of order ends the test, and two at once are a race for ThreadSanitizer.
 */
#include "../support/priority_support.h"
#include "../support/workers.h"

enum { BUILT = 1, ACTIVE, CAPACITY = 12, THREADS = 4 };

struct thing {
	unsigned stage, uses;
};

static struct {
	atomic_size_t created, activated, deactivated, destroyed, evicted;
	atomic_size_t steps;                                 /* of all hooks that can refuse */
	size_t refuse_create, refuse_activate, refuse_reuse; /* each n-th; 0: none */
} calls;

static bool refuses(size_t each)
{
	return each && atomic_fetch_add(&calls.steps, 1) % each == each - 1;
}

static void go(struct thing *thing, unsigned from, unsigned to)
{
	REQUIRE(thing->stage == from);
	thing->stage = to;
}

static bool on_create(void *context, void *object)
{
	REQUIRE(context == &calls && ((struct thing *)object)->stage == 0);
	if (refuses(calls.refuse_create))
		return false;
	go(object, 0, BUILT);
	atomic_fetch_add(&calls.created, 1);
	return true;
}

static bool on_activate(void *context, void *object)
{
	struct thing *thing = object;

	(void)context;
	REQUIRE(thing->stage == BUILT);
	if (refuses(calls.refuse_activate))
		return false;
	go(thing, BUILT, ACTIVE);
	thing->uses++;
	atomic_fetch_add(&calls.activated, 1);
	return true;
}

static bool on_deactivate(void *context, void *object)
{
	(void)context;
	go(object, ACTIVE, BUILT);
	atomic_fetch_add(&calls.deactivated, 1);
	return !refuses(calls.refuse_reuse);
}

static void on_destroy(void *context, void *object)
{
	(void)context;
	go(object, BUILT, 0);
	atomic_fetch_add(&calls.destroyed, 1);
}

static void on_evict(void *context, const lfpool_evicted_t *evicted)
{
	(void)context;
	REQUIRE(((struct thing *)evicted->object)->stage == ACTIVE);
	atomic_fetch_add(&calls.evicted, 1);
}

static lfpool_priority_t *open_hooked(size_t capacity, lfpool_backend_t backend)
{
	memset(&calls, 0, sizeof(calls));
	return PRIORITY_WITH(.object_size = sizeof(struct thing), .capacity = capacity, .backend = backend, .on_evict = on_evict,
			     .hooks = {.context = &calls,
				       .create = on_create,
				       .activate = on_activate,
				       .deactivate = on_deactivate,
				       .destroy = on_destroy});
}

/* Each step as often as the one that undoes it. */
static void close_hooked(lfpool_priority_t *pool, size_t active)
{
	assert_int_equal(lfpool_priority_destroy(pool), active);
	assert_int_equal(calls.created, calls.destroyed);
	assert_int_equal(calls.activated, calls.deactivated);
}

TEST(what_a_hook_refuses_is_not_lost)
{
	lfpool_priority_t *pool = open_hooked(3, LFPOOL_BACKEND_LOCKFREE);
	lfpool_handle_t handle;

	for (uint64_t i = 1; i <= 3; i++)
		assert_true(priority_put(pool, i));
	/* It has evicted one, and that is free now. */
	calls.refuse_activate = 1;
	assert_null(lfpool_priority_acquire(pool, 9, NULL, &handle));
	assert_int_equal(handle, 0);
	assert_int_equal(calls.evicted, 1);
	assert_int_equal(lfpool_priority_count(pool), 2);
	assert_null(lfpool_priority_acquire(pool, 9, NULL, &handle));
	assert_int_equal(calls.evicted, 1);
	calls.refuse_activate = 0;
	assert_true(priority_put(pool, 4));
	assert_int_equal(lfpool_priority_count(pool), 3);
	assert_int_equal(lfpool_priority_peek_min(pool, NULL) != 0, true);
	/* Not fit for reuse: destroyed now, and built when it is used next, if create can. */
	calls.refuse_reuse = 1;
	assert_int_equal(lfpool_priority_release_min(pool, 1), 1);
	assert_int_equal(calls.destroyed, 1);
	calls.refuse_reuse = 0;
	calls.refuse_create = 1;
	assert_null(lfpool_priority_acquire(pool, 1, NULL, &handle));
	calls.refuse_create = 0;
	assert_true(priority_put(pool, 1));
	assert_int_equal(calls.created, 4);
	close_hooked(pool, 3);
}

/* ---- Threads ---- */

/* The worker's last object ends in one of the ways, or by an eviction. */
static void churn(struct worker *me)
{
	lfpool_priority_t *pool = me->scene;
	lfpool_handle_t handle = 0;
	const struct thing *thing;

	for (int i = 0; i < TIMES(50000, 5000); i++) {
		switch (random_below(&me->random, 4)) {
		case 0: (void)lfpool_priority_release(pool, handle); break;
		case 1:
			thing = lfpool_priority_pin(pool, handle);
			(void)lfpool_priority_release(pool, handle);
			REQUIRE(!thing || (thing->stage == ACTIVE && lfpool_priority_unpin(pool, handle) == LFPOOL_OK));
			break;
		case 2: (void)lfpool_priority_release_min(pool, random_below(&me->random, 8) == 0); break;
		default: break;
		}
		thing = lfpool_priority_acquire(pool, random_below(&me->random, 100), NULL, &handle);
		REQUIRE(!thing || (thing->stage == ACTIVE && lfpool_priority_publish(pool, handle) == LFPOOL_OK));
	}
}

BACKEND_TEST(each_step_once_whatever_threads_do, LFPOOL_BACKEND_MALLOC)
{
	static const size_t rates[][3] = {{0, 0, 0}, {5, 7, 3}};
	const uint64_t seed = test_seed("each_step_once_whatever_threads_do");

	for (size_t i = 0; i < COUNT(rates); i++) {
		lfpool_priority_t *pool = open_hooked(CAPACITY, backend);

		calls.refuse_create = rates[i][0];
		calls.refuse_activate = rates[i][1];
		calls.refuse_reuse = rates[i][2];
		(void)workers_run(THREADS, churn, pool, seed);
		assert_null(lfpool_priority_check(pool, NULL));
		assert_true(calls.evicted > 100);
		assert_int_equal(calls.activated - calls.deactivated, lfpool_priority_count(pool));
		(void)lfpool_priority_release_min(pool, CAPACITY);
		close_hooked(pool, 0);
	}
}

RUN_TESTS()
