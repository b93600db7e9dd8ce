/* SPDX-License-Identifier: MIT */
/*
 * support.h - what the tests of the benchmarks' parts share.
 *
 * Assertions   cmocka's jump out of the test function, so they are for the thread that runs the test.  Every other thread
 *              uses REQUIRE, which ends the program.
 */
#ifndef LFPOOL_BENCH_TESTS_SUPPORT_H
#define LFPOOL_BENCH_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/harness.h"

/* The head of a cmocka test; none of ours needs the state. */
#define TEST(name) static void name(__attribute__((unused)) void **state)

#define REQUIRE(condition) ((condition) ? (void)0 : require_failed(#condition, __FILE__, __LINE__))

static inline _Noreturn void require_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: required: %s\n", file, line, condition);
	abort();
}

#endif
