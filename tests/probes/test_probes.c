/* SPDX-License-Identifier: MIT */
/* test_probes.c - the probes of docs/observability.md fire when they should, with the right arguments, and as often
 * as lfpool_stats() counts. */
#include "../support/support.h"
#include "../support/told.h"
#include "traps.h"

#define NAME "the pool with the probes"

enum { FIRST = 600, MORE = 50, ALL = FIRST + MORE, CALLS = 2000, CACHES = 2 };

static void *held[ALL];

/* ---- What was hit ------------------------------------------------------------------------------------------ */

/* The number of hits; argument `which`, if it exists, must be `value`, unless which is -1. All are of a pool with
 * this name. */
static size_t hits_with(const char *probe, int which, int64_t value)
{
	size_t found = 0;

	for (size_t i = 0; i < hit_count; i++) {
		assert_true(hits[i].arguments >= 2);
		if (strcmp(hits[i].probe, probe) != 0)
			continue;
		assert_string_equal((const char *)(intptr_t)hits[i].argument[1], NAME);
		assert_true(which < (int)hits[i].arguments);
		found += which < 0 || hits[i].argument[which] == value;
	}
	return found;
}

static uint64_t sum_of(const char *probe, int which)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < hit_count; i++)
		sum += strcmp(hits[i].probe, probe) == 0 ? (uint64_t)hits[i].argument[which] : 0;
	return sum;
}

/* The last hit must be this one, of this pool, with these arguments. */
static void require_last(const void *pool, const char *probe, int64_t third, int64_t fourth)
{
	const struct hit *hit = &hits[hit_count - 1];

	assert_true(hit_count > 0);
	assert_string_equal(hit->probe, probe);
	assert_int_equal(hit->argument[0], (intptr_t)pool);
	assert_true(hit->arguments < 3 || hit->argument[2] == third);
	assert_true(hit->arguments < 4 || hit->argument[3] == fourth);
}

static void require_counted(uint64_t counted, uint64_t hit)
{
	assert_int_equal(hit, counted);
	assert_true(counted > 0);
}

/* ---- The tests --------------------------------------------------------------------------------------------- */

static lfpool_t *open_pool(lfpool_backend_t backend)
{
	hit_count = 0;
	told_forget();
	return POOL_OF(4096, FIRST, .name = NAME, .max_capacity = ALL, .cache_capacity = 64, .backend = backend,
		       .hooks.misuse = hear);
}

/* Each probe once, except the lock-free pool's internal ones. */
BACKEND_TEST(each_probe_reports_its_call, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = open_pool(backend);
	int foreign;

	require_last(pool, "create", 4096, FIRST);
	assert_int_equal(lfpool_release(pool, &foreign), LFPOOL_E_FOREIGN);
	require_last(pool, "misuse", (intptr_t)&foreign, LFPOOL_E_FOREIGN);
	assert_int_equal(lfpool_grow(pool, MORE), MORE);
	require_last(pool, "grow", MORE, ALL);
	assert_int_equal(acquire_all(pool, held, ALL), ALL);
	assert_int_equal(hits_with("exhausted", -1, 0), 0);
	assert_null(lfpool_acquire(pool));
	assert_int_equal(hits_with("exhausted", -1, 0), 1);
	/* A wait has a begin and an end, but neither if there is an object at once. */
	assert_null(lfpool_acquire_wait(pool, 1000));
	assert_int_equal(hits_with("wait_begin", -1, 0), 1);
	require_last(pool, "wait_end", 0, 0);
	assert_int_equal(lfpool_shrink(pool, 2), 0);
	require_last(pool, "shrink", 2, 0);
	assert_int_equal(lfpool_shrink_cancel(pool), 2);
	release_all(pool, held, ALL);
	assert_int_equal(lfpool_release(pool, lfpool_acquire_wait(pool, -1)), LFPOOL_OK);
	assert_int_equal(hits_with("wait_begin", -1, 0), 1);
	(void)lfpool_trim(pool, 0, SIZE_MAX);

	const lfpool_stats_t stats = stats_of(pool);

	require_counted(stats.given_back, sum_of("trim", 2));
	require_counted(stats.exhausted, hits_with("exhausted", -1, 0));
	require_counted(stats.misuses, hits_with("misuse", -1, 0));
	assert_int_equal(lfpool_destroy(pool), 0);
	require_last(pool, "destroy", 0, 0);
}

/* Random calls on one thread with two caches: counters and hits must agree exactly. */
TEST(probes_fire_as_often_as_the_counters)
{
	struct random random = random_for(test_seed("probes_fire_as_often_as_the_counters"), 0);
	lfpool_t *pool = open_pool(LFPOOL_BACKEND_LOCKFREE);
	lfpool_cache_t *caches[CACHES];
	size_t held_count = 0;

	for (size_t i = 0; i < CACHES; i++)
		assert_non_null(caches[i] = lfpool_cache_create(pool));
	for (int i = 0; i < CALLS; i++) {
		lfpool_cache_t *cache = caches[random_below(&random, CACHES)];
		const size_t count = random_below(&random, 200);

		if (random_below(&random, 2))
			for (size_t k = 0; k < count && (held[held_count] = lfpool_cache_acquire(cache)); k++)
				held_count++;
		else
			for (size_t k = 0; k < count && held_count; k++)
				assert_int_equal(lfpool_cache_release(cache, held[--held_count]), LFPOOL_OK);
	}

	const lfpool_stats_t stats = stats_of(pool);

	require_counted(stats.exhausted, hits_with("exhausted", -1, 0));
	require_counted(stats.refills, hits_with("miss", 2, 0));
	require_counted(stats.drains, hits_with("miss", 2, 1));
	require_counted(stats.depot_trips, hits_with("trip", -1, 0));
	/* An object, or a whole magazine. */
	assert_true(hits_with("steal", 2, 0) > 0 && hits_with("steal", 2, 1) > 0);
	assert_int_equal(hits_with("steal", 2, 0) + hits_with("steal", 2, 1), stats.steals);
	assert_int_equal(lfpool_destroy(pool), held_count);
}

/* A pool that grows automatically fires it once per step. */
TEST(automatic_growth_fires_a_probe)
{
	hit_count = 0;

	lfpool_t *pool = POOL_OF(64, 10, .name = NAME, .max_capacity = 100, .growth_step = 30);

	assert_int_equal(acquire_all(pool, held, 100), 100);
	assert_int_equal(hits_with("grow", 2, 30), 3);
	assert_int_equal(hits_with("grow", -1, 0), 3);
	release_all(pool, held, 100);
	assert_int_equal(lfpool_destroy(pool), 0);
}

int main(void)
{
	if (traps_set() == 0) {
		fprintf(stderr, "no probes\n");
		return 1;
	}
	return tests_run(NULL, NULL);
}
