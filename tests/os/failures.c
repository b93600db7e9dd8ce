/* SPDX-License-Identifier: MIT */
/*
 * failures.c - the operating system refuses the n-th call, for every n, while pools of all kinds are made and used
 * (tests/refusals/lives.h): what cannot be is not, nothing else is lost, and nothing is left behind.
 *
 * The same with every error and with all calls that follow refused: tests/refusals.  This one runs under sanitizers and emulators too.
 * (A pool in a buffer asks for nothing: test_no_kernel.c.)
 */
#include "../refusals/lives.h"
#include "../support/held.h"

void (*on_call)(enum refusal which);

/* True if the n-th call was refused, that is, if there were that many; none if n is 0. */
static bool was_refused(const struct life *life, unsigned long n)
{
	(void)os_testing_refuse(n);
	errno_mark();
	life->live(life, n == 0);
	return os_testing_refuse(0) >= n;
}

TEST(each_call_refused)
{
	shared = calloc(1, sizeof(*shared));
	REQUIRE(shared);
	for (size_t i = 0; i < life_count; i++) {
		struct life life = lives[i];
		unsigned long n = 1;

		/* One process is enough here. */
		life.forks = false;
		/* Once undisturbed: this thread's own table and the list of pools stay for the next pool. */
		(void)was_refused(&life, 0);
		const struct had before = had_now();

		for (; was_refused(&life, n); n++)
			require_had(before);
		print_message("    %s: %lu calls refused\n", life.name, n - 1);
		/* An evicting pool with a mutex has the fewest: its memory, its pages and its mutex. */
		assert_true(n > 3);
		require_had(before);
	}
	free(shared);
}

RUN_TESTS()
