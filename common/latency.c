/* SPDX-License-Identifier: MIT */
/* latency.c - reading a histogram, and the length of a tick. */
#include "latency.h"

/* The least and the greatest number of ticks that belong to a bucket. */
static uint64_t histogram_least(unsigned bucket)
{
	if (bucket < HISTOGRAM_STEPS)
		return bucket;

	unsigned power = bucket / HISTOGRAM_STEPS + 4;

	return (uint64_t)(HISTOGRAM_STEPS + bucket % HISTOGRAM_STEPS) << (power - 5);
}

static uint64_t histogram_greatest(unsigned bucket)
{
	return bucket + 1 < HISTOGRAM_BUCKETS ? histogram_least(bucket + 1) - 1 : UINT64_MAX;
}

void histogram_merge(struct histogram *sum, const struct histogram *other)
{
	sum->count += other->count;
	if (other->max > sum->max)
		sum->max = other->max;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		sum->bucket[i] += other->bucket[i];
}

double histogram_quantile(const struct histogram *h, double fraction)
{
	const double rank = fraction * (double)h->count;
	uint64_t seen = 0;

	if (fraction >= 1)
		return (double)h->max;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen && (double)seen >= rank) {
			/* The middle of the bucket, but at most the greatest value seen. */
			double middle = ((double)histogram_least(i) + (double)histogram_greatest(i)) / 2;

			return middle < (double)h->max ? middle : (double)h->max;
		}
	}
	return 0;
}

struct moment {
	uint64_t ns, ticks;
};

/* Both clocks at the same time: the closest of several attempts, because the thread may lose its processor in
 * between. */
static struct moment moment_now(void)
{
	struct moment moment = {0, 0};
	uint64_t closest = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		const uint64_t before = clock_read(), ns = now_ns(), after = clock_read();

		if (after - before < closest) {
			closest = after - before;
			moment = (struct moment){ns, before + closest / 2};
		}
	}
	return moment;
}

double clock_tick_ns(void)
{
	static double tick_ns;

	/* Measures for so long that 0.1 us more or less at either end is 0.01 %. */
	if (tick_ns == 0) {
		const struct moment start = moment_now();
		struct moment end;

		do
			end = moment_now();
		while (end.ns - start.ns < 2000000);
		tick_ns = (double)(end.ns - start.ns) / (double)(end.ticks - start.ticks);
	}
	return tick_ns;
}

double clock_cost_ns(void)
{
	struct histogram *h = calloc(1, sizeof(*h));
	double ticks;

	if (!h)
		return 0;
	for (int i = 0; i < 10000; i++) {
		uint64_t start = clock_read();

		histogram_add(h, clock_read() - start);
	}
	ticks = histogram_quantile(h, 0.5);
	free(h);
	return ticks * clock_tick_ns();
}
