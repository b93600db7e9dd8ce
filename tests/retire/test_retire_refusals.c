/* SPDX-License-Identifier: MIT */
/* test: misuse once */
/*
 * test_retire_refusals.c - refusals of lfpool/retire.h: pointers, handles, and an invalid config.scheme.  A refusal
 * is reported, and changes nothing.
 *
 * (Foreign pointers, and pools without a scheme, in any sequence of calls: verify/pairs.)
 */
#include "../support/schemes.h"
#include "../support/told.h"

enum { SIZE = 40, CAPACITY = 20 };

static lfpool_config_t listening(void)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);

	config.hooks.misuse = hear;
	return config;
}

static void assert_counts(const lfpool_t *pool, size_t active, size_t retired)
{
	require_intact(pool);
	assert_int_equal(lfpool_quick_stats(pool).retired, retired);
	assert_int_equal(lfpool_active_count(pool), active + retired);
}

/* ---- Objects ---- */

/* The valid pointers among the invalid ones are retired, each once. */
FAKE_TEST_OF(retire_bulk_refuses_bad_pointers_and_retires_the_rest, listening())
{
	char stranger[64] = {0}, *good[4];

	told_forget();
	assert_int_equal(lfpool_acquire_bulk(pool, (void **)good, 4), 4);
	for (size_t i = 0; i < 4; i++)
		stamp_write(good[i], SIZE, i);
	/* One of them twice. */
	void *given[] = {NULL, good[0], good[1] + 8,  good[1], stranger + 32, good[0],
			 NULL, good[2], good[2] + 16, good[2], stranger + 48, NULL};

	assert_int_equal(lfpool_retire_bulk(pool, given, COUNT(given)), 3);
	assert_int_equal(told.count, 6);
	assert_counts(pool, 1, 3);
	assert_int_equal(fake.begun, 1);
	told_forget();
	/* No valid one: no batch. */
	fake_end_all(pool);
	given[0] = stranger + 32;
	assert_int_equal(lfpool_retire_bulk(pool, given, 1), 0);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.misuse.status, LFPOOL_E_FOREIGN);
	assert_int_equal(fake.begun, 1);
	assert_counts(pool, 1, 0);
	assert_true(stamp_holds(good[3], SIZE, 3));
}

/* ---- config.scheme ---- */

static void nothing(void) {}

static void expect(const lfpool_config_t *config, lfpool_status_t expected)
{
	lfpool_t *pool = (lfpool_t *)(uintptr_t)0x5a5a5a50;

	assert_int_equal(lfpool_create(&pool, config), expected);
	assert_int_equal(pool != NULL, expected == LFPOOL_OK);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* A scheme needs `begin` or `ready`; any context is valid, including NULL. */
BACKEND_TEST(incomplete_schemes_are_refused, LFPOOL_BACKEND_MALLOC)
{
	const struct {
		lfpool_scheme_t scheme;
		lfpool_status_t status;
	} cases[] = {
		{{0}, LFPOOL_OK},
		{fake_scheme(ASKED), LFPOOL_OK},
		{{.ready = fake_ready, .context = &fake}, LFPOOL_OK},
		{{.begin = fake_begin, .context = &fake}, LFPOOL_OK},
		{{.begin = fake_begin}, LFPOOL_OK},
		{{.wait = fake_wait}, LFPOOL_E_CONFIG_SCHEME},
		{{.wait = fake_wait, .context = &fake}, LFPOOL_E_CONFIG_SCHEME},
		{{.context = &fake}, LFPOOL_E_CONFIG_SCHEME},
		{{.reserved[0] = nothing}, LFPOOL_E_CONFIG_SCHEME},
		{{.begin = fake_begin, .reserved[1] = nothing}, LFPOOL_E_CONFIG_SCHEME},
		{{.ready = fake_ready, .reserved[COUNT(cases->scheme.reserved) - 1] = nothing}, LFPOOL_E_CONFIG_SCHEME},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		expect(&CONFIG_OF(SIZE, CAPACITY, .backend = backend, .scheme = cases[i].scheme), cases[i].status);
}

/* The most objects that there may ever be: less than 2^30. */
TEST(schemes_need_a_capacity_below_2_30)
{
	const size_t limit = (size_t)1 << 30;
	lfpool_config_t config = config_of(1, limit - 1);

	config.scheme = fake_scheme(KEPT);
	expect(&config, LFPOOL_OK);
	config.capacity = limit;
	expect(&config, LFPOOL_E_CONFIG_SCHEME);
	config.capacity = 10;
	config.max_capacity = limit - 1;
	expect(&config, LFPOOL_OK);
	config.max_capacity = limit;
	expect(&config, LFPOOL_E_CONFIG_SCHEME);
	config.scheme = (lfpool_scheme_t){0};
	expect(&config, LFPOOL_OK);
}

RUN_TESTS()
