/* SPDX-License-Identifier: MIT */
/* test: debug once */
/* test_debug_words.c - config.debug and LFPOOL_DEBUG: accepted and refused words, and precedence; modes that stand
 * for a flag; and the same table in the header and in docs/debugging.md. */
#include "../support/texts.h"

static lfpool_status_t create_with(const char *words, const char *environment)
{
	lfpool_t *pool = NULL;

	if (environment)
		setenv("LFPOOL_DEBUG", environment, 1);
	const lfpool_status_t status = lfpool_create(&pool, &CONFIG_OF(32, 100, .debug = words));

	unsetenv("LFPOOL_DEBUG");
	assert_int_equal(status == LFPOOL_OK, pool != NULL);
	if (pool) {
		pool_close(pool, 32);
	}
	return status;
}

/* clang-format off */
static const char *const good[] = {
	"", ",", "check", "poison", "quarantine=1", "quarantine=65536", "guard", "owner", "backtrace=1/1", "backtrace=1/1000000",
	"zero", "no-tools", "check,poison,quarantine=10,guard,owner,backtrace=1/2,zero,no-tools", "poison,poison",
	",poison,,guard,", "quarantine=5,quarantine=6", "quarantine=007"};
static const char *const bad[] = {
	"x", "Poison", "poison ", " poison", "poisons", "pois", "poison;guard", "quarantine", "quarantine=", "quarantine=0",
	"quarantine=65537", "quarantine=-1", "quarantine=1x", "quarantine=99999999999999999999", "backtrace", "backtrace=",
	"backtrace=1", "backtrace=1/", "backtrace=1/0", "backtrace=1/1000001", "backtrace=2/3", "poison,x", "zero=1", "notools"};
/* clang-format on */

TEST(valid_words_are_accepted)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(create_with(good[i], NULL), LFPOOL_OK);
		assert_int_equal(create_with(NULL, good[i]), LFPOOL_OK);
		assert_int_equal(create_with("guard", good[i]), LFPOOL_OK);
	}
}

TEST(invalid_words_are_refused)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(create_with(bad[i], NULL), LFPOOL_E_CONFIG_DEBUG);
		assert_int_equal(create_with(NULL, bad[i]), LFPOOL_E_CONFIG_DEBUG);
		assert_int_equal(create_with("poison", bad[i]), LFPOOL_E_CONFIG_DEBUG);
		assert_int_equal(create_with(bad[i], "poison"), LFPOOL_E_CONFIG_DEBUG);
	}
}

/* A user who writes backtrace=1 reads the right form. */
TEST(the_status_names_every_word)
{
	static const struct {
		const char *word;
		unsigned most;
	} rows[] = {
#define ROW(field, word, least, most, text) {word, most},
		LFPOOL_DEBUG_MAP(ROW)
#undef ROW
	};
	char text[500];

	/* Each word between ", " and the next. */
	(void)snprintf(text, sizeof(text), "%s,", lfpool_status_string(LFPOOL_E_CONFIG_DEBUG));
	require_in(text, "config.debug or LFPOOL_DEBUG");
	REQUIRE(strstr(text, "there are "));
	memcpy(strstr(text, "there are ") + 8, ", ", 2);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char part[100];

		(void)snprintf(part, sizeof(part), rows[i].most ? ", %sN (to %u)," : ", %s,", rows[i].word,
			       rows[i].most);
		require_in(text, part);
	}
}

/* The number of releases before the same object is reused, while others are free. */
static size_t delay_with(const char *words)
{
	lfpool_t *pool = POOL_OF(32, 1000, .debug = words);
	void *first = lfpool_acquire(pool), *object = first;
	size_t releases = 0;

	do {
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		releases++;
		object = lfpool_acquire(pool);
	} while (object != first);
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	lfpool_destroy(pool);
	return releases;
}

TEST(environment_overrides_config_numbers)
{
	assert_in_range(delay_with("quarantine=5"), 6, 7);
	setenv("LFPOOL_DEBUG", "quarantine=50", 1);
	assert_in_range(delay_with("quarantine=5"), 51, 52);
	assert_in_range(delay_with(NULL), 51, 52);
	unsetenv("LFPOOL_DEBUG");
	assert_int_equal(delay_with("zero"), 1);
}

/* Malloc mode ignores the other debug modes. */
TEST(malloc_mode_accepts_check_and_zero)
{
	lfpool_t *pool = POOL_OF(100, 3, .backend = LFPOOL_BACKEND_MALLOC,
				 .debug = "check,poison,quarantine=2,guard,owner,zero");

	require_said(pool, "\ndebug       check,zero\n");
	require_said(pool, "check_races");
	lfpool_destroy(pool);
}

static bool prepare(void *context, void *object, bool active)
{
	(void)context;
	(void)active;
	memset(object, 0x77, 40);
	return true;
}

/* lfpool_for_each_slot() may write to free objects, even with tools informed. */
TEST(debug_mode_prepares_free_objects)
{
	static const struct {
		lfpool_backend_t backend;
		const char *debug;
	} rows[] = {{LFPOOL_BACKEND_LOCKFREE, ""},
		    {LFPOOL_BACKEND_LOCKFREE, "poison,guard,quarantine=3"},
		    /* Its links were in the free objects. */
		    {LFPOOL_BACKEND_MUTEX, ""},
		    {LFPOOL_BACKEND_MUTEX, "owner"},
		    {LFPOOL_BACKEND_MUTEX, "poison,guard,quarantine=3"}};

	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		lfpool_t *pool = POOL_OF(40, 20, .backend = rows[i / 2].backend, .debug = rows[i / 2].debug,
					 .flags = i % 2 ? LFPOOL_PLAIN_STRIDE : 0);

		require_whole(pool, 40);
		for (int time = 0; time < 3; time++) {
			assert_int_equal(lfpool_for_each_slot(pool, prepare, NULL), 20);
			require_whole(pool, 40);
		}
		assert_int_equal(lfpool_for_each_slot(pool, prepare, NULL), 20);
		assert_int_equal(lfpool_quick_stats(pool).misuses, 0);
		lfpool_destroy(pool);
	}
}

/* Each mode is one row of docs/debugging.md, with the header's word and sentence. */
TEST(every_word_is_documented)
{
	static const struct {
		const char *word, *text;
		uint32_t most;
	} rows[] = {
#define ROW(field, word, least, most, text) {word, text, most},
		LFPOOL_DEBUG_MAP(ROW)
#undef ROW
	};
	static char page[1 << 16];
	FILE *file = fopen(LFPOOL_DEBUGGING_PAGE, "r");

	assert_non_null(file);
	page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
	fclose(file);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char row[512];

		snprintf(row, sizeof(row), "| `%s%s` | %s |", rows[i].word, rows[i].most ? "N" : "", rows[i].text);
		if (!strstr(page, row))
			fail_msg("docs/debugging.md has no row that begins\n%s", row);
	}
}

RUN_TESTS()
