/* SPDX-License-Identifier: MIT */
/* test: once */
/* test_registry_profile.c - the text of a profile: errors with the exact place and words; and no text whatever does
 * more than fail. */
#include "../support/registry_support.h"

#define NAMES ": a name has 1 to 63 of a-z, A-Z, 0-9 and ._-:/"
#define LETTERS_63 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

static const struct {
	const char *profile;
	size_t line, column;
	const char *text;
} wrong[] = {
	/* Scenarios. */
	{"[match", 1, 7, "missing ] after the name of a scenario"},
	{"\n\n[match # ]\n", 3, 8, "missing ] after the name of a scenario"},
	{"[]", 1, 2, "invalid name \"\"" NAMES},
	{"[ match ]", 1, 2, "invalid name \" match \"" NAMES},
	{"[a" LETTERS_63 "]", 1, 2, "invalid name \"aabcdefghijklmnopqrstuvwxyzABCDE\"" NAMES},
	{"[default]", 1, 2, "the lines before the first scenario are \"default\""},
	{"[a]\n[b]\n\n\t[a]", 4, 3, "scenario \"a\" is already in line 1"},
	{"[a] b capacity=1", 1, 5, "unexpected text after ]"},
	/* Pools. */
	{"capacity=10", 1, 1, "invalid name \"capacity=10\"" NAMES},
	{"j\xc3\xb6"
	 "bs capacity=10",
	 1, 1, "invalid name \"j??bs\"" NAMES},
	{"a" LETTERS_63 " capacity=1", 1, 1, "invalid name \"aabcdefghijklmnopqrstuvwxyzABCDE\"" NAMES},
	{"jobs", 1, 5, "pool \"jobs\" has no key=value"},
	{"jobs capacity=1\npackets capacity=1\n jobs keep=1", 3, 2, "pool \"jobs\" is already in line 1"},
	{"jobs capacity=1\n[a]\njobs capacity=2\njobs capacity=3", 4, 1, "pool \"jobs\" is already in line 3"},
	/* Keys. */
	{"jobs capcity=10", 1, 6, "unknown key \"capcity\""},
	{"jobs Capacity=10", 1, 6, "unknown key \"Capacity\""},
	{"jobs =10", 1, 6, "unknown key \"\""},
	{"jobs capacity", 1, 14, "capacity needs a value: capacity=..."},
	{"jobs capacity =10", 1, 14, "capacity needs a value: capacity=..."},
	{"jobs keep=1 keep=1", 1, 13, "keep is given twice"},
	/* Numbers. */
	{"jobs max_capacity=3G", 1, 19, "max_capacity must be a number from 0 to 2147483647, not \"3G\""},
	{"jobs growth_step=a", 1, 18, "growth_step must be a number from 0 to 2147483647, not \"a\""},
	{"jobs depot_shards=33", 1, 19, "depot_shards must be a number from 0 to 32, not \"33\""},
	{"jobs cache_capacity=8193", 1, 21, "cache_capacity must be a number from 0 to 8192 or none, not \"8193\""},
	{"jobs cache_capacity=non", 1, 21, "cache_capacity must be a number from 0 to 8192 or none, not \"non\""},
	{"jobs capacity=100 max_capacity=99", 1, 1, "max_capacity 99 is less than capacity 100"},
	{"jobs capacity=100 max_capacity=1k\n[a]\njobs capacity=1001", 3, 1,
	 "max_capacity 1000 is less than capacity 1001"},
	{"jobs capacity=100\n[a]\n jobs max_capacity=10", 3, 2, "max_capacity 10 is less than capacity 100"},
	/* Bytes. */
	{"jobs bytes=100 max_bytes=99", 1, 1, "max_bytes 99 is less than bytes 100"},
	{"jobs capacity=7 max_capacity=8\n[a]\n jobs bytes=1Ki max_bytes=1k", 3, 2,
	 "max_bytes 1000 is less than bytes 1024"},
	{"jobs bytes=1 bytes=1", 1, 14, "bytes is given twice"},
	{"jobs bytes=1 capacity=1", 1, 14, "capacity is given as bytes already"},
	{"jobs growth_step=1 growth_bytes=1", 1, 20, "growth_bytes is given as growth_step already"},
	{"jobs max_bytes", 1, 15, "max_bytes needs a value: max_bytes=..."},
	{"jobs growth_bytes=1m", 1, 19, "growth_bytes must be a number from 0 to 2305843008139952128, not \"1m\""},
	{"jobs bytes=2147483649Gi", 1, 12,
	 "bytes must be a number from 0 to 2305843008139952128, not \"2147483649Gi\""},
	/* Words. */
	{"jobs flags=", 1, 12, "unknown value \"\" of flags"},
	{"jobs flags=zero,", 1, 17, "unknown value \"\" of flags"},
	{"jobs flags=zero,,prefault", 1, 17, "unknown value \"\" of flags"},
	{"jobs flags=zero,none", 1, 17, "unknown value \"none\" of flags"},
	{"jobs flags=none,zero", 1, 12, "unknown value \"none\" of flags"},
	{"jobs debug=none,poison", 1, 12, "unknown value \"none\" of debug"},
	{"jobs debug=", 1, 12, "unknown value \"\" of debug"},
	{"jobs debug=poison,", 1, 19, "unknown value \"\" of debug"},
	{"jobs debug=poison,owners", 1, 19, "unknown value \"owners\" of debug"},
	{"jobs debug=quarantine=0", 1, 12, "unknown value \"quarantine=0\" of debug"},
	{"jobs debug=quarantine=" LETTERS_63, 1, 12, "unknown value \"quarantine=abcdefghijklmnopqrstu\" of debug"},
	{"jobs backend=Mutex", 1, 14, "unknown value \"Mutex\" of backend"},
	{"jobs full=often", 1, 11, "unknown value \"often\" of full"},
	{"jobs full=", 1, 11, "unknown value \"\" of full"},
	{"jobs full=wait", 1, 11, "unknown value \"wait\" of full"},
	{"jobs trim=1", 1, 11, "unknown value \"1\" of trim"},
	/* The first of several. */
	{"jobs capacity=1\n# [\nx y=1 z\n[", 3, 3, "unknown key \"y\""},
	{"a keep=1\r\nb keep=1 x", 2, 10, "unknown key \"x\""},
	{"\033 capacity=1", 1, 1, "invalid name \"?\"" NAMES},
};

static void require_error(const char *profile, size_t line, size_t column, const char *text)
{
	lfpool_registry_t *registry = (lfpool_registry_t *)(uintptr_t)1;
	lfpool_profile_error_t error;

	char expected[300];

	memset(&error, 'x', sizeof(error));
	assert_int_equal(lfpool_registry_create(&registry, profile, &error), LFPOOL_E_PROFILE);
	assert_null(registry);
	(void)snprintf(expected, sizeof(expected), "line %zu, column %zu: %s", line, column, text);
	assert_string_equal(error.text, expected);
	assert_int_equal(error.line, line);
	assert_int_equal(error.column, column);
	assert_int_equal(lfpool_registry_create(&registry, profile, NULL), LFPOOL_E_PROFILE);
}

TEST(each_profile_error_names_its_place)
{
	for (size_t i = 0; i < COUNT(wrong); i++)
		require_error(wrong[i].profile, wrong[i].line, wrong[i].column, wrong[i].text);
}

TEST(invalid_numbers_are_refused)
{
	static const char *const values[] = {"", "k", "1K", "1kk", "-1", "+1", "1.5k", "0x10", "2147483649", "2148M",
					     "3G", "3Gi", "1ki", "1KiB", "none", "Ki",
					     /* Too large for 64 bits in their digits, or with their unit. */
					     "18446744073709551617", "18446744073709551616k", "18446744073709552k"};

	for (size_t i = 0; i < COUNT(values); i++) {
		char profile[64], text[100];

		snprintf(profile, sizeof(profile), "jobs capacity=%s keep=1", values[i]);
		snprintf(text, sizeof(text), "capacity must be a number from 0 to 2147483647, not \"%s\"", values[i]);
		require_error(profile, 1, 15, text);
	}
}

static const char *const right[] = {
	"",
	"\n",
	"# nothing",
	"   \t \r\n  # nothing\n",
	"jobs capacity=10",
	"  jobs\tcapacity=10#",
	"jobs capacity=10\r\n[a]\r\njobs capacity=11\r\n",
	"[a]\n[b] # empty\n[c]",
	"jobs capacity=1\n[a]\njobs capacity=2\n[b]\njobs capacity=3\npackets capacity=4",
	"jobs keep=0 trim=no capacity=2147483647 max_capacity=0 growth_step=0 cache_capacity=0 depot_shards=0 "
	"flags=none debug=none backend=lockfree",
	"jobs keep=1k trim=yes capacity=2147M max_capacity=2147483k growth_step=1M cache_capacity=none depot_shards=32 "
	"flags=prefault,zero,check_races,create_all,lock,huge_pages,plain_stride,fenced "
	"debug=poison,owner,quarantine=1000,backtrace=1/7 "
	"backend=mutex",
	"jobs full=fail\npackets full=grow\nvoices full=evict",
	LETTERS_63 " capacity=000000000000000000000001",
	"jobs bytes=2147483647Gi max_bytes=0 growth_bytes=64Ki keep=1Ki\npackets capacity=2G max_capacity=2047Mi\n",
	/* In different units: they are compared when the pool is made. */
	"jobs capacity=100 max_bytes=1\n[a]\njobs bytes=1\n[b]\njobs max_capacity=100\n",
	"[" LETTERS_63 "]",
	"capacity capacity=1\n._-:/ capacity=1",
	/* The scenarios override the maximum, so a larger capacity is valid. */
	"jobs capacity=100 max_capacity=200\n[a]\njobs capacity=300 max_capacity=300\n[b]\n"
	"jobs capacity=300 max_capacity=0",
};

TEST(valid_profiles_are_accepted)
{
	for (size_t i = 0; i < COUNT(right); i++) {
		lfpool_profile_error_t error;
		lfpool_registry_t *registry;

		memset(&error, 'x', sizeof(error));
		lfpool_status_t status = lfpool_registry_create(&registry, right[i], &error);

		assert_int_equal(status, LFPOOL_OK);
		assert_int_equal(error.line, 0);
		assert_int_equal(error.column, 0);
		assert_string_equal(error.text, "");
		assert_int_equal(lfpool_registry_destroy(registry), 0);
	}
}

/* The list in the header has a word for each flag that a pool can have, and the parser knows each word. */
TEST(the_header_lists_every_flag)
{
	static char header[1 << 16];
	char file[1000], line[300];
	size_t flags = 0, words = 1;

	header_path(file, "registry.h");
	FILE *opened = fopen(file, "r");

	assert_non_null(opened);
	header[fread(header, 1, sizeof(header) - 1, opened)] = 0;
	(void)fclose(opened);
	const char *list = strstr(header, " flags=prefault,");

	assert_non_null(list);
	(void)snprintf(line, sizeof(line), "jobs%.*s", (int)strcspn(list + 1, " ") + 1, list);
	assert_int_equal(lfpool_registry_destroy(registry_of(line)), 0);
	for (const char *comma = line; (comma = strchr(comma, ',')); comma++)
		words++;
	for (uint32_t flag = 1; flag; flag <<= 1) {
		lfpool_t *pool;

		flags += lfpool_create(&pool, &CONFIG_OF(16, 4, .flags = flag)) != LFPOOL_E_CONFIG_FLAGS;
		lfpool_destroy(pool);
	}
	assert_int_equal(words, flags);
}

/* Many lines in a scattered order: all are found. */
TEST(every_line_of_a_long_profile_counts)
{
	enum { POOLS = 300, LINE = 40 };
	char *text = malloc(4 * POOLS * LINE), *at = text;
	const lfpool_config_t config = config_of(16, 1);

	REQUIRE(text);
	for (size_t s = 0; s < 4; s++) {
		at += s ? sprintf(at, "[s%zu]\n", s) : 0;
		/* 7 and 300 have no common factor: each pool once. */
		for (size_t i = 0; i < POOLS; i++)
			at += sprintf(at, "pool-%zu capacity=%zu\n", i * 7 % POOLS, 1 + i * 7 % POOLS + 1000 * s);
	}
	lfpool_registry_t *registry = registry_of(text);

	for (size_t s = 0; s < 4; s++) {
		char name[LINE];

		(void)sprintf(name, s ? "s%zu" : "default", s);
		assert_int_equal(lfpool_registry_switch(registry, NULL, name, NULL), LFPOOL_OK);
		for (size_t i = 0; i < POOLS; i++) {
			(void)sprintf(name, "pool-%zu", i);
			lfpool_t *pool = made(registry, name, &config);

			assert_int_equal(lfpool_capacity(pool), 1 + i + 1000 * s);
			assert_int_equal(lfpool_registry_destroy_pool(registry, pool), 0);
		}
	}
	lfpool_registry_destroy(registry);
	free(text);
}

/* ---- Any text ---- */

/* Two of the texts above, joined; in most results some bytes are changed.  The caller frees it. */
static char *random_text(struct random *r)
{
	const char *texts[2];
	char *text;

	for (size_t i = 0; i < 2; i++)
		texts[i] = random_below(r, 2) ? right[random_below(r, COUNT(right))]
					      : wrong[random_below(r, COUNT(wrong))].profile;
	const size_t bytes = strlen(texts[0]) + strlen(texts[1]) + 1;

	REQUIRE(text = malloc(bytes + 1));
	(void)sprintf(text, "%s\n%s", texts[0], texts[1]);
	for (uint32_t count = random_below(r, 5); count; count--)
		text[random_below(r, (uint32_t)bytes)] = (char)(1 + random_below(r, 255));
	return text;
}

/* The error's place is a byte of the text, or just behind a line, and is printable. */
static void require_at_place(const char *text, const lfpool_profile_error_t *error)
{
	const size_t length = strnlen(error->text, sizeof(error->text));

	REQUIRE(length > 0 && length < sizeof(error->text));
	for (size_t i = 0; i < length; i++)
		REQUIRE(error->text[i] >= ' ' && error->text[i] <= '~');
	REQUIRE(error->line >= 1 && error->column >= 1);
	for (size_t line = 1; line < error->line; line++) {
		text = strchr(text, '\n');
		REQUIRE(text++);
	}
	REQUIRE(error->column <= strcspn(text, "\n") + 1);
}

TEST(random_texts_are_accepted_or_refused_with_a_place)
{
	struct random r = {test_seed("random_texts_are_accepted_or_refused_with_a_place")};
	size_t taken = 0;
	for (size_t round = 0; round < TIMES(100000, 10000); round++) {
		char *text = random_text(&r);
		lfpool_profile_error_t error;

		lfpool_registry_t *another;

		if (lfpool_registry_create(&another, text, &error) == LFPOOL_OK) {
			taken++;
			REQUIRE(!error.line && !error.column && !*error.text);
			REQUIRE(lfpool_registry_destroy(another) == 0);
		} else {
			require_at_place(text, &error);
		}
		free(text);
	}
	print_message("%zu texts were profiles\n", taken);
	assert_true(taken > 0);
}

/* An invalid profile changes nothing. */
TEST(invalid_profile_changes_nothing)
{
	const lfpool_config_t config = config_of(16, 4);
	lfpool_registry_t *registry = registry_of("jobs capacity=10\n[a]\njobs capacity=20");
	lfpool_registry_report_t report;

	assert_int_equal(lfpool_registry_switch(registry, NULL, "a", NULL), LFPOOL_OK);
	lfpool_t *pool = made(registry, "jobs", &config);
	char *before = whole_dump(registry_dump, registry, LFPOOL_JSON);

	assert_int_equal(lfpool_registry_switch(registry, "jobs capacity=30\n[b]\njobs capacity=40\n[a", "b", &report),
			 LFPOOL_E_PROFILE);
	assert_int_equal(report.error.line, 4);
	assert_string_equal(report.error.text, "line 4, column 3: missing ] after the name of a scenario");
	assert_int_equal(report.pools, 0);
	/* Valid, but without that scenario. */
	assert_int_equal(lfpool_registry_switch(registry, "jobs capacity=30", "b", &report), LFPOOL_E_SCENARIO);
	assert_string_equal(report.error.text, "");
	char *after = whole_dump(registry_dump, registry, LFPOOL_JSON);

	assert_string_equal(before, after);
	free(before);
	free(after);
	assert_int_equal(lfpool_registry_switch(registry, NULL, "b", NULL), LFPOOL_E_SCENARIO);
	assert_int_equal(lfpool_registry_destroy_pool(registry, pool), 0);
	assert_int_equal(lfpool_capacity(made(registry, "jobs", &config)), 20);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

RUN_TESTS()
