/* SPDX-License-Identifier: MIT */
/*
 * test_hooks.c - create, validate, activate, deactivate, destroy: when each is called, how often, what a refusal does, and that
 * hooks may use the pool.  Every test runs on the lock-free and on the mutex backend, and through each way to acquire.
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
	lfpool_config_t config = config_of(sizeof(struct thing), CAPACITY);

	*set = (struct set){.way = way, .log.create_at_most = SIZE_MAX};
	config.backend = backend;
	config.flags = flags;
	config.cache_capacity = way == BORROWED ? LFPOOL_CACHE_NONE : 8;
	config.hooks.context = &set->log;
	config.hooks.create = on_create;
	config.hooks.validate = on_validate;
	config.hooks.activate = on_activate;
	config.hooks.deactivate = on_deactivate;
	config.hooks.destroy = on_destroy;
	set->pool = pool_with(&config);
	set->log.pool = set->pool;
	set->cache = lfpool_cache_create(set->pool);
	assert_non_null(set->cache);
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
	static const lfpool_backend_t with_slots[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX};

	for (size_t i = 0; i < COUNT(with_slots); i++)
		for (enum way way = OF_THREAD; way < WAYS; way++) {
			struct set set;

			open_set(&set, with_slots[i], way, flags);
			body(&set);
		}
}

/* ---- Tests ---- */

static void reuse(struct set *set)
{
	struct thing *things[CAPACITY];

	assert_int_equal(set->log.created, 0);
	for (unsigned round = 1; round <= 3; round++) {
		for (size_t i = 0; i < CAPACITY; i++) {
			things[i] = take(set);
			assert_non_null(things[i]);
			assert_int_equal(things[i]->uses, round);
			assert_true(lfpool_in_use(set->pool, things[i]));
		}
		assert_null(take(set));
		for (size_t i = 0; i < CAPACITY; i++)
			assert_int_equal(give(set, things[i]), LFPOOL_OK);
		assert_int_equal(set->log.created, CAPACITY);
		assert_int_equal(set->log.activated, round * CAPACITY);
		assert_int_equal(set->log.deactivated, round * CAPACITY);
	}
	assert_int_equal(set->log.destroyed, 0);
	close_set(set, 0);
}

TEST(what_create_built_survives_reuse)
{
	everywhere(reuse, 0);
}

static void on_first_use(struct set *set)
{
	struct thing *thing = take(set);

	assert_int_equal(set->log.created, 1);
	assert_int_equal(give(set, thing), LFPOOL_OK);
	close_set(set, 0);
	assert_int_equal(set->log.created, 1);
}

TEST(create_is_called_on_first_use)
{
	everywhere(on_first_use, 0);
}

static void at_creation(struct set *set)
{
	struct thing *thing;

	assert_int_equal(set->log.created, CAPACITY);
	thing = take(set);
	assert_int_equal(thing->built, BUILT);
	assert_int_equal(give(set, thing), LFPOOL_OK);
	close_set(set, 0);
	assert_int_equal(set->log.created, CAPACITY);
}

TEST(create_all_calls_create_at_creation)
{
	everywhere(at_creation, LFPOOL_CREATE_ALL);
}

static void create_refuses(struct set *set)
{
	struct thing *things[CAPACITY];

	set->log.create_at_most = 3;
	for (size_t i = 0; i < 3; i++)
		assert_non_null(things[i] = take(set));
	for (size_t i = 0; i < 5; i++)
		assert_null(take(set));
	assert_int_equal(lfpool_active_count(set->pool), 3);
	/* Nothing was lost by it. */
	set->log.create_at_most = SIZE_MAX;
	for (size_t i = 3; i < CAPACITY; i++)
		assert_non_null(things[i] = take(set));
	assert_null(take(set));
	give_all(set, things);
	close_set(set, 0);
}

TEST(acquire_says_null_when_create_refuses_and_nothing_is_lost)
{
	everywhere(create_refuses, 0);
}

static void activate_refuses(struct set *set)
{
	struct thing *things[CAPACITY];

	set->log.refuse_activate = 2;
	assert_null(take(set));
	assert_null(take(set));
	assert_int_equal(lfpool_active_count(set->pool), 0);
	take_all(set, things);
	assert_null(take(set));
	/* What was built for the refused ones is still there. */
	assert_int_equal(set->log.created, CAPACITY);
	give_all(set, things);
	close_set(set, 0);
}

TEST(acquire_says_null_when_activate_refuses_and_nothing_is_lost)
{
	everywhere(activate_refuses, 0);
}

static void deactivate_refuses(struct set *set)
{
	struct thing *things[CAPACITY];

	take_all(set, things);
	set->log.unfit = 7;
	give_all(set, things);
	assert_int_equal(set->log.destroyed, 7);
	assert_int_equal(set->log.created, CAPACITY);
	/* Made anew when they are used next. */
	take_all(set, things);
	assert_int_equal(set->log.created, CAPACITY + 7);
	give_all(set, things);
	close_set(set, 0);
}

TEST(an_object_that_deactivate_refuses_is_destroyed_and_made_anew)
{
	everywhere(deactivate_refuses, 0);
	everywhere(deactivate_refuses, LFPOOL_CREATE_ALL);
}

/* All objects of the set, built and free. */
static void build_all(struct set *set)
{
	struct thing *things[CAPACITY];

	take_all(set, things);
	assert_int_equal(set->log.validated, 0);
	give_all(set, things);
}

static void validate_replaces(struct set *set)
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

TEST(what_validate_finds_dead_is_built_anew_in_the_same_call)
{
	everywhere(validate_replaces, 0);
}

/* Objects are dead, and none can be built: the good ones are found, behind however many dead ones. */
static void validate_discards(struct set *set)
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

TEST(good_objects_are_found_behind_dead_ones_that_cannot_be_replaced)
{
	everywhere(validate_discards, 0);
}

static void got(void *context, lfpool_t *pool, void *object)
{
	(void)pool;
	*(void **)context = object;
}

/* A waiting call and a continuation get a good one too. */
static void validate_for_waiters(struct set *set)
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

TEST(waiting_calls_get_good_objects)
{
	everywhere(validate_for_waiters, 0);
}

static void forgotten(struct set *set)
{
	for (size_t i = 0; i < 5; i++)
		assert_non_null(take(set));
	close_set(set, 5);
	assert_int_equal(set->log.deactivated, 5);
}

TEST(forgotten_objects_are_deactivated_and_destroyed_with_the_pool)
{
	everywhere(forgotten, 0);
	everywhere(forgotten, LFPOOL_CREATE_ALL);
}

static void nested(struct set *set)
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

TEST(hooks_may_use_the_pool)
{
	everywhere(nested, 0);
}

TEST(the_malloc_backend_builds_each_object_anew)
{
	struct set set;
	struct thing *things[CAPACITY];

	open_set(&set, LFPOOL_BACKEND_MALLOC, OF_THREAD, 0);
	for (unsigned round = 1; round <= 2; round++) {
		set.log.create_at_most = 5;
		for (size_t i = 0; i < 5; i++)
			assert_non_null(things[i] = take(&set));
		assert_null(take(&set));
		set.log.create_at_most = SIZE_MAX;
		set.log.refuse_activate = 1;
		assert_null(take(&set));
		set.log.unfit = 1;
		for (size_t i = 0; i < 5; i++)
			assert_int_equal(give(&set, things[i]), LFPOOL_OK);
		assert_int_equal(set.log.created, 6 * round);
		assert_int_equal(set.log.destroyed, 6 * round);
	}
	close_set(&set, 0);
}

RUN_TESTS()
