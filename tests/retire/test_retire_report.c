/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_retire_report.c - what a pool says of retired objects: the dump as text and as JSON, high water, advice.
 */
#include "../support/schemes.h"
#include "../support/texts.h"

enum { SIZE = 24, CAPACITY = 40 };

/* ---- Dumps ---- */

static void require_dumps(const lfpool_t *pool, const char *identity, const char *in_json)
{
	char *json = whole_dump(pool_dump, pool, LFPOOL_JSON);

	require_said(pool, identity);
	require_in(json, in_json);
	free(json);
}

FAKE_TEST(dumps_name_them)
{
	FILE *reader = popen(JSON_READER, "w");
	void *objects[CAPACITY];

	assert_non_null(reader);
	require_dumps(pool, "40 = 0 active + 0 retired + ", "\"retired\":0,");
	assert_int_equal(lfpool_acquire_bulk(pool, objects, 12), 12);
	assert_int_equal(lfpool_retire_bulk(pool, objects, 7), 7);
	require_dumps(pool, "40 = 5 active + 7 retired + ", "\"retired\":7,");
	char *json = whole_dump(pool_dump, pool, LFPOOL_JSON);

	read_json(reader, json);
	free(json);
	assert_int_equal(pclose(reader), 0);
	fake_end_all(pool);
	require_dumps(pool, "40 = 5 active + 0 retired + ", "\"retired\":0,");
}

TEST(dumps_of_other_pools_do_not)
{
	lfpool_t *pool = pool_of(SIZE, CAPACITY);

	for (lfpool_format_t format = LFPOOL_TEXT; format <= LFPOOL_JSON; format++) {
		char *text = whole_dump(pool_dump, pool, format);

		assert_null(strstr(text, "retired"));
		free(text);
	}
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- High water ---- */

/* Retired objects are in use, for how many a pool must have: three in use and as many retired are six. */
FAKE_TEST(high_water_counts_them)
{
	void *objects[CAPACITY];
	lfpool_advice_t advice = LFPOOL_ADVICE_INIT;

	assert_int_equal(lfpool_acquire_bulk(pool, objects, 30), 30);
	release_all(pool, objects, 30);
	lfpool_high_water_reset(pool);
	assert_int_equal(lfpool_acquire_bulk(pool, objects, 10), 10);
	assert_int_equal(lfpool_retire_bulk(pool, objects, 10), 10);
	assert_int_equal(lfpool_acquire_bulk(pool, objects, 15), 15);
	assert_true(stats_of(pool).high_water >= 25);
	if (lfpool_backend(pool) == LFPOOL_BACKEND_MUTEX)
		assert_int_equal(stats_of(pool).high_water, 25);
	assert_int_equal(lfpool_advise(pool, &advice), LFPOOL_OK);
	assert_true(advice.capacity >= 25);
	/* A reset while they wait: they still are. */
	lfpool_high_water_reset(pool);
	assert_true(stats_of(pool).high_water >= 25);
	fake_end_all(pool);
	lfpool_high_water_reset(pool);
	if (lfpool_backend(pool) == LFPOOL_BACKEND_MUTEX)
		assert_int_equal(stats_of(pool).high_water, 15);
}

RUN_TESTS()
