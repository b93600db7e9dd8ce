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

/* Both forms. */
struct dumps {
	char *text, *json;
};

static struct dumps dumps_of(const lfpool_t *pool)
{
	const struct dumps d = {dump_of(pool, LFPOOL_TEXT), dump_of(pool, LFPOOL_JSON)};

	require_json(d.json);
	return d;
}

static void dumps_end(struct dumps *d, lfpool_t *pool)
{
	free(d->text);
	free(d->json);
	lfpool_destroy(pool);
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
	config.hooks.misuse = expected_misuse;
	lfpool_t *pool = pool_with(&config);
	lfpool_cache_t *cache = lfpool_cache_create(pool);

	assert_int_equal(lfpool_cache_acquire_bulk(cache, objects, 40), 40);
	assert_int_equal(lfpool_cache_release_bulk(cache, objects, 30), 30);
	assert_int_equal(lfpool_cache_release(cache, &config), LFPOOL_E_FOREIGN);

	struct dumps d = dumps_of(pool);

	print_message("%s%s\n", d.text, d.json);
	require_in(d.text, "lfpool      " LFPOOL_EXPECTED_VERSION ", pool \"jobs\"\nbackend     lockfree, ");
	char apart[80];

	/* Farther where a sanitizer is told what lies between them. */
	snprintf(apart, sizeof(apart), "\nobjects     100 of 24 bytes, aligned to 16, %zu bytes apart\n",
		 stride_of(pool, objects[0]));
	require_in(d.text, apart);
	require_in(d.text, "\nflags       none\nhooks       misuse\nmisuses     1\n");
	require_in(d.text, "\nidentity    100 = 10 active + ");
	require_in(d.text, " shared + 60 untouched\n");
	require_in(d.text, "\nhigh water  40\ncalls       40 acquires, 30 releases, 0 exhausted\n");
	require_in(d.text, "\ncaches      1 in use, 1 ever, of at most 16 objects\n");
	require_in(d.text, "\nmagazines   of 8 objects, 5 of 13 used, and 4 extra\n");
	require_in(d.text, "\nmisses      5 refills, 3 drains, 2 trips, 0 steals\n");
	require_in(d.text, "\nadvice      capacity 40, headroom 16, cache_capacity 16\nreason      At most 40 of 100 objects ");
	require_in(d.text, "\ndebug       none\n");
	require_in(d.json, "{\"lfpool\":\"" LFPOOL_EXPECTED_VERSION "\",\"name\":\"jobs\",\"backend\":\"lockfree\",");
	require_in(d.json, ",\"hooks\":[\"misuse\"],\"capacity\":100,\"active\":10,");
	require_in(d.json, ",\"untouched\":60,\"unaccounted\":0,\"acquires\":40,\"releases\":30,\"misuses\":1,");
	require_in(d.json, ",\"depot_trips\":2,\"high_water\":40,");
	require_in(d.json, ",\"advice\":{\"capacity\":40,\"headroom\":16,\"cache_capacity\":16,\"reason\":\"At most 40 ");
	require_in(d.json, ",\"caches\":1,\"caches_in_use\":1,");
	require_in(d.json,
		   ",\"cache_capacity\":16,\"magazine_objects\":8,\"magazines\":13,\"magazines_used\":5,\"magazines_extra\":4}");
	every_beginning(pool, LFPOOL_TEXT);
	every_beginning(pool, LFPOOL_JSON);
	dumps_end(&d, pool);
}

TEST(everything_that_has_a_name)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);

	config.flags = LFPOOL_LOCK | LFPOOL_CHECK_RACES | LFPOOL_CREATE_ALL | LFPOOL_HUGE_PAGES | LFPOOL_PLAIN_STRIDE |
		       LFPOOL_FENCED;
	config.hooks.misuse = expected_misuse;
	config.hooks.create = config.hooks.activate = config.hooks.deactivate = no_matter;
	config.hooks.destroy = done;
	config.hooks.exhausted = give_up;
	lfpool_t *pool = pool_with(&config);
	struct dumps d = dumps_of(pool);

	require_in(d.text, "\nflags       prefault check_races create_all lock huge_pages plain_stride fenced\n");
	require_in(d.text, "\nhooks       misuse create activate deactivate destroy exhausted\n");
	require_in(
		d.json,
		",\"flags\":[\"prefault\",\"check_races\",\"create_all\",\"lock\",\"huge_pages\",\"plain_stride\",\"fenced\"],");
	require_in(d.json, ",\"hooks\":[\"misuse\",\"create\",\"activate\",\"deactivate\",\"destroy\",\"exhausted\"],");
	dumps_end(&d, pool);

	pool = POOL_OF(SIZE, CAPACITY, .flags = LFPOOL_ZERO, .cache_capacity = LFPOOL_CACHE_NONE);
	d = dumps_of(pool);
	require_in(d.json, ",\"flags\":[\"zero\"],\"hooks\":[],");
	require_in(d.json, ",\"headroom\":0,\"cache_capacity\":null,");
	require_in(d.text, "\nadvice      capacity 0, headroom 0, no caches\n");
	dumps_end(&d, pool);
}

TEST(other_backends)
{
	static const char *const names[] = {"lockfree", "mutex", "malloc"};

	for (unsigned backend = LFPOOL_BACKEND_MUTEX; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		char head[64];
		lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .backend = (lfpool_backend_t)backend, .cache_capacity = 16);
		void *object = lfpool_acquire(pool);
		struct dumps d = dumps_of(pool);

		(void)snprintf(head, sizeof(head), "\nbackend     %s", names[backend]);
		require_in(d.text, head);
		if (backend == LFPOOL_BACKEND_MUTEX) {
			require_in(d.text, "\nidentity    100 = 1 active + 0 cached + 0 shared + 99 untouched\n");
			assert_null(strstr(d.text, "magazines"));
		} else {
			require_in(d.text, "\nobjects     100 of 24 bytes, aligned to 16\n");
			require_in(d.text, "\nidentity    100 = 1 active + 7 cached + 0 shared + 92 untouched\n");
		}
		lfpool_release(pool, object);
		dumps_end(&d, pool);
	}
}

/* Whatever stands in the name, the JSON is JSON. */
TEST(names_are_anything)
{
	static const char *const fixed[] = {"", "\"", "\\", "a\nb", "\x1b[31m", "\xc3\xa4", "\xe2\x82", "</script>", "%s%n"};
	struct random r = random_for(test_seed("names_are_anything"), 0);

	for (size_t i = 0; i < COUNT(fixed) + TIMES(1000, 100); i++) {
		char name[64] = "";

		if (i < COUNT(fixed))
			strcpy(name, fixed[i]);
		else
			for (size_t at = 0; at < sizeof(name) - 1; at++)
				name[at] = (char)(1 + random_below(&r, 255));
		lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .name = name);
		struct dumps d = dumps_of(pool);

		/* One line for each thing that is said, also in the text. */
		assert_non_null(strstr(d.text, "\"\nbackend "));
		dumps_end(&d, pool);
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
	return tests_run(start_reader, end_reader);
}
