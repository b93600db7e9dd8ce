/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_hooks_apart.c - hooks one by one, and where they meet something else: what is missing, what is refused at
 * creation, a release in deactivate, LFPOOL_ZERO; and what counts as exhausted.
 */
#include "../support/hooked.h"

static bool release_again(void *context, void *object)
{
	struct log *log = context;

	/* It is not in use any more: this is a double release. */
	REQUIRE(!lfpool_in_use(log->pool, object));
	REQUIRE(lfpool_release(log->pool, object) == LFPOOL_E_NOT_IN_USE);
	log->deactivated++;
	return true;
}

static void ignore_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	REQUIRE(misuse->status == LFPOOL_E_NOT_IN_USE);
	REQUIRE(misuse->index < CAPACITY && !misuse->handle && !*misuse->detail);
}

TEST(releasing_in_deactivate_is_a_double_release)
{
	lfpool_config_t config = config_of(sizeof(struct thing), CAPACITY);
	struct log log = {0};

	config.hooks.context = &log;
	config.hooks.deactivate = release_again;
	config.hooks.misuse = ignore_misuse;
	log.pool = pool_with(&config);
	assert_int_equal(lfpool_release(log.pool, lfpool_acquire(log.pool)), LFPOOL_OK);
	assert_int_equal(log.deactivated, 1);
	assert_int_equal(lfpool_misuse_count(log.pool), 1);
	require_whole(log.pool, sizeof(struct thing));
	lfpool_destroy(log.pool);
}

TEST(create_all_that_is_refused_leaves_nothing)
{
	static const lfpool_backend_t with_slots[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX};

	for (size_t i = 0; i < COUNT(with_slots); i++)
		for (size_t at_most = 0; at_most < CAPACITY; at_most += 13) {
			lfpool_config_t config = config_of(sizeof(struct thing), CAPACITY);
			struct log log = {.create_at_most = at_most};
			lfpool_t *pool;

			config.backend = with_slots[i];
			config.flags = LFPOOL_CREATE_ALL;
			config.hooks.context = &log;
			config.hooks.create = on_create;
			config.hooks.destroy = on_destroy;
			assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_CREATE);
			assert_null(pool);
			assert_int_equal(log.created, at_most);
			assert_int_equal(log.destroyed, at_most);
		}
}

TEST(hooks_that_are_not_there_are_not_called)
{
	for (unsigned which = 0; which < 16; which++) {
		lfpool_config_t config = config_of(sizeof(struct thing), CAPACITY);
		struct log log = {.create_at_most = SIZE_MAX};
		lfpool_t *pool;
		unsigned *object;

		config.flags = which & 8 ? LFPOOL_CREATE_ALL : 0;
		config.hooks.context = &log;
		config.hooks.create = on_create;
		config.hooks.activate = which & 1 ? on_activate : NULL;
		config.hooks.deactivate = (which & 3) == 3 ? on_deactivate : NULL;
		config.hooks.destroy = which & 4 && (which & 3) != 1 ? on_destroy : NULL;
		pool = pool_with(&config);
		object = lfpool_acquire(pool);
		assert_int_equal(*object, BUILT);
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(pool), 0);
		assert_int_equal(log.created, which & 8 ? CAPACITY : 1);
		assert_int_equal(log.activated, config.hooks.activate ? 1 : 0);
		assert_int_equal(log.deactivated, config.hooks.deactivate ? 1 : 0);
		assert_int_equal(log.destroyed, config.hooks.destroy ? log.created : 0);
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
	lfpool_config_t config = config_of(sizeof(struct thing), 3);
	lfpool_t *pool;

	config.flags = LFPOOL_ZERO;
	config.hooks.activate = is_zero;
	pool = pool_with(&config);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
	lfpool_destroy(pool);
}

TEST(without_create_destroy_is_for_what_was_acquired)
{
	for (uint32_t flags = 0; flags <= LFPOOL_CREATE_ALL; flags += LFPOOL_CREATE_ALL) {
		lfpool_config_t config = config_of(sizeof(struct thing), CAPACITY);
		struct log log = {0};
		struct thing *thing;
		lfpool_t *pool;

		config.flags = flags;
		config.hooks.context = &log;
		config.hooks.destroy = on_destroy;
		pool = pool_with(&config);
		thing = lfpool_acquire(pool);
		*thing = (struct thing){.built = BUILT};
		assert_int_equal(lfpool_release(pool, thing), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(pool), 0);
		assert_int_equal(log.destroyed, 1);
	}
}

TEST(exhausted_counts_what_said_null)
{
	lfpool_config_t config = config_of(sizeof(struct thing), CAPACITY);
	lfpool_stats_t stats = LFPOOL_STATS_INIT;
	void *objects[CAPACITY + 1];

	/* All that is free lies in quarantine when it is wanted again. */
	config.debug = "quarantine=1000";
	lfpool_t *pool = pool_with(&config);

	for (unsigned round = 1; round <= 3; round++) {
		assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
		assert_int_equal(lfpool_stats(pool, &stats), LFPOOL_OK);
		assert_int_equal(stats.exhausted, round - 1);
		assert_null(lfpool_acquire(pool));
		release_all(pool, objects, CAPACITY);
	}
	lfpool_destroy(pool);
}

RUN_TESTS()
