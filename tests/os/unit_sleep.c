/* SPDX-License-Identifier: MIT */
/* unit_sleep.c - os_sleep_on() and os_wake(): which half of the word counts, deadlines, and two threads that wake
 * each other. */
#include "../support/support.h"

#include "base/atomics.h"
#include "os/os.h"

#include <errno.h>

enum { ROUNDS = 2000 };
static const uint64_t millisecond = 1000000, hang_ns = UINT64_C(10000000000);

TEST(sleep_returns_at_once_for_another_value)
{
	_Atomic(uint64_t) word = 1;

	/* If it slept, it would sleep for ever. */
	os_sleep_on(&word, 0, UINT64_MAX);
	os_sleep_on(&word, 3, UINT64_MAX);
	atomic_init(&word, UINT64_C(0x8000000080000000));
	os_sleep_on(&word, UINT64_C(0x8000000000000000), UINT64_MAX);
}

TEST(sleep_compares_the_lower_half_only)
{
	_Atomic(uint64_t) word = UINT64_C(0xffffffff00000007);
	const uint64_t deadline = os_now_ns() + millisecond;
	unsigned long calls = 0;

	/* It may return early, but less often than without sleeping. */
	do {
		os_sleep_on(&word, UINT64_C(0x1200000007), deadline);
		calls++;
	} while (os_now_ns() < deadline);
	assert_in_range(calls, 1, 100);
}

TEST(sleep_ends_at_its_deadline)
{
	_Atomic(uint64_t) word = 0;

	errno = EDOM;
	os_sleep_on(&word, 0, 0);
	os_sleep_on(&word, 0, 1);
	os_sleep_on(&word, 0, os_now_ns());
	os_sleep_on(&word, 0, os_now_ns() + millisecond);
	assert_int_equal(errno, EDOM);
}

/* ---- Two threads ---- */

static _Atomic(uint64_t) words[2];

/* Waits until words[i] is not 0, and sets it to 0. */
static void await(int i, uint64_t deadline)
{
	/* acquire: the writes before the word. */
	while (!(uint32_t)load_acquire(&words[i])) {
		REQUIRE(os_now_ns() < deadline || deadline == UINT64_MAX);
		os_sleep_on(&words[i], 0, deadline);
	}
	/* relaxed: the other side has finished with it. */
	store_relaxed(&words[i], 0);
}

static int balls;

static void *answer(void *unused)
{
	for (int round = 0; round < ROUNDS; round++) {
		await(1, os_now_ns() + hang_ns);
		balls++;
		/* release: the ball. */
		store_release(&words[0], 1);
		os_wake(&words[0]);
	}
	return unused;
}

TEST(each_wake_ends_a_sleep)
{
	pthread_t other;

	thread_start(&other, answer, NULL);
	for (int round = 0; round < ROUNDS; round++) {
		balls++;
		/* release: the ball. */
		store_release(&words[1], 1);
		os_wake(&words[1]);
		/* Without a deadline, with one far in the future, and with a near one: a lost wake-up would hang
		 * here, and the other thread would end it. */
		await(0, round % 3 == 0   ? UINT64_MAX
			 : round % 3 == 1 ? UINT64_MAX - 1 - (uint64_t)round
					  : os_now_ns() + hang_ns);
	}
	pthread_join(other, NULL);
	assert_int_equal(balls, 2 * ROUNDS);
}

RUN_TESTS()
