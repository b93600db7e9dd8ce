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

#include <stdatomic.h>

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

static lfpool_priority_t *open_hooked(size_t capacity)
{
	memset(&calls, 0, sizeof(calls));
	return PRIORITY_WITH(.object_size = sizeof(struct thing), .capacity = capacity, .on_evict = on_evict,
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

TEST(each_end_of_a_use_deactivates_once)
{
	lfpool_priority_t *pool = open_hooked(2);
	const lfpool_handle_t a = priority_put(pool, 1), b = priority_put(pool, 2);

	assert_int_equal(calls.created, 2);
	assert_int_equal(calls.activated, 2);
	/* A release; of a pinned object, its last unpin. */
	assert_int_equal(lfpool_priority_release(pool, a), LFPOOL_OK);
	assert_int_equal(calls.deactivated, 1);
	struct thing *pinned = lfpool_priority_pin(pool, b);
	assert_int_equal(lfpool_priority_release(pool, b), LFPOOL_OK);
	assert_int_equal(pinned->stage, ACTIVE);
	assert_int_equal(lfpool_priority_unpin(pool, b), LFPOOL_OK);
	assert_int_equal(calls.deactivated, 2);
	/* An eviction, by a newcomer and by release_min(); what was built stays. */
	assert_true(priority_put(pool, 5) && priority_put(pool, 6) && priority_put(pool, 7));
	assert_int_equal(calls.evicted, 1);
	assert_int_equal(calls.deactivated, 3);
	assert_int_equal(lfpool_priority_release_min(pool, 1), 1);
	assert_int_equal(calls.deactivated, 4);
	assert_int_equal(calls.created, 2);
	close_hooked(pool, 1);
}

TEST(what_a_hook_refuses_is_not_lost)
{
	lfpool_priority_t *pool = open_hooked(3);
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

TEST(hooks_of_other_pools_are_refused)
{
	lfpool_priority_config_t config = priority_config_of(8, 3);
	lfpool_priority_t *pool;

	config.hooks.misuse = expected_misuse;
	assert_int_equal(lfpool_priority_create(&pool, &config), LFPOOL_E_CONFIG_HOOKS);
	config.hooks = (lfpool_hooks_t){.validate = on_create};
	assert_int_equal(lfpool_priority_create(&pool, &config), LFPOOL_E_CONFIG_HOOKS);
	config.hooks = (lfpool_hooks_t){.reserved = {(void (*)(void))on_evict}};
	assert_int_equal(lfpool_priority_create(&pool, &config), LFPOOL_E_CONFIG_HOOKS);
}

/* ---- Threads ---- */

static lfpool_priority_t *shared;

static void *churn(void *argument)
{
	struct random random = random_for(2026, (unsigned)(uintptr_t)argument);
	lfpool_handle_t mine[4] = {0};

	for (int i = 0; i < TIMES(100000, 10000); i++) {
		lfpool_handle_t *handle = &mine[random_below(&random, 4)];

		switch (random_below(&random, 4)) {
		case 0: (void)lfpool_priority_release(shared, *handle); break;
		case 1:
			if (lfpool_priority_pin(shared, *handle)) {
				if (random_below(&random, 2))
					(void)lfpool_priority_release(shared, *handle);
				REQUIRE(lfpool_priority_unpin(shared, *handle) == LFPOOL_OK);
			}
			break;
		case 2: (void)lfpool_priority_release_min(shared, random_below(&random, 8) == 0); break;
		default: {
			struct thing *thing = lfpool_priority_acquire(shared, random_below(&random, 100), NULL, handle);

			if (!thing)
				break;
			REQUIRE(thing->stage == ACTIVE);
			if (random_below(&random, 10))
				REQUIRE(lfpool_priority_publish(shared, *handle) == LFPOOL_OK);
			else
				REQUIRE(lfpool_priority_release(shared, *handle) == LFPOOL_OK);
		}
		}
	}
	return NULL;
}

TEST(each_step_once_whatever_threads_do)
{
	static const size_t rates[][3] = {{0, 0, 0}, {5, 7, 3}};
	pthread_t threads[THREADS];

	print_message("    seed 2026\n");
	for (size_t i = 0; i < COUNT(rates); i++) {
		shared = open_hooked(CAPACITY);
		calls.refuse_create = rates[i][0];
		calls.refuse_activate = rates[i][1];
		calls.refuse_reuse = rates[i][2];
		for (uintptr_t t = 0; t < THREADS; t++)
			thread_start(&threads[t], churn, (void *)t);
		for (int t = 0; t < THREADS; t++)
			pthread_join(threads[t], NULL);
		assert_true(calls.evicted > 100);
		assert_int_equal(calls.activated - calls.deactivated, lfpool_priority_count(shared));
		close_hooked(shared, lfpool_priority_count(shared));
	}
}

RUN_TESTS()
