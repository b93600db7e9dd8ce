/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_versions.c - callers compiled with an older or a newer header: each struct with a struct_size, by the same
 * rules.
 *
 * Input        An older caller's struct ends early: missing fields read as zero, whatever follows it in memory.  A
 *              newer caller's struct is longer: valid while the fields that this library lacks are zero.
 * Output       A shorter struct is filled as far as it goes, and nothing behind it is written; of a longer one the
 *              rest is zeroed.
 */
#include "../support/registry_support.h"
#include "../support/set_support.h"

enum { NEWER = 200, TOO_LARGE = 4097 };

/* ---- Input structs ---- */

static lfpool_status_t make_pool(void *config)
{
	lfpool_t *pool = (lfpool_t *)(uintptr_t)1;
	const lfpool_status_t status = lfpool_create(&pool, config);

	assert_int_equal(pool != NULL, status == LFPOOL_OK);
	if (pool) {
		assert_int_equal(lfpool_quick_stats(pool).max_capacity, 4);
		pool_close(pool, 16);
	}
	return status;
}

/* The profile sets fields that an older struct lacks. */
static lfpool_status_t make_in_registry(void *config)
{
	lfpool_registry_t *registry = registry_of("jobs max_capacity=9 debug=check cache_capacity=32\n");
	lfpool_t *pool = (lfpool_t *)(uintptr_t)1;
	const lfpool_status_t status = lfpool_registry_create_pool(registry, "jobs", config, &pool);

	assert_int_equal(pool != NULL, status == LFPOOL_OK);
	if (pool) {
		assert_int_equal(lfpool_quick_stats(pool).max_capacity, 9);
		require_said(pool, "\ndebug       check\n");
	}
	assert_int_equal(lfpool_registry_destroy(registry), 0);
	return status;
}

static lfpool_status_t make_set(void *config)
{
	lfpool_set_t *set = (lfpool_set_t *)(uintptr_t)1;
	const lfpool_status_t status = lfpool_set_create(&set, config);

	assert_int_equal(set != NULL, status == LFPOOL_OK);
	if (set)
		set_close(set);
	return status;
}

TEST(configs_of_older_and_newer_versions_are_accepted_by_size)
{
	const lfpool_config_t pool = config_of(16, 4);
	const lfpool_set_config_t set = LFPOOL_SET_CONFIG_INIT;
	const struct {
		const void *config;
		size_t least, bytes;
		lfpool_status_t (*make)(void *config);
	} rows[] = {{&pool, offsetof(lfpool_config_t, cache_capacity), sizeof(pool), make_pool},
		    {&pool, offsetof(lfpool_config_t, cache_capacity), sizeof(pool), make_in_registry},
		    {&set, offsetof(lfpool_set_config_t, largest), sizeof(set), make_set}};
	_Alignas(max_align_t) unsigned char given[TOO_LARGE];

	for (size_t i = 0; i < COUNT(rows); i++) {
		for (size_t size = 0; size <= rows[i].bytes + NEWER; size += sizeof(size_t)) {
			const size_t known = size < rows[i].bytes ? size : rows[i].bytes;

			/* The library must not read behind the stated end. */
			memset(given, 0xff, sizeof(given));
			memset(given, 0, size);
			memcpy(given, rows[i].config, known);
			memcpy(given, &size, sizeof(size));
			assert_int_equal(rows[i].make(given),
					 size < rows[i].least ? LFPOOL_E_CONFIG_STRUCT_SIZE : LFPOOL_OK);
			if (size <= rows[i].bytes)
				continue;
			given[size - 1] = 1;
			assert_int_equal(rows[i].make(given), LFPOOL_E_CONFIG_STRUCT_SIZE);
		}
		memset(given, 0, sizeof(given));
		memcpy(given, rows[i].config, rows[i].bytes);
		memcpy(given, &(size_t){TOO_LARGE}, sizeof(size_t));
		assert_int_equal(rows[i].make(given), LFPOOL_E_CONFIG_STRUCT_SIZE);
	}
}

TEST(init_macro_and_init_function_give_the_same_config)
{
	lfpool_config_t by_macro = LFPOOL_CONFIG_INIT, by_function;
	lfpool_set_config_t set_by_macro = LFPOOL_SET_CONFIG_INIT, set_by_function;

	memset(&by_function, 0xff, sizeof(by_function));
	lfpool_config_init(&by_function);
	assert_int_equal(by_macro.struct_size, sizeof(lfpool_config_t));
	assert_memory_equal(&by_macro, &by_function, sizeof(by_macro));
	memset(&set_by_function, 0xff, sizeof(set_by_function));
	lfpool_set_config_init(&set_by_function);
	assert_memory_equal(&set_by_macro, &set_by_function, sizeof(set_by_macro));
}

/* ---- Output structs ---- */

static void fill_stats(void *pool, void *out, size_t bytes)
{
	assert_int_equal(lfpool_stats_sized(pool, out, bytes), LFPOOL_OK);
}

static void fill_set_stats(void *set, void *out, size_t bytes)
{
	assert_int_equal(lfpool_set_stats_sized(set, out, bytes), LFPOOL_OK);
}

static void fill_advice(void *pool, void *out, size_t bytes)
{
	assert_int_equal(lfpool_advise_sized(pool, out, bytes), LFPOOL_OK);
}

static void fill_report(void *registry, void *out, size_t bytes)
{
	assert_int_equal(lfpool_registry_switch_sized(registry, NULL, "default", out, bytes), LFPOOL_OK);
}

TEST(a_result_of_any_version_is_written_whole_and_nothing_after_it)
{
	const lfpool_config_t config = config_of(16, 4);
	lfpool_registry_t *registry = registry_of(NULL);
	lfpool_t *pool = made(registry, "jobs", &config);
	lfpool_set_t *set = SET_WITH(.largest = 100, .pool.capacity = 3);
	const struct {
		void *of;
		size_t bytes;
		void (*fill)(void *of, void *out, size_t bytes);
	} rows[] = {{pool, sizeof(lfpool_stats_t), fill_stats},
		    {set, sizeof(lfpool_stats_t), fill_set_stats},
		    {pool, sizeof(lfpool_advice_t), fill_advice},
		    {registry, sizeof(lfpool_registry_report_t), fill_report}};
	enum { ROOM = sizeof(lfpool_registry_report_t) + sizeof(lfpool_advice_t) + NEWER };
	_Alignas(max_align_t) unsigned char whole[ROOM], out[ROOM + 1];

	for (size_t i = 0; i < COUNT(rows); i++) {
		rows[i].fill(rows[i].of, whole, rows[i].bytes);
		for (size_t size = 0; size <= rows[i].bytes + NEWER; size += 4) {
			const size_t known = size < rows[i].bytes ? size : rows[i].bytes;

			memset(out, 'x', sizeof(out));
			rows[i].fill(rows[i].of, out, size);
			assert_memory_equal(out, whole, known);
			assert_true(all_bytes_are(out + known, size - known, 0));
			assert_int_equal(out[size], 'x');
		}
	}
	assert_int_equal(lfpool_stats(pool, NULL), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_advise(pool, NULL), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_set_stats(set, NULL), LFPOOL_E_ARGUMENT);
	set_close(set);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

RUN_TESTS()
