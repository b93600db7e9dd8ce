/* SPDX-License-Identifier: MIT */
/*
 * test_histogram.c - the histogram of latencies against a sorted array.
 */
#include "common/harness.h"
#include "common/test.h"

#include "common/latency.h"

#include <math.h>
#include <string.h>

/* At most half a bucket, 1/64 of the value, plus the half tick between two whole values is lost; twice as much
 * is allowed. */
#define ERROR_ALLOWED 0.032
#define VALUES 50000

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Values of all magnitudes, equally often; or, like latencies, mostly close together with a few far off. */
TEST(quantiles_are_those_of_a_sorted_array)
{
	static const double fractions[] = {0, .01, .5, .9, .99, .999, .99999, 1};
	static uint64_t values[VALUES];
	static struct histogram parts[2];
	struct random random = random_for(test_seed("quantiles_are_those_of_a_sorted_array"), 0);

	for (int round = 0; round < 20; round++) {
		memset(parts, 0, sizeof(parts));
		for (size_t i = 0; i < VALUES; i++) {
			values[i] = round % 2
					    ? (20 + random_below(&random, 40)) << (random_below(&random, 1000) ? 0 : 15)
					    : random_next(&random) >> random_below(&random, 64);
			histogram_add(&parts[i % 2], values[i]);
		}
		histogram_merge(&parts[0], &parts[1]);
		qsort(values, VALUES, sizeof(*values), by_value);
		assert_true(parts[0].count == VALUES && parts[0].max == values[VALUES - 1]);
		for (size_t i = 0; i < sizeof(fractions) / sizeof(*fractions); i++) {
			const double rank = ceil(fractions[i] * VALUES);
			const double exact = (double)values[rank < 1 ? 0 : (size_t)rank - 1];

			assert_true(fabs(histogram_quantile(&parts[0], fractions[i]) - exact) <= ERROR_ALLOWED * exact);
		}
	}
}

RUN_TESTS()
