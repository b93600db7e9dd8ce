/* SPDX-License-Identifier: MIT */
/* pin.h - keeps a thread on one processor: two threads that yield to each other tend to share one. */
#ifndef LFPOOL_TESTS_PIN_H
#define LFPOOL_TESTS_PIN_H

#include <sched.h>

static cpu_set_t pin_allowed;

/* Before main(): a thread that is pinned, and those that it makes, would be told of one processor only. */
__attribute__((constructor)) static void pin_ask(void)
{
	if (sched_getaffinity(0, sizeof(pin_allowed), &pin_allowed))
		CPU_ZERO(&pin_allowed);
}

/* On the n-th processor that the program may use, counted round.  Where it cannot be had, the thread stays free. */
static inline void pin_thread(unsigned n)
{
	cpu_set_t one;

	if (!CPU_COUNT(&pin_allowed))
		return;
	n %= (unsigned)CPU_COUNT(&pin_allowed);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &pin_allowed) && n-- == 0) {
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			(void)sched_setaffinity(0, sizeof(one), &one);
			return;
		}
}

#endif
