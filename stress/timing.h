/* SPDX-License-Identifier: MIT */
/*
 * timing.h - how long a worker's calls take, for the scenario that reports it (soak).  No other has a clock in its way.
 */
#ifndef STRESS_TIMING_H
#define STRESS_TIMING_H

#include "common/latency.h"

enum timed { TIMED_ACQUIRE, TIMED_RELEASE, TIMED_WAIT, TIMED_KINDS };

struct timing {
	struct histogram of[TIMED_KINDS]; /* ticks */
};

static inline uint64_t timing_begin(const struct timing *timing)
{
	return timing ? clock_read() : 0;
}

static inline void timing_end(struct timing *timing, enum timed kind, uint64_t begin)
{
	if (timing)
		histogram_add(&timing->of[kind], clock_read() - begin);
}

#endif
