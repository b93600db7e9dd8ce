/* SPDX-License-Identifier: MIT */
/*
 * refusals.h - in some rounds the system refuses: memory to grow into, places in the queue, caches, what a trim asks for.
 *
 * Idea         The chaos build is linked with the door through which the library asks the system for anything (os.h, built with
 *              LFPOOL_TESTING); the workers close it for the n-th call from now on.  A call may then do less, and says
 *              so; nothing may be lost, and all sums must hold.  NULL may be right at any time, so only in rounds where
 *              it is not judged.  At meetings the door is open.
 */
#ifndef STRESS_REFUSALS_H
#define STRESS_REFUSALS_H

#include "common/harness.h"

/* src/os/os.h; not there in the other builds. */
extern unsigned long os_testing_refuse(unsigned long n) __attribute__((weak));

/* A choice of its own, so that a seed draws what it drew before. */
static inline bool refusals_draw(uint64_t seed)
{
	struct random random = random_for(seed, 1002);

	return os_testing_refuse && random_below(&random, 3) == 0;
}

/* The n-th call from now on; 0: none. */
static inline void refusals_next(bool wanted, unsigned long n)
{
	if (wanted)
		(void)os_testing_refuse(n);
}

#endif
