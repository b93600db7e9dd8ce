/* SPDX-License-Identifier: MIT */
/* test: debug once */
/*
 * test_debug_words.c - config.debug and LFPOOL_DEBUG: what is accepted, what is refused, what wins; the modes that
 * stand for a flag; and the one table, in the header and in docs/debugging.md.
 */
#include "../support/support.h"

static lfpool_status_t create_with(const char *words, const char *environment)
{
	lfpool_config_t config = config_of(32, 100);
	lfpool_t *pool = NULL;
	lfpool_status_t status;

	if (environment)
		setenv("LFPOOL_DEBUG", environment, 1);
	config.debug = words;
	status = lfpool_create(&pool, &config);
	unsetenv("LFPOOL_DEBUG");
	assert_int_equal(status == LFPOOL_OK, pool != NULL);
	if (pool) {
		require_whole(pool, 32);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
	return status;
}

TEST(good_words)
{
	static const char *const good[] = {
		"", ",", "check", "poison", "quarantine=1", "quarantine=65536", "guard", "owner", "backtrace=1/1",
		"backtrace=1/1000000", "zero", "no-tools",
		"check,poison,quarantine=10,guard,owner,backtrace=1/2,zero,no-tools",
		"poison,poison", ",poison,,guard,", "quarantine=5,quarantine=6", "quarantine=007"};

	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(create_with(good[i], NULL), LFPOOL_OK);
		assert_int_equal(create_with(NULL, good[i]), LFPOOL_OK);
		assert_int_equal(create_with("guard", good[i]), LFPOOL_OK);
	}
}

TEST(bad_words)
{
	static const char *const bad[] = {
		"x", "Poison", "poison ", " poison", "poisons", "pois", "poison;guard", "quarantine", "quarantine=",
		"quarantine=0", "quarantine=65537", "quarantine=-1", "quarantine=1x", "quarantine=99999999999999999999",
		"backtrace", "backtrace=", "backtrace=1", "backtrace=1/", "backtrace=1/0", "backtrace=1/1000001",
		"backtrace=2/3", "poison,x", "zero=1", "notools"};

	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(create_with(bad[i], NULL), LFPOOL_E_CONFIG_DEBUG);
		assert_int_equal(create_with(NULL, bad[i]), LFPOOL_E_CONFIG_DEBUG);
		assert_int_equal(create_with("poison", bad[i]), LFPOOL_E_CONFIG_DEBUG);
		assert_int_equal(create_with(bad[i], "poison"), LFPOOL_E_CONFIG_DEBUG);
	}
	assert_string_equal(lfpool_status_string(LFPOOL_E_CONFIG_DEBUG),
			    "config.debug or LFPOOL_DEBUG has an unknown word, or a number out of range");
}

/* An older caller's struct ends before the field: the pool is made, and the variable applies. */
TEST(older_struct)
{
	lfpool_config_t config = config_of(32, 100);
	lfpool_t *pool;

	config.debug = "nonsense";
	config.struct_size = offsetof(lfpool_config_t, debug);
	pool = pool_with(&config);
	lfpool_destroy(pool);
	setenv("LFPOOL_DEBUG", "nonsense", 1);
	assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_CONFIG_DEBUG);
	unsetenv("LFPOOL_DEBUG");
}

/* How many releases later the same object comes back, while others are free. */
static size_t delay_of(const lfpool_config_t *config)
{
	lfpool_t *pool = pool_with(config);
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

TEST(numbers_of_the_environment_win)
{
	lfpool_config_t config = config_of(32, 1000);

	config.debug = "quarantine=5";
	assert_in_range(delay_of(&config), 6, 7);
	setenv("LFPOOL_DEBUG", "quarantine=50", 1);
	assert_in_range(delay_of(&config), 51, 52);
	config.debug = NULL;
	assert_in_range(delay_of(&config), 51, 52);
	unsetenv("LFPOOL_DEBUG");
	config.debug = "zero";
	assert_int_equal(delay_of(&config), 1);
}

TEST(zero)
{
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		for (int with = 0; with < 2; with++) {
			lfpool_config_t config = config_of(100, 3);

			config.backend = (lfpool_backend_t)backend;
			config.debug = with ? "zero,poison,guard,quarantine=1" : "zero";
			lfpool_t *pool = pool_with(&config);

			for (int round = 0; round < 10; round++) {
				void *object = lfpool_acquire(pool);

				assert_true(all_bytes_are(object, 100, 0));
				memset(object, 0xff, 100);
				assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
			}
			assert_int_equal(lfpool_misuse_count(pool), 0);
			lfpool_destroy(pool);
		}
	}
}

/* Of all modes the malloc backend knows two. */
TEST(the_malloc_backend_knows_check_and_zero)
{
	lfpool_config_t config = config_of(100, 3);
	char text[2048];

	config.backend = LFPOOL_BACKEND_MALLOC;
	config.debug = "check,poison,quarantine=2,guard,owner,zero";
	lfpool_t *pool = pool_with(&config);

	(void)lfpool_dump(pool, LFPOOL_TEXT, text, sizeof(text));
	assert_non_null(strstr(text, "\ndebug       check,zero\n"));
	assert_non_null(strstr(text, "check_races"));
	lfpool_destroy(pool);
}

static bool build(void *context, void *object)
{
	(void)context;
	memset(object, 0x77, 40);
	return true;
}

/* What create built survives, whatever modes are on. */
TEST(built_objects_keep_what_they_hold)
{
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MUTEX; backend++) {
		for (uint32_t flags = 0; flags <= LFPOOL_CREATE_ALL; flags += LFPOOL_CREATE_ALL) {
			lfpool_config_t config = config_of(40, 20);

			config.backend = (lfpool_backend_t)backend;
			config.flags = flags;
			config.hooks.create = build;
			config.debug = "zero,poison,guard,quarantine=3,owner";
			lfpool_t *pool = pool_with(&config);

			for (int round = 0; round < 100; round++) {
				void *object = lfpool_acquire(pool);

				assert_true(all_bytes_are(object, 40, 0x77));
				assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
			}
			assert_int_equal(lfpool_misuse_count(pool), 0);
			lfpool_destroy(pool);
		}
	}
}

static bool prepare(void *context, void *object, bool active)
{
	(void)context;
	(void)active;
	memset(object, 0x77, 40);
	return true;
}

/* lfpool_for_each_slot() may write to free objects, told tools and all. */
TEST(free_objects_may_be_prepared)
{
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MUTEX; backend++) {
		for (int round = 0; round < 4; round++) {
			lfpool_config_t config = config_of(40, 20);

			config.backend = (lfpool_backend_t)backend;
			config.flags = round % 2 ? LFPOOL_PLAIN_STRIDE : 0;
			/* Without a mode the mutex backend has its links in free objects. */
			config.debug = round > 1 ? "poison,guard,quarantine=3" : backend ? "owner" : "";
			lfpool_t *pool = pool_with(&config);

			for (int time = 0; time < 3; time++) {
				assert_int_equal(lfpool_for_each_slot(pool, prepare, NULL), 20);
				require_whole(pool, 40);
			}
			assert_int_equal(lfpool_for_each_slot(pool, prepare, NULL), 20);
			assert_int_equal(lfpool_misuse_count(pool), 0);
			lfpool_destroy(pool);
		}
	}
}

/* Each mode is one row of docs/debugging.md, word and sentence as in the header. */
TEST(documented)
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
			fprintf(stderr, "docs/debugging.md has no row that begins\n%s\n", row);
		assert_non_null(strstr(page, row));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_words),
		cmocka_unit_test(bad_words),
		cmocka_unit_test(older_struct),
		cmocka_unit_test(numbers_of_the_environment_win),
		cmocka_unit_test(zero),
		cmocka_unit_test(the_malloc_backend_knows_check_and_zero),
		cmocka_unit_test(built_objects_keep_what_they_hold),
		cmocka_unit_test(free_objects_may_be_prepared),
		cmocka_unit_test(documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
