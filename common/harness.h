/* SPDX-License-Identifier: MIT */
/*
 * harness.h - the few things that the stress harness, the benchmarks, the examples and the tests all need: a clock, a
 * seeded random number generator, threads that start together, lists of numbers on a command line.
 */
#ifndef LFPOOL_HARNESS_H
#define LFPOOL_HARNESS_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Nanoseconds of a clock. */
static inline uint64_t now_by(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return now_by(CLOCK_MONOTONIC);
}

/* Processor time of the process, by all of its threads so far. */
static inline uint64_t processor_ns(void)
{
	return now_by(CLOCK_PROCESS_CPUTIME_ID);
}

/* SplitMix64 (Steele, Lea, Flood 2014): every seed is good, equal seeds give equal sequences. */
struct random {
	uint64_t state;
};

static inline uint64_t random_next(struct random *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0 .. bound - 1, bound at least 1 and below 2^32. */
static inline uint32_t random_below(struct random *r, uint32_t bound)
{
	return (uint32_t)((random_next(r) >> 32) * bound >> 32);
}

/* low .. high. */
static inline float random_between(struct random *r, float low, float high)
{
	return low + (high - low) * (float)(random_next(r) >> 40) * (1.0f / (1 << 24));
}

/* The generator of one of several threads that share a seed. */
static inline struct random random_for(uint64_t seed, unsigned thread)
{
	struct random r = {seed ^ (uint64_t)thread * UINT64_C(0xd1342543de82ef95)};

	(void)random_next(&r);
	return r;
}

/* The seed of a random test: the variable LFPOOL_TEST_SEED, or a new one; printed, so that a failure can be
 * replayed. */
static inline uint64_t test_seed(const char *test)
{
	const char *text = getenv("LFPOOL_TEST_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : now_ns();

	printf("%s: LFPOOL_TEST_SEED=%llu\n", test, (unsigned long long)seed);
	fflush(stdout);
	return seed;
}

/* pthread_create() that ends the program with a message when it fails. */
static inline void thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
	int error = pthread_create(thread, NULL, run, argument);

	if (error) {
		fprintf(stderr, "pthread_create: error %d\n", error);
		exit(3);
	}
}

/* Parses "1,2,4" into numbers within minimum .. maximum; false if the text is anything else. */
static inline bool parse_numbers(const char *text, unsigned long minimum, unsigned long maximum,
				 unsigned long *numbers_out, size_t room, size_t *count_out)
{
	size_t count = 0;

	for (;;) {
		char *end;

		errno = 0;
		unsigned long number = strtoul(text, &end, 10);
		if (end == text || *text == '-' || errno || number < minimum || number > maximum || count == room)
			return false;
		numbers_out[count++] = number;
		if (*end == '\0') {
			*count_out = count;
			return true;
		}
		if (*end != ',')
			return false;
		text = end + 1;
	}
}

#endif
