/* SPDX-License-Identifier: MIT */
/*
 * test_trim_cursor.c - lfpool_trim() goes on where the call before ended, and still looks at everything.
 */
#include "support.h"

#define OBJECTS 8192
#define BYTES ((size_t)OBJECTS * 256)

static size_t given_back(const lfpool_t *pool)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	assert_int_equal(lfpool_stats(pool, &stats), LFPOOL_OK);
	return (size_t)stats.given_back;
}

static void use_all(lfpool_t *pool, void **objects)
{
	assert_int_equal(acquire_all(pool, objects, OBJECTS), OBJECTS);
	for (size_t i = 0; i < OBJECTS; i++)
		memset(objects[i], 1, 256);
	release_all(pool, objects, OBJECTS);
}

static void pages_before_the_cursor(lfpool_backend_t backend)
{
	static void *objects[OBJECTS];
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;
	size_t before;

	config.object_size = 256;
	config.backend = backend;
	config.capacity = OBJECTS;
	assert_int_equal(lfpool_create(&pool, &config), LFPOOL_OK);
	use_all(pool, objects);
	/* Until the cursor is somewhere in the middle. */
	while (given_back(pool) < BYTES / 2)
		assert_true(lfpool_trim(pool, 0, BYTES / 16));
	use_all(pool, objects);
	before = given_back(pool);
	while (lfpool_trim(pool, 0, BYTES / 16))
		;
	assert_true(given_back(pool) - before > BYTES / 8 * 7);
	/* And then there is nothing more to do. */
	before = given_back(pool);
	assert_false(lfpool_trim(pool, 0, SIZE_MAX));
	assert_int_equal(given_back(pool), before);
	assert_int_equal(lfpool_destroy(pool), 0);
}

TEST(pages_before_the_cursor_that_were_used_since_are_given_back_too)
{
	pages_before_the_cursor(LFPOOL_BACKEND_LOCKFREE);
	pages_before_the_cursor(LFPOOL_BACKEND_MUTEX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_before_the_cursor_that_were_used_since_are_given_back_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
