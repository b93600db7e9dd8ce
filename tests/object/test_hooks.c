/* SPDX-License-Identifier: MIT */
/*
 * test_hooks.c - create, validate, activate, deactivate, destroy: when each is called, how often, and that hooks may use the
 * pool.  Every test runs on the lock-free and on the mutex backend, and through each way to acquire.
 *
 * (What create, activate and deactivate refuse, on each backend, with every option: verify/pairs.)
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "../support/hooked.h"

#include "lfpool/inline.h"

/* ---- Ways ---- */

enum way { OF_THREAD, BY_HANDLE, INLINED, BORROWED, BULK, WAYS };

struct set {
	lfpool_t *pool;
	lfpool_cache_t *cache;
	enum way way;
	struct log log;
};

static void open_set(struct set *set, lfpool_backend_t backend, enum way way, uint32_t flags)
{
	*set = (struct set){.way = way, .log.create_at_most = SIZE_MAX};
	set->pool = POOL_OF(sizeof(struct thing), CAPACITY, .backend = backend, .flags = flags,
			    .cache_capacity = way == BORROWED ? LFPOOL_CACHE_NONE : 8,
			    .hooks = {.context = &set->log,
				      .create = on_create,
				      .validate = on_validate,
				      .activate = on_activate,
				      .deactivate = on_deactivate,
				      .destroy = on_destroy});
	set->log.pool = set->pool;
	assert_non_null(set->cache = lfpool_cache_create(set->pool));
}

static struct thing *take(struct set *set)
{
	void *object = NULL;

	switch (set->way) {
	case BY_HANDLE: return lfpool_cache_acquire(set->cache);
	case INLINED: return lfpool_cache_acquire_inline(set->cache);
	case BULK: return lfpool_cache_acquire_bulk(set->cache, &object, 1) == 1 ? object : NULL;
	default: return lfpool_acquire(set->pool);
	}
}

static lfpool_status_t give(struct set *set, void *object)
{
	switch (set->way) {
	case BY_HANDLE: return lfpool_cache_release(set->cache, object);
	case INLINED: return lfpool_cache_release_inline(set->cache, object);
	case BULK: return lfpool_cache_release_bulk(set->cache, &object, 1) == 1 ? LFPOOL_OK : LFPOOL_E_NOT_IN_USE;
	default: return lfpool_release(set->pool, object);
	}
}

static void take_all(struct set *set, struct thing *things[CAPACITY])
{
	for (size_t i = 0; i < CAPACITY; i++)
		assert_non_null(things[i] = take(set));
}

static void give_all(struct set *set, struct thing *things[CAPACITY])
{
	for (size_t i = 0; i < CAPACITY; i++)
		assert_int_equal(give(set, things[i]), LFPOOL_OK);
}

static void close_set(struct set *set, size_t still_active)
{
	assert_int_equal(lfpool_destroy(set->pool), still_active);
	/* Each step as often as the one that undoes it. */
	assert_int_equal(set->log.created, set->log.destroyed);
	assert_int_equal(set->log.activated, set->log.deactivated);
}

/* Runs `body` on a fresh set for each backend that has slots and each way. */
static void everywhere(void (*body)(struct set *), uint32_t flags)
{
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MUTEX; backend++)
		for (enum way way = OF_THREAD; way < WAYS; way++) {
			struct set set;

			open_set(&set, (lfpool_backend_t)backend, way, flags);
			body(&set);
		}
}

/* A test whose body runs on each of these, as `set`: without LFPOOL_CREATE_ALL, with it, or both. */
#define HOOKS_TEST(name, first, last)                                                       \
	static void name##_in(struct set *set);                                             \
	TEST(name)                                                                          \
	{                                                                                   \
		for (uint32_t flags = (first); flags <= (last); flags += LFPOOL_CREATE_ALL) \
			everywhere(name##_in, flags);                                       \
	}                                                                                   \
	static void name##_in(struct set *set)

/* ---- Tests ---- */

HOOKS_TEST(what_create_built_survives_reuse, 0, 0)
{
	struct thing *things[CAPACITY];

	assert_int_equal(set->log.created, 0);
	for (unsigned round = 1; round <= 3; round++) {
		for (size_t i = 0; i < CAPACITY; i++) {
			assert_non_null(things[i] = take(set));
			assert_int_equal(things[i]->uses, round);
			assert_true(lfpool_in_use(set->pool, things[i]));
			/* On first use. */
			assert_int_equal(set->log.created, round == 1 ? i + 1 : CAPACITY);
		}
		assert_null(take(set));
		give_all(set, things);
		assert_int_equal(set->log.created, CAPACITY);
		assert_int_equal(set->log.activated, round * CAPACITY);
		assert_int_equal(set->log.deactivated, round * CAPACITY);
	}
	assert_int_equal(set->log.destroyed, 0);
	close_set(set, 0);
}

HOOKS_TEST(create_all_calls_create_at_creation, LFPOOL_CREATE_ALL, LFPOOL_CREATE_ALL)
{
	struct thing *thing;

	assert_int_equal(set->log.created, CAPACITY);
	thing = take(set);
	assert_int_equal(thing->built, BUILT);
	assert_int_equal(give(set, thing), LFPOOL_OK);
	close_set(set, 0);
	assert_int_equal(set->log.created, CAPACITY);
}

/* All objects of the set, built and free. */
static void build_all(struct set *set)
{
	struct thing *things[CAPACITY];

	take_all(set, things);
	assert_int_equal(set->log.validated, 0);
	give_all(set, things);
}

HOOKS_TEST(what_validate_finds_dead_is_built_anew_in_the_same_call, 0, 0)
{
	struct thing *things[CAPACITY];

	build_all(set);
	set->log.dead = 7;
	for (size_t i = 0; i < CAPACITY; i++) {
		assert_non_null(things[i] = take(set));
		assert_int_equal(things[i]->uses, i < 7 ? 1 : 2);
		assert_int_equal(set->log.destroyed, i < 7 ? i + 1 : 7);
	}
	assert_null(take(set));
	assert_int_equal(set->log.validated, CAPACITY);
	assert_int_equal(set->log.created, CAPACITY + 7);
	give_all(set, things);
	close_set(set, 0);
}

/* Objects are dead, and none can be built: the good ones are found, behind however many dead ones. */
HOOKS_TEST(good_objects_are_found_behind_dead_ones_that_cannot_be_replaced, 0, 0)
{
	struct thing *things[CAPACITY];
	size_t count = 0;

	build_all(set);
	set->log.create_at_most = 0;
	set->log.dead = CAPACITY - 2;
	assert_non_null(things[count++] = take(set));
	assert_int_equal(set->log.destroyed, CAPACITY - 2);
	assert_int_equal(set->log.validated, CAPACITY - 1);
	/* The good ones come first, each time: what is not built comes after all that is. */
	for (int i = 0; i < 1000; i++) {
		struct thing *good = take(set);

		assert_non_null(good);
		assert_int_equal(good->uses, 2 + i);
		assert_int_equal(give(set, good), LFPOOL_OK);
	}
	assert_non_null(things[count++] = take(set));
	for (int i = 0; i < 5; i++)
		assert_null(take(set));
	assert_int_equal(lfpool_active_count(set->pool), 2);
	require_intact(set->pool);
	/* Nothing was lost by it. */
	set->log.create_at_most = SIZE_MAX;
	while (count < CAPACITY)
		assert_non_null(things[count++] = take(set));
	assert_null(take(set));
	give_all(set, things);
	/* None is good, and none can be built: NULL, and each was looked at once. */
	set->log.create_at_most = 0;
	set->log.dead = CAPACITY;
	assert_null(take(set));
	assert_int_equal(set->log.dead, 0);
	assert_int_equal(set->log.created, set->log.destroyed);
	set->log.create_at_most = SIZE_MAX;
	take_all(set, things);
	give_all(set, things);
	close_set(set, 0);
}

static void got(void *context, lfpool_t *pool, void *object)
{
	(void)pool;
	*(void **)context = object;
}

/* A waiting call and a continuation get a good one too. */
HOOKS_TEST(waiting_calls_get_good_objects, 0, 0)
{
	struct thing *things[CAPACITY];
	void *given = NULL;

	build_all(set);
	/* What lies in another cache is looked for after what is not built. */
	if (set->way == BY_HANDLE || set->way == INLINED || set->way == BULK) {
		close_set(set, 0);
		return;
	}
	take_all(set, things);
	set->log.create_at_most = 0;
	assert_int_equal(lfpool_acquire_async(set->pool, got, &given, NULL), LFPOOL_OK);
	assert_null(given);
	set->log.dead = 1;
	/* The first is dead, and nothing else is free: what is not built is refused. */
	assert_int_equal(give(set, things[0]), LFPOOL_OK);
	assert_null(given);
	assert_int_equal(set->log.dead, 0);
	assert_int_equal(give(set, things[1]), LFPOOL_OK);
	assert_int_equal(give(set, things[2]), LFPOOL_OK);
	set->log.dead = 1;
	assert_non_null(things[1] = lfpool_acquire_wait(set->pool, 0));
	assert_null(lfpool_acquire_wait(set->pool, 1000));
	set->log.create_at_most = SIZE_MAX;
	assert_non_null(things[0] = take(set));
	assert_non_null(things[2] = take(set));
	give_all(set, things);
	close_set(set, 0);
}

HOOKS_TEST(forgotten_objects_are_deactivated_and_destroyed_with_the_pool, 0, LFPOOL_CREATE_ALL)
{
	for (size_t i = 0; i < 5; i++)
		assert_non_null(take(set));
	close_set(set, 5);
	assert_int_equal(set->log.deactivated, 5);
}

HOOKS_TEST(hooks_may_use_the_pool, 0, 0)
{
	struct thing *things[CAPACITY / 2];

	set->log.friends = true;
	for (size_t i = 0; i < CAPACITY / 2; i++) {
		assert_non_null(things[i] = take(set));
		assert_non_null(things[i]->friend);
	}
	assert_int_equal(lfpool_active_count(set->pool), CAPACITY);
	for (size_t i = 0; i < CAPACITY / 2; i++)
		assert_int_equal(give(set, things[i]), LFPOOL_OK);
	assert_int_equal(lfpool_active_count(set->pool), 0);
	set->log.friends = false;
	close_set(set, 0);
}

RUN_TESTS()
