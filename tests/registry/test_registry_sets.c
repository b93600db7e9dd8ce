/* SPDX-License-Identifier: MIT */
/* test: once */
/* test_registry_sets.c - sets in a registry: their pools are rows, each with the settings of its line in the profile;
 * and the key `full`, for all kinds of pools. */
#include "../support/registry_support.h"
#include "../support/set_support.h"

#include "lfpool/evict.h"
#include "lfpool/handle.h"
#include "lfpool/report.h"

enum { SIZE = 24 };

/* Classes of 16, 32, 48 and 64 bytes, each with 6,400 bytes at first and at most 12,800. */
static lfpool_set_t *messages_of(lfpool_registry_t *registry, size_t growth_bytes)
{
	return SET_WITH(.largest = 64, .class_bytes = 6400, .max_class_bytes = 12800, .growth_bytes = growth_bytes,
			.registry = registry, .pool.name = "messages");
}

static void require_dumped(lfpool_registry_t *registry, lfpool_format_t format, const char *part)
{
	char *text = whole_dump(registry_dump, registry, format);

	require_in(text, part);
	free(text);
}

/* ---- Rows ---- */

TEST(a_row_for_each_pool_of_a_set)
{
	lfpool_registry_t *registry = registry_of("jobs capacity=10\n");
	const lfpool_config_t config = config_of(SIZE, 3);
	lfpool_t *jobs = made(registry, "jobs", &config);
	lfpool_set_t *messages = messages_of(registry, 0), *another = messages;
	lfpool_set_config_t again = LFPOOL_SET_CONFIG_INIT;

	assert_non_null(lfpool_acquire(jobs));
	assert_non_null(lfpool_set_acquire(messages, 50));
	require_dumped(registry, LFPOOL_TEXT, "scenario default, 3 pools\n");
	require_dumped(registry, LFPOOL_TEXT, "\nmessages/16    16       400   800       0");
	require_dumped(registry, LFPOOL_TEXT, "\nmessages/64    64       100   200       1");
	require_dumped(registry, LFPOOL_JSON,
		       "{\"name\":\"messages/64\",\"full\":\"fail\",\"object_size\":64,\"bytes\":6400,");
	assert_ptr_equal(lfpool_registry_find(registry, "messages/64"), lfpool_set_class(messages, 64, false, NULL));
	assert_null(lfpool_registry_find(registry, "messages"));
	assert_null(lfpool_registry_find(registry, "messages/32"));
	/* A name belongs to one pool; a set needs a name that is valid in a profile. */
	again.registry = registry;
	assert_int_equal(lfpool_set_create(&another, &again), LFPOOL_E_CONFIG_NAME);
	again.pool.name = "all messages";
	assert_int_equal(lfpool_set_create(&another, &again), LFPOOL_E_CONFIG_NAME);
	again.pool.name = "messages";
	assert_int_equal(lfpool_set_create(&another, &again), LFPOOL_E_EXISTS);
	assert_null(another);
	/* The rows disappear with the set. */
	assert_int_equal(lfpool_set_destroy(messages), 1);
	require_dumped(registry, LFPOOL_TEXT, "scenario default, 1 pool\n");
	assert_int_equal(lfpool_registry_destroy(registry), 1);
}

/* ---- The settings of each class ---- */

TEST(each_class_has_its_line)
{
	lfpool_registry_t *registry = registry_of(
		"messages/16 capacity=5 max_capacity=9 growth_step=2 cache_capacity=none\n"
		"messages/32 debug=quarantine=3,no-tools\n"
		"[match]\nmessages/16 capacity=9\n");
	lfpool_set_t *messages = messages_of(registry, 100);
	lfpool_registry_report_t report;

	require_said(lfpool_set_pool(messages, 32), "\ndebug       quarantine=3,no-tools\n");
	assert_int_equal(lfpool_capacity(lfpool_set_pool(messages, 16)), 5);
	for (int i = 0; i < 9; i++)
		assert_non_null(lfpool_set_acquire(messages, 16));
	assert_null(lfpool_set_acquire(messages, 16));
	/* A class without a line follows the config: 6,400 bytes. */
	assert_int_equal(lfpool_capacity(lfpool_set_pool(messages, 64)), 100);
	assert_int_equal(lfpool_quick_stats(lfpool_set_pool(messages, 64)).max_capacity, 200);
	/* A switch changes classes like all pools. */
	assert_int_equal(lfpool_registry_switch(registry, NULL, "default", &report), LFPOOL_OK);
	assert_int_equal(report.pools, 3);
	assert_int_equal(report.objects_owed, 4);
	assert_int_equal(lfpool_registry_switch(registry, NULL, "match", &report), LFPOOL_OK);
	assert_int_equal(report.objects_owed, 0);
	assert_int_equal(lfpool_capacity(lfpool_set_pool(messages, 16)), 9);
	assert_int_equal(lfpool_set_destroy(messages), 9);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* A line changes only the keys that it names; its numbers are objects, whatever bytes the config has. */
static lfpool_t *class_of_64(const char *profile, size_t growth_bytes, lfpool_registry_t **registry, lfpool_set_t **set)
{
	*registry = registry_of(profile);
	*set = messages_of(*registry, growth_bytes);
	return lfpool_set_pool(*set, 64);
}

TEST(a_line_changes_only_the_keys_it_names)
{
	static const struct {
		const char *profile;
		size_t growth_bytes, capacity, max_capacity, grown;
	} rows[] = {
		{"", 640, 100, 200, 110},
		{"messages/64 flags=zero\n", 640, 100, 200, 110},
		{"messages/64 capacity=10\n", 640, 10, 200, 20},
		{"messages/64 max_capacity=50\n", 640, 100, 100, 0},
		{"messages/64 growth_step=64\n", 64, 100, 200, 164},
		{"messages/64 growth_step=64\n", 640, 100, 200, 164},
		{"messages/64 full=grow\n", 0, 100, 200, 113},
		{"messages/64 full=fail\n", 640, 100, 200, 0},
		/* In bytes: 640 are 10 objects. */
		{"messages/64 bytes=1280\n", 640, 20, 200, 30},
		{"messages/64 max_bytes=12Ki\n", 640, 100, 192, 110},
		{"messages/64 growth_bytes=1k\n", 640, 100, 200, 115},
		{"messages/64 growth_bytes=1\n", 640, 100, 200, 101},
		{"messages/64 growth_bytes=0\n", 640, 100, 200, 0},
		/* One object at least. */
		{"messages/64 bytes=5 max_bytes=6 growth_step=1\n", 0, 1, 1, 0},
		{"messages/64 bytes=5 max_capacity=2 growth_step=1\n", 0, 1, 2, 2},
		/* Less than the capacity in the other unit: as the capacity. */
		{"messages/64 bytes=1280 max_capacity=19\n", 640, 20, 20, 0},
		{"messages/64 capacity=20 max_bytes=1279\n", 640, 20, 20, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		lfpool_registry_t *registry;
		lfpool_set_t *set;
		lfpool_t *pool = class_of_64(rows[i].profile, rows[i].growth_bytes, &registry, &set);

		assert_int_equal(lfpool_capacity(pool), rows[i].capacity);
		assert_int_equal(lfpool_quick_stats(pool).max_capacity, rows[i].max_capacity);
		for (size_t taken = 0; taken < rows[i].capacity; taken++)
			assert_non_null(lfpool_set_acquire(set, 64));
		assert_int_equal(lfpool_set_acquire(set, 64) != NULL, rows[i].grown != 0);
		assert_int_equal(lfpool_capacity(pool), rows[i].grown ? rows[i].grown : rows[i].capacity);
		assert_int_equal(lfpool_set_destroy(set), rows[i].capacity + (rows[i].grown != 0));
		assert_int_equal(lfpool_registry_destroy(registry), 0);
	}
}

/* A scenario can have the other unit: its line counts.  The class has the size of an object. */
TEST(a_scenario_in_another_unit)
{
	lfpool_registry_t *registry = registry_of("messages/64 bytes=64k\nmessages/48 capacity=7\n"
						  "[objects]\nmessages/64 capacity=70\n"
						  "[bytes]\nmessages/64 bytes=704\nmessages/48 bytes=96\n");
	static const struct {
		const char *scenario;
		size_t of_64, of_48;
	} rows[] = {{"default", 1000, 7}, {"objects", 70, 7}, {"bytes", 11, 2}, {"default", 1000, 7}};
	lfpool_set_t *messages = messages_of(registry, 0);
	lfpool_t *of_64 = lfpool_set_pool(messages, 64), *of_48 = lfpool_set_pool(messages, 48);

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(lfpool_registry_switch(registry, NULL, rows[i].scenario, NULL), LFPOOL_OK);
		assert_int_equal(lfpool_capacity(of_64), rows[i].of_64);
		assert_int_equal(lfpool_capacity(of_48), rows[i].of_48);
	}
	set_close(messages);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* A pool that is to grow can: without a max_capacity in the profile and in the code to 8 times its capacity. */
TEST(full_grow_has_an_end)
{
	static const struct {
		const char *profile;
		size_t max_capacity, capacity, most;
	} rows[] = {{"jobs full=grow\n", 0, 16, 128},
		    {"jobs full=grow capacity=20\n", 0, 20, 160},
		    {"jobs full=grow\n", 24, 16, 24},
		    {"jobs full=grow max_capacity=17\n", 0, 16, 17},
		    {"jobs full=grow max_capacity=0\n", 24, 16, 128},
		    /* The code says that it does not grow. */
		    {"jobs full=grow\n", 16, 16, 16},
		    {"jobs full=evict\n", 0, 16, 16},
		    /* It has room for another scenario, but not in this one. */
		    {"jobs full=fail growth_step=4\n[match]\njobs capacity=30\n", 0, 16, 16}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		lfpool_registry_t *registry = registry_of(rows[i].profile);
		const lfpool_config_t config = CONFIG_OF(SIZE, 16, .max_capacity = rows[i].max_capacity);
		lfpool_t *jobs = made(registry, "jobs", &config);
		size_t count = 0;

		/* A switch to where it is changes nothing. */
		assert_int_equal(lfpool_capacity(jobs), rows[i].capacity);
		assert_int_equal(lfpool_quick_stats(jobs).max_capacity, rows[i].most);
		assert_int_equal(lfpool_registry_switch(registry, NULL, "default", NULL), LFPOOL_OK);
		assert_int_equal(lfpool_quick_stats(jobs).max_capacity, rows[i].most);
		while (lfpool_acquire(jobs))
			count++;
		assert_int_equal(count, rows[i].most);
		assert_int_equal(lfpool_registry_destroy(registry), count);
	}
}

/* No bytes are no objects: a pool that begins empty. */
TEST(a_pool_of_0_bytes_begins_empty_and_grows)
{
	lfpool_registry_t *registry = registry_of("jobs bytes=0 max_bytes=240 growth_bytes=48\n");
	const lfpool_config_t config = config_of(SIZE, 7);
	lfpool_t *jobs = made(registry, "jobs", &config);

	assert_int_equal(lfpool_capacity(jobs), 0);
	assert_int_equal(lfpool_quick_stats(jobs).max_capacity, 10);
	assert_non_null(lfpool_acquire(jobs));
	assert_int_equal(lfpool_capacity(jobs), 2);
	assert_int_equal(lfpool_registry_destroy(registry), 1);
}

/* Bytes for more objects than a pool can have, and bytes for objects of 0 bytes, are errors of the pool's config. */
TEST(bytes_that_are_no_valid_number_of_objects)
{
	/* 2^32 and 2^32 + 1 objects of 16 bytes. */
	lfpool_registry_t *registry = registry_of("jobs bytes=64Gi\npackets bytes=68719476752\nvoices bytes=100\n");
	lfpool_config_t config = config_of(16, 1);
	lfpool_t *pool;

	assert_int_equal(lfpool_registry_create_pool(registry, "jobs", &config, &pool), LFPOOL_E_CONFIG_CAPACITY);
	assert_int_equal(lfpool_registry_create_pool(registry, "packets", &config, &pool), LFPOOL_E_CONFIG_CAPACITY);
	config.object_size = 0;
	assert_int_equal(lfpool_registry_create_pool(registry, "voices", &config, &pool), LFPOOL_E_CONFIG_OBJECT_SIZE);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* In the table, too, a pool that cannot grow does not. */
TEST(a_step_alone_is_no_growth)
{
	lfpool_registry_t *registry = registry_of(NULL);
	const lfpool_config_t config = CONFIG_OF(SIZE, 16, .growth_step = 3);

	(void)made(registry, "jobs", &config);
	require_dumped(registry, LFPOOL_TEXT, "  0  fail\n");
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* The addresses of a class are reserved when the set is made: a later profile gets at most the number that fits. */
TEST(a_later_profile_stays_within_the_addresses)
{
	lfpool_registry_t *registry = registry_of("");
	lfpool_set_t *messages = messages_of(registry, 0);
	lfpool_registry_report_t report;
	void *before = lfpool_set_acquire(messages, 16), **objects;

	assert_int_equal(lfpool_registry_switch(registry,
						"messages/64 capacity=1M debug=guard\nmessages/16 capacity=1M",
						"default", &report),
			 LFPOOL_OK);
	assert_int_equal(report.pools_short, 1);
	lfpool_t *pool = lfpool_set_pool(messages, 64);
	const size_t capacity = lfpool_capacity(pool);

	assert_in_range(capacity, 80, 100000);
	objects = pointers_new(capacity);
	assert_int_equal(acquire_all(pool, objects, capacity), capacity);
	assert_true(sort_disjoint(objects, capacity, 64));
	for (size_t i = 0; i < capacity; i++)
		assert_ptr_equal(lfpool_set_pool_of(messages, objects[i], NULL), pool);
	release_to(messages, objects, capacity);
	assert_int_equal(lfpool_set_release(messages, before), LFPOOL_OK);
	free(objects);
	set_close(messages);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* plan() may call the registry: it runs when the set is made, without a lock. */
static void plan_like_jobs(void *registry, lfpool_config_t *config)
{
	lfpool_t *jobs = lfpool_registry_find(registry, "jobs");

	config->capacity = jobs ? lfpool_capacity(jobs) : 10;
}

TEST(a_plan_may_look_up_a_pool_in_the_registry)
{
	lfpool_registry_t *registry = registry_of(NULL);
	const lfpool_config_t config = config_of(SIZE, 20);

	(void)made(registry, "jobs", &config);
	lfpool_set_t *set = SET_WITH(.largest = 64, .registry = registry, .plan = plan_like_jobs, .pool.name = "s",
				     .pool.hooks.context = registry);

	require_dumped(registry, LFPOOL_TEXT, "\ns/16     16        20");
	set_close(set);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* ---- When it is full ---- */

static lfpool_t *jobs_of(const char *full, uint32_t capacity, lfpool_registry_t **registry_out)
{
	lfpool_config_t config = config_of(SIZE, capacity);
	char profile[100];

	(void)snprintf(profile, sizeof(profile), "jobs max_capacity=%u %s\n", 3 * capacity, full);
	*registry_out = registry_of(profile);
	config.growth_step = 1;
	return made(*registry_out, "jobs", &config);
}

static void expect_full(const char *full, uint32_t objects, size_t capacity_then, const char *shown)
{
	lfpool_registry_t *registry;
	lfpool_t *pool = jobs_of(full, 16, &registry);

	for (uint32_t i = 0; i < objects; i++)
		assert_non_null(lfpool_acquire(pool));
	assert_null(lfpool_acquire(pool));
	assert_int_equal(lfpool_capacity(pool), capacity_then);
	require_dumped(registry, LFPOOL_TEXT, shown);
	assert_int_equal(lfpool_registry_destroy(registry), objects);
}

TEST(full_fail_keeps_the_size_and_full_grow_grows)
{
	expect_full("", 48, 48, "  0  grow\n");
	expect_full("full=grow", 48, 48, "  0  grow\n");
	expect_full("full=grow growth_step=0", 48, 48, "  0  grow\n");
	expect_full("full=fail", 16, 16, "  0  fail\n");
	expect_full("full=fail growth_step=5", 16, 16, "  0  fail\n");
}

/* hooks.exhausted could wait: with full=fail a call on that pool does not. */
static bool count_and_give_up(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	(void)pool, (void)attempt;
	*wait_ns = -1;
	++*(int *)context;
	return false;
}

TEST(full_fail_skips_the_exhausted_hook)
{
	int calls = 0;
	lfpool_config_t config = CONFIG_OF(SIZE, 1, .hooks.context = &calls, .hooks.exhausted = count_and_give_up);
	lfpool_registry_t *registry = registry_of("jobs full=fail\n");
	lfpool_t *pool = made(registry, "jobs", &config), *other = made(registry, "other", &config);

	assert_non_null(lfpool_acquire(pool));
	assert_null(lfpool_acquire(pool));
	assert_int_equal(calls, 0);
	assert_non_null(lfpool_acquire(other));
	assert_null(lfpool_acquire(other));
	assert_int_equal(calls, 1);
	require_dumped(registry, LFPOOL_TEXT, "  0  hook\n");
	assert_int_equal(lfpool_registry_destroy(registry), 2);
}

/* ---- Eviction ---- */

/* Acquires and publishes `count` objects with rising priorities; returns the number it got. */
static size_t put_voices(lfpool_t *pool, size_t count)
{
	size_t got = 0;

	for (uint64_t priority = 1; priority <= count; priority++) {
		lfpool_handle_t handle;

		if (!lfpool_acquire_evicting(pool, priority, &handle))
			continue;
		got++;
		assert_int_equal(lfpool_unpin(pool, handle), LFPOOL_OK);
	}
	return got;
}

TEST(a_profile_says_whether_a_pool_evicts)
{
	static const struct {
		const char *profile, *shown;
		lfpool_evict_t evict;
		size_t got, active;
	} rows[] = {
		{"", "  evict\n", LFPOOL_EVICT_LESS, 7, 4},
		{"voices full=evict", "  evict\n", LFPOOL_EVICT_NONE, 7, 4},
		{"voices full=evict", "  evict\n", LFPOOL_EVICT_LESS_OR_EQUAL, 7, 4},
		{"voices full=fail", "  fail\n", LFPOOL_EVICT_LESS, 4, 4},
		{"voices full=grow max_capacity=6", "  grow\n", LFPOOL_EVICT_LESS, 6, 6},
		{"voices full=evict growth_step=1 max_capacity=6", "  evict\n", LFPOOL_EVICT_NONE, 7, 6},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		lfpool_registry_t *registry = registry_of(rows[i].profile);
		const lfpool_config_t config = CONFIG_OF(SIZE, 4, .evict = rows[i].evict);
		lfpool_t *voices = made(registry, "voices", &config);

		assert_int_equal(put_voices(voices, 7), rows[i].got);
		assert_int_equal(lfpool_active_count(voices), rows[i].active);
		require_dumped(registry, LFPOOL_TEXT, rows[i].shown);
		/* The priorities exist in any case. */
		assert_int_equal(lfpool_release_least(voices, 2), 2);
		assert_int_equal(lfpool_registry_destroy(registry), rows[i].active - 2);
	}
}

/* The kind of eviction: of the code, if it has one. */
TEST(which_objects_give_way)
{
	static const struct {
		const char *profile;
		lfpool_evict_t evict;
		bool has_priorities, equal_gives_way, less_gives_way;
	} rows[] = {
		{"voices full=evict", LFPOOL_EVICT_NONE, true, false, true},
		{"voices full=evict", LFPOOL_EVICT_NEVER, true, false, true},
		{"voices full=evict", LFPOOL_EVICT_LESS, true, false, true},
		{"voices full=evict", LFPOOL_EVICT_LESS_OR_EQUAL, true, true, true},
		{"voices full=fail", LFPOOL_EVICT_LESS_OR_EQUAL, true, false, false},
		{"voices full=fail", LFPOOL_EVICT_NONE, false, false, false},
		{"voices full=grow max_capacity=4", LFPOOL_EVICT_NONE, false, false, false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		lfpool_registry_t *registry = registry_of(rows[i].profile);
		const lfpool_config_t config = CONFIG_OF(SIZE, 4, .evict = rows[i].evict);
		lfpool_t *voices = made(registry, "voices", &config);
		lfpool_handle_t handle;

		assert_int_equal(put_voices(voices, 4), rows[i].has_priorities ? 4 : 0);
		/* The least has priority 1. */
		assert_int_equal(lfpool_acquire_evicting(voices, 1, &handle) != NULL, rows[i].equal_gives_way);
		assert_int_equal(lfpool_acquire_evicting(voices, 9, &handle) != NULL, rows[i].less_gives_way);
		assert_int_equal(lfpool_registry_destroy(registry), rows[i].has_priorities ? 4 : 0);
	}
}

/* A switch brings evicting pools to their capacity, too: victims pay the objects that are owed. */
TEST(a_switch_changes_evicting_pools)
{
	lfpool_registry_t *registry = registry_of("voices full=evict\n[low]\nvoices capacity=3\n"
						  "[high]\nvoices capacity=9 max_capacity=12\n");
	const lfpool_config_t config = CONFIG_OF(SIZE, 6, .evict = LFPOOL_EVICT_LESS);
	lfpool_registry_report_t report;
	lfpool_t *voices = made(registry, "voices", &config);
	lfpool_handle_t handle;
	uint64_t least;

	assert_int_equal(put_voices(voices, 6), 6);
	assert_int_equal(lfpool_registry_switch(registry, NULL, "low", &report), LFPOOL_OK);
	assert_int_equal(report.objects_removed, 0);
	assert_int_equal(report.objects_owed, 3);
	assert_int_equal(lfpool_quick_stats(voices).max_capacity, 3);
	/* The slots of the four least go: three to the shrink, the fourth to the newcomer. */
	assert_non_null(lfpool_acquire_evicting(voices, 100, &handle));
	assert_int_equal(lfpool_active_count(voices), 3);
	assert_int_equal(lfpool_capacity(voices), 3);
	assert_true(lfpool_least(voices, &least) != 0);
	assert_int_equal(least, 5);
	assert_int_equal(lfpool_registry_switch(registry, NULL, "high", &report), LFPOOL_OK);
	assert_int_equal(report.objects_added, 6);
	assert_int_equal(report.pools_short + report.pools_owing + report.pools_fixed + report.pools_busy, 0);
	assert_int_equal(lfpool_capacity(voices), 9);
	assert_int_equal(put_voices(voices, 20), 20);
	assert_int_equal(lfpool_active_count(voices), 9);
	assert_int_equal(lfpool_registry_destroy(registry), 9);
}

/* A class of a set is an ordinary pool in this respect too. */
TEST(a_class_of_a_set_evicts)
{
	lfpool_registry_t *registry = registry_of("messages/32 capacity=4 max_capacity=4 full=evict\n");
	lfpool_set_t *messages = messages_of(registry, 0);
	lfpool_t *pool = lfpool_set_pool(messages, 32);

	assert_int_equal(put_voices(pool, 9), 9);
	assert_int_equal(lfpool_active_count(pool), 4);
	assert_int_equal(lfpool_set_destroy(messages), 4);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

RUN_TESTS()
