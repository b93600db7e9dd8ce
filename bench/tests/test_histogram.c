/* SPDX-License-Identifier: MIT */
/*
 * test_histogram.c - the latency histogram against a sorted array, and its clock.
 */
#include "common/harness.h"
#include "common/test.h"

#include "common/latency.h"

#include <math.h>

/* Half a bucket, 1/64 of the value, plus the half tick between two whole values, is the most that is lost; twice that is
 * allowed. */
#define ERROR_ALLOWED 0.032

#define VALUES 50000

static struct histogram h;

/* Invariant L1 for one bucket. */
static void check_bucket(unsigned bucket)
{
	assert_int_equal(histogram_bucket(histogram_least(bucket)), bucket);
	assert_int_equal(histogram_bucket(histogram_greatest(bucket)), bucket);
	assert_true(histogram_least(bucket) <= histogram_greatest(bucket));
	if (bucket + 1 < HISTOGRAM_BUCKETS)
		assert_true(histogram_greatest(bucket) + 1 == histogram_least(bucket + 1));
}

TEST(buckets_follow_each_other)
{
	for (unsigned bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++)
		check_bucket(bucket);
	assert_true(histogram_least(0) == 0);
	assert_true(histogram_greatest(HISTOGRAM_BUCKETS - 1) == UINT64_MAX);
}

/* Of all magnitudes, equally often. */
static uint64_t any_magnitude(struct random *random)
{
	return random_next(random) >> random_below(random, 64);
}

/* As latencies are: most near each other, a few far off. */
static uint64_t like_latencies(struct random *random)
{
	const uint64_t value = 20 + random_below(random, 40);

	return random_below(random, 1000) ? value : value << random_below(random, 20);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void check_quantiles(const uint64_t *sorted, size_t count)
{
	static const double fractions[] = {0, .01, .05, .1, .25, .5, .75, .9, .95, .99, .999, .9999, .99999, 1};

	for (size_t i = 0; i < sizeof(fractions) / sizeof(*fractions); i++) {
		const double rank = ceil(fractions[i] * (double)count);
		const double exact = (double)sorted[rank < 1 ? 0 : (size_t)rank - 1];
		const double found = histogram_quantile(&h, fractions[i]);

		if (fabs(found - exact) > ERROR_ALLOWED * exact)
			fail_msg("fraction %g: %.1f, but exactly it is %.1f", fractions[i], found, exact);
	}
	assert_true(histogram_quantile(&h, 1) == (double)sorted[count - 1]);
}

static void compare_with_sorted(struct random *random, uint64_t (*value)(struct random *), size_t count)
{
	uint64_t *values = malloc(count * sizeof(*values));

	assert_non_null(values);
	h = (struct histogram){0};
	for (size_t i = 0; i < count; i++) {
		values[i] = value(random);
		histogram_add(&h, values[i]);
	}
	assert_true(h.count == count);
	qsort(values, count, sizeof(*values), by_value);
	assert_true(h.max == values[count - 1]);
	check_quantiles(values, count);
	free(values);
}

TEST(quantiles_are_those_of_a_sorted_array)
{
	struct random random = random_for(test_seed("quantiles_are_those_of_a_sorted_array"), 0);

	for (int round = 0; round < 20; round++) {
		compare_with_sorted(&random, any_magnitude, 1 + random_below(&random, 50));
		compare_with_sorted(&random, like_latencies, 1 + random_below(&random, 50));
		compare_with_sorted(&random, any_magnitude, VALUES);
		compare_with_sorted(&random, like_latencies, VALUES);
	}
}

TEST(merged_is_as_if_added_to_one)
{
	static struct histogram all, parts[3], sum;
	struct random random = random_for(test_seed("merged_is_as_if_added_to_one"), 0);

	for (int i = 0; i < VALUES; i++) {
		const uint64_t value = any_magnitude(&random);

		histogram_add(&all, value);
		histogram_add(&parts[random_below(&random, 3)], value);
	}
	for (int i = 0; i < 3; i++)
		histogram_merge(&sum, &parts[i]);
	assert_memory_equal(&sum, &all, sizeof(all));
}

TEST(nothing_has_no_quantile)
{
	h = (struct histogram){0};
	assert_true(histogram_quantile(&h, 0) == 0);
	assert_true(histogram_quantile(&h, .5) == 0);
	assert_true(histogram_quantile(&h, 1) == 0);
}

/* Plausible: a processor between 100 MHz and 20 GHz, or nanoseconds; a reading is not longer than a microsecond's hundred. */
TEST(the_clock_goes_forward)
{
	uint64_t before = clock_read();

	for (int i = 0; i < 1000; i++) {
		const uint64_t now = clock_read();

		assert_true(now >= before);
		before = now;
	}
	assert_true(clock_tick_ns() > 0.05 && clock_tick_ns() < 10);
	assert_true(clock_step_ns() >= clock_tick_ns() * 0.99);
	assert_true(clock_cost_ns() < 100000);
}

/* A wait by the system's clock, read by ours: the length of a tick is right.  It waits longer than asked, never shorter. */
TEST(ticks_are_nanoseconds_after_all)
{
	const double tick_ns = clock_tick_ns();
	const uint64_t start_ns = now_ns(), start = clock_read();

	while (now_ns() - start_ns < 20000000)
		;
	const double took_ns = (double)(clock_read() - start) * tick_ns, end_ns = (double)(now_ns() - start_ns);

	assert_true(took_ns > 0.98 * 20000000);
	assert_true(took_ns < 1.02 * end_ns);
}

RUN_TESTS()
