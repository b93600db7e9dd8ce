/* SPDX-License-Identifier: MIT */
/* unit_stats_fields.c - the table of the fields of lfpool_stats_t is complete, and writes and adds each one. */
#include "../support/support.h"

#include "base/stats_fields.h"

/* A struct in which every byte is `byte`, including fields without a row. */
static lfpool_stats_t filled(unsigned char byte)
{
	lfpool_stats_t stats;

	memset(&stats, byte, sizeof(stats));
	return stats;
}

TEST(a_sum_changes_every_field)
{
	lfpool_stats_t sum = filled(1);
	lfpool_stats_t expected = filled(3);
	const lfpool_stats_t more = filled(2);

	expected.backend = more.backend;
	expected.wait_ns_max = more.wait_ns_max;
	stats_add(&sum, &more);
	assert_memory_equal(&sum, &expected, sizeof(sum));
}

TEST(a_negative_field_stays_negative)
{
	lfpool_stats_t sum = {0}, more = {0};
	char json[1024];
	struct text t;

	sum.unaccounted = -5;
	more.unaccounted = 2;
	stats_add(&sum, &more);
	assert_int_equal(sum.unaccounted, -3);
	text_open(&t, json, sizeof(json));
	stats_put_json(&t, &sum);
	assert_non_null(strstr(json, ",\"unaccounted\":-3,"));
}

TEST(json_has_every_field_with_its_value)
{
	const lfpool_stats_t stats = filled(1);
	char json[2048];
	struct text t;
	size_t bytes = sizeof(stats.backend), values = 0;

	text_open(&t, json, sizeof(json));
	stats_put_json(&t, &stats);
	assert_true(t.wanted < sizeof(json));
	for (const char *at = json; (at = strchr(at, ':')); values++) {
		const unsigned long long value = strtoull(++at, NULL, 10);

		assert_true(value == 0x01010101 || value == 0x0101010101010101);
		bytes += value == 0x01010101 ? 4 : 8;
	}
	assert_int_equal(values, STATS_FIELDS);
	assert_int_equal(bytes, sizeof(stats));
}

TEST(text_has_one_line_for_neighbours_that_share_it)
{
	const lfpool_stats_t stats = {
		.acquires = 7, .releases = 5, .exhausted = 2, .misuses = 1, .retries = UINT64_MAX};
	char text[1024];
	struct text t;

	text_open(&t, text, sizeof(text));
	stats_put_text(&t, &stats);
	assert_non_null(strstr(text, "\ncalls       7 acquires, 5 releases, 2 exhausted\nmisuses     1\n"));
	assert_non_null(strstr(text, "\nretries     18446744073709551615\n"));
	assert_int_equal(text[t.wanted - 1], '\n');
}

RUN_TESTS()
