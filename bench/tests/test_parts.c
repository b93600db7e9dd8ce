/* SPDX-License-Identifier: MIT */
/*
 * test_parts.c - what the loops stand on: the ring, the barrier, and the histogram of latencies against a sorted array.
 */
#include "common/harness.h"
#include "common/test.h"

#include "common/latency.h"
#include "../barrier.h"
#include "../ring.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- The ring ---- */

#define POINTERS 300000

/* It pauses now and then, so that the ring is full at times, and empty at others. */
struct side {
	struct ring *ring;
	struct random random;
	uint64_t *contents; /* what the pointers point to: plain, so that a missing edge is a race */
};

static void dawdle(struct random *random)
{
	if (random_below(random, RING_CAPACITY) == 0)
		for (uint32_t i = random_below(random, 20); i > 0; i--)
			(void)sched_yield();
}

static void *produce(void *argument)
{
	struct side *side = argument;

	for (size_t i = 0; i < POINTERS; i++) {
		dawdle(&side->random);
		side->contents[i] = i * UINT64_C(0x9e3779b97f4a7c15);
		ring_push(side->ring, &side->contents[i]);
	}
	ring_publish_pushed(side->ring);
	return NULL;
}

/* The counters are numbers that may wrap around. */
TEST(order_and_content_survive_two_threads)
{
	const uint64_t seed = test_seed("order_and_content_survive_two_threads");
	struct side in = {aligned_alloc(RING_LINE, sizeof(struct ring)), random_for(seed, 0), calloc(POINTERS, sizeof(uint64_t))};
	struct random random = random_for(seed, 1);
	pthread_t producer;

	assert_true(in.ring && in.contents);
	memset(in.ring, 0, sizeof(*in.ring));
	in.ring->pushed = in.ring->placed = in.ring->popped = in.ring->taken = SIZE_MAX - RING_CAPACITY / 2;
	in.ring->pushed_seen = in.ring->popped_seen = in.ring->pushed;
	thread_start(&producer, produce, &in);
	for (size_t i = 0; i < POINTERS; i++) {
		dawdle(&random);

		uint64_t *pointer = ring_pop(in.ring);

		assert_ptr_equal(pointer, &in.contents[i]);
		assert_true(*pointer == i * UINT64_C(0x9e3779b97f4a7c15));
		/* Ours now: the producer has nothing to do with it any more. */
		*pointer = 0;
	}
	assert_null(ring_try_pop(in.ring));
	(void)pthread_join(producer, NULL);
	free(in.contents);
	free(in.ring);
}

/* ---- The barrier ---- */

#define THREADS 8

static struct barrier barrier = BARRIER_INITIALIZER;
static int rounds[THREADS]; /* plain: each written by one thread, read by all; the barrier orders it */

static void *meet_again_and_again(void *round)
{
	for (; *(int *)round < 200; ++*(int *)round) {
		/* The last thread is late now and then: the others fall asleep. */
		if (round == &rounds[THREADS - 1] && *(int *)round % 50 == 0)
			(void)usleep(1000);
		barrier_wait(&barrier, THREADS);
		for (int i = 0; i < THREADS; i++)
			REQUIRE(rounds[i] == *(int *)round);
		barrier_wait(&barrier, THREADS);
	}
	return NULL;
}

TEST(a_barrier_lets_no_thread_pass_before_the_last)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		thread_start(&threads[i], meet_again_and_again, &rounds[i]);
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
}

/* ---- The histogram ---- */

/* Half a bucket, 1/64 of the value, plus the half tick between two whole values, is the most that is lost; twice that is
 * allowed. */
#define ERROR_ALLOWED 0.032
#define VALUES 50000

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Of all magnitudes, equally often; or most near each other and a few far off, as latencies are. */
TEST(quantiles_are_those_of_a_sorted_array)
{
	static const double fractions[] = {0, .01, .5, .9, .99, .999, .99999, 1};
	static uint64_t values[VALUES];
	static struct histogram parts[2];
	struct random random = random_for(test_seed("quantiles_are_those_of_a_sorted_array"), 0);

	for (int round = 0; round < 20; round++) {
		memset(parts, 0, sizeof(parts));
		for (size_t i = 0; i < VALUES; i++) {
			values[i] = round % 2 ? (20 + random_below(&random, 40)) << (random_below(&random, 1000) ? 0 : 15)
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

/* A wait by the system's clock, read by ours: the length of a tick is right.  It waits longer than asked, never shorter. */
TEST(ticks_are_nanoseconds_after_all)
{
	const uint64_t start_ns = now_ns(), start = clock_read();

	while (now_ns() - start_ns < 20000000)
		;

	const double took_ns = (double)(clock_read() - start) * clock_tick_ns();

	assert_true(took_ns > 0.98 * 20000000 && took_ns < 1.02 * (double)(now_ns() - start_ns));
}

RUN_TESTS()
