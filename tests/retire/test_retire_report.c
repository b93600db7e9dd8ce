/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_retire_report.c - what a pool says of retired objects: the dump as text and as JSON, counters, high water,
 * advice.
 */
#include "../support/schemes.h"

enum { SIZE = 24, CAPACITY = 40 };

/* ---- Dumps ---- */

static char text[8192];

/* Python reads it, and says whether this holds of it. */
static void assert_json_says(const char *json, const char *expression)
{
	char command[600];

	snprintf(command, sizeof(command), "%s -c 'import json, sys; d = json.load(sys.stdin); assert %s'", LFPOOL_PYTHON,
		 expression);
	FILE *reader = popen(command, "w");

	assert_non_null(reader);
	assert_true(fputs(json, reader) >= 0);
	assert_int_equal(pclose(reader), 0);
}

static void assert_dump(lfpool_t *pool, const char *identity, const char *in_json)
{
	assert_in_range(lfpool_dump(pool, LFPOOL_TEXT, text, sizeof(text)), 1, sizeof(text) - 1);
	if (!strstr(text, identity))
		fail_msg("no \"%s\" in\n%s", identity, text);
	assert_in_range(lfpool_dump(pool, LFPOOL_JSON, text, sizeof(text)), 1, sizeof(text) - 1);
	if (!strstr(text, in_json))
		fail_msg("no %s in\n%s", in_json, text);
}

FAKE_TEST(dumps_name_them)
{
	void *objects[CAPACITY];

	assert_dump(pool, "40 = 0 active + 0 retired + ", "\"retired\":0,");
	assert_int_equal(lfpool_acquire_bulk(pool, objects, 12), 12);
	assert_int_equal(lfpool_retire_bulk(pool, objects, 7), 7);
	assert_dump(pool, "40 = 5 active + 7 retired + ", "\"retired\":7,");
	assert_json_says(text, "d[\"capacity\"] == d[\"active\"] + d[\"retired\"] + d[\"cached\"] + d[\"shared\"] + "
			       "d[\"untouched\"] and d[\"retired\"] == 7 and d[\"active\"] == 5");
	fake_end_all(pool);
	assert_dump(pool, "40 = 5 active + 0 retired + ", "\"retired\":0,");
}

TEST(dumps_of_other_pools_do_not)
{
	lfpool_t *pool = pool_of(SIZE, CAPACITY);

	assert_true(lfpool_dump(pool, LFPOOL_TEXT, text, sizeof(text)) > 0);
	assert_null(strstr(text, "retired"));
	assert_true(lfpool_dump(pool, LFPOOL_JSON, text, sizeof(text)) > 0);
	assert_null(strstr(text, "retired"));
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- Counters ---- */

/* An older program's struct ends before `retired`: the rest of the identity is there, and the difference shows. */
FAKE_TEST(a_shorter_struct_is_filled_as_far_as_it_goes)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;
	void *objects[CAPACITY];

	assert_int_equal(lfpool_acquire_bulk(pool, objects, 10), 10);
	assert_int_equal(lfpool_retire_bulk(pool, objects, 4), 4);
	stats.struct_size = offsetof(lfpool_stats_t, retired);
	stats.retired = 4711;
	assert_int_equal(lfpool_stats(pool, &stats), LFPOOL_OK);
	assert_int_equal(stats.retired, 4711);
	assert_int_equal(stats.unaccounted, 0);
	assert_int_equal(stats.active + 4 + stats.cached + stats.shared + stats.untouched, CAPACITY);
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
