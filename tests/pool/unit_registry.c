/* SPDX-License-Identifier: MIT */
/*
 * unit_registry.c - the operating system refuses the n-th call, for every n, while a registry is made, filled, loaded,
 * switched and dumped: each call says so or does without, and nothing is left behind.
 */
#include "../support/held.h"
#include "../support/support.h"

#include "lfpool/registry.h"
#include "os/os.h"

/* More pools, scenarios and lines than the first room there is for them. */
enum { POOLS = 10, SIZE = 40 };

static const char *const profile = "p0 capacity=4 max_capacity=100\np1 capacity=4\n[a]\n[b]\n[c]\np0 capacity=8\n"
				   "[d]\n[e]\n"
				   "p2 capacity=3\np3 capacity=3 max_capacity=5\np4 keep=1\np5 keep=1\np6 keep=1\n"
				   "[f]\n[g]\n[h]\np3 capacity=5\np4 capacity=80\n[i]\n[j]\n[k]\n[l]\n[m]\n"
				   "[n]\n[o]\n[p]\n[q]\n";

static size_t fill(lfpool_registry_t *registry)
{
	const lfpool_config_t config = config_of(SIZE, 2);
	size_t made = 0;

	for (size_t i = 0; i < POOLS; i++) {
		char name[] = "p0";
		lfpool_t *pool = (lfpool_t *)(uintptr_t)1;

		name[1] = (char)('0' + i);
		lfpool_status_t status = lfpool_registry_create_pool(registry, name, &config, &pool);

		assert_true(status == LFPOOL_OK ? pool != NULL : status == LFPOOL_E_NO_MEMORY && !pool);
		assert_ptr_equal(lfpool_registry_find(registry, name), pool);
		made += status == LFPOOL_OK;
	}
	return made;
}

static void load(lfpool_registry_t *registry)
{
	lfpool_profile_error_t error;
	const lfpool_status_t status = lfpool_registry_load(registry, profile, &error);

	assert_true(status == LFPOOL_OK || status == LFPOOL_E_NO_MEMORY);
	assert_string_equal(error.text, status == LFPOOL_OK ? "" : lfpool_status_string(status));
	assert_int_equal(error.line, 0);
}

/* True if the n-th call was refused, that is, if there were that many. */
static bool scenario(unsigned long n)
{
	lfpool_registry_t *registry = (lfpool_registry_t *)(uintptr_t)1;
	lfpool_registry_report_t report = LFPOOL_REGISTRY_REPORT_INIT;
	lfpool_profile_error_t error;
	char text[4096];

	(void)os_testing_refuse(n);
	const lfpool_status_t status = lfpool_registry_create(&registry, profile, &error);

	if (status != LFPOOL_OK) {
		assert_int_equal(status, LFPOOL_E_NO_MEMORY);
		assert_null(registry);
		assert_string_equal(error.text, lfpool_status_string(status));
		return os_testing_refuse(0) >= n;
	}
	const size_t made = fill(registry);

	load(registry);
	for (char name[] = "a"; *name <= 'q'; ++*name) {
		assert_int_equal(lfpool_registry_switch(registry, name, &report), LFPOOL_OK);
		assert_int_equal(report.pools, made);
	}
	assert_true(lfpool_registry_dump(registry, LFPOOL_TEXT, text, sizeof(text)) < sizeof(text));

	const bool refused = os_testing_refuse(0) >= n;

	/* Everything is there that was not refused, and what was can be made up for. */
	assert_true(made + refused >= POOLS);
	assert_int_equal(lfpool_registry_switch(registry, "h", &report), LFPOOL_OK);
	assert_int_equal(report.pools_short, 0);

	for (size_t i = 0; i < POOLS; i++) {
		char name[] = "p0";

		name[1] = (char)('0' + i);
		if (lfpool_registry_find(registry, name))
			require_whole(lfpool_registry_find(registry, name), SIZE);
	}
	assert_int_equal(lfpool_registry_destroy(registry), 0);
	return refused;
}

TEST(refuse_each_in_turn)
{
	unsigned long n = 1;

	/* Once undisturbed: this thread's own table and the list of pools stay. */
	(void)scenario(0);
	const struct held before = held_now();

	for (; scenario(n); n++) {
		const struct held after = held_now();

		assert_int_equal(after.mapped, before.mapped);
		assert_int_equal(after.blocks, before.blocks);
	}
	print_message("each of %lu calls refused\n", n - 1);
	assert_true(n > 20);
}

RUN_TESTS()
