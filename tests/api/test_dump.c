/* SPDX-License-Identifier: MIT */
/* test: once */
/* test_dump.c - lfpool_dump(): all of it, every prefix of it, and whether a strict reader accepts the JSON.
 * (Arbitrary names: base/unit_text.c.) */
#include "../support/texts.h"

enum { SIZE = 24, CAPACITY = 100 };

static FILE *reader;

static int start_reader(__attribute__((unused)) void **state)
{
	reader = popen(JSON_READER, "w");
	return reader ? 0 : -1;
}

/* Fails if a line was not JSON: python reports which. */
static int end_reader(__attribute__((unused)) void **state)
{
	return pclose(reader);
}

/* Both forms. */
struct dumps {
	char *text, *json;
};

static struct dumps dumps_of(const lfpool_t *pool)
{
	const struct dumps d = {whole_dump(pool_dump, pool, LFPOOL_TEXT), whole_dump(pool_dump, pool, LFPOOL_JSON)};

	read_json(reader, d.json);
	return d;
}

static void dumps_end(struct dumps *d, lfpool_t *pool)
{
	free(d->text);
	free(d->json);
	lfpool_destroy(pool);
}

TEST(dump_shows_counts_caches_and_sizes)
{
	void *objects[40];
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .name = "jobs", .cache_capacity = 16, .hooks.misuse = expected_misuse);
	lfpool_cache_t *cache = lfpool_cache_create(pool);

	assert_int_equal(lfpool_cache_acquire_bulk(cache, objects, 40), 40);
	assert_int_equal(lfpool_cache_release_bulk(cache, objects, 30), 30);
	assert_int_equal(lfpool_cache_release(cache, &cache), LFPOOL_E_FOREIGN);

	struct dumps d = dumps_of(pool);

	print_message("%s%s\n", d.text, d.json);
	require_in(d.text, "lfpool      " LFPOOL_EXPECTED_VERSION ", pool \"jobs\"\nbackend     lockfree, ");
	char apart[80];

	/* Further apart where a sanitizer guards the gaps. */
	snprintf(apart, sizeof(apart), "\nobjects     100 of 24 bytes, aligned to 16, %zu bytes apart\n",
		 stride_of(pool, objects[0]));
	require_in(d.text, apart);
	require_in(d.text, "\nflags       none\nhooks       misuse\nidentity    100 = 10 active + ");
	require_in(d.text, " shared + 60 untouched\n");
	require_in(d.text, "\nhigh water  40\ncalls       40 acquires, 30 releases, 0 exhausted\nmisuses     1\n");
	require_in(d.text, "\nresizing    100 objects at most, 0 to be removed, 0 bytes given back\n"
			   "waiting     0 now, 0 waited, 0 timed out, 0 ns in all, 0 ns at most\n");
	require_in(d.text, "\ncaches      1 in use, 1 ever, of at most 16 objects\n");
	require_in(d.text, "\nmagazines   of 8 objects, 5 of 13 used, and 3 extra\n");
	require_in(d.text, "\nmisses      5 refills, 3 drains, 2 trips, 0 steals\n");
	require_in(d.text,
		   "\nadvice      capacity 40, headroom 16, cache_capacity 16\nreason      At most 40 of 100 objects ");
	require_in(d.text, "\ndebug       none\n");
	require_in(d.json, "{\"lfpool\":\"" LFPOOL_EXPECTED_VERSION "\",\"name\":\"jobs\",\"backend\":\"lockfree\",");
	require_in(d.json, ",\"hooks\":[\"misuse\"],\"capacity\":100,\"active\":10,");
	require_in(d.json, ",\"retired\":0,\"untouched\":60,\"unaccounted\":0,");
	require_in(d.json, ",\"high_water\":40,\"acquires\":40,\"releases\":30,\"exhausted\":0,\"misuses\":1,");
	require_in(d.json, ",\"depot_trips\":2,\"steals\":0,\"retries\":0");
	require_in(d.json,
		   ",\"advice\":{\"capacity\":40,\"headroom\":16,\"cache_capacity\":16,\"reason\":\"At most 40 ");
	require_in(d.json, ",\"caches\":1,\"caches_in_use\":1,");
	require_in(d.json, ",\"cache_capacity\":16,\"magazine_objects\":8,\"magazines\":13,\"magazines_used\":5,"
			   "\"magazines_extra\":3}");
	require_every_beginning(pool_dump, pool, LFPOOL_TEXT);
	require_every_beginning(pool_dump, pool, LFPOOL_JSON);
	dumps_end(&d, pool);
}

static bool no_matter(void *context, void *object)
{
	return context || object;
}

static void done(void *context, void *object)
{
	(void)context, (void)object;
}

static bool give_up(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	return context && pool && attempt && wait_ns;
}

TEST(dump_names_flags_and_hooks_and_escapes_the_name)
{
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .name = "\"\\\n\xe2\x82",
				 .flags = LFPOOL_LOCK | LFPOOL_CHECK_RACES | LFPOOL_CREATE_ALL | LFPOOL_HUGE_PAGES |
					  LFPOOL_PLAIN_STRIDE | LFPOOL_FENCED,
				 .hooks = {.misuse = expected_misuse,
					   .create = no_matter,
					   .activate = no_matter,
					   .deactivate = no_matter,
					   .destroy = done,
					   .exhausted = give_up});
	struct dumps d = dumps_of(pool);

	require_in(d.text, "\nflags       prefault check_races create_all lock huge_pages plain_stride fenced\n");
	require_in(d.text, "\nhooks       misuse create activate deactivate destroy exhausted\n");
	require_in(d.json, ",\"flags\":[\"prefault\",\"check_races\",\"create_all\",\"lock\",\"huge_pages\",\"plain_"
			   "stride\",\"fenced\"],");
	require_in(d.json, ",\"hooks\":[\"misuse\",\"create\",\"activate\",\"deactivate\",\"destroy\",\"exhausted\"],");
	dumps_end(&d, pool);

	pool = POOL_OF(SIZE, CAPACITY, .flags = LFPOOL_ZERO, .cache_capacity = LFPOOL_CACHE_NONE);
	d = dumps_of(pool);
	require_in(d.json, ",\"flags\":[\"zero\"],\"hooks\":[],");
	require_in(d.json, ",\"headroom\":0,\"cache_capacity\":null,");
	require_in(d.text, "\nadvice      capacity 0, headroom 0, no caches\n");
	dumps_end(&d, pool);
}

TEST(dump_names_the_backend)
{
	static const struct {
		lfpool_backend_t backend;
		const char *said[3];
	} rows[] = {{LFPOOL_BACKEND_MUTEX,
		     {"\nbackend     mutex", "\nidentity    100 = 1 active + 7 cached + 0 shared + 92 untouched\n"}},
		    {LFPOOL_BACKEND_MALLOC,
		     {"\nbackend     malloc", "\nobjects     100 of 24 bytes, aligned to 16\n",
		      "\nidentity    100 = 1 active + 7 cached + 0 shared + 92 untouched\n"}}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .backend = rows[i].backend, .cache_capacity = 16);
		void *object = lfpool_acquire(pool);
		struct dumps d = dumps_of(pool);

		for (size_t k = 0; k < COUNT(rows[i].said) && rows[i].said[k]; k++)
			require_in(d.text, rows[i].said[k]);
		require_in(d.json, "\"core\":{\"membarrier\":");
		lfpool_release(pool, object);
		dumps_end(&d, pool);
	}
}

TEST(dump_refuses_an_unknown_format)
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
