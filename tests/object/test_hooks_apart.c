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
	struct log log = {0};

	log.pool = POOL_OF(sizeof(struct thing), CAPACITY,
			   .hooks = {.context = &log, .deactivate = release_again, .misuse = ignore_misuse});
	assert_int_equal(lfpool_release(log.pool, lfpool_acquire(log.pool)), LFPOOL_OK);
	assert_int_equal(log.deactivated, 1);
	assert_int_equal(lfpool_misuse_count(log.pool), 1);
	pool_close(log.pool, sizeof(struct thing));
}

BACKEND_TEST(create_all_that_is_refused_leaves_nothing, LFPOOL_BACKEND_MUTEX)
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

/* With LFPOOL_CREATE_ALL and nothing to activate hits do not look whether an object is built. */
BACKEND_TEST(hooks_that_are_not_there_are_not_called, LFPOOL_BACKEND_MUTEX)
{
	for (unsigned which = 0; which < 8; which++) {
		/* What went is built anew only if it was destroyed. */
		const bool destroys = which & 2;
		struct log log = {.create_at_most = SIZE_MAX};
		lfpool_t *pool = POOL_OF(sizeof(struct thing), CAPACITY, .backend = backend,
					 .flags = which & 4 ? LFPOOL_CREATE_ALL : 0,
					 .hooks = {.context = &log,
						   .create = on_create,
						   .activate = which & 1 ? on_activate : NULL,
						   .deactivate = which & 1 ? on_deactivate : NULL,
						   .destroy = destroys ? on_destroy : NULL});
		void *objects[CAPACITY];

		for (int round = 0; round < 2; round++) {
			assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
			for (size_t i = 0; i < CAPACITY; i++)
				assert_int_equal(((struct thing *)objects[i])->built, BUILT);
			release_all(pool, objects, CAPACITY);
			if (destroys)
				assert_int_equal(lfpool_shrink(pool, CAPACITY), CAPACITY);
			assert_int_equal(lfpool_grow(pool, CAPACITY), destroys ? CAPACITY : 0);
		}
		assert_int_equal(log.activated, which & 1 ? 2 * CAPACITY : 0);
		assert_int_equal(lfpool_destroy(pool), 0);
		assert_int_equal(log.destroyed, destroys ? log.created : 0);
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

TEST(without_create_destroy_is_for_what_was_acquired)
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
