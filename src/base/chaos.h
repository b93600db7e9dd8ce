/* SPDX-License-Identifier: MIT */
/*
 * chaos.h - for test builds: a thread dawdles before one atomic operation of LFPOOL_CHAOS.
 *
 * Idea         A race that needs a thread to stop between two adjacent instructions hardly ever happens by itself.  A
 *              short spin, or now and then the processor given away, makes such windows ten thousand times wider.
 */
#ifndef LFPOOL_CHAOS_H
#define LFPOOL_CHAOS_H

#include <sched.h>
#include <stdint.h>

static inline void chaos_point(void)
{
	static _Thread_local uint32_t state;

	/* Knuth's multipliers for a linear congruential generator; threads differ by the address. */
	state = state * UINT32_C(1664525) + UINT32_C(1013904223) + (uint32_t)(uintptr_t)&state;
	uint32_t drawn = state >> 8;

	if (drawn % LFPOOL_CHAOS)
		return;
	if ((drawn >> 16) % 8 == 0) {
		(void)sched_yield();
		return;
	}
	for (uint32_t spins = drawn >> 16; spins; spins--)
		__asm__ __volatile__("");
}

#endif
