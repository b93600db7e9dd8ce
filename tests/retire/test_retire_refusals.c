/* SPDX-License-Identifier: MIT */
/* test: misuse once */
/*
 * test_retire_refusals.c - what lfpool/retire.h refuses: pointers, handles, pools without a scheme, and
 * config.scheme.  A refusal is reported, and changes nothing.
 */
#include "../support/schemes.h"
#include "../support/told.h"

enum { SIZE = 40, CAPACITY = 20 };

static lfpool_config_t listening(void)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);

	config.hooks.misuse = hear;
	told.count = 0;
	return config;
}

/* The one finding since the last one was expected. */
static void assert_told(const lfpool_t *pool, lfpool_status_t status, const void *object)
{
	assert_int_equal(told.count, 1);
	assert_ptr_equal(told.misuse.pool, pool);
	assert_int_equal(told.misuse.status, status);
	assert_ptr_equal(told.misuse.object, object);
	assert_non_null(told.misuse.detail);
	assert_int_equal(told.misuse.count, lfpool_misuse_count(pool));
	told.count = 0;
}

static void assert_counts(const lfpool_t *pool, size_t active, size_t retired)
{
	require_intact(pool);
	assert_int_equal(lfpool_retired_count(pool), retired);
	assert_int_equal(lfpool_active_count(pool), active + retired);
}

/* ---- Objects ---- */

/* By every way, whether it is with the scheme or waits for that: refused. */
FAKE_TEST_OF(what_is_retired_is_refused, listening())
{
	void *objects[3];
	lfpool_handle_t handles[3];

	assert_int_equal(lfpool_acquire_bulk(pool, objects, 3), 3);
	for (size_t i = 0; i < 3; i++) {
		stamp_write(objects[i], SIZE, i);
		handles[i] = lfpool_handle_of(pool, objects[i]);
	}
	assert_int_equal(lfpool_retire(pool, objects[0]), LFPOOL_OK);
	assert_int_equal(lfpool_retire(pool, objects[1]), LFPOOL_OK);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(lfpool_retire(pool, objects[i]), LFPOOL_E_NOT_IN_USE);
		assert_told(pool, LFPOOL_E_NOT_IN_USE, objects[i]);
		assert_int_equal(lfpool_release(pool, objects[i]), LFPOOL_E_NOT_IN_USE);
		assert_told(pool, LFPOOL_E_NOT_IN_USE, objects[i]);
		assert_int_equal(lfpool_release_bulk(pool, objects + i, 1), 0);
		assert_told(pool, LFPOOL_E_NOT_IN_USE, objects[i]);
		assert_int_equal(lfpool_release_handle(pool, handles[i]), LFPOOL_E_STALE);
		assert_int_equal(told.misuse.handle, handles[i]);
		assert_told(pool, LFPOOL_E_STALE, lfpool_backend(pool) == LFPOOL_BACKEND_MALLOC ? NULL : objects[i]);
		assert_counts(pool, 1, 2);
	}
	/* A cache of one's own, and knowing nothing but the object. */
	lfpool_cache_t *cache = lfpool_cache_create(pool);

	assert_int_equal(lfpool_cache_release(cache, objects[0]), LFPOOL_E_NOT_IN_USE);
	assert_told(pool, LFPOOL_E_NOT_IN_USE, objects[0]);
	assert_int_equal(lfpool_release_self(objects[1]), LFPOOL_E_NOT_IN_USE);
	assert_told(pool, LFPOOL_E_NOT_IN_USE, objects[1]);
	lfpool_cache_destroy(cache);
	for (size_t i = 0; i < 3; i++)
		assert_true(stamp_holds(objects[i], SIZE, i));
	/* Once free, a retire is as wrong as a release. */
	fake_end_all(pool);
	if (lfpool_backend(pool) != LFPOOL_BACKEND_MALLOC) {
		assert_int_equal(lfpool_retire(pool, objects[0]), LFPOOL_E_NOT_IN_USE);
		assert_told(pool, LFPOOL_E_NOT_IN_USE, objects[0]);
	}
	assert_counts(pool, 1, 0);
}

FAKE_TEST_OF(foreign_and_interior_pointers_are_refused, listening())
{
	const bool heap = lfpool_backend(pool) == LFPOOL_BACKEND_MALLOC;

	/* The malloc backend reads what lies before a pointer. */
	lfpool_t *other = POOL_OF(SIZE, 3, .backend = lfpool_backend(pool));
	char *object = lfpool_acquire(pool), *foreign = lfpool_acquire(other);
	char stranger[64] = {0};

	assert_int_equal(lfpool_retire(pool, foreign), LFPOOL_E_FOREIGN);
	assert_told(pool, LFPOOL_E_FOREIGN, foreign);
	assert_int_equal(lfpool_retire(pool, stranger + 32), LFPOOL_E_FOREIGN);
	assert_told(pool, LFPOOL_E_FOREIGN, stranger + 32);
	assert_int_equal(lfpool_retire(pool, object + 8), heap ? LFPOOL_E_FOREIGN : LFPOOL_E_INTERIOR);
	assert_told(pool, heap ? LFPOOL_E_FOREIGN : LFPOOL_E_INTERIOR, object + 8);
	assert_int_equal(lfpool_retire(pool, NULL), LFPOOL_OK);
	assert_int_equal(told.count, 0);
	assert_counts(pool, 1, 0);
	assert_int_equal(fake.begun, 0);
	assert_int_equal(lfpool_release(other, foreign), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(other), 0);
}

/* The good ones among the bad ones are retired, each once. */
FAKE_TEST_OF(in_bulk_what_is_bad_is_refused_and_the_rest_retired, listening())
{
	char stranger[64] = {0}, *good[4];
	void *given[12];

	assert_int_equal(lfpool_acquire_bulk(pool, (void **)good, 4), 4);
	for (size_t i = 0; i < 4; i++)
		stamp_write(good[i], SIZE, i);
	given[0] = NULL;
	given[1] = good[0];
	given[2] = good[1] + 8;
	given[3] = good[1];
	given[4] = stranger + 32;
	given[5] = good[0]; /* twice in one call */
	given[6] = NULL;
	given[7] = good[2];
	given[8] = good[2] + 16;
	given[9] = good[2];
	given[10] = stranger + 48;
	given[11] = NULL;
	assert_int_equal(lfpool_retire_bulk(pool, given, COUNT(given)), 3);
	assert_int_equal(told.count, 6);
	assert_counts(pool, 1, 3);
	assert_int_equal(fake.begun, 1);
	told.count = 0;
	/* None that is good: no batch. */
	fake_end_all(pool);
	given[0] = stranger + 32;
	assert_int_equal(lfpool_retire_bulk(pool, given, 1), 0);
	assert_told(pool, LFPOOL_E_FOREIGN, stranger + 32);
	assert_int_equal(fake.begun, 1);
	assert_counts(pool, 1, 0);
	assert_true(stamp_holds(good[3], SIZE, 3));
}

/* ---- Pools without a scheme ---- */

BACKEND_TEST(without_a_scheme_nothing_is_retired, LFPOOL_BACKEND_MALLOC)
{
	lfpool_config_t config = listening();

	config.backend = backend;
	lfpool_t *pool = pool_with(&config);
	void *objects[3] = {lfpool_acquire(pool), NULL, lfpool_acquire(pool)};

	assert_int_equal(lfpool_retire(pool, objects[0]), LFPOOL_E_NO_SCHEME);
	assert_told(pool, LFPOOL_E_NO_SCHEME, objects[0]);
	assert_int_equal(lfpool_retire(pool, NULL), LFPOOL_OK);
	assert_int_equal(told.count, 0);
	assert_int_equal(lfpool_retire_bulk(pool, objects, 3), 0);
	assert_int_equal(told.count, 2);
	assert_counts(pool, 2, 0);
	/* It is still its holder's. */
	assert_int_equal(lfpool_release(pool, objects[0]), LFPOOL_OK);
	assert_int_equal(lfpool_release(pool, objects[2]), LFPOOL_OK);
	pool_close(pool, SIZE);
}

/* ---- config.scheme ---- */

static void nothing(void) {}

static void expect(const lfpool_config_t *config, lfpool_status_t expected)
{
	lfpool_t *pool = (lfpool_t *)(uintptr_t)0x5a5a5a50;

	assert_int_equal(lfpool_create(&pool, config), expected);
	if (expected != LFPOOL_OK)
		assert_null(pool);
	else
		assert_int_equal(lfpool_destroy(pool), 0);
}

BACKEND_TEST(what_is_no_scheme_is_refused, LFPOOL_BACKEND_MALLOC)
{
	lfpool_config_t config = listening();

	config.backend = backend;
	config.scheme = fake_scheme(ASKED);
	expect(&config, LFPOOL_OK);
	for (size_t i = 0; i < COUNT(config.scheme.reserved); i++) {
		config.scheme.reserved[i] = nothing;
		expect(&config, LFPOOL_E_CONFIG_SCHEME);
		config.scheme.reserved[i] = NULL;
	}
	config.scheme = (lfpool_scheme_t){.ready = fake_ready, .context = &fake};
	expect(&config, LFPOOL_OK);
	config.scheme = (lfpool_scheme_t){.begin = fake_begin, .context = &fake};
	expect(&config, LFPOOL_OK);
	/* The context is the scheme's: NULL is as good as any. */
	config.scheme = (lfpool_scheme_t){.begin = fake_begin};
	expect(&config, LFPOOL_OK);
	config.scheme = (lfpool_scheme_t){.wait = fake_wait};
	expect(&config, LFPOOL_E_CONFIG_SCHEME);
	config.scheme = (lfpool_scheme_t){.wait = fake_wait, .context = &fake};
	expect(&config, LFPOOL_E_CONFIG_SCHEME);
	config.scheme = (lfpool_scheme_t){.context = &fake};
	expect(&config, LFPOOL_E_CONFIG_SCHEME);
	config.scheme = (lfpool_scheme_t){.reserved[2] = nothing};
	expect(&config, LFPOOL_E_CONFIG_SCHEME);
	config.scheme = (lfpool_scheme_t){0};
	expect(&config, LFPOOL_OK);
}

/* Objects that there may ever be: less than 2^30. */
TEST(large_pools_have_no_scheme)
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

TEST(pools_in_a_buffer_have_no_scheme)
{
	static _Alignas(LFPOOL_BUFFER_ALIGNMENT) unsigned char buffer[LFPOOL_BUFFER_BYTES(SIZE, 0, CAPACITY)];
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	lfpool_t *pool = NULL;

	assert_int_equal(lfpool_create_in(&pool, &config, buffer, sizeof(buffer)), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(pool), 0);
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		config.scheme = fake_scheme(how);
		assert_int_equal(lfpool_create_in(&pool, &config, buffer, sizeof(buffer)), LFPOOL_E_CONFIG_SCHEME);
		assert_null(pool);
	}
	assert_int_equal(lfpool_buffer_bytes(&config), 0);
}

RUN_TESTS()
