/* SPDX-License-Identifier: MIT */
/*
 * stamps.h - a clock for the history: when did a call begin, and when had it ended, for every processor?
 *
 * Idea         A claim "a ended before b began" is worth something only if each interval contains the effect of its
 *              call.  So no instruction of the call may run before its first stamp is read, and all of its stores must
 *              have left the processor's buffer before its last one is.
 *                begin   rdtscp; lfence           later instructions wait until the counter has been read
 *                end     mfence; rdtscp; lfence   the buffer is empty before the counter is read
 *              Ticks are whole numbers: equal stamps order nothing.
 * Which clock  The time-stamp counter, if it is invariant and the kernel keeps its own time by it; then the kernel has
 *              found the counters of all processors to agree, and goes on watching them.  Else, and on processors other
 *              than x86-64, clock_gettime(CLOCK_MONOTONIC) between fences: slower, and as good.
 */
#ifndef STRESS_STAMPS_H
#define STRESS_STAMPS_H

#include "common/harness.h"

#include <stdatomic.h>

/* Set once by stamps_choose(), before the first stamp. */
extern bool stamps_by_counter;

/* Chooses the clock.  LFPOOL_STAMPS=clock in the environment demands the second one. */
void stamps_choose(void);

#if defined(__x86_64__)

/* Reads the counter when all earlier loads are done, and lets nothing begin before that. */
static inline uint64_t stamps_counter(void)
{
	uint32_t low, high, processor;

	__asm__ __volatile__("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(processor) : : "memory");
	return (uint64_t)high << 32 | low;
}

static inline void stamps_fence(void)
{
	__asm__ __volatile__("mfence" ::: "memory");
}

#else

static inline uint64_t stamps_counter(void)
{
	return now_ns();
}

static inline void stamps_fence(void)
{
	/* seq_cst: everything before it is done before anything after it begins. */
	atomic_thread_fence(memory_order_seq_cst);
}

#endif

/* Before the call. */
static inline uint64_t stamp_begin(void)
{
	if (stamps_by_counter)
		return stamps_counter();

	uint64_t now = now_ns();

	stamps_fence();
	return now;
}

/* After it. */
static inline uint64_t stamp_end(void)
{
	stamps_fence();
	return stamps_by_counter ? stamps_counter() : now_ns();
}

#endif
