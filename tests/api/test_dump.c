/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_dump.c - lfpool_dump(): the whole of it, every beginning of it, and whether a strict reader takes the JSON.
 *
 * Idea         The reader is Python's: another's idea of RFC 8259, not ours.  The values are looked for in the text,
 *              as people do.
 */
#include "../support/support.h"

enum { SIZE = 24, CAPACITY = 100 };

/* The caller frees it. */
static char *dump_of(const lfpool_t *pool, lfpool_format_t format)
{
	const size_t bytes = lfpool_dump(pool, format, NULL, 0);
	char *text = malloc(bytes + 1);

	REQUIRE(text && bytes > 0);
	memset(text, 'x', bytes + 1);
	REQUIRE(lfpool_dump(pool, format, text, bytes + 1) == bytes);
	REQUIRE(strlen(text) == bytes);
	return text;
}

/* Reads a line at a time; each must be one JSON value in UTF-8. */
#define READER LFPOOL_PYTHON " -c 'import json, sys; [json.loads(line.decode()) for line in sys.stdin.buffer]'"
static FILE *reader;

static int start_reader(__attribute__((unused)) void **state)
{
	reader = popen(READER, "w");
	return reader ? 0 : -1;
}

/* It ends with an error if a line was none: python says which. */
static int end_reader(__attribute__((unused)) void **state)
{
	return pclose(reader);
}

static void require_json(const char *text)
{
	REQUIRE(!strchr(text, '\n'));
	REQUIRE(fprintf(reader, "%s\n", text) > 0);
}

static void require_in(const char *text, const char *part)
{
	if (!strstr(text, part))
		fprintf(stderr, "not in it: %s\n%s\n", part, text);
	REQUIRE(strstr(text, part));
}

static void every_beginning(const lfpool_t *pool, lfpool_format_t format)
{
	char *whole = dump_of(pool, format);
	const size_t bytes = strlen(whole);
	char *part = malloc(bytes + 2);

	REQUIRE(part);
	for (size_t room = 0; room <= bytes + 1; room++) {
		memset(part, 'x', bytes + 2);
		REQUIRE(lfpool_dump(pool, format, part, room) == bytes);
		if (room) {
			REQUIRE(memcmp(part, whole, room - 1) == 0);
			REQUIRE(part[room - 1] == 0);
		}
		REQUIRE(part[room] == 'x');
	}
	free(part);
	free(whole);
}

static void on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	(void)misuse;
}

static bool no_matter(void *context, void *object)
{
	(void)context;
	(void)object;
	return true;
}

static void done(void *context, void *object)
{
	(void)context;
	(void)object;
}

static bool give_up(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	(void)context;
	(void)pool;
	(void)attempt;
	(void)wait_ns;
	return false;
}

TEST(what_a_maintainer_reads)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	void *objects[40];

	config.name = "jobs";
	config.cache_capacity = 16;
	config.hooks.misuse = on_misuse;
	lfpool_t *pool = pool_with(&config);
	lfpool_cache_t *cache = lfpool_cache_create(pool);

	assert_int_equal(lfpool_cache_acquire_bulk(cache, objects, 40), 40);
	assert_int_equal(lfpool_cache_release_bulk(cache, objects, 30), 30);
	assert_int_equal(lfpool_cache_release(cache, &config), LFPOOL_E_FOREIGN);

	char *text = dump_of(pool, LFPOOL_TEXT), *json = dump_of(pool, LFPOOL_JSON);

	print_message("%s%s\n", text, json);
	require_in(text, "lfpool      " LFPOOL_EXPECTED_VERSION ", pool \"jobs\"\nbackend     lockfree, ");
	char apart[80];

	/* Farther where a sanitizer is told what lies between them. */
	snprintf(apart, sizeof(apart), "\nobjects     100 of 24 bytes, aligned to 16, %zu bytes apart\n",
		 stride_of(pool, objects[0]));
	require_in(text, apart);
	require_in(text, "\nflags       none\nhooks       misuse\nmisuses     1\n");
	require_in(text, "\nidentity    100 = 10 active + ");
	require_in(text, " shared + 60 untouched\n");
	require_in(text, "\nhigh water  40\ncalls       40 acquires, 30 releases, 0 exhausted\n");
	require_in(text, "\ncaches      1 in use, 1 ever, of at most 16 objects\n");
	require_in(text, "\nmagazines   of 8 objects, 5 of 13 used, and 4 extra\n");
	require_in(text, "\nmisses      5 refills, 3 drains, 2 trips, 0 steals\n");
	require_in(text, "\nadvice      capacity 40, headroom 16, cache_capacity 16\nreason      At most 40 of 100 objects ");
	require_in(text, "\ndebug       none\n");
	require_in(json, "{\"lfpool\":\"" LFPOOL_EXPECTED_VERSION "\",\"name\":\"jobs\",\"backend\":\"lockfree\",");
	require_in(json, ",\"hooks\":[\"misuse\"],\"capacity\":100,\"active\":10,");
	require_in(json, ",\"untouched\":60,\"unaccounted\":0,\"acquires\":40,\"releases\":30,\"misuses\":1,");
	require_in(json, ",\"depot_trips\":2,\"high_water\":40,");
	require_in(json, ",\"advice\":{\"capacity\":40,\"headroom\":16,\"cache_capacity\":16,\"reason\":\"At most 40 ");
	require_in(json, ",\"caches\":1,\"caches_in_use\":1,");
	require_in(json, ",\"cache_capacity\":16,\"magazine_objects\":8,\"magazines\":13,\"magazines_used\":5,\"magazines_extra\":4}");
	require_json(json);
	free(text);
	free(json);
	every_beginning(pool, LFPOOL_TEXT);
	every_beginning(pool, LFPOOL_JSON);
	assert_int_equal(lfpool_destroy(pool), 10);
}

TEST(everything_that_has_a_name)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);

	config.flags = LFPOOL_LOCK | LFPOOL_CHECK_RACES | LFPOOL_CREATE_ALL | LFPOOL_HUGE_PAGES | LFPOOL_PLAIN_STRIDE;
	config.hooks.misuse = on_misuse;
	config.hooks.create = config.hooks.activate = config.hooks.deactivate = no_matter;
	config.hooks.destroy = done;
	config.hooks.exhausted = give_up;
	lfpool_t *pool = pool_with(&config);
	char *text = dump_of(pool, LFPOOL_TEXT), *json = dump_of(pool, LFPOOL_JSON);

	require_in(text, "\nflags       prefault check_races create_all lock huge_pages plain_stride\n");
	require_in(text, "\nhooks       misuse create activate deactivate destroy exhausted\n");
	require_in(json, ",\"flags\":[\"prefault\",\"check_races\",\"create_all\",\"lock\",\"huge_pages\",\"plain_stride\"],");
	require_in(json, ",\"hooks\":[\"misuse\",\"create\",\"activate\",\"deactivate\",\"destroy\",\"exhausted\"],");
	require_json(json);
	free(text);
	free(json);
	lfpool_destroy(pool);

	config = config_of(SIZE, CAPACITY);
	config.flags = LFPOOL_ZERO;
	config.cache_capacity = LFPOOL_CACHE_NONE;
	pool = pool_with(&config);
	json = dump_of(pool, LFPOOL_JSON);
	text = dump_of(pool, LFPOOL_TEXT);
	require_in(json, ",\"flags\":[\"zero\"],\"hooks\":[],");
	require_in(json, ",\"headroom\":0,\"cache_capacity\":null,");
	require_in(text, "\nadvice      capacity 0, headroom 0, no caches\n");
	require_json(json);
	free(text);
	free(json);
	lfpool_destroy(pool);
}

TEST(other_backends)
{
	static const char *const names[] = {"lockfree", "mutex", "malloc"};

	for (unsigned backend = LFPOOL_BACKEND_MUTEX; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		lfpool_config_t config = config_of(SIZE, CAPACITY);
		char head[64];

		config.backend = (lfpool_backend_t)backend;
		config.cache_capacity = 16;
		lfpool_t *pool = pool_with(&config);
		void *object = lfpool_acquire(pool);
		char *text = dump_of(pool, LFPOOL_TEXT), *json = dump_of(pool, LFPOOL_JSON);

		(void)snprintf(head, sizeof(head), "\nbackend     %s", names[backend]);
		require_in(text, head);
		if (backend == LFPOOL_BACKEND_MUTEX) {
			require_in(text, "\nidentity    100 = 1 active + 0 cached + 0 shared + 99 untouched\n");
			assert_null(strstr(text, "magazines"));
		} else {
			require_in(text, "\nobjects     100 of 24 bytes, aligned to 16\n");
			require_in(text, "\nidentity    100 = 1 active + 7 cached + 0 shared + 92 untouched\n");
		}
		require_json(json);
		lfpool_release(pool, object);
		free(text);
		free(json);
		lfpool_destroy(pool);
	}
}

/* Whatever stands in the name, the JSON is JSON. */
TEST(names_are_anything)
{
	static const char *const fixed[] = {"",         "\"",       "\\",        "a\nb", "\x1b[31m",
					    "\xc3\xa4", "\xe2\x82", "</script>", "%s%n"};
	struct random r = random_for(test_seed("names_are_anything"), 0);

	for (size_t i = 0; i < COUNT(fixed) + TIMES(1000, 100); i++) {
		lfpool_config_t config = config_of(SIZE, CAPACITY);
		char name[64] = "";

		if (i < COUNT(fixed))
			strcpy(name, fixed[i]);
		else
			for (size_t at = 0; at < sizeof(name) - 1; at++)
				name[at] = (char)(1 + random_below(&r, 255));
		config.name = name;
		lfpool_t *pool = pool_with(&config);
		char *json = dump_of(pool, LFPOOL_JSON), *text = dump_of(pool, LFPOOL_TEXT);

		require_json(json);
		/* One line for each thing that is said, also in the text. */
		assert_non_null(strstr(text, "\"\nbackend "));
		free(json);
		free(text);
		lfpool_destroy(pool);
	}
}

TEST(a_format_that_is_none)
{
	lfpool_t *pool = pool_of(SIZE, CAPACITY);
	char out[] = "xx";

	assert_int_equal(lfpool_dump(pool, (lfpool_format_t)2, out, sizeof(out)), 0);
	assert_string_equal(out, "");
	lfpool_destroy(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_maintainer_reads),
		cmocka_unit_test(everything_that_has_a_name),
		cmocka_unit_test(other_backends),
		cmocka_unit_test(names_are_anything),
		cmocka_unit_test(a_format_that_is_none),
	};

	return cmocka_run_group_tests_name("dump", tests, start_reader, end_reader);
}
