/* SPDX-License-Identifier: MIT */
/*
 * latency.h - a clock that is cheap enough to time one call, and a histogram that loses only digits.
 *
 * Idea         The processor's time-stamp counter where there is one, otherwise the system's monotonic clock;
 *              latency.c measures the length of a tick.  The histogram is log-linear, like HdrHistogram (Tene 2012):
 *              each power of two is divided into 32 equal buckets, so a value is known to 3 %, from 1 tick to 2^64 -
 *              1.
 * Invariants   L1  greatest(b) + 1 == least(b + 1), and bucket(least(b)) == bucket(greatest(b)) == b.
 */
#ifndef LFPOOL_LATENCY_H
#define LFPOOL_LATENCY_H

#include "common/harness.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HISTOGRAM_STEPS 32 /* buckets in each power of two */
#define HISTOGRAM_BUCKETS (60 * HISTOGRAM_STEPS)

/* The histogram of one thread. */
struct histogram {
	uint64_t count, max;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

/* Ticks. */
static inline uint64_t clock_read(void)
{
#if defined(__x86_64__)
	unsigned processor;
	uint64_t ticks;

	/* The processor waits for earlier instructions; later ones may begin early, by less than the reading takes.
	 * The compiler moves no memory access across the reading. */
	__asm__ __volatile__("" : : : "memory");
	ticks = __builtin_ia32_rdtscp(&processor);
	__asm__ __volatile__("" : : : "memory");
	return ticks;
#else
	return now_ns();
#endif
}

static inline unsigned histogram_bucket(uint64_t ticks)
{
	if (ticks < HISTOGRAM_STEPS)
		return (unsigned)ticks;

	/* The five bits below the highest set bit choose the step. */
	unsigned power = 63u - (unsigned)__builtin_clzll(ticks);

	return (power - 4) * HISTOGRAM_STEPS + (unsigned)(ticks >> (power - 5)) % HISTOGRAM_STEPS;
}

static inline void histogram_add(struct histogram *h, uint64_t ticks)
{
	h->bucket[histogram_bucket(ticks)]++;
	h->count++;
	if (ticks > h->max)
		h->max = ticks;
}

/* ---- latency.c ---- */

/* Adds `other` to `sum`. */
void histogram_merge(struct histogram *sum, const struct histogram *other);
/* The value, in ticks, that `fraction` (0 .. 1) of all entries do not exceed: the middle of its bucket; for 1 the
 * greatest entry itself.  0 without entries. */
double histogram_quantile(const struct histogram *h, double fraction);
/* Nanoseconds of a tick. */
double clock_tick_ns(void);
/* The median, in nanoseconds, of two readings with nothing between them. */
double clock_cost_ns(void);

#ifdef __cplusplus
}
#endif

#endif
