/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_registry.c - pools made from a profile: arguments, names, what overrides what, hooks that ask.
 */
#include "../support/registry_support.h"

enum { SIZE = 24 };

static void require_said(const lfpool_t *pool, const char *part)
{
	char text[4096];

	REQUIRE(lfpool_dump(pool, LFPOOL_TEXT, text, sizeof(text)) < sizeof(text));
	if (!strstr(text, part))
		fprintf(stderr, "not in it: %s\n%s\n", part, text);
	REQUIRE(strstr(text, part));
}

/* ---- Pools and their names ---- */

TEST(arguments)
{
	const lfpool_config_t config = config_of(SIZE, 10);
	lfpool_registry_t *registry = registry_of(NULL);
	lfpool_t *pool = (lfpool_t *)(uintptr_t)1;
	lfpool_config_t larger[2];

	assert_int_equal(lfpool_registry_create(NULL, "", NULL), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_registry_create_pool(registry, NULL, &config, &pool), LFPOOL_E_ARGUMENT);
	assert_null(pool);
	assert_int_equal(lfpool_registry_create_pool(registry, "jobs", NULL, &pool), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_registry_create_pool(registry, "jobs", &config, NULL), LFPOOL_E_ARGUMENT);
	pool = (lfpool_t *)(uintptr_t)1;
	assert_int_equal(lfpool_registry_create_pool(registry, "two jobs", &config, &pool), LFPOOL_E_CONFIG_NAME);
	assert_null(pool);
	assert_int_equal(lfpool_registry_create_pool(registry, "", &config, &pool), LFPOOL_E_CONFIG_NAME);
	larger[0] = config;
	larger[0].object_size = 0;
	assert_int_equal(lfpool_registry_create_pool(registry, "jobs", &larger[0], &pool), LFPOOL_E_CONFIG_OBJECT_SIZE);
	/* A caller that is newer than the library. */
	memset(larger, 0, sizeof(larger));
	larger[0] = config;
	larger[0].struct_size = sizeof(larger);
	assert_int_equal(lfpool_registry_create_pool(registry, "newer", &larger[0], &pool), LFPOOL_OK);
	larger[1].struct_size = 1;
	assert_int_equal(lfpool_registry_create_pool(registry, "newest", &larger[0], &pool), LFPOOL_E_CONFIG_STRUCT_SIZE);
	assert_null(pool);
	assert_int_equal(lfpool_registry_switch(registry, NULL, NULL), LFPOOL_E_ARGUMENT);
	lfpool_registry_report_t report = {0};

	assert_int_equal(lfpool_registry_switch(registry, "default", &report), LFPOOL_E_ARGUMENT);
	report.struct_size = 4097;
	assert_int_equal(lfpool_registry_switch(registry, "default", &report), LFPOOL_E_ARGUMENT);
	report.struct_size = SIZE_MAX;
	assert_int_equal(lfpool_registry_switch(registry, "default", &report), LFPOOL_E_ARGUMENT);
	assert_int_equal(report.pools, 0);
	/* What is wrong with the profile, or that nothing is, whatever else is. */
	lfpool_profile_error_t error, nothing = {0};

	memset(&error, 0x55, sizeof(error));
	assert_int_equal(lfpool_registry_create(NULL, "", &error), LFPOOL_E_ARGUMENT);
	assert_memory_equal(&error, &nothing, sizeof(error));
	memset(&error, 0x55, sizeof(error));
	assert_int_equal(lfpool_registry_load(registry, NULL, &error), LFPOOL_OK);
	assert_memory_equal(&error, &nothing, sizeof(error));
	assert_int_equal(lfpool_registry_destroy(registry), 0);
	assert_int_equal(lfpool_registry_destroy(NULL), 0);
}

/* A report of as many bytes as the caller says: fewer are cut off, more are 0. */
TEST(reports_of_other_versions)
{
	const lfpool_config_t config = config_of(SIZE, 10);
	lfpool_registry_t *registry = registry_of(NULL);
	struct {
		lfpool_registry_report_t known;
		size_t more[2];
	} report;

	(void)made(registry, "jobs", &config);
	for (size_t size = offsetof(lfpool_registry_report_t, pools); size <= sizeof(report); size += sizeof(size_t)) {
		const size_t *words = (const size_t *)&report;

		memset(&report, 0x55, sizeof(report));
		report.known.struct_size = size;
		assert_int_equal(lfpool_registry_switch(registry, "default", &report.known), LFPOOL_OK);
		assert_int_equal(report.known.struct_size, size);
		for (size_t word = 1; word < sizeof(report) / sizeof(size_t); word++) {
			const bool told = (word + 1) * sizeof(size_t) <= size;
			const bool is_pools = word * sizeof(size_t) == offsetof(lfpool_registry_report_t, pools);

			assert_true(words[word] == (!told ? SIZE_MAX / 255 * 0x55 : is_pools ? 1 : 0));
		}
	}
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

TEST(names)
{
	const lfpool_config_t config = config_of(SIZE, 10);
	lfpool_registry_t *registry = registry_of("");
	lfpool_t *pools[26], *other = pool_of(SIZE, 10), *pool;
	char name[] = "jobs-a";

	for (size_t i = 0; i < COUNT(pools); i++) {
		/* In no order; 11 and 26 have no common factor. */
		name[5] = (char)('a' + i * 11 % 26);
		assert_null(lfpool_registry_find(registry, name));
		pools[i] = made(registry, name, &config);
		assert_ptr_equal(lfpool_registry_find(registry, name), pools[i]);
	}
	for (size_t i = 0; i < COUNT(pools); i++) {
		name[5] = (char)('a' + i * 11 % 26);
		assert_ptr_equal(lfpool_registry_find(registry, name), pools[i]);
		require_said(pools[i], name);
		assert_int_equal(lfpool_registry_create_pool(registry, name, &config, &pool), LFPOOL_E_EXISTS);
		assert_null(pool);
	}
	/* Passed over. */
	assert_non_null(lfpool_acquire(other));
	assert_int_equal(lfpool_registry_destroy_pool(registry, other), 0);
	assert_int_equal(lfpool_registry_destroy_pool(registry, NULL), 0);
	assert_int_equal(lfpool_destroy(other), 1);
	/* A name is free again. */
	assert_non_null(lfpool_acquire(pools[3]));
	assert_int_equal(lfpool_registry_destroy_pool(registry, pools[3]), 1);
	name[5] = (char)('a' + 3 * 11 % 26);
	assert_null(lfpool_registry_find(registry, name));
	assert_non_null(lfpool_acquire(made(registry, name, &config)));
	assert_non_null(lfpool_acquire(pools[0]));
	assert_non_null(lfpool_acquire(pools[0]));
	assert_int_equal(lfpool_registry_destroy(registry), 3);
}

/* ---- What overrides what ---- */

static const char *const
	overrides = "jobs    capacity=100 max_capacity=1k flags=prefault,zero debug=poison,quarantine=7 cache_capacity=32\n"
		    "plain   keep=1\n"
		    "[match]\n"
		    "jobs    max_capacity=2k flags=check_races backend=mutex\n"
		    "[lobby]\n"
		    "jobs    capacity=20 debug=none depot_shards=3 cache_capacity=none growth_step=5\n"
		    "only    capacity=77\n";

TEST(a_scenario_over_the_default_over_the_config)
{
	lfpool_config_t config = config_of(SIZE, 5);
	lfpool_registry_t *registry = registry_of(overrides);

	config.debug = "owner";
	config.name = "another";
	lfpool_t *pool = made(registry, "jobs", &config), *plain = made(registry, "plain", &config);
	lfpool_t *only = made(registry, "only", &config);

	require_said(pool, "\"jobs\"\nbackend     lockfree");
	/* The debug modes need states. */
	require_said(pool, "\nflags       prefault zero check_races\n");
	require_said(pool, "\ndebug       poison,quarantine=7\n");
	require_said(pool, " of at most 32 objects\n");
	assert_int_equal(lfpool_capacity(pool), 100);
	assert_int_equal(lfpool_max_capacity(pool), 1000);
	require_said(plain, "\ndebug       owner\n");
	assert_int_equal(lfpool_capacity(plain), 5);
	assert_int_equal(lfpool_capacity(only), 5);
	assert_int_equal(lfpool_max_capacity(only), 5);
	lfpool_registry_destroy_pool(registry, pool);

	assert_int_equal(lfpool_registry_switch(registry, "match", NULL), LFPOOL_OK);
	pool = made(registry, "jobs", &config);
	require_said(pool, "\nbackend     mutex");
	require_said(pool, "\nflags       check_races\n");
	assert_int_equal(lfpool_capacity(pool), 100);
	assert_int_equal(lfpool_max_capacity(pool), 2000);
	lfpool_registry_destroy_pool(registry, pool);

	assert_int_equal(lfpool_registry_switch(registry, "lobby", NULL), LFPOOL_OK);
	assert_int_equal(lfpool_capacity(only), 77);
	pool = made(registry, "jobs", &config);
	require_said(pool, "\nflags       prefault zero\n");
	require_said(pool, "\ndebug       none\n");
	require_said(pool, "\ndepot       3 shards\n");
	assert_int_equal(lfpool_capacity(pool), 20);
	assert_int_equal(lfpool_max_capacity(pool), 1000);
	lfpool_registry_destroy_pool(registry, pool);

	assert_int_equal(lfpool_registry_switch(registry, "nowhere", NULL), LFPOOL_E_SCENARIO);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* A caller that was compiled when the config had fewer fields. */
TEST(an_older_caller)
{
	lfpool_config_t config = config_of(SIZE, 5);
	lfpool_registry_t *registry = registry_of(overrides);

	config.struct_size = offsetof(lfpool_config_t, cache_capacity);
	lfpool_t *pool = made(registry, "jobs", &config);

	require_said(pool, "\ndebug       poison,quarantine=7\n");
	assert_int_equal(lfpool_capacity(pool), 100);
	assert_int_equal(lfpool_max_capacity(pool), 1000);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* What the config has wrong matters only where the profile does not say otherwise. */
TEST(what_is_overridden_may_be_wrong)
{
	lfpool_config_t config = config_of(SIZE, 0);
	lfpool_registry_t *registry = registry_of(overrides);
	lfpool_t *pool;

	config.debug = "nonsense";
	assert_int_equal(lfpool_registry_create_pool(registry, "plain", &config, &pool), LFPOOL_E_CONFIG_CAPACITY);
	assert_int_equal(lfpool_capacity(made(registry, "jobs", &config)), 100);
	config.capacity = 1;
	assert_int_equal(lfpool_registry_create_pool(registry, "plain", &config, &pool), LFPOOL_E_CONFIG_DEBUG);
	config.debug = NULL;
	/* But the address space must do for every scenario: elsewhere the config's number would count. */
	config.capacity = ((size_t)1 << 31) + 1;
	assert_int_equal(lfpool_registry_create_pool(registry, "plain", &config, &pool), LFPOOL_E_CONFIG_CAPACITY);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* ---- Random profiles, and what they should mean ---- */

enum { POOLS = 4, SCENARIOS = 4, MODEL_KEYS = 4, NOT_SAID = 0 };
static const char *const model_keys[MODEL_KEYS] = {"capacity", "max_capacity", "depot_shards", "cache_capacity"};

/* Numbers from 1 on for each pool and key; a line must not have less max_capacity than capacity. */
static uint32_t random_value(struct random *r, size_t key)
{
	switch (key) {
	case 0: return 1 + random_below(r, 50);
	case 1: return 51 + random_below(r, 50);
	case 2: return 1 + random_below(r, 32);
	}
	return 2u << random_below(r, 4);
}

/* What is said here, else what is said everywhere, else the config. */
static void require_meant(lfpool_registry_t *registry, const char *name, const uint32_t *here, const uint32_t *everywhere)
{
	lfpool_config_t config = config_of(SIZE, 50);
	uint32_t meant[MODEL_KEYS] = {50, NOT_SAID, 7, 32};
	char part[64];

	config.depot_shards = 7;
	config.cache_capacity = 32;
	for (size_t k = 0; k < MODEL_KEYS; k++)
		meant[k] = here[k] ? here[k] : everywhere[k] ? everywhere[k] : meant[k];
	if (meant[1] == NOT_SAID)
		meant[1] = meant[0];
	lfpool_t *pool = made(registry, name, &config);

	assert_int_equal(lfpool_capacity(pool), meant[0]);
	assert_int_equal(lfpool_max_capacity(pool), meant[1]);
	(void)snprintf(part, sizeof(part), "\ndepot       %u shard", meant[2]);
	require_said(pool, part);
	(void)snprintf(part, sizeof(part), " of at most %u objects", meant[3]);
	require_said(pool, part);
	lfpool_registry_destroy_pool(registry, pool);
}

TEST(random_profiles)
{
	struct random r = {test_seed("random_profiles")};

	for (size_t round = 0; round < TIMES(300, 60); round++) {
		uint32_t said[SCENARIOS][POOLS][MODEL_KEYS] = {0};
		char text[4096], *at = text;

		for (size_t s = 0; s < SCENARIOS; s++) {
			at += s ? sprintf(at, "[s%zu]\n", s) : 0;
			for (size_t p = 0; p < POOLS; p++) {
				at += sprintf(at, "p%zu keep=1", p);
				for (size_t k = 0; k < MODEL_KEYS; k++)
					if (random_below(&r, 2)) {
						said[s][p][k] = random_value(&r, k);
						at += sprintf(at, " %s=%u", model_keys[k], said[s][p][k]);
					}
				*at++ = '\n';
			}
		}
		*at = 0;
		lfpool_registry_t *registry = registry_of(text);

		for (size_t s = 0; s < SCENARIOS; s++) {
			char name[8];

			(void)snprintf(name, sizeof(name), s ? "s%zu" : "default", s);
			assert_int_equal(lfpool_registry_switch(registry, name, NULL), LFPOOL_OK);
			for (size_t p = 0; p < POOLS; p++) {
				(void)snprintf(name, sizeof(name), "p%zu", p);
				require_meant(registry, name, said[s][p], said[0][p]);
			}
		}
		lfpool_registry_destroy(registry);
	}
}

/* ---- Hooks that ask the registry ---- */

static bool ask(void *context, void *object)
{
	(void)object;
	return lfpool_registry_find(context, "other") != NULL;
}

static void ask_too(void *context, void *object)
{
	char text[1000];

	(void)object;
	REQUIRE(lfpool_registry_dump(context, LFPOOL_TEXT, text, sizeof(text)) > 0);
}

/* In the middle of a switch, and of the making of a pool, too. */
TEST(hooks_may_ask)
{
	lfpool_config_t config = config_of(SIZE, 10);
	lfpool_registry_t *registry = registry_of("[a]\njobs capacity=4\n");
	lfpool_t *other = made(registry, "other", &config), *pool;

	config.hooks.context = registry;
	config.hooks.create = config.hooks.activate = config.hooks.deactivate = ask;
	config.hooks.destroy = ask_too;
	pool = made(registry, "jobs", &config);
	void *object = lfpool_acquire(pool);

	assert_non_null(object);
	assert_non_null(lfpool_acquire(pool));
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_int_equal(lfpool_registry_switch(registry, "a", NULL), LFPOOL_OK);
	assert_int_equal(lfpool_capacity(pool), 4);
	assert_int_equal(lfpool_registry_destroy_pool(registry, pool), 1);
	config.flags = LFPOOL_CREATE_ALL;
	pool = made(registry, "built", &config);
	assert_non_null(lfpool_acquire(pool));
	assert_int_equal(lfpool_registry_destroy_pool(registry, pool), 1);
	assert_int_equal(lfpool_registry_destroy_pool(registry, other), 0);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* ---- What cannot be destroyed now ---- */

/* While *context, the thread is inside a section that the scheme would wait for. */
static bool ready(void *context, const lfpool_batch_t *batch)
{
	(void)batch;
	return !*(bool *)context;
}

static bool wait_outside(void *context)
{
	return !*(bool *)context;
}

static void count_misuse(void *context, const lfpool_misuse_t *misuse)
{
	assert_int_equal(misuse->status, LFPOOL_E_IN_SECTION);
	++*(size_t *)context;
}

TEST(a_pool_that_is_refused_stays)
{
	bool inside = true;
	size_t told = 0;
	lfpool_config_t plain = config_of(SIZE, 10), config = plain;
	lfpool_registry_t *registry = registry_of(NULL);

	config.scheme = (lfpool_scheme_t){.context = &inside, .ready = ready, .wait = wait_outside};
	config.hooks = (lfpool_hooks_t){.context = &told, .misuse = count_misuse};
	lfpool_t *kept = made(registry, "kept", &config), *also = made(registry, "also", &config), *pool;

	assert_non_null(lfpool_acquire(made(registry, "goes", &plain)));
	assert_non_null(lfpool_acquire(made(registry, "zlast", &plain)));
	assert_int_equal(lfpool_retire(kept, lfpool_acquire(kept)), LFPOOL_OK);
	assert_int_equal(lfpool_retire(also, lfpool_acquire(also)), LFPOOL_OK);

	assert_true(lfpool_registry_destroy_pool(registry, kept) == SIZE_MAX);
	assert_int_equal(told, 1);
	assert_ptr_equal(lfpool_registry_find(registry, "kept"), kept);
	assert_int_equal(lfpool_registry_create_pool(registry, "kept", &plain, &pool), LFPOOL_E_EXISTS);
	/* Those that can be destroyed are. */
	assert_true(lfpool_registry_destroy(registry) == SIZE_MAX);
	assert_int_equal(told, 3);
	assert_null(lfpool_registry_find(registry, "goes"));
	assert_null(lfpool_registry_find(registry, "zlast"));
	assert_ptr_equal(lfpool_registry_find(registry, "kept"), kept);
	assert_ptr_equal(lfpool_registry_find(registry, "also"), also);
	assert_int_equal(lfpool_capacity(kept), 10);

	inside = false;
	assert_non_null(lfpool_acquire(kept));
	assert_int_equal(lfpool_registry_destroy_pool(registry, kept), 1);
	assert_null(lfpool_registry_find(registry, "kept"));
	assert_int_equal(lfpool_registry_destroy_pool(registry, kept), 0);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
	assert_int_equal(told, 3);
}

struct leaving {
	lfpool_registry_t *registry;
	lfpool_t *pool;
	size_t asked;
};

/* lfpool_registry_destroy_pool() drains, and calls this without a lock. */
static bool switch_meanwhile(void *context, const lfpool_batch_t *batch)
{
	struct leaving *l = context;
	lfpool_registry_report_t report = LFPOOL_REGISTRY_REPORT_INIT;

	(void)batch;
	l->asked++;
	REQUIRE(lfpool_registry_switch(l->registry, "a", &report) == LFPOOL_OK);
	REQUIRE(report.pools == 1 && report.objects_removed == 3);
	REQUIRE(lfpool_capacity(l->pool) == 10);
	return true;
}

TEST(a_switch_leaves_alone_what_is_being_destroyed)
{
	struct leaving l = {.registry = registry_of("[a]\njobs capacity=4\nother capacity=7\n")};
	lfpool_config_t config = config_of(SIZE, 10);
	lfpool_t *other = made(l.registry, "other", &config);

	config.scheme = (lfpool_scheme_t){.context = &l, .ready = switch_meanwhile};
	l.pool = made(l.registry, "jobs", &config);
	assert_int_equal(lfpool_retire(l.pool, lfpool_acquire(l.pool)), LFPOOL_OK);
	assert_int_equal(lfpool_registry_destroy_pool(l.registry, l.pool), 0);
	assert_int_equal(l.asked, 1);
	assert_int_equal(lfpool_capacity(other), 7);
	assert_int_equal(lfpool_registry_destroy(l.registry), 0);
}

/* As lfpool_create(): of configs that the profile does not touch both say the same. */
TEST(what_create_refuses_is_refused)
{
	static const struct {
		size_t capacity, max_capacity, cache_capacity, depot_shards;
		uint32_t flags;
	} rows[] = {
		{100, 50, 0, 0, 0},
		{100, 1, 0, 0, 0},
		{100, SIZE_MAX - 1, 0, 0, 0},
		{100, UINT32_MAX, 0, 0, 0},
		{UINT32_MAX, 0, 0, 0, 0},
		{100, 0, UINT32_MAX, 0, 0},
		{100, 0, 8193, 0, 0},
		{100, 0, SIZE_MAX - 1, 0, 0},
		{100, 0, 0, 33, 0},
		{100, 0, 0, SIZE_MAX - 1, 0},
		{100, 0, 0, 0, UINT32_C(1) << 31},
		{100, 100, LFPOOL_CACHE_NONE, 32, LFPOOL_ZERO},
		{100, 200, 8192, 0, 0},
	};
	lfpool_registry_t *registry = registry_of("another capacity=7\n");
	size_t accepted = 0;

	for (size_t i = 0; i < COUNT(rows); i++) {
		lfpool_config_t config = config_of(SIZE, rows[i].capacity);
		lfpool_t *pool, *other;

		config.max_capacity = rows[i].max_capacity;
		config.cache_capacity = rows[i].cache_capacity;
		config.depot_shards = rows[i].depot_shards;
		config.flags = rows[i].flags;
		const lfpool_status_t status = lfpool_create(&pool, &config);

		assert_int_equal(lfpool_registry_create_pool(registry, "jobs", &config, &other), status);
		accepted += status == LFPOOL_OK;
		if (status == LFPOOL_OK) {
			assert_int_equal(lfpool_max_capacity(other), lfpool_max_capacity(pool));
			assert_int_equal(lfpool_destroy(pool), 0);
			assert_int_equal(lfpool_registry_destroy_pool(registry, other), 0);
		}
	}
	assert_in_range(accepted, 2, COUNT(rows) - 10);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

RUN_TESTS()
