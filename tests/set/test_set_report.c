/* SPDX-License-Identifier: MIT */
/* test: once */
/* test_set_report.c - a set's counts and its dump: its counts are the sums of its pools', and the dump is
 * well-formed. */
#include "../support/set_support.h"

/* Every field of the struct, including future ones: all are numbers, one or two to a 64-bit word. */
TEST(every_statistic_of_a_set_is_a_sum)
{
	enum { WORDS = sizeof(lfpool_stats_t) / sizeof(uint64_t), OBJECTS = 300 };

	lfpool_set_t *set = SET_WITH(.largest = 64, .pool.capacity = OBJECTS, .pool.max_capacity = 2 * OBJECTS,
				     .pool.cache_capacity = 4);
	const size_t classes = class_count(set);
	uint64_t sum[WORDS], expected[WORDS] = {0};
	size_t nonzero = 0;
	void *objects[OBJECTS];

	/* Only the pools that exist count. */
	assert_int_equal(set_stats_of(set).capacity, OBJECTS);
	EACH_CLASS(set, bytes)
	{
		lfpool_t *pool = lfpool_set_pool(set, bytes);
		lfpool_stats_t stats;
		uint64_t words[WORDS];

		assert_int_equal(lfpool_acquire_bulk(pool, objects, OBJECTS), OBJECTS);
		assert_null(lfpool_acquire(pool));
		assert_int_equal(lfpool_release_bulk(pool, objects, OBJECTS - 1), OBJECTS - 1);
		assert_int_equal(lfpool_stats(pool, &stats), LFPOOL_OK);
		assert_true(stats.depot_trips && stats.high_water == OBJECTS);
		memcpy(words, &stats, sizeof(words));
		for (size_t w = 0; w < WORDS; w++)
			expected[w] += words[w];
	}
	const lfpool_stats_t stats = set_stats_of(set);

	memcpy(sum, &stats, sizeof(sum));
	for (size_t w = 1; w < WORDS; w++) {
		assert_int_equal(sum[w], expected[w]);
		nonzero += sum[w] != 0;
	}
	assert_true(nonzero >= 12);
	assert_int_equal(lfpool_set_destroy(set), classes);
}

/* Every prefix, in both forms, before and after the first object; and valid JSON. */
BACKEND_TEST(dump_is_complete_and_well_formed, LFPOOL_BACKEND_MALLOC)
{
	lfpool_set_t *set = SET_WITH(.largest = 1000, .pool.backend = backend, .pool.capacity = 10,
				     .pool.name = "the \"trays\"");
	FILE *reader = popen(JSON_READER, "w");
	char nothing[] = "x";

	assert_non_null(reader);
	for (size_t size = 40; size < 1000; size += 460) {
		require_every_beginning(set_dump, set, LFPOOL_TEXT);
		require_every_beginning(set_dump, set, LFPOOL_JSON);
		assert_int_equal(lfpool_set_release(set, lfpool_set_acquire(set, size)), LFPOOL_OK);
		char *json = whole_dump(set_dump, set, LFPOOL_JSON);

		read_json(reader, json);
		free(json);
	}
	assert_int_equal(pclose(reader), 0);
	char *text = whole_dump(set_dump, set, LFPOOL_TEXT);

	require_in(text, "set \"the \\\"trays\\\"\"");
	assert_int_equal(strstr(text, "\nwindows     of ") != NULL, backend != LFPOOL_BACKEND_MALLOC);
	require_in(text, "\nlarger      0\nidentity    40 = 0 active + ");
	require_in(text, "\ncalls       3 acquires, 3 releases, 0 exhausted\n");
	require_in(text, "32 of 16 to 1024 bytes, 8 to each doubling, aligned to 16; 4 in use");
	require_in(text, "\n     512         10          0 ");
	require_in(text, "\n      48         10          0 ");
	free(text);
	assert_int_equal(lfpool_set_stats(set, NULL), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_set_dump(set, (lfpool_format_t)7, nothing, sizeof(nothing)), 0);
	assert_string_equal(nothing, "");
	lfpool_set_destroy(set);
}

/* Every page that has only free objects, of each class. */
TEST(trim_returns_memory_of_every_class)
{
	lfpool_set_t *set = SET_WITH(.largest = 4096, .class_bytes = MIB);
	void *objects[2000];
	size_t count = 0;

	for (int large = 0; large < 2; large++) {
		const size_t size = large ? 4096 : 512;
		size_t n = 0;

		while (n < 200 && (objects[count + n] = lfpool_set_acquire(set, size)))
			memset(objects[count + n++], 1, size);
		assert_int_equal(n, 200);
		count += n;
	}
	assert_int_equal(lfpool_set_release_bulk(set, objects, count), count);
	while (lfpool_set_trim(set, 0, 1 << 16))
		;
	for (int large = 0; large < 2; large++) {
		const size_t size = large ? 4096 : 512;

		assert_true(lfpool_quick_stats(lfpool_set_pool(set, size)).given_back > 0);
		assert_non_null(objects[large] = lfpool_set_acquire(set, size));
	}
	assert_false(lfpool_set_trim(set, SIZE_MAX / 4, SIZE_MAX));
	assert_int_equal(lfpool_set_release_bulk(set, objects, 2), 2);
	set_close(set);
}

RUN_TESTS()
