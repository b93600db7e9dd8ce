/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_registry_table.c - lfpool_registry_dump(): the whole of it, word for word, and every beginning of it.
 */
#include "../support/registry_support.h"

enum { SIZE = 24 };

static void require_table(lfpool_registry_t *registry, lfpool_format_t format, const char *expected)
{
	char *text = whole_dump(registry_dump, registry, format);

	assert_string_equal(text, expected);
	free(text);
	require_every_beginning(registry_dump, registry, format);
}

TEST(the_table)
{
	lfpool_registry_t *registry = registry_of("jobs capacity=100 max_capacity=400 cache_capacity=16\n[match]\n");
	lfpool_config_t config = config_of(SIZE, 3);
	void *objects[40];

	require_table(registry, LFPOOL_TEXT,
		      "scenario default, 0 pools\n"
		      "name   size  capacity  max  active  cached  shared  untouched  owed  bytes  exhausted  misuses  full\n"
		      "total               0    0       0       0       0          0     0      0"
		      "          0        0\n");
	require_table(registry, LFPOOL_JSON,
		      "{\"scenario\":\"default\",\"pools\":[],\"total\":{\"capacity\":0,"
		      "\"max_capacity\":0,\"active\":0,\"cached\":0,\"shared\":0,\"untouched\":0,\"owed\":0,"
		      "\"bytes\":0,\"exhausted\":0,\"misuses\":0}}");
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
	require_table(registry, LFPOOL_TEXT,
		      "scenario match, 3 pools\n"
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
	require_table(registry, LFPOOL_JSON,
		      "{\"scenario\":\"match\",\"pools\":["
		      "{\"name\":\"chunks\",\"object_size\":4096,\"capacity\":1,\"max_capacity\":1,\"active\":1,"
		      "\"cached\":0,\"shared\":0,\"untouched\":0,\"owed\":0,\"bytes\":4096,\"exhausted\":1,\"misuses\":0,"
		      "\"full\":\"fail\"},"
		      "{\"name\":\"jobs\",\"object_size\":24,\"capacity\":100,\"max_capacity\":400,\"active\":10,"
		      "\"cached\":14,\"shared\":16,\"untouched\":60,\"owed\":0,\"bytes\":2400,\"exhausted\":0,\"misuses\":1,"
		      "\"full\":\"fail\"},"
		      "{\"name\":\"pictures-of-everything\",\"object_size\":4096,\"capacity\":1000000,"
		      "\"max_capacity\":1000000,\"active\":1,\"cached\":0,\"shared\":0,\"untouched\":999999,\"owed\":0,"
		      "\"bytes\":4096000000,\"exhausted\":0,\"misuses\":0,\"full\":\"fail\"}],"
		      "\"total\":{\"capacity\":1000101,\"max_capacity\":1000401,\"active\":12,\"cached\":14,\"shared\":16,"
		      "\"untouched\":1000059,\"owed\":0,\"bytes\":4096006496,\"exhausted\":1,\"misuses\":1}}");
	/* What a shrink is owed. */
	assert_int_equal(lfpool_shrink(chunks, 1), 0);
	char *text = whole_dump(registry_dump, registry, LFPOOL_JSON);

	require_in(text, "\"active\":1,\"cached\":0,\"shared\":0,\"untouched\":0,\"owed\":1,\"bytes\":4096,");
	require_in(text, "\"untouched\":1000059,\"owed\":1,\"bytes\":4096006496,");
	free(text);
	assert_int_equal(lfpool_registry_dump(registry, (lfpool_format_t)7, (char *)objects, 1), 0);
	assert_int_equal(lfpool_registry_destroy(registry), 12);
}

RUN_TESTS()
