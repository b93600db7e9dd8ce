/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_config.c - lfpool_create()'s arguments as a whole: what is NULL, what a failure leaves behind, who owns the
 * config, how old and new callers meet; and the words that go with it: status texts, version.  The fields one by one
 * are in test_config_fields.c.
 */
#include "../support/support.h"
#include "../support/told.h"

static lfpool_t *const junk = (lfpool_t *)(uintptr_t)0x5a5a5a50;

TEST(null_arguments_are_refused)
{
	lfpool_config_t config = config_of(16, 4);
	lfpool_t *pool = junk;

	assert_int_equal(lfpool_create(NULL, &config), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_create(NULL, NULL), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_create(&pool, NULL), LFPOOL_E_ARGUMENT);
	assert_null(pool);
}

/* 2^31 objects of 1 MiB are 2^51 bytes: more than any x86-64 or arm64 address space of 48 bits. */
TEST(a_failure_leaves_nothing_behind)
{
	lfpool_config_t config = config_of(MIB, (size_t)1 << 31);
	lfpool_t *pool = junk;

	assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_NO_MEMORY);
	assert_null(pool);
	size_t before = mapped_bytes();
	for (int i = 0; i < 1000; i++)
		assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_NO_MEMORY);
	assert_in_range(growth(before, mapped_bytes()), 0, TIMES(MIB, 64 * MIB));
	lfpool_destroy(pool_of(16, 4));
}

TEST(the_config_is_read_only)
{
	lfpool_config_t config = config_of(16, 4), copy;

	memcpy(&copy, &config, sizeof(copy));
	lfpool_t *pool = pool_with(&config);
	assert_memory_equal(&config, &copy, sizeof(copy));
	lfpool_destroy(pool);
	config.object_size = copy.object_size = 0;
	assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_CONFIG_OBJECT_SIZE);
	assert_memory_equal(&config, &copy, sizeof(copy));
}

TEST(the_config_is_not_kept)
{
	char name[] = "before";
	lfpool_config_t config = CONFIG_OF(24, 7, .name = name, .hooks.misuse = hear);
	lfpool_t *pool = pool_with(&config);
	memset(&config, 0xff, sizeof(config));
	memcpy(name, "after!", sizeof(name));
	assert_int_equal(lfpool_capacity(pool), 7);
	require_whole(pool, 24);
	assert_int_equal(lfpool_release(pool, &config), LFPOOL_E_FOREIGN);
	assert_string_equal(told.pool_name, "before");
	lfpool_destroy(pool);
}

/* An older caller's struct ends early: what it lacks reads as zero, whatever lies behind it in memory. */
TEST(an_older_config_lacks_fields)
{
	static const size_t ends[] = {offsetof(lfpool_config_t, cache_capacity), offsetof(lfpool_config_t, flags),
				      offsetof(lfpool_config_t, backend),        offsetof(lfpool_config_t, hooks),
				      offsetof(lfpool_config_t, max_capacity),   offsetof(lfpool_config_t, growth_step)};

	for (size_t i = 0; i < COUNT(ends); i++) {
		lfpool_config_t config;
		lfpool_t *pool = junk;

		memset(&config, 0xff, sizeof(config));
		lfpool_config_t head = config_of(16, 4);
		memcpy(&config, &head, ends[i]);
		config.struct_size = ends[i];
		if (ends[i] > offsetof(lfpool_config_t, flags))
			config.flags = 0;
		assert_int_equal(lfpool_create(&pool, &config), LFPOOL_OK);
		assert_int_equal(lfpool_max_capacity(pool), 4);
		require_whole(pool, 16);
		lfpool_destroy(pool);
	}
}

TEST(a_struct_size_of_no_version_is_refused)
{
	static const size_t sizes[] = {0, 1, sizeof(size_t), offsetof(lfpool_config_t, object_size),
				       offsetof(lfpool_config_t, capacity)};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		lfpool_config_t config = config_of(16, 4);
		lfpool_t *pool = junk;

		config.struct_size = sizes[i];
		assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_CONFIG_STRUCT_SIZE);
		assert_null(pool);
	}
}

/* A newer caller's struct is longer: fine while the fields this library lacks are zero. */
TEST(a_newer_config_is_accepted_only_when_its_news_are_zero)
{
	static const size_t more[] = {1, sizeof(size_t), 64, 200};
	struct {
		lfpool_config_t config;
		unsigned char news[200];
	} newer;

	for (size_t i = 0; i < COUNT(more); i++) {
		lfpool_t *pool = junk;

		memset(&newer, 0, sizeof(newer));
		newer.config = config_of(16, 4);
		newer.config.struct_size += more[i];
		assert_int_equal(lfpool_create(&pool, &newer.config), LFPOOL_OK);
		lfpool_destroy(pool);
		newer.news[more[i] - 1] = 1;
		assert_int_equal(lfpool_create(&pool, &newer.config), LFPOOL_E_CONFIG_STRUCT_SIZE);
		assert_null(pool);
		/* What lies behind the end that was stated is not the library's to read. */
		if (more[i] > 1) {
			newer.config.struct_size--;
			assert_int_equal(lfpool_create(&pool, &newer.config), LFPOOL_OK);
			lfpool_destroy(pool);
		}
	}
}

TEST(both_ways_to_start_a_config_are_the_same)
{
	lfpool_config_t by_macro, by_function;

	memset(&by_macro, 0, sizeof(by_macro));
	by_macro = (lfpool_config_t)LFPOOL_CONFIG_INIT;
	memset(&by_function, 0xff, sizeof(by_function));
	lfpool_config_init(&by_function);
	assert_int_equal(by_macro.struct_size, sizeof(lfpool_config_t));
	assert_memory_equal(&by_macro, &by_function, sizeof(by_macro));
}

TEST(every_status_has_its_text)
{
	static const struct {
		lfpool_status_t status;
		int value;
		const char *text;
	} known[] = {
#define KNOWN(name, value, text) {name, value, text},
		LFPOOL_STATUS_MAP(KNOWN)
#undef KNOWN
	};

	for (size_t i = 0; i < COUNT(known); i++) {
		assert_int_equal(known[i].status, known[i].value);
		assert_string_equal(lfpool_status_string(known[i].status), known[i].text);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(known[i].text, known[j].text);
	}
	assert_string_equal(lfpool_status_string((lfpool_status_t)-9), "unknown status");
	assert_string_equal(lfpool_status_string((lfpool_status_t)-1000), "unknown status");
	assert_string_equal(lfpool_status_string((lfpool_status_t)1), "unknown status");
}

TEST(the_header_and_the_build_agree_on_the_version)
{
	char version[32];

	snprintf(version, sizeof(version), "%d.%d.%d", LFPOOL_VERSION_MAJOR, LFPOOL_VERSION_MINOR, LFPOOL_VERSION_PATCH);
	assert_string_equal(version, LFPOOL_EXPECTED_VERSION);
}

RUN_TESTS()
