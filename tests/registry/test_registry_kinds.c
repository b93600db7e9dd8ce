/* SPDX-License-Identifier: MIT */
/* test: threads once */
/*
 * test_registry_kinds.c - evicting pools and sets in a registry: made by the profile, shown as rows, gone with their destroy; and
 * the key `full`, for every kind of pool.  (That rows come and go while others look: test_registry_switch.c.)
 */
#include "../support/registry_support.h"
#include "../support/workers.h"

#include "lfpool/priority.h"
#include "lfpool/set.h"

enum { SIZE = 24 };

static lfpool_status_t make_voices(lfpool_registry_t *registry, const char *name, lfpool_priority_t **pool_out)
{
	lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;

	config.name = name;
	config.object_size = SIZE;
	config.capacity = 4;
	config.flags = LFPOOL_EVICT_EQUAL;
	config.registry = registry;
	return lfpool_priority_create(pool_out, &config);
}

static lfpool_priority_t *voices_of(lfpool_registry_t *registry)
{
	lfpool_priority_t *pool = NULL;

	assert_int_equal(make_voices(registry, "voices", &pool), LFPOOL_OK);
	return pool;
}

static lfpool_set_t *messages_of(lfpool_registry_t *registry, size_t growth_bytes)
{
	lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;
	lfpool_set_t *set = NULL;

	config.name = "messages";
	config.largest = 64;
	config.class_bytes = 6400;
	config.max_class_bytes = 12800;
	config.growth_bytes = growth_bytes;
	config.registry = registry;
	assert_int_equal(lfpool_set_create(&set, &config), LFPOOL_OK);
	return set;
}

static bool put(lfpool_priority_t *pool, uint64_t priority)
{
	lfpool_handle_t handle;

	return lfpool_priority_acquire(pool, priority, NULL, &handle) && lfpool_priority_publish(pool, handle) == LFPOOL_OK;
}

static void require_dumped(lfpool_registry_t *registry, lfpool_format_t format, const char *part)
{
	char *text = whole_dump(registry_dump, registry, format);

	require_in(text, part);
	free(text);
}

/* ---- Rows ---- */

TEST(a_row_for_each_kind)
{
	lfpool_registry_t *registry = registry_of("jobs capacity=10\n");
	lfpool_config_t config = config_of(SIZE, 3);
	lfpool_t *jobs = made(registry, "jobs", &config);
	lfpool_set_t *messages = messages_of(registry, 0);
	lfpool_priority_t *voices = voices_of(registry);

	for (uint64_t i = 0; i < 6; i++)
		assert_true(put(voices, i));
	assert_false(put(voices, 0));
	assert_non_null(lfpool_acquire(jobs));
	assert_non_null(lfpool_set_acquire(messages, 30));
	require_dumped(
		registry, LFPOOL_TEXT,
		"scenario default, 3 pools\n"
		"name      size  capacity   max  active  cached  shared  untouched  owed  bytes  exhausted  misuses  full\n"
		"jobs        24        10    10       1       ");
	require_dumped(registry, LFPOOL_TEXT, "\nmessages    64       833  1666       1");
	require_dumped(registry, LFPOOL_TEXT,
		       "  25584          0        0  fail\n"
		       "voices      24         4     4       4       0       0          0     0     96"
		       "          1        0  evict\n");
	require_dumped(registry, LFPOOL_JSON, ",\"bytes\":96,\"exhausted\":1,\"misuses\":0,\"full\":\"evict\"}]");
	/* They are no lfpool_t; and each name is one pool's. */
	assert_null(lfpool_registry_find(registry, "voices"));
	assert_null(lfpool_registry_find(registry, "messages"));
	assert_ptr_equal(lfpool_registry_find(registry, "jobs"), jobs);
	lfpool_priority_t *another = voices;

	assert_int_equal(make_voices(registry, "voices", &another), LFPOOL_E_EXISTS);
	assert_null(another);
	/* Without a name, or with one that no profile has. */
	assert_int_equal(make_voices(registry, NULL, &another), LFPOOL_E_CONFIG_NAME);
	assert_int_equal(make_voices(registry, "all voices", &another), LFPOOL_E_CONFIG_NAME);
	/* Its row goes with it; what is left is the registry's to destroy. */
	assert_int_equal(lfpool_priority_destroy(voices), 4);
	require_dumped(registry, LFPOOL_TEXT, "scenario default, 2 pools\n");
	assert_int_equal(lfpool_set_destroy(messages), 1);
	require_dumped(registry, LFPOOL_TEXT, "scenario default, 1 pool\n");
	assert_true(put(voices_of(registry), 1));
	assert_non_null(lfpool_set_acquire(messages_of(registry, 0), 1));
	assert_int_equal(lfpool_registry_destroy(registry), 3);
}

/* ---- What the profile says ---- */

TEST(the_profile_stands_over_the_config)
{
	lfpool_registry_t *registry = registry_of("voices capacity=2 flags=zero debug=quarantine=3,no-tools\n"
						  "messages capacity=5 max_capacity=9 growth_step=2 cache_capacity=none\n"
						  "[match]\n"
						  "voices capacity=8\n");
	lfpool_priority_t *voices = voices_of(registry);
	lfpool_set_t *messages = messages_of(registry, 100);
	lfpool_registry_report_t report = LFPOOL_REGISTRY_REPORT_INIT;
	lfpool_stats_t stats = LFPOOL_STATS_INIT;
	char text[2000];

	assert_int_equal(lfpool_priority_capacity(voices), 2);
	(void)lfpool_priority_dump(voices, LFPOOL_TEXT, text, sizeof(text));
	/* Which of equal ones goes is the code's to say. */
	require_in(text, "\nflags       zero evict_equal\n");
	require_in(text, "\ndebug       quarantine=3,no-tools\n");
	assert_int_equal(lfpool_set_stats(messages, &stats), LFPOOL_OK);
	assert_int_equal(stats.capacity, 5 * 4);
	assert_int_equal(stats.max_capacity, 9 * 4);
	for (int i = 0; i < 9; i++)
		assert_non_null(lfpool_set_acquire(messages, 16));
	assert_null(lfpool_set_acquire(messages, 16));
	/* A switch leaves them as they are, and says so. */
	assert_int_equal(lfpool_registry_switch(registry, "match", &report), LFPOOL_OK);
	assert_int_equal(report.pools, 2);
	assert_int_equal(report.pools_fixed, 1);
	assert_int_equal(report.objects_added + report.pools_short + report.pools_owing, 0);
	assert_int_equal(lfpool_priority_capacity(voices), 2);
	assert_int_equal(lfpool_priority_destroy(voices), 0);
	assert_int_equal(lfpool_priority_capacity(voices_of(registry)), 8);
	assert_int_equal(lfpool_registry_destroy(registry), 9);
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

TEST(fail_and_grow)
{
	expect_full("", 48, 48, "  0  grow\n");
	expect_full("full=grow", 48, 48, "  0  grow\n");
	expect_full("full=grow growth_step=0", 48, 48, "  0  grow\n");
	expect_full("full=fail", 16, 16, "  0  fail\n");
	expect_full("full=fail growth_step=5", 16, 16, "  0  fail\n");
}

static void release_one(struct worker *me)
{
	lfpool_t *pool = me->scene;
	void *object;

	/* One waits for what the other releases. */
	if (me->number == 0) {
		REQUIRE(object = lfpool_acquire(pool));
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
		return;
	}
	for (lfpool_stats_t stats = LFPOOL_STATS_INIT; !stats.waiting; sched_yield())
		(void)lfpool_stats(pool, &stats);
	REQUIRE(lfpool_copy_active(pool, &object, 1) == 1 && lfpool_release(pool, object) == LFPOOL_OK);
}

TEST(wait)
{
	lfpool_registry_t *registry;
	lfpool_t *pool = jobs_of("full=wait growth_step=0", 1, &registry);

	assert_non_null(lfpool_acquire(pool));
	(void)workers_run(2, release_one, pool, 1);
	require_dumped(registry, LFPOOL_TEXT, "  wait\n");
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

TEST(evict_or_fail)
{
	lfpool_registry_t *registry = registry_of("voices full=fail\n[match]\nvoices full=evict\n");
	lfpool_priority_t *voices = voices_of(registry);

	for (uint64_t i = 0; i < 4; i++)
		assert_true(put(voices, i));
	assert_false(put(voices, 100));
	assert_int_equal(lfpool_priority_release_min(voices, 1), 1);
	assert_true(put(voices, 1));
	require_dumped(registry, LFPOOL_TEXT, "  fail\n");
	(void)lfpool_priority_destroy(voices);
	assert_int_equal(lfpool_registry_switch(registry, "match", NULL), LFPOOL_OK);
	voices = voices_of(registry);
	for (uint64_t i = 0; i < 6; i++)
		assert_true(put(voices, i));
	require_dumped(registry, LFPOOL_TEXT, "  evict\n");
	(void)lfpool_registry_destroy(registry);
}

TEST(what_a_kind_of_pool_cannot_do)
{
	lfpool_registry_t *registry = registry_of("jobs full=evict\nvoices full=grow\n[match]\nvoices full=wait\n");
	lfpool_config_t config = config_of(SIZE, 3);
	lfpool_priority_t *voices;
	lfpool_t *jobs;

	assert_int_equal(lfpool_registry_create_pool(registry, "jobs", &config, &jobs), LFPOOL_E_PROFILE);
	assert_null(jobs);
	assert_int_equal(make_voices(registry, "voices", &voices), LFPOOL_E_PROFILE);
	assert_int_equal(lfpool_registry_switch(registry, "match", NULL), LFPOOL_OK);
	assert_int_equal(make_voices(registry, "voices", &voices), LFPOOL_E_PROFILE);
	require_dumped(registry, LFPOOL_TEXT, "scenario match, 0 pools\n");
	assert_int_equal(lfpool_registry_load(registry, "voices flags=huge_pages", NULL), LFPOOL_OK);
	assert_int_equal(make_voices(registry, "voices", &voices), LFPOOL_E_CONFIG_FLAGS);
	assert_int_equal(lfpool_registry_load(registry, "voices capacity=2M", NULL), LFPOOL_OK);
	assert_int_equal(make_voices(registry, "voices", &voices), LFPOOL_E_CONFIG_CAPACITY);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

TEST(a_set_grows_by_the_text)
{
	lfpool_registry_t *registry = registry_of("messages full=grow\n[match]\nmessages full=fail\n");
	lfpool_set_t *messages = messages_of(registry, 0);
	size_t objects = 0;

	while (lfpool_set_acquire(messages, 64))
		objects++;
	assert_int_equal(objects, 200);
	(void)lfpool_set_destroy(messages);
	assert_int_equal(lfpool_registry_switch(registry, "match", NULL), LFPOOL_OK);
	for (objects = 0, messages = messages_of(registry, 640); lfpool_set_acquire(messages, 64);)
		objects++;
	assert_int_equal(objects, 100);
	assert_int_equal(lfpool_registry_destroy(registry), 100);
}

RUN_TESTS()
