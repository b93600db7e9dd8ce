/* SPDX-License-Identifier: MIT */
/*
 * test.h - test programs with cmocka, without a list of the tests: each TEST(name) { ... } is run.
 *
 * Idea         TEST() defines a constructor, which adds the test to a list before main() begins.  Tests run in the
 *              order of the file.  RUN_TESTS() defines main().  A program with work to do before or after the tests
 *              has its own main(), which calls tests_run().
 * Assertions   cmocka's assertions jump out of the test function, so only the thread that runs the test may use them.
 *              Every other thread, and a child after fork, uses REQUIRE, which ends the program.
 */
#ifndef LFPOOL_COMMON_TEST_H
#define LFPOOL_COMMON_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "require.h"

static struct {
	struct CMUnitTest test[64];
	int line[64];
	size_t count;
	_Bool skipped; /* at least one test was skipped */
} tests_listed;

/* Keeps the list sorted by line, because constructors may run in any order. */
static inline void tests_add(struct CMUnitTest test, int line)
{
	size_t at = tests_listed.count++;

	REQUIRE(at < sizeof(tests_listed.line) / sizeof(tests_listed.line[0]));
	for (; at > 0 && tests_listed.line[at - 1] > line; at--) {
		tests_listed.test[at] = tests_listed.test[at - 1];
		tests_listed.line[at] = tests_listed.line[at - 1];
	}
	tests_listed.test[at] = test;
	tests_listed.line[at] = line;
}

/* cmocka calls `setup` before the test and `teardown` after it; NULL: no call.  The tests do not use `state`. */
#define TEST_WITH(name, setup, teardown)                                                      \
	static void name(void **state);                                                       \
	__attribute__((constructor)) static void name##_is_a_test(void)                       \
	{                                                                                     \
		tests_add((struct CMUnitTest){#name, name, setup, teardown, NULL}, __LINE__); \
	}                                                                                     \
	static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Ends a test that cannot run on this machine or in this build. */
#define SKIP(why)                                          \
	do {                                               \
		print_message("    skipped: %s\n", (why)); \
		tests_listed.skipped = 1;                  \
		skip();                                    \
	} while (0)

/* Returns the exit status of the program: the number of failed tests.  If none failed but one was skipped, it is 77,
 * which ctest reports as "skipped". */
static inline int tests_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	const int failed = _cmocka_run_group_tests("tests", tests_listed.test, tests_listed.count, setup, teardown);

	return failed == 0 && tests_listed.skipped ? 77 : failed;
}

#define RUN_TESTS()                           \
	int main(void)                        \
	{                                     \
		return tests_run(NULL, NULL); \
	}

#endif
