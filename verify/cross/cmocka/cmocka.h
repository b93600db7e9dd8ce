/* SPDX-License-Identifier: MIT */
/*
 * cmocka.h - the few functions of cmocka (https://cmocka.org) that lfpool's tests use, for targets without cmocka.
 *
 * Idea         A failed test jumps back to the runner, as in cmocka, so the same sources run.  Everything is in this
 *              header, and an unknown function does not compile.  Missing: mocks, group fixtures, memory checks.
 * Output       Like cmocka's, shortened; the last line is "N passed, N failed".
 */
#ifndef LFPOOL_VERIFY_CMOCKA_H
#define LFPOOL_VERIFY_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
	const char *name;
	CMUnitTestFunction test_func;
	CMFixtureFunction setup_func, teardown_func;
	void *initial_state;
};

#define cmocka_unit_test(f) {#f, f, NULL, NULL, NULL}
#define cmocka_unit_test_setup_teardown(f, setup, teardown) {#f, f, setup, teardown, NULL}
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
	_cmocka_run_group_tests(name, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

/* ---- Failing ----------------------------------------------------------------------------------------------- */

enum { STANDIN_FAILED = 1, STANDIN_SKIPPED };

/* The end of the running test.  One program, one test at a time, on one thread. */
static jmp_buf standin_end;

static inline __attribute__((format(printf, 1, 2))) void print_message(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
}

static inline _Noreturn void standin_failed(const char *what, const char *file, int line)
{
	printf("%s:%d: failed: %s\n", file, line, what);
	longjmp(standin_end, STANDIN_FAILED);
}

#define skip() longjmp(standin_end, STANDIN_SKIPPED)

/* ---- Assertions -------------------------------------------------------------------------------------------- */

#define standin_assert(condition, what) ((condition) ? (void)0 : standin_failed(what, __FILE__, __LINE__))

/* As in cmocka, integers are compared as the widest unsigned ones, pointers by address. */
#define standin_integer(x) ((uintmax_t)(x))

#define assert_true(c) standin_assert(!!(c), #c)
#define assert_false(c) standin_assert(!(c), "not " #c)
#define assert_null(p) standin_assert(!(p), #p " is null")
#define assert_non_null(p) standin_assert(!!(p), #p " is not null")
#define assert_int_equal(a, b) standin_assert(standin_integer(a) == standin_integer(b), #a " == " #b)
#define assert_int_not_equal(a, b) standin_assert(standin_integer(a) != standin_integer(b), #a " != " #b)
#define assert_in_range(x, low, high) standin_assert(standin_in_range(x, low, high), #x " in " #low " .. " #high)
#define assert_ptr_equal(a, b) standin_assert((const void *)(a) == (const void *)(b), #a " == " #b)
#define assert_ptr_not_equal(a, b) standin_assert((const void *)(a) != (const void *)(b), #a " != " #b)
#define assert_string_equal(a, b) standin_assert(strcmp(a, b) == 0, #a " equals " #b)
#define assert_string_not_equal(a, b) standin_assert(strcmp(a, b) != 0, #a " differs from " #b)
#define assert_memory_equal(a, b, n) standin_assert(memcmp(a, b, n) == 0, #a " equals " #b)
#define fail_msg(...) (printf(__VA_ARGS__), printf("\n"), standin_failed("fail_msg()", __FILE__, __LINE__))

static inline int standin_in_range(uintmax_t x, uintmax_t low, uintmax_t high)
{
	return x >= low && x <= high;
}

/* ---- The runner -------------------------------------------------------------------------------------------- */

static inline int standin_test(const struct CMUnitTest *test)
{
	void *state = test->initial_state;
	int end;

	printf("[ RUN      ] %s\n", test->name);
	fflush(stdout);
	if (test->setup_func && test->setup_func(&state) != 0)
		return STANDIN_FAILED;
	end = setjmp(standin_end);
	if (end == 0)
		test->test_func(&state);
	if (test->teardown_func && test->teardown_func(&state) != 0)
		return STANDIN_FAILED;
	return end;
}

static inline int _cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
					  CMFixtureFunction setup, CMFixtureFunction teardown)
{
	static const char *const words[] = {"[       OK ]", "[  FAILED  ]", "[  SKIPPED ]"};
	int failed = 0;

	printf("[==========] %s: %zu test(s), through the stand-in for cmocka\n", name, count);
	if (setup || teardown) {
		printf("fixtures of groups are not known here\n");
		return 1;
	}
	for (size_t i = 0; i < count; i++) {
		int end = standin_test(&tests[i]);

		failed += end == STANDIN_FAILED;
		printf("%s %s\n", words[end], tests[i].name);
	}
	printf("%zu passed, %d failed\n", count - (size_t)failed, failed);
	fflush(stdout);
	return failed;
}

#endif
