/* SPDX-License-Identifier: MIT */
/* test: threads */
/* test_registry_switch.c - lfpool_registry_switch(): its effect on each pool, its report, and that threads using the
 * pools notice only the capacity. */
#include "../support/registry_support.h"
#include "../support/workers.h"

enum { SIZE = 64 };

static lfpool_t *made_of(lfpool_registry_t *registry, const char *name, size_t object_size, size_t capacity)
{
	const lfpool_config_t config = config_of(object_size, capacity);

	return made(registry, name, &config);
}

/* Switches to a scenario of a new profile; NULL: of the current one. */
static lfpool_registry_report_t switched_to(lfpool_registry_t *registry, const char *text, const char *scenario)
{
	lfpool_registry_report_t report;

	REQUIRE(lfpool_registry_switch(registry, text, scenario, &report) == LFPOOL_OK);
	return report;
}

static lfpool_registry_report_t switched(lfpool_registry_t *registry, const char *scenario)
{
	return switched_to(registry, NULL, scenario);
}

/* ---- At rest ---- */

static const char *const profile = "jobs     capacity=100 max_capacity=400\n"
				   "packets  capacity=50\n"
				   "plain    keep=1\n"
				   "[match]\n"
				   "jobs     capacity=400\n"
				   "packets  capacity=5\n"
				   "[lobby]\n"
				   "jobs     capacity=10 max_capacity=20\n"
				   "late     capacity=7\n";

TEST(switch_brings_every_pool_to_its_capacity)
{
	lfpool_registry_t *registry = registry_of(profile);
	lfpool_t *jobs = made_of(registry, "jobs", SIZE, 1), *packets = made_of(registry, "packets", SIZE, 1);
	lfpool_t *plain = made_of(registry, "plain", SIZE, 30), *other = made_of(registry, "other", SIZE, 40);
	static const struct {
		const char *scenario;
		size_t jobs, jobs_max, packets, added, removed;
	} steps[] = {
		{"default", 100, 400, 50, 0, 0}, {"match", 400, 400, 5, 300, 45},  {"match", 400, 400, 5, 0, 0},
		{"lobby", 10, 20, 50, 45, 390},  {"match", 400, 400, 5, 390, 45},  {"default", 100, 400, 50, 45, 300},
		{"lobby", 10, 20, 50, 0, 90},    {"default", 100, 400, 50, 90, 0},
	};

	for (size_t i = 0; i < COUNT(steps); i++) {
		lfpool_registry_report_t report = switched(registry, steps[i].scenario);

		assert_int_equal(report.pools, 4);
		assert_int_equal(report.objects_added, steps[i].added);
		assert_int_equal(report.objects_removed, steps[i].removed);
		assert_int_equal(report.pools_owing + report.pools_short + report.pools_fixed + report.objects_owed, 0);
		assert_int_equal(report.bytes_trimmed, 0);
		assert_int_equal(lfpool_capacity(jobs), steps[i].jobs);
		assert_int_equal(lfpool_quick_stats(jobs).max_capacity, steps[i].jobs_max);
		assert_int_equal(lfpool_capacity(packets), steps[i].packets);
		assert_int_equal(lfpool_quick_stats(packets).max_capacity, steps[i].packets);
		assert_int_equal(lfpool_capacity(plain), 30);
		assert_int_equal(lfpool_capacity(other), 40);
		require_whole(jobs, SIZE);
		require_whole(packets, SIZE);
	}
	/* An unknown scenario changes nothing. */
	lfpool_registry_report_t report;

	assert_int_equal(lfpool_registry_switch(registry, NULL, "nowhere", &report), LFPOOL_E_SCENARIO);
	assert_int_equal(report.pools, 0);
	assert_int_equal(lfpool_capacity(jobs), 100);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

TEST(objects_in_use_are_owed)
{
	lfpool_registry_t *registry = registry_of(profile);
	lfpool_t *jobs = made_of(registry, "jobs", SIZE, 1);
	void *objects[100];

	made_of(registry, "late", SIZE, 50);
	assert_int_equal(acquire_all(jobs, objects, 60), 60);
	lfpool_registry_report_t report = switched(registry, "lobby");

	assert_int_equal(report.objects_removed, 40 + 43);
	assert_int_equal(report.pools_owing, 1);
	assert_int_equal(report.objects_owed, 50);
	assert_int_equal(lfpool_capacity(jobs), 60);
	release_all(jobs, objects, 20);
	/* It continues, and asking changes nothing. */
	for (int i = 0; i < 3; i++) {
		report = switched(registry, "lobby");
		assert_int_equal(report.objects_removed, 0);
		assert_int_equal(report.objects_added, 0);
		assert_int_equal(report.objects_owed, 30);
		assert_int_equal(lfpool_capacity(jobs), 40);
	}
	/* 40 objects, 30 of them pending removal.  Now 20 may stay: ten removals are cancelled, the rest is still
	 * pending. */
	report = switched_to(registry, "jobs capacity=20 max_capacity=400\n[b]\n", "default");
	assert_int_equal(report.objects_added, 10 + 43);
	assert_int_equal(report.objects_owed, 20);
	release_all(jobs, objects + 20, 40);
	report = switched(registry, "default");
	assert_int_equal(report.pools_owing, 0);
	assert_int_equal(report.objects_owed, 0);
	assert_int_equal(lfpool_capacity(jobs), 20);
	require_whole(jobs, SIZE);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

TEST(switch_reports_fixed_and_short_pools)
{
	lfpool_registry_t *registry = registry_of("jobs capacity=10\n[a]\njobs cache_capacity=2\n"
						  "[b]\njobs capacity=20\n[c]\njobs debug=poison\n"
						  "[d]\njobs debug=none growth_step=0");
	lfpool_t *jobs = made_of(registry, "jobs", SIZE, 30), *pool;
	const lfpool_config_t config = config_of(SIZE, 1);

	/* A key that sets the value that already holds makes no difference. */
	static const struct {
		const char *scenario;
		size_t fixed;
	} steps[] = {{"a", 1}, {"b", 0}, {"c", 1}, {"d", 0}, {"default", 0}};

	for (size_t i = 0; i < COUNT(steps); i++)
		assert_int_equal(switched(registry, steps[i].scenario).pools_fixed, steps[i].fixed);
	/* There is address space for 20: the profile overrides the config everywhere. */
	assert_int_equal(lfpool_capacity(jobs), 10);
	lfpool_registry_report_t report = switched_to(registry, "jobs capacity=25", "default");

	assert_int_equal(report.pools_short, 1);
	assert_int_equal(report.objects_added, 10);
	assert_int_equal(lfpool_capacity(jobs), 20);
	assert_int_equal(lfpool_quick_stats(jobs).max_capacity, 20);
	assert_int_equal(lfpool_registry_destroy_pool(registry, jobs), 0);
	assert_int_equal(lfpool_registry_create_pool(registry, "jobs", &config, &pool), LFPOOL_OK);
	assert_int_equal(lfpool_capacity(pool), 25);
	assert_int_equal(switched(registry, "default").pools_short, 0);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
	/* The settings of the code count as those of the profile. */
	const lfpool_config_t whole = CONFIG_OF(SIZE, 4, .debug = "poison", .flags = LFPOOL_CHECK_RACES,
						.growth_step = 3, .cache_capacity = LFPOOL_CACHE_NONE,
						.depot_shards = 2, .backend = LFPOOL_BACKEND_MUTEX);

	registry = registry_of(
		"[same]\njobs debug=poison flags=check_races growth_step=3 cache_capacity=none depot_shards=2 "
		"backend=mutex\n[a]\njobs debug=none\n[b]\njobs flags=none\n[c]\njobs growth_step=2\n"
		"[d]\njobs cache_capacity=0\n[e]\njobs depot_shards=0\n[f]\njobs backend=lockfree\n"
		"[g]\njobs full=grow\n");
	(void)made(registry, "jobs", &whole);
	assert_int_equal(switched(registry, "same").pools_fixed, 0);
	for (char scenario[] = "a"; *scenario <= 'g'; ++*scenario)
		assert_int_equal(switched(registry, scenario).pools_fixed, 1);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* A scenario that names no capacity leaves it alone. */
TEST(scenario_without_a_capacity_keeps_it)
{
	lfpool_registry_t *registry = registry_of("[a]\njobs capacity=10\n[b]\njobs max_capacity=5\n");

	(void)switched(registry, "a");
	lfpool_t *jobs = made_of(registry, "jobs", SIZE, 0);

	for (int i = 0; i < 2; i++) {
		lfpool_registry_report_t report = switched(registry, i ? "b" : "default");

		assert_int_equal(report.objects_removed + report.objects_added + report.pools_short, 0);
		assert_int_equal(lfpool_capacity(jobs), 10);
		assert_int_equal(lfpool_quick_stats(jobs).max_capacity, i ? 5 : 10);
	}
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* A new profile and its scenario take effect in one step. */
TEST(profile_and_scenario_switch_together)
{
	lfpool_registry_t *registry = registry_of("[a]\n[b]\n[c]");
	char text[100];

	(void)switched(registry, "c");
	assert_int_equal(lfpool_registry_switch(registry, "[d]\n", "c", NULL), LFPOOL_E_SCENARIO);
	(void)lfpool_registry_dump(registry, LFPOOL_TEXT, text, sizeof(text));
	assert_memory_equal(text, "scenario c, 0 pools\n", 20);
	(void)switched_to(registry, "[d]\njobs capacity=3", "d");
	(void)lfpool_registry_dump(registry, LFPOOL_TEXT, text, sizeof(text));
	assert_memory_equal(text, "scenario d, 0 pools\n", 20);
	assert_int_equal(lfpool_capacity(made_of(registry, "jobs", SIZE, 1)), 3);
	assert_int_equal(lfpool_registry_switch(registry, NULL, "c", NULL), LFPOOL_E_SCENARIO);
	(void)switched_to(registry, "", "default");
	(void)lfpool_registry_dump(registry, LFPOOL_TEXT, text, sizeof(text));
	assert_memory_equal(text, "scenario default, 1 pool\n", 25);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* As in lfpool_create(): a growing pool can begin empty, and a switch can empty it. */
TEST(switch_to_capacity_0_and_back)
{
	lfpool_registry_t *registry = registry_of("jobs capacity=0 max_capacity=100 growth_step=10\n"
						  "[match]\njobs capacity=50\n"
						  "[off]\njobs capacity=0 max_capacity=0\n");
	lfpool_t *jobs = made_of(registry, "jobs", SIZE, 7), *none;
	const lfpool_config_t config = config_of(SIZE, 7);
	void *object;

	assert_int_equal(lfpool_capacity(jobs), 0);
	assert_int_equal(lfpool_quick_stats(jobs).max_capacity, 100);
	assert_non_null(object = lfpool_acquire(jobs));
	assert_int_equal(lfpool_capacity(jobs), 10);
	assert_int_equal(lfpool_release(jobs, object), LFPOOL_OK);
	assert_int_equal(switched(registry, "default").objects_removed, 10);
	assert_int_equal(lfpool_capacity(jobs), 0);
	assert_int_equal(switched(registry, "match").objects_added, 50);
	assert_int_equal(switched(registry, "off").objects_removed, 50);
	assert_int_equal(lfpool_quick_stats(jobs).max_capacity, 0);
	assert_null(lfpool_acquire(jobs));
	assert_int_equal(switched(registry, "match").objects_added, 50);
	/* No objects, and no room to grow. */
	(void)switched_to(registry, "never capacity=0", "default");
	assert_int_equal(lfpool_registry_create_pool(registry, "never", &config, &none), LFPOOL_E_CONFIG_CAPACITY);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

TEST(switch_trims_memory)
{
	enum { BYTES = 4096, MANY = 4000 };
	lfpool_registry_t *registry = registry_of("a capacity=4k\nb capacity=4k trim=yes keep=1k\n"
						  "[small]\na capacity=10 trim=yes keep=0\nb capacity=2k\n"
						  "[still]\na trim=no\nb trim=no");
	lfpool_t *pools[] = {made_of(registry, "a", BYTES, 1), made_of(registry, "b", BYTES, 1)};
	static void *objects[MANY];

	for (size_t p = 0; p < COUNT(pools); p++) {
		assert_int_equal(acquire_all(pools[p], objects, MANY), MANY);
		for (size_t i = 0; i < MANY; i++)
			stamp_write(objects[i], BYTES, i);
		release_all(pools[p], objects, MANY);
	}
	const size_t before = resident_bytes(), apart = stride_of(pools[1], objects[0]);

	assert_int_equal(switched(registry, "still").bytes_trimmed, 0);
	lfpool_registry_report_t report = switched(registry, "small");

	/* All of a, and of b all except a thousand, minus pages at their ends. */
	assert_in_range(report.bytes_trimmed, (2 * MANY - 1100) * apart, (2 * MANY - 900) * apart);
	if (!SANITIZED)
		assert_true(resident_bytes() + MANY * (size_t)BYTES < before);
	report = switched(registry, "small");
	assert_int_equal(report.bytes_trimmed + report.objects_removed, 0);
	for (size_t p = 0; p < COUNT(pools); p++)
		require_whole(pools[p], BYTES);
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

/* ---- While threads work ---- */

enum { WORKERS = 3, ADMINISTRATORS = 2 };

static lfpool_registry_t *registry;
static lfpool_t *jobs;

/* Acquires and releases; no other thread may have the object. */
static void work(struct worker *me)
{
	while (!told_to_end(me)) {
		void *objects[30];
		const size_t count = lfpool_acquire_bulk(jobs, objects, random_below(&me->random, COUNT(objects)));

		for (size_t i = 0; i < count; i++)
			stamp_write(objects[i], SIZE, (uintptr_t)objects[i] + me->number);
		for (size_t i = 0; i < count; i++)
			REQUIRE(stamp_holds(objects[i], SIZE, (uintptr_t)objects[i] + me->number));
		REQUIRE(lfpool_release_bulk(jobs, objects, count) == count);
	}
}

/* Makes, destroys and looks up pools, which belong to this administrator. */
static void administer(struct worker *me)
{
	const lfpool_config_t config = config_of(SIZE, 10);
	const char name[] = {'x', (char)('0' + me->number), 0};
	char text[4000];

	while (!told_to_end(me)) {
		lfpool_t *pool = made(registry, name, &config);

		/* Switches of several threads at once: the last one counts. */
		if (random_below(&me->random, 4) == 0)
			(void)switched(registry, random_below(&me->random, 2) ? "match" : "lobby");
		REQUIRE(lfpool_registry_find(registry, "jobs") == jobs && lfpool_registry_find(registry, name) == pool);
		REQUIRE(lfpool_registry_dump(registry, LFPOOL_JSON, text, sizeof(text)) > 0);
		REQUIRE(lfpool_registry_destroy_pool(registry, pool) == 0);
	}
}

static void work_or_administer(struct worker *me)
{
	(me->number < WORKERS ? work : administer)(me);
}

/* Each worker uses a different way. */
TEST(switch_while_threads_use_the_pools)
{
	static const char *const keys[] = {"", "growth_step=3", "cache_capacity=none", "debug=check,poison",
					   "backend=malloc"};
	static const struct {
		const char *name;
		size_t capacity;
	} scenarios[] = {{"default", 60}, {"match", 100}, {"lobby", 3}};
	struct random r = {test_seed("switch_while_threads_use_the_pools")};

	for (size_t i = 0; i < COUNT(keys); i++) {
		struct workers workers;
		char text[1000];

		(void)snprintf(text, sizeof(text),
			       "jobs capacity=60 max_capacity=100 %s\n"
			       "[match]\njobs capacity=100\nx3 capacity=300\n[lobby]\njobs capacity=3 trim=yes\n",
			       keys[i]);
		registry = registry_of(text);
		jobs = made_of(registry, "jobs", SIZE, 1);
		workers_start(&workers, WORKERS + ADMINISTRATORS, work_or_administer, NULL, r.state);
		for (size_t round = 0; round < TIMES(2000, 200); round++) {
			const char *scenario = scenarios[random_below(&r, COUNT(scenarios))].name;

			REQUIRE(switched_to(registry, random_below(&r, 20) ? NULL : text, scenario).objects_owed <=
				100);
		}
		(void)workers_end(&workers);
		/* Whichever call was the last one: its scenario holds.  (A pool may have grown since then.) */
		(void)lfpool_registry_dump(registry, LFPOOL_TEXT, text, sizeof(text));
		for (size_t s = 0; s < COUNT(scenarios); s++)
			if (!memcmp(text + strlen("scenario "), scenarios[s].name, strlen(scenarios[s].name)))
				assert_in_range(lfpool_capacity(jobs), scenarios[s].capacity,
						i == 1 ? 100 : scenarios[s].capacity);
		for (size_t s = 0; s < COUNT(scenarios); s++) {
			const lfpool_registry_report_t report = switched(registry, scenarios[s].name);

			assert_int_equal(report.objects_owed + report.pools_short, 0);
			assert_int_equal(lfpool_capacity(jobs), scenarios[s].capacity);
			require_intact(jobs);
		}
		assert_int_equal(lfpool_registry_destroy(registry), 0);
	}
}

/* A destroy waits for a switch that changes the pool at this moment. */
static void *destroy_jobs(void *nothing)
{
	REQUIRE(lfpool_registry_destroy_pool(registry, jobs) == 0);
	return nothing;
}

static struct {
	pthread_t thread;
	bool started;
} destroyer;

static void start_the_destroyer(void *context, void *object)
{
	(void)context, (void)object;
	if (destroyer.started)
		return;
	destroyer.started = true;
	thread_start(&destroyer.thread, destroy_jobs, NULL);
	/* It has some time to go wrong; if it does not wait, the row has lost the pool. */
	for (int i = 0; i < 100; i++) {
		(void)usleep(1000);
		REQUIRE(lfpool_registry_find(registry, "jobs") == jobs);
	}
}

TEST(a_destroy_waits_for_a_switch)
{
	lfpool_config_t config = config_of(SIZE, 20);
	void *objects[20];

	config.hooks.destroy = start_the_destroyer;
	registry = registry_of("[less]\njobs capacity=3\n");
	jobs = made(registry, "jobs", &config);
	release_all(jobs, objects, acquire_all(jobs, objects, 20));
	assert_int_equal(switched(registry, "less").objects_removed, 17);
	assert_int_equal(pthread_join(destroyer.thread, NULL), 0);
	assert_null(lfpool_registry_find(registry, "jobs"));
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}

RUN_TESTS()
