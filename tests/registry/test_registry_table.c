/* SPDX-License-Identifier: MIT */
/* test: once */
/* test_registry_table.c - lfpool_registry_dump(): the complete text, and every prefix of it. */
#include "../support/registry_support.h"

#include <inttypes.h>

enum { SIZE = 24 };

static void require_table(lfpool_registry_t *registry, const char *expected)
{
	char *text = whole_dump(registry_dump, registry, LFPOOL_TEXT);

	assert_string_equal(text, expected);
	free(text);
	require_every_beginning(registry_dump, registry, LFPOOL_TEXT);
}

/* "bytes" and the fields of lfpool_stats_t follow; here those for the places of objects. */
static void require_numbers(const char *text, const char *before, size_t bytes, const lfpool_stats_t *s)
{
	char part[1000];

	(void)snprintf(part, sizeof(part),
		       "%s\"bytes\":%zu,\"capacity\":%zu,\"active\":%zu,\"cached\":%zu,\"shared\":%zu,\"retired\":%zu,"
		       "\"untouched\":%zu,\"unaccounted\":%" PRId64
		       ",\"evicted\":0,\"not_evicted\":0,\"caches\":%" PRIu32 ",",
		       before, bytes, s->capacity, s->active, s->cached, s->shared, s->retired, s->untouched,
		       s->unaccounted, s->caches);
	require_in(text, part);
	(void)snprintf(part, sizeof(part), "\"exhausted\":%" PRIu64 ",\"misuses\":%" PRIu64 ",", s->exhausted,
		       s->misuses);
	require_in(text, part);
}

/* In JSON each pool has its counters, and the total has the sums. */
static void require_json(lfpool_registry_t *registry, const char *scenario, lfpool_t *const *pools, size_t count)
{
	char *text = whole_dump(registry_dump, registry, LFPOOL_JSON), part[200];
	FILE *reader = popen(JSON_READER, "w");
	lfpool_stats_t sum = {0};
	size_t bytes = 0;

	assert_non_null(reader);
	read_json(reader, text);
	assert_int_equal(pclose(reader), 0);
	(void)snprintf(part, sizeof(part), "{\"scenario\":\"%s\",\"pools\":[", scenario);
	require_in(text, part);
	for (size_t i = 0; i < count; i++) {
		const size_t size = i == 1 ? SIZE : 4096;
		lfpool_stats_t s;

		assert_int_equal(lfpool_stats(pools[i], &s), LFPOOL_OK);
		(void)snprintf(part, sizeof(part), "\"full\":\"fail\",\"object_size\":%zu,", size);
		require_numbers(text, part, s.capacity * size, &s);
		bytes += s.capacity * size;
		sum.capacity += s.capacity;
		sum.active += s.active;
		sum.cached += s.cached;
		sum.shared += s.shared;
		sum.untouched += s.untouched;
		sum.caches += s.caches;
		sum.exhausted += s.exhausted;
		sum.misuses += s.misuses;
	}
	require_numbers(text, "],\"total\":{", bytes, &sum);
	free(text);
	require_every_beginning(registry_dump, registry, LFPOOL_JSON);
}

TEST(dump_has_a_row_per_pool_and_the_sums)
{
	lfpool_registry_t *registry = registry_of("jobs capacity=100 max_capacity=400 cache_capacity=16\n[match]\n");
	lfpool_config_t config = config_of(SIZE, 3);
	void *objects[40];

	require_table(
		registry,
		"scenario default, 0 pools\n"
		"name   size  capacity  max  active  cached  shared  untouched  owed  bytes  exhausted  misuses  full\n"
		"total               0    0       0       0       0          0     0      0"
		"          0        0\n");
	require_json(registry, "default", NULL, 0);
	config.hooks.misuse = expected_misuse;
	lfpool_cache_t *cache = lfpool_cache_create(made(registry, "jobs", &config));

	assert_int_equal(lfpool_cache_acquire_bulk(cache, objects, 40), 40);
	assert_int_equal(lfpool_cache_release_bulk(cache, objects, 30), 30);
	assert_int_equal(lfpool_cache_release(cache, &config), LFPOOL_E_FOREIGN);
	config.object_size = 4096;
	config.capacity = 1000000;
	config.cache_capacity = 2;
	lfpool_t *pictures = made(registry, "pictures-of-everything", &config);

	cache = lfpool_cache_create(pictures);
	objects[0] = lfpool_cache_acquire(cache);
	config.capacity = 1;
	lfpool_t *chunks = made(registry, "chunks", &config);

	assert_non_null(lfpool_acquire(chunks));
	assert_null(lfpool_acquire(chunks));
	assert_int_equal(lfpool_registry_switch(registry, NULL, "match", NULL), LFPOOL_OK);
	require_table(registry, "scenario match, 3 pools\n"
				"name                    size  capacity      max  active  cached"
				"  shared  untouched  owed       bytes  exhausted  misuses  full\n"
				"chunks                  4096         1        1       1       0"
				"       0          0     0        4096          1        0  fail\n"
				"jobs                      24       100      400      10      14"
				"      16         60     0        2400          0        1  fail\n"
				"pictures-of-everything  4096   1000000  1000000       1       0"
				"       0     999999     0  4096000000          0        0  fail\n"
				"total                          1000101  1000401      12      14"
				"      16    1000059     0  4096006496          1        1\n");
	lfpool_t *const pools[] = {chunks, lfpool_registry_find(registry, "jobs"), pictures};

	require_json(registry, "match", pools, COUNT(pools));
	/* A pending shrink. */
	assert_int_equal(lfpool_shrink(chunks, 1), 0);
	char *text = whole_dump(registry_dump, registry, LFPOOL_TEXT);

	require_in(text, "\nchunks                  4096         1        1       1       0       0          0     1 ");
	require_in(text, "  1000059     1  4096006496 ");
	free(text);
	require_json(registry, "match", pools, COUNT(pools));
	assert_int_equal(lfpool_registry_dump(registry, (lfpool_format_t)7, (char *)objects, 1), 0);
	assert_int_equal(lfpool_registry_destroy(registry), 12);
}

/* Its numbers are wider than the titles, and need 64 bits. */
TEST(dump_of_one_pool_of_large_objects)
{
	const lfpool_config_t config = CONFIG_OF(100000, 50000, .max_capacity = 50001, .growth_step = 1);
	lfpool_registry_t *registry = registry_of(NULL);

	(void)made(registry, "maps", &config);
	require_table(registry, "scenario default, 1 pool\n"
				"name     size  capacity    max  active  cached"
				"  shared  untouched  owed       bytes  exhausted  misuses  full\n"
				"maps   100000     50000  50001       0       0"
				"       0      50000     0  5000000000          0        0  grow\n"
				"total             50000  50001       0       0"
				"       0      50000     0  5000000000          0        0\n");
	char *text = whole_dump(registry_dump, registry, LFPOOL_JSON);

	require_in(text, "{\"name\":\"maps\",\"full\":\"grow\",\"object_size\":100000,\"bytes\":5000000000,");
	free(text);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

static char rows_seen[TEXT_BYTES];

/* hooks.create */
static bool see_rows(void *context, void *object)
{
	(void)object;
	(void)lfpool_registry_dump(context, LFPOOL_TEXT, rows_seen, sizeof(rows_seen));
	return true;
}

/* The row of a pool that is just being made is between two others. */
TEST(dump_has_no_row_for_a_pool_that_is_being_made)
{
	lfpool_registry_t *registry = registry_of(NULL);
	lfpool_config_t config = config_of(SIZE, 1);

	(void)made(registry, "chunks", &config);
	(void)made(registry, "pictures", &config);
	char *before = whole_dump(registry_dump, registry, LFPOOL_TEXT);

	config.flags = LFPOOL_CREATE_ALL;
	config.hooks.create = see_rows;
	config.hooks.context = registry;
	(void)made(registry, "jobs", &config);
	assert_string_equal(rows_seen, before);
	free(before);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

RUN_TESTS()
