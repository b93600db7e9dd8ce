/* SPDX-License-Identifier: MIT */
/*
 * test_hooks.c - create, validate, activate, deactivate, destroy: when and how often each is called; hooks may use
 * the pool; and their interplay with other features: refusals at creation, LFPOOL_ZERO, no create.
 *
 * (Refusals of create, activate and deactivate, absent hooks, and the right order of steps, on each backend, with
 * every option: verify/pairs.)
 */
#include "../support/ways.h"

enum { CAPACITY = 40, BUILT = 0x6275696c };

/* ---- Objects with a life; the five hooks lead them through it, and count ---- */

/* Built by a hook. */
struct thing {
	unsigned built;  /* BUILT between create and destroy  */
	unsigned active; /* 1 between activate and deactivate */
	unsigned uses;   /* survives reuse                    */
};

struct log {
	lfpool_t *pool;
	size_t created, activated, deactivated, destroyed, validated;
	size_t create_at_most; /* create refuses more than this */
	size_t dead;           /* number of the next validates that fail */
};

static bool on_create(void *context, void *object)
{
	struct log *log = context;
	struct thing *thing = object;

	REQUIRE(thing->built != BUILT);
	if (log->created - log->destroyed >= log->create_at_most)
		return false;
	log->created++;
	*thing = (struct thing){.built = BUILT};
	return true;
}

static bool on_validate(void *context, void *object)
{
	struct log *log = context;
	struct thing *thing = object;

	REQUIRE(thing->built == BUILT && !thing->active);
	log->validated++;
	if (!log->dead)
		return true;
	log->dead--;
	return false;
}

static bool on_activate(void *context, void *object)
{
	struct log *log = context;
	struct thing *thing = object;

	REQUIRE(thing->built == BUILT && !thing->active);
	REQUIRE(!log->pool || !lfpool_in_use(log->pool, object));
	log->activated++;
	thing->active = 1;
	thing->uses++;
	return true;
}

static bool on_deactivate(void *context, void *object)
{
	struct log *log = context;
	struct thing *thing = object;

	REQUIRE(thing->built == BUILT && thing->active);
	log->deactivated++;
	thing->active = 0;
	return true;
}

static void on_destroy(void *context, void *object)
{
	struct log *log = context;
	struct thing *thing = object;

	REQUIRE(thing->built == BUILT && !thing->active);
	thing->built = 0;
	log->destroyed++;
}

/* ---- Every test up to the waiting calls runs on each backend with slots, and in each of these ways ---- */

static const struct way {
	enum way_to to;
	enum way_back back;
	size_t cache_capacity;
} ways[] = {
	{TO_CACHE, BY_CACHE, 8},
	{BULK_TO_CACHE, BULK_BY_CACHE, 8},
#ifndef LFPOOL_EMBEDDED /* there one thread may use two caches, and the order of objects varies */
	{TO_THREAD, BY_THREAD, 8},
	{TO_THREAD, BY_THREAD, LFPOOL_CACHE_NONE},
#endif
};

struct set {
	lfpool_t *pool;
	lfpool_cache_t *cache;
	const struct way *way;
	struct log log;
};

static void open_set(struct set *set, lfpool_backend_t backend, const struct way *way)
{
	*set = (struct set){.way = way, .log.create_at_most = SIZE_MAX};
	set->pool = POOL_OF(sizeof(struct thing), CAPACITY, .backend = backend, .cache_capacity = way->cache_capacity,
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
	return take_by(set->way->to, set->pool, set->cache);
}

static void give(struct set *set, struct thing *thing)
{
	(void)give_back_by(set->way->back, set->pool, set->cache, thing);
}

static void take_all(struct set *set, struct thing *things[CAPACITY])
{
	for (size_t i = 0; i < CAPACITY; i++)
		assert_non_null(things[i] = take(set));
}

static void give_all(struct set *set, struct thing *things[CAPACITY])
{
	for (size_t i = 0; i < CAPACITY; i++)
		give(set, things[i]);
}

static void close_set(struct set *set)
{
	assert_int_equal(lfpool_destroy(set->pool), 0);
	/* Each step as often as its reverse. */
	assert_int_equal(set->log.created, set->log.destroyed);
	assert_int_equal(set->log.activated, set->log.deactivated);
}

/* A test whose body runs on each of them, as `set`. */
#define HOOKS_TEST(name)                                         \
	static void name##_in(struct set *set);                  \
	BACKEND_TEST(name, LFPOOL_BACKEND_MUTEX)                 \
	{                                                        \
		for (size_t way = 0; way < COUNT(ways); way++) { \
			struct set set;                          \
                                                                 \
			open_set(&set, backend, &ways[way]);     \
			name##_in(&set);                         \
			close_set(&set);                         \
		}                                                \
	}                                                        \
	static void name##_in(struct set *set)

HOOKS_TEST(built_objects_survive_reuse)
{
	struct thing *things[CAPACITY];

	assert_int_equal(set->log.created, 0);
	for (unsigned round = 1; round <= 3; round++) {
		for (size_t i = 0; i < CAPACITY; i++) {
			assert_non_null(things[i] = take(set));
			assert_int_equal(things[i]->uses, round);
			assert_true(lfpool_in_use(set->pool, things[i]));
			/* On its first use. */
			assert_int_equal(set->log.created, round == 1 ? i + 1 : CAPACITY);
		}
		assert_null(take(set));
		give_all(set, things);
		assert_int_equal(set->log.created, CAPACITY);
		assert_int_equal(set->log.activated, round * CAPACITY);
		assert_int_equal(set->log.deactivated, round * CAPACITY);
	}
	assert_int_equal(set->log.destroyed, 0);
}

/* All objects of the set, built and free. */
static void build_all(struct set *set)
{
	struct thing *things[CAPACITY];

	take_all(set, things);
	assert_int_equal(set->log.validated, 0);
	give_all(set, things);
}

HOOKS_TEST(dead_objects_are_rebuilt_in_the_same_call)
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
}

/* Some objects are invalid, and none can be built: the valid ones are found behind any number of invalid ones. */
HOOKS_TEST(good_objects_are_found_behind_dead_ones_that_cannot_be_replaced)
{
	struct thing *things[CAPACITY];
	size_t count = 0;

	build_all(set);
	set->log.create_at_most = 0;
	set->log.dead = CAPACITY - 2;
	assert_non_null(things[count++] = take(set));
	assert_int_equal(set->log.destroyed, CAPACITY - 2);
	assert_int_equal(set->log.validated, CAPACITY - 1);
	/* Valid objects come first, each time: unbuilt slots come last. */
	for (int i = 0; i < 1000; i++) {
		struct thing *good = take(set);

		assert_non_null(good);
		assert_int_equal(good->uses, 2 + i);
		give(set, good);
	}
	assert_non_null(things[count++] = take(set));
	for (int i = 0; i < 5; i++)
		assert_null(take(set));
	assert_int_equal(lfpool_active_count(set->pool), 2);
	require_intact(set->pool);
	/* Nothing was lost. */
	set->log.create_at_most = SIZE_MAX;
	while (count < CAPACITY)
		assert_non_null(things[count++] = take(set));
	assert_null(take(set));
	give_all(set, things);
}

static void got(void *context, lfpool_t *pool, void *object)
{
	(void)pool;
	*(void **)context = object;
}

/* A waiting call and a continuation also get a valid object. */
HOOKS_TEST(waiting_calls_get_good_objects)
{
	struct thing *things[CAPACITY];
	void *given = NULL;

	build_all(set);
	take_all(set, things);
	set->log.create_at_most = 0;
	assert_int_equal(lfpool_acquire_async(set->pool, got, &given, NULL), LFPOOL_OK);
	assert_null(given);
	set->log.dead = 1;
	/* The first is invalid, and nothing else is free: it cannot be built, so the call is refused. */
	give(set, things[0]);
	assert_null(given);
	assert_int_equal(set->log.dead, 0);
	give(set, things[1]);
	give(set, things[2]);
	set->log.dead = 1;
	assert_non_null(things[1] = lfpool_acquire_wait(set->pool, 0));
	assert_null(lfpool_acquire_wait(set->pool, 1000));
	set->log.create_at_most = SIZE_MAX;
	assert_non_null(things[0] = take(set));
	assert_non_null(things[2] = take(set));
	give_all(set, things);
}

/* ---- Singly, and with other features ---- */

/* Existing objects come first, wherever they are: in the depot, on another cache's stack, in its magazine. */
TEST(create_hook_runs_only_if_no_constructed_object_is_free)
{
	for (unsigned bound = 0; bound < 2; bound++) {
		struct log log = {.create_at_most = SIZE_MAX};
		lfpool_t *pool = POOL_OF(sizeof(struct thing), CAPACITY, .cache_capacity = bound ? 8 : 0,
					 .hooks = {.context = &log, .create = on_create, .destroy = on_destroy});
		lfpool_cache_t *cache[2] = {lfpool_cache_create(pool), lfpool_cache_create(pool)};
		struct thing *things[CAPACITY / 2];

		for (unsigned round = 0; round < 4; round++) {
			for (size_t i = 0; i < COUNT(things); i++)
				assert_non_null(things[i] = lfpool_cache_acquire(cache[round % 2]));
			assert_int_equal(log.created, COUNT(things));
			for (size_t i = 0; i < COUNT(things); i++)
				assert_int_equal(lfpool_cache_release(cache[round % 2], things[i]), LFPOOL_OK);
		}
		assert_int_equal(lfpool_destroy(pool), 0);
		assert_int_equal(log.destroyed, COUNT(things));
	}
}

static bool release_again(void *context, void *object)
{
	struct log *log = context;

	/* It is no longer in use: this is a double release. */
	REQUIRE(!lfpool_in_use(log->pool, object));
	REQUIRE(lfpool_release(log->pool, object) == LFPOOL_E_NOT_IN_USE);
	if (log->deactivated++ == 0) {
		void *other = lfpool_acquire(log->pool);

		REQUIRE(other && other != object && lfpool_release(log->pool, other) == LFPOOL_OK);
	}
	return true;
}

static void ignore_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	REQUIRE(misuse->status == LFPOOL_E_NOT_IN_USE);
	REQUIRE(misuse->index < CAPACITY && !misuse->handle && !*misuse->detail);
}

TEST(hooks_may_use_the_pool_and_releasing_in_deactivate_is_a_double_release)
{
	struct log log = {0};

	log.pool = POOL_OF(sizeof(struct thing), CAPACITY,
			   .hooks = {.context = &log, .deactivate = release_again, .misuse = ignore_misuse});
	assert_int_equal(lfpool_release(log.pool, lfpool_acquire(log.pool)), LFPOOL_OK);
	assert_int_equal(log.deactivated, 2);
	assert_int_equal(lfpool_quick_stats(log.pool).misuses, 2);
	assert_int_equal(lfpool_destroy(log.pool), 0);
}

BACKEND_TEST(refused_create_all_leaves_nothing_behind, LFPOOL_BACKEND_MUTEX)
{
	for (size_t at_most = 0; at_most < CAPACITY; at_most += 13) {
		struct log log = {.create_at_most = at_most};
		lfpool_t *pool;
		const lfpool_config_t config = CONFIG_OF(sizeof(struct thing), CAPACITY, .backend = backend,
							 .flags = LFPOOL_CREATE_ALL, .hooks.context = &log,
							 .hooks.create = on_create, .hooks.destroy = on_destroy);

		assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_CREATE);
		assert_null(pool);
		assert_int_equal(log.created, at_most);
		assert_int_equal(log.destroyed, at_most);
	}
}

static bool is_zero(void *context, void *object)
{
	(void)context;
	REQUIRE(all_bytes_are(object, sizeof(struct thing), 0));
	memset(object, 0xa5, sizeof(struct thing));
	return true;
}

TEST(zero_comes_before_activate)
{
	lfpool_t *pool = POOL_OF(sizeof(struct thing), 3, .flags = LFPOOL_ZERO, .hooks.activate = is_zero);

	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
	lfpool_destroy(pool);
}

TEST(without_create_hook_destroy_runs_for_acquired_objects)
{
	for (uint32_t flags = 0; flags <= LFPOOL_CREATE_ALL; flags += LFPOOL_CREATE_ALL) {
		struct log log = {0};
		lfpool_t *pool = POOL_OF(sizeof(struct thing), CAPACITY, .flags = flags, .hooks.context = &log,
					 .hooks.destroy = on_destroy);
		struct thing *thing = lfpool_acquire(pool);

		*thing = (struct thing){.built = BUILT};
		assert_int_equal(lfpool_release(pool, thing), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(pool), 0);
		assert_int_equal(log.destroyed, 1);
	}
}

RUN_TESTS()
