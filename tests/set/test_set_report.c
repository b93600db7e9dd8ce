/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_set_report.c - a set's counts and its dump: the sums are those of its pools, and what it says is well-formed.
 */
#include "../support/set_support.h"

#define READER LFPOOL_PYTHON " -c 'import json, sys; [json.loads(line) for line in sys.stdin]'"

BACKEND_TEST(the_stats_are_the_sum, LFPOOL_BACKEND_MALLOC)
{
	lfpool_set_t *set = set_of(backend, 1000, 10);
	const size_t classes = lfpool_set_class_count(set);
	lfpool_stats_t sum = LFPOOL_STATS_INIT;
	void *objects[3];

	/* Nothing is made, and all of it is there. */
	assert_int_equal(lfpool_set_stats(set, &sum), LFPOOL_OK);
	assert_int_equal(sum.capacity, classes * 10);
	assert_int_equal(sum.untouched, classes * 10);
	for (size_t i = 0; i < COUNT(objects); i++)
		objects[i] = lfpool_set_acquire(set, 300 * (i + 1));
	assert_int_equal(lfpool_set_release(set, objects[0]), LFPOOL_OK);
	assert_int_equal(lfpool_set_stats(set, &sum), LFPOOL_OK);
	assert_int_equal(sum.struct_size, sizeof(sum));
	assert_int_equal(sum.capacity, classes * 10);
	assert_int_equal(sum.active, 2);
	assert_int_equal(sum.acquires, 3);
	assert_int_equal(sum.releases, 1);
	assert_int_equal(sum.unaccounted, 0);
	assert_int_equal(sum.active + sum.cached + sum.shared + sum.untouched, sum.capacity);
	/* An older caller, and none. */
	struct {
		lfpool_stats_t stats;
		size_t behind;
	} room = {LFPOOL_STATS_INIT, 77};

	room.stats.struct_size = offsetof(lfpool_stats_t, active);
	room.stats.active = 99;
	assert_int_equal(lfpool_set_stats(set, &room.stats), LFPOOL_OK);
	assert_int_equal(room.stats.capacity, classes * 10);
	assert_int_equal(room.stats.active, 99);
	assert_int_equal(room.stats.struct_size, offsetof(lfpool_stats_t, active));
	room.stats.struct_size = 1;
	assert_int_equal(lfpool_set_stats(set, &room.stats), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_set_stats(set, NULL), LFPOOL_E_ARGUMENT);
	release_to(set, objects + 1, 2);
	lfpool_set_destroy(set);
}

/* Every field of the struct, also one that will be added: all are numbers, whole in their word of 64 bits or two to a word. */
TEST(every_field_is_a_sum)
{
	enum { WORDS = sizeof(lfpool_stats_t) / sizeof(uint64_t), OBJECTS = 300 };

	lfpool_set_t *set = SET_WITH(.largest = 64, .capacity = OBJECTS, .max_capacity = 2 * OBJECTS, .cache_capacity = 4);
	const size_t classes = lfpool_set_class_count(set);
	uint64_t sum[WORDS], expected[WORDS] = {0};
	size_t nonzero = 0;
	void *objects[OBJECTS];

	for (size_t i = 0; i < classes; i++) {
		lfpool_t *pool = lfpool_set_pool(set, i);
		lfpool_stats_t stats = LFPOOL_STATS_INIT;
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

/* As snprintf(): whatever the room is, a beginning of the whole, and the whole's length. */
static void require_cut(const lfpool_set_t *set, lfpool_format_t format)
{
	char whole[16384], cut[16384];
	const size_t length = lfpool_set_dump(set, format, whole, sizeof(whole));

	assert_in_range(length, 1, sizeof(whole) - 1);
	assert_int_equal(strlen(whole), length);
	assert_int_equal(lfpool_set_dump(set, format, NULL, 0), length);
	for (size_t room = 1; room <= length + 1; room++) {
		memset(cut, 'x', sizeof(cut));
		assert_int_equal(lfpool_set_dump(set, format, cut, room), length);
		assert_int_equal(strlen(cut), room - 1);
		assert_memory_equal(cut, whole, room - 1);
		assert_int_equal(cut[room], 'x');
	}
}

BACKEND_TEST(the_dump_says_what_there_is, LFPOOL_BACKEND_MALLOC)
{
	char text[16384];

	lfpool_set_t *set = SET_WITH(.backend = backend, .largest = 1000, .capacity = 10, .name = "the \"trays\"");

	require_cut(set, LFPOOL_TEXT);
	require_cut(set, LFPOOL_JSON);
	assert_int_equal(lfpool_set_release(set, lfpool_set_acquire(set, 500)), LFPOOL_OK);
	assert_int_equal(lfpool_set_release(set, lfpool_set_acquire(set, 40)), LFPOOL_OK);
	require_cut(set, LFPOOL_TEXT);
	require_cut(set, LFPOOL_JSON);
	(void)lfpool_set_dump(set, LFPOOL_TEXT, text, sizeof(text));
	assert_non_null(strstr(text, "set \"the \\\"trays\\\"\""));
	assert_non_null(strstr(text, "32 of 16 to 1024 bytes, 8 to each doubling, aligned to 16; 2 in use"));
	assert_non_null(strstr(text, "\n     512         10          0 "));
	assert_non_null(strstr(text, "\n      48         10          0 "));
	assert_int_equal(lfpool_set_dump(set, (lfpool_format_t)7, text, sizeof(text)), 0);
	assert_int_equal(text[0], '\0');
	lfpool_set_destroy(set);
}

/* Has a name that can be found, and is in every backtrace. */
__attribute__((noinline)) void *take_a_tray(lfpool_set_t *set, size_t size);

void *take_a_tray(lfpool_set_t *set, size_t size)
{
	void *object = lfpool_set_acquire(set, size);

	__asm__ __volatile__("");
	return object;
}

/* Of a class's first object, and of the next; one by one, and by way of a smaller class. */
BACKEND_TEST(call_sites_are_the_callers, LFPOOL_BACKEND_MUTEX)
{
	for (size_t larger = 0; larger < 2; larger++) {
		lfpool_set_t *set = SET_WITH(.backend = backend, .largest = 1000, .capacity = 2, .larger = larger,
					     .debug = "backtrace=1/1");
		void *objects[3];

		for (size_t i = 0; i < 2 + larger; i++) {
			char text[8192];

			/* Of one class; not one number, for which the compiler would make a nameless copy. */
			objects[i] = take_a_tray(set, 100 - i);
			assert_non_null(objects[i]);
			(void)lfpool_dump(lfpool_of(objects[i]), LFPOOL_TEXT, text, sizeof(text));
			assert_non_null(strstr(text, "take_a_tray+0x"));
			/* One line for one place. */
			assert_null(strstr(text, "lfpool_set_acquire"));
		}
		release_to(set, objects, 2 + larger);
		assert_int_equal(lfpool_set_destroy(set), 0);
	}
}

BACKEND_TEST(json_is_json, LFPOOL_BACKEND_MALLOC)
{
	FILE *reader = popen(READER, "w");
	lfpool_set_t *set = set_of(backend, 1000, 10);
	char text[16384];

	assert_non_null(reader);
	for (size_t size = 0; size < 1000; size += 300) {
		assert_true(lfpool_set_dump(set, LFPOOL_JSON, text, sizeof(text)) < sizeof(text));
		assert_true(fprintf(reader, "%s\n", text) > 0);
		assert_int_equal(lfpool_set_release(set, lfpool_set_acquire(set, size)), LFPOOL_OK);
	}
	lfpool_set_destroy(set);
	assert_int_equal(pclose(reader), 0);
}

RUN_TESTS()
