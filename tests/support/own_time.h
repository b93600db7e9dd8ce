/* SPDX-License-Identifier: MIT */
/*
 * own_time.h - a clock and a futex of the test's own, between the library and the system.  The test says
 * wrap=clock_gettime wrap=syscall wrap=backing_map, and has one thread that waits.
 *
 * Idea         The clock stands still, except that each look at it takes one tick, and a sleep ends exactly when its
 *              deadline says, or when the thread is woken.  So no load of the machine changes a test.  The function
 *              `in_sleep` does the work of other threads while a call sleeps; `at_next_look` does it while a call
 *              looks at the clock.
 */
#ifndef LFPOOL_TESTS_OWN_TIME_H
#define LFPOOL_TESTS_OWN_TIME_H

#include "support.h"

#include "base/atomics.h"
#include "os/os.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>

enum { TICK_NS = 100 };
static const uint64_t second_ns = 1000000000;

_Static_assert(OS_FUTEX_WAKE == FUTEX_WAKE && OS_FUTEX_WAIT_BITSET == FUTEX_WAIT_BITSET, "linux/futex.h");
_Static_assert(OS_FUTEX_PRIVATE_FLAG == FUTEX_PRIVATE_FLAG && OS_FUTEX_BITSET_MATCH_ANY == (int)FUTEX_BITSET_MATCH_ANY,
	       "linux/futex.h");
_Static_assert(OS_MEMBARRIER_QUERY == (int)MEMBARRIER_CMD_QUERY, "linux/membarrier.h");
_Static_assert(OS_MEMBARRIER_PRIVATE_EXPEDITED == (int)MEMBARRIER_CMD_PRIVATE_EXPEDITED, "linux/membarrier.h");
_Static_assert(OS_MEMBARRIER_REGISTER_PRIVATE_EXPEDITED == (int)MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
	       "linux/membarrier.h");

static uint64_t clock_ns = 1000000007;
static unsigned sleeps;                               /* so far, including the one in progress */
static void (*in_sleep)(void), (*at_next_look)(void); /* at_next_look runs once */
static long sleeps_on;                                /* the word's address; 0: no thread sleeps, or it was woken */
static bool maps_nothing;

int __wrap_clock_gettime(clockid_t clock, struct timespec *now_out);
void *__wrap_backing_map(uint32_t flags, size_t bytes);
void *__real_backing_map(uint32_t flags, size_t bytes);
long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now_out)
{
	void (*const others)(void) = at_next_look;

	at_next_look = NULL;
	if (others)
		others();
	REQUIRE(clock == CLOCK_MONOTONIC);
	clock_ns += TICK_NS;
	*now_out = (struct timespec){.tv_sec = (time_t)(clock_ns / second_ns), .tv_nsec = (long)(clock_ns % second_ns)};
	return 0;
}

void *__wrap_backing_map(uint32_t flags, size_t bytes)
{
	return maps_nothing ? NULL : __real_backing_map(flags, bytes);
}

static void sleep_until(long word, const struct timespec *deadline)
{
	sleeps++;
	REQUIRE(sleeps_on == 0);
	sleeps_on = word;
	if (in_sleep)
		in_sleep();
	if (sleeps_on) {
		/* No other thread could end a sleep without a deadline. */
		REQUIRE(deadline);
		const uint64_t until = (uint64_t)deadline->tv_sec * second_ns + (uint64_t)deadline->tv_nsec;

		if (until > clock_ns)
			clock_ns = until;
	}
	sleeps_on = 0;
}

long __wrap_syscall(long number, ...)
{
	long argument[6];
	va_list arguments;

	va_start(arguments, number);
	for (size_t i = 0; i < COUNT(argument); i++)
		argument[i] = va_arg(arguments, long);
	va_end(arguments);

	bool is_futex = number == SYS_futex;
#ifdef SYS_futex_time64
	is_futex |= number == SYS_futex_time64;
#endif
	if (is_futex && (argument[1] & FUTEX_CMD_MASK) == FUTEX_WAKE && argument[0] == sleeps_on)
		sleeps_on = 0;
	if (!is_futex || (argument[1] & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET)
		return __real_syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4],
				      argument[5]);
	/* The deadline must be a time of this file's clock, which is monotonic. */
	REQUIRE(!(argument[1] & FUTEX_CLOCK_REALTIME));
	sleep_until(argument[0], (const struct timespec *)argument[3]);
	return 0;
}

#endif
