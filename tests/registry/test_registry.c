/* SPDX-License-Identifier: MIT */
/* test: once */
/* test_registry.c - pools made from a profile: arguments, names, precedence, hooks that ask. */
#include "../support/registry_support.h"
#include "../support/told.h"

enum { SIZE = 24 };

/* ---- Pools and their names ---- */

/* Older and newer callers' configs: api/test_versions.c. */
TEST(bad_arguments_are_refused)
{
	const lfpool_config_t good = config_of(SIZE, 10), bad = config_of(0, 10);
	const struct {
		const char *name;
		const lfpool_config_t *config;
		lfpool_status_t expected;
	} rows[] = {{NULL, &good, LFPOOL_E_ARGUMENT},
		    {"jobs", NULL, LFPOOL_E_ARGUMENT},
		    {"two jobs", &good, LFPOOL_E_CONFIG_NAME},
		    {"", &good, LFPOOL_E_CONFIG_NAME},
		    {"jobs", &bad, LFPOOL_E_CONFIG_OBJECT_SIZE}};
	lfpool_registry_t *registry = registry_of(NULL);

	for (size_t i = 0; i < COUNT(rows); i++) {
		lfpool_t *pool = (lfpool_t *)(uintptr_t)1;

		assert_int_equal(lfpool_registry_create_pool(registry, rows[i].name, rows[i].config, &pool),
				 rows[i].expected);
		assert_null(pool);
	}
	assert_int_equal(lfpool_registry_create_pool(registry, "jobs", &good, NULL), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_registry_switch(registry, NULL, NULL, NULL), LFPOOL_E_ARGUMENT);
	/* The error of the profile, or none, whatever else is wrong. */
	lfpool_profile_error_t error, nothing = {0};

	assert_int_equal(lfpool_registry_create(NULL, "", NULL), LFPOOL_E_ARGUMENT);
	memset(&error, 0x55, sizeof(error));
	assert_int_equal(lfpool_registry_create(NULL, "", &error), LFPOOL_E_ARGUMENT);
	assert_memory_equal(&error, &nothing, sizeof(error));
	memset(&error, 0x55, sizeof(error));
	lfpool_registry_t *another;

	assert_int_equal(lfpool_registry_create(&another, NULL, &error), LFPOOL_OK);
	assert_memory_equal(&error, &nothing, sizeof(error));
	assert_int_equal(lfpool_registry_destroy(another), 0);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
	assert_int_equal(lfpool_registry_destroy(NULL), 0);
}

TEST(pool_names_are_unique_and_free_again)
{
	const lfpool_config_t config = config_of(SIZE, 10);
	lfpool_registry_t *registry = registry_of("");
	lfpool_t *pools[26], *other = pool_of(SIZE, 10), *pool;
	char name[] = "jobs-a";

	for (size_t i = 0; i < COUNT(pools); i++) {
		/* In a scattered order; 11 and 26 have no common factor. */
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
	/* Ignored. */
	assert_non_null(lfpool_acquire(other));
	assert_int_equal(lfpool_registry_destroy_pool(registry, other), 0);
	assert_int_equal(lfpool_registry_destroy_pool(registry, NULL), 0);
	assert_int_equal(lfpool_destroy(other), 1);
	/* The name is free again. */
	assert_non_null(lfpool_acquire(pools[3]));
	assert_int_equal(lfpool_registry_destroy_pool(registry, pools[3]), 1);
	name[5] = (char)('a' + 3 * 11 % 26);
	assert_null(lfpool_registry_find(registry, name));
	assert_non_null(lfpool_acquire(made(registry, name, &config)));
	assert_non_null(lfpool_acquire(pools[0]));
	assert_non_null(lfpool_acquire(pools[0]));
	assert_int_equal(lfpool_registry_destroy(registry), 3);
}

/* ---- Precedence ---- */

static const char *const overrides =
	"jobs    capacity=100 max_capacity=1k flags=prefault,zero debug=poison,quarantine=7 cache_capacity=32\n"
	"plain   keep=1\n"
	"[match]\n"
	"jobs    max_capacity=2k flags=check_races backend=mutex\n"
	"[lobby]\n"
	"jobs    capacity=20 debug=none depot_shards=3 cache_capacity=none growth_step=5\n"
	"only    capacity=77\n";

TEST(scenario_overrides_default_overrides_config)
{
	/* The debug modes need states, so these check for races. */
	static const struct {
		const char *scenario;
		size_t capacity, max_capacity, only;
		const char *said[4];
	} rows[] = {{"default",
		     100,
		     1000,
		     5,
		     {"\"jobs\"\nbackend     lockfree", "\nflags       prefault zero check_races\n",
		      "\ndebug       poison,quarantine=7\n", " of at most 32 objects\n"}},
		    {"match",
		     100,
		     2000,
		     5,
		     {"\nbackend     mutex", "\nflags       check_races\n", "\ndebug       poison,quarantine=7\n"}},
		    {"lobby",
		     20,
		     1000,
		     77,
		     {"\nflags       prefault zero\n", "\ndebug       none\n", "\ndepot       3 shards\n"}}};
	const lfpool_config_t config = CONFIG_OF(SIZE, 5, .debug = "owner", .name = "another");
	lfpool_registry_t *registry = registry_of(overrides);
	lfpool_t *plain = made(registry, "plain", &config), *only = made(registry, "only", &config);

	require_said(plain, "\ndebug       owner\n");
	assert_int_equal(lfpool_capacity(plain), 5);
	assert_int_equal(lfpool_quick_stats(only).max_capacity, 5);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(lfpool_registry_switch(registry, NULL, rows[i].scenario, NULL), LFPOOL_OK);
		assert_int_equal(lfpool_capacity(only), rows[i].only);
		lfpool_t *pool = made(registry, "jobs", &config);

		for (size_t k = 0; k < COUNT(rows[i].said) && rows[i].said[k]; k++)
			require_said(pool, rows[i].said[k]);
		assert_int_equal(lfpool_capacity(pool), rows[i].capacity);
		assert_int_equal(lfpool_quick_stats(pool).max_capacity, rows[i].max_capacity);
		lfpool_registry_destroy_pool(registry, pool);
	}
	assert_int_equal(lfpool_registry_switch(registry, NULL, "nowhere", NULL), LFPOOL_E_SCENARIO);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* An invalid field of the config matters only if the profile does not override it. */
TEST(overridden_config_fields_may_be_invalid)
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
	/* But the address space must do for every scenario: in others the config's number would count. */
	config.capacity = (size_t)1 << 31;
	assert_int_equal(lfpool_registry_create_pool(registry, "plain", &config, &pool), LFPOOL_E_CONFIG_CAPACITY);
	config.capacity = 5;
	config.max_capacity = 1;
	assert_int_equal(lfpool_registry_create_pool(registry, "plain", &config, &pool), LFPOOL_E_CONFIG_MAX_CAPACITY);
	assert_int_equal(lfpool_registry_switch(registry, "plain max_capacity=7\n", "default", NULL), LFPOOL_OK);
	assert_int_equal(lfpool_quick_stats(made(registry, "plain", &config)).max_capacity, 7);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* ---- Hooks that use the registry ---- */

static struct {
	lfpool_registry_t *registry;
	const char *scenario; /* to which the next hook switches; NULL: it does not */
	lfpool_registry_report_t report;
	size_t calls;
} used;

static void use(void)
{
	const char *scenario = used.scenario;
	char text[1000];

	used.calls++;
	(void)lfpool_registry_find(used.registry, "other");
	REQUIRE(lfpool_registry_dump(used.registry, LFPOOL_TEXT, text, sizeof(text)) > 0);
	used.scenario = NULL;
	if (!scenario)
		return;
	used.report = (lfpool_registry_report_t){0};
	REQUIRE(lfpool_registry_switch(used.registry, NULL, scenario, &used.report) == LFPOOL_OK);
	/* Pools come and go, here too. */
	const lfpool_config_t config = config_of(SIZE, 3);

	REQUIRE(lfpool_registry_destroy_pool(used.registry, made(used.registry, "brief", &config)) == 0);
}

static bool use_and_agree(void *context, void *object)
{
	(void)context, (void)object;
	use();
	return true;
}

static void use_only(void *context, void *object)
{
	(void)context, (void)object;
	use();
}

static const char *const for_hooks = "[four]\njobs capacity=4\n[eight]\njobs capacity=8\nother capacity=2\n";

TEST(hooks_may_use_the_registry)
{
	lfpool_config_t config = config_of(SIZE, 10);
	lfpool_registry_t *registry = used.registry = registry_of(for_hooks);
	lfpool_t *other = made(registry, "other", &config), *pool;

	config.hooks.create = config.hooks.activate = config.hooks.deactivate = use_and_agree;
	config.hooks.destroy = use_only;
	pool = made(registry, "jobs", &config);
	void *object = lfpool_acquire(pool);

	assert_non_null(object);
	assert_non_null(lfpool_acquire(pool));
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_int_equal(lfpool_registry_switch(registry, NULL, "four", NULL), LFPOOL_OK);
	assert_int_equal(lfpool_capacity(pool), 4);
	assert_int_equal(lfpool_registry_destroy_pool(registry, pool), 1);
	assert_int_equal(lfpool_registry_destroy_pool(registry, other), 0);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
	assert_true(used.calls > 4);
}

/* The last switch counts for every pool, also for the one whose hook made it. */
TEST(a_hook_may_switch_during_a_switch)
{
	lfpool_config_t config = config_of(SIZE, 10);
	lfpool_registry_report_t report;
	lfpool_registry_t *registry = used.registry = registry_of(for_hooks);
	lfpool_t *other = made(registry, "other", &config), *pool;
	void *objects[10];

	config.hooks.destroy = use_only;
	pool = made(registry, "jobs", &config);
	release_all(pool, objects, acquire_all(pool, objects, 10));
	used.scenario = "eight";
	assert_int_equal(lfpool_registry_switch(registry, NULL, "four", &report), LFPOOL_OK);
	assert_null(used.scenario);
	assert_int_equal(lfpool_capacity(pool), 8);
	assert_int_equal(lfpool_capacity(other), 2);
	/* The hook's call left the pool to the outer call. */
	assert_int_equal(used.report.pools, 2);
	assert_int_equal(used.report.pools_busy, 1);
	assert_int_equal(used.report.pools_short, 0);
	assert_int_equal(used.report.objects_removed, 8);
	assert_int_equal(report.pools_busy, 0);
	assert_int_equal(report.pools_short, 0);
	assert_int_equal(report.objects_removed, 6);
	assert_int_equal(report.objects_added, 4);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* The hook of a pool makes others, with names before and behind its own. */
static void make_others(void *context, void *object)
{
	const lfpool_config_t config = config_of(SIZE, 3);
	char name[] = "a-1";

	(void)context, (void)object;
	if (used.calls++)
		return;
	for (; name[2] <= '9'; name[2]++)
		(void)made(used.registry, name, &config);
	(void)made(used.registry, "zebra", &config);
}

TEST(rows_move_during_a_switch)
{
	lfpool_config_t config = config_of(SIZE, 10);
	lfpool_registry_report_t report;
	lfpool_registry_t *registry = used.registry = registry_of(for_hooks);
	lfpool_t *other = made(registry, "other", &config), *pool;
	void *objects[10];

	config.hooks.destroy = make_others;
	used.calls = 0;
	pool = made(registry, "jobs", &config);
	release_all(pool, objects, acquire_all(pool, objects, 10));
	assert_int_equal(lfpool_registry_switch(registry, NULL, "eight", &report), LFPOOL_OK);
	assert_int_equal(used.calls, 2);
	assert_int_equal(report.pools, 12);
	assert_int_equal(report.objects_removed, 10);
	assert_int_equal(report.pools_busy + report.pools_short, 0);
	assert_int_equal(lfpool_capacity(pool), 8);
	assert_int_equal(lfpool_capacity(other), 2);
	assert_int_equal(lfpool_registry_destroy_pool(registry, pool), 0);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* Refuses to build one, and finds its name taken. */
static bool no_object(void *context, void *object)
{
	const lfpool_config_t config = config_of(SIZE, 3);
	lfpool_t *pool;

	(void)context, (void)object;
	REQUIRE(lfpool_registry_create_pool(used.registry, "jobs", &config, &pool) == LFPOOL_E_EXISTS);
	REQUIRE(!lfpool_registry_find(used.registry, "jobs"));
	return false;
}

TEST(a_hook_may_switch_while_its_pool_is_made)
{
	lfpool_config_t config = config_of(SIZE, 10);
	lfpool_registry_t *registry = used.registry = registry_of(for_hooks);
	lfpool_t *pool;

	(void)made(registry, "other", &config);
	config.flags = LFPOOL_CREATE_ALL;
	config.hooks.create = use_and_agree;
	used.scenario = "four";
	pool = made(registry, "jobs", &config);
	assert_null(used.scenario);
	/* It was not there yet for the hook's call. */
	assert_int_equal(used.report.pools, 1);
	assert_int_equal(lfpool_capacity(pool), 4);
	/* Its name is taken from the start, and free again if it cannot be made. */
	assert_int_equal(lfpool_registry_destroy_pool(registry, pool), 0);
	config.hooks.create = no_object;
	assert_int_equal(lfpool_registry_create_pool(registry, "jobs", &config, &pool), LFPOOL_E_CREATE);
	assert_null(pool);
	config.hooks.create = NULL;
	(void)made(registry, "jobs", &config);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* ---- Pools that cannot be destroyed now ---- */

static lfpool_registry_t *asked; /* if not NULL */

/* While *context, the thread is in a section that the scheme would wait for. */
static bool ready(void *context, const lfpool_batch_t *batch)
{
	(void)batch;
	return !*(bool *)context;
}

static bool wait_outside(void *context)
{
	if (asked) {
		/* A pool that is being destroyed is not found; a switch leaves it alone. */
		REQUIRE(!lfpool_registry_find(asked, "kept"));
		REQUIRE(lfpool_registry_switch(asked, NULL, "less", NULL) == LFPOOL_OK);
		asked = NULL;
	}
	return !*(bool *)context;
}

TEST(pool_whose_destroy_is_refused_stays)
{
	bool inside = true;
	lfpool_config_t plain = config_of(SIZE, 10), config = plain;
	lfpool_registry_t *registry = registry_of("[less]\nkept capacity=7\n");

	config.scheme = (lfpool_scheme_t){.context = &inside, .ready = ready, .wait = wait_outside};
	config.hooks.misuse = hear;
	told_forget();
	lfpool_t *kept = made(registry, "kept", &config), *also = made(registry, "also", &config), *pool;

	assert_non_null(lfpool_acquire(made(registry, "goes", &plain)));
	assert_non_null(lfpool_acquire(made(registry, "zlast", &plain)));
	assert_int_equal(lfpool_retire(kept, lfpool_acquire(kept)), LFPOOL_OK);
	assert_int_equal(lfpool_retire(also, lfpool_acquire(also)), LFPOOL_OK);

	/* Calls during its drain may ask and switch. */
	asked = registry;
	assert_true(lfpool_registry_destroy_pool(registry, kept) == SIZE_MAX);
	assert_null(asked);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.misuse.status, LFPOOL_E_IN_SECTION);
	assert_ptr_equal(lfpool_registry_find(registry, "kept"), kept);
	/* The switch is made up for. */
	assert_int_equal(lfpool_capacity(kept), 7);
	assert_int_equal(lfpool_registry_create_pool(registry, "kept", &plain, &pool), LFPOOL_E_EXISTS);
	/* The others are destroyed. */
	assert_true(lfpool_registry_destroy(registry) == SIZE_MAX);
	assert_int_equal(told.count, 3);
	assert_null(lfpool_registry_find(registry, "goes"));
	assert_null(lfpool_registry_find(registry, "zlast"));
	assert_ptr_equal(lfpool_registry_find(registry, "kept"), kept);
	assert_ptr_equal(lfpool_registry_find(registry, "also"), also);
	assert_int_equal(lfpool_capacity(kept), 7);

	inside = false;
	assert_non_null(lfpool_acquire(kept));
	assert_int_equal(lfpool_registry_destroy_pool(registry, kept), 1);
	assert_null(lfpool_registry_find(registry, "kept"));
	assert_int_equal(lfpool_registry_destroy_pool(registry, kept), 0);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
	assert_int_equal(told.count, 3);
}

RUN_TESTS()
