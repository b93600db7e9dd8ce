/* SPDX-License-Identifier: MIT */
/* test: misuse once */
/*
 * test_misuse_report.c - where a refusal is told: one line on stderr the first time, then silence; or the hook, which
 * may call the pool.
 */
#include "../support/support.h"

/* Runs body(pool) with stderr sent to a file; returns what was written there. */
static size_t written_to_stderr(void (*body)(lfpool_t *pool), lfpool_t *pool, char *text_out, size_t room)
{
	FILE *file = tmpfile();
	int kept = dup(STDERR_FILENO);

	assert_non_null(file);
	assert_true(kept >= 0);
	fflush(stderr);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	body(pool);
	fflush(stderr);
	assert_true(dup2(kept, STDERR_FILENO) >= 0);
	close(kept);
	rewind(file);
	size_t count = fread(text_out, 1, room - 1, file);
	text_out[count] = '\0';
	fclose(file);
	return count;
}

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void refuse_three(lfpool_t *pool)
{
	void *object = lfpool_acquire(pool);
	int stranger;

	REQUIRE(object);
	REQUIRE(lfpool_release(pool, &stranger) == LFPOOL_E_FOREIGN);
	REQUIRE(lfpool_release(pool, moved(object, 1)) == LFPOOL_E_INTERIOR);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_E_NOT_IN_USE);
}

static void refuse_nothing(lfpool_t *pool)
{
	require_whole(pool, 16);
	REQUIRE(lfpool_release(pool, NULL) == LFPOOL_OK);
}

TEST(by_default_one_line_the_first_time)
{
	lfpool_config_t config = config_of(16, 9);
	char text[4096];

	config.name = "the jobs";
	lfpool_t *pool = pool_with(&config);
	assert_int_equal(written_to_stderr(refuse_nothing, pool, text, sizeof(text)), 0);
	assert_true(written_to_stderr(refuse_three, pool, text, sizeof(text)) > 0);
	assert_int_equal(lines_of(text), 1);
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_non_null(strstr(text, "the jobs"));
	assert_int_equal(written_to_stderr(refuse_three, pool, text, sizeof(text)), 0);
	assert_int_equal(lfpool_misuse_count(pool), 6);
	lfpool_destroy(pool);
}

TEST(the_first_time_is_counted_per_pool)
{
	char text[4096];

	for (int i = 0; i < 3; i++) {
		lfpool_t *pool = pool_of(16, 9);

		assert_true(written_to_stderr(refuse_three, pool, text, sizeof(text)) > 0);
		assert_int_equal(lines_of(text), 1);
		assert_non_null(strstr(text, "unnamed"));
		lfpool_destroy(pool);
	}
}

static void count_calls(void *context, const lfpool_misuse_t *misuse)
{
	assert_int_equal(misuse->count, ++*(size_t *)context);
}

TEST(a_hook_is_told_every_time_and_nothing_is_printed)
{
	lfpool_config_t config = config_of(16, 9);
	size_t calls = 0;
	char text[4096];

	config.hooks.context = &calls;
	config.hooks.misuse = count_calls;
	lfpool_t *pool = pool_with(&config);
	for (size_t i = 1; i <= 5; i++) {
		assert_int_equal(written_to_stderr(refuse_three, pool, text, sizeof(text)), 0);
		assert_int_equal(calls, 3 * i);
	}
	lfpool_destroy(pool);
}

/* The hook runs in the middle of the call with no lock held: it may use the pool that refuses, even wrongly. */
static void use_the_pool(void *context, const lfpool_misuse_t *misuse)
{
	size_t *depth = context;
	void *objects[9];

	REQUIRE(lfpool_misuse_count(misuse->pool) == misuse->count);
	if (++*depth < 5)
		REQUIRE(lfpool_release(misuse->pool, depth) == LFPOOL_E_FOREIGN);
	size_t count = acquire_all(misuse->pool, objects, 9);
	REQUIRE(count + lfpool_available_count(misuse->pool) <= 9 && count > 0);
	release_all(misuse->pool, objects, count);
}

TEST(a_hook_may_call_the_pool)
{
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MUTEX; backend++) {
		lfpool_config_t config = config_of(16, 9);
		size_t depth = 0;
		int stranger;

		config.backend = (lfpool_backend_t)backend;
		config.hooks.context = &depth;
		config.hooks.misuse = use_the_pool;
		lfpool_t *pool = pool_with(&config);
		assert_int_equal(lfpool_release(pool, &stranger), LFPOOL_E_FOREIGN);
		assert_int_equal(depth, 5);
		assert_int_equal(lfpool_misuse_count(pool), 5);
		void *object = lfpool_acquire(pool);
		assert_int_equal(lfpool_release(pool, moved(object, 3)), LFPOOL_E_INTERIOR);
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		void *const twice[] = {object, lfpool_acquire(pool), object, object};
		assert_int_equal(lfpool_release_bulk(pool, twice, 4), 1);
		require_whole(pool, 16);
		lfpool_destroy(pool);
	}
}

RUN_TESTS()
