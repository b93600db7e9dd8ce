/* SPDX-License-Identifier: MIT */
/*
 * base.h - macros and small functions that every file of the library uses.
 */
#ifndef LFPOOL_BASE_H
#define LFPOOL_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define NOINLINE __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define COLD __attribute__((cold, noinline))

/* Parameter number `format_at` is a format for the arguments from number `first` on.  gcc needs the name gnu_printf,
 * because on Windows it checks `printf` against the formats of Microsoft's library. */
#ifdef __clang__
#define PRINTF_LIKE(format_at, first) __attribute__((format(printf, format_at, first)))
#else
#define PRINTF_LIKE(format_at, first) __attribute__((format(gnu_printf, format_at, first)))
#endif

/* Used at the top of a function, KEEP_ERRNO() restores errno when the function returns. */
#define KEEP_ERRNO() __attribute__((cleanup(errno_put_back), unused)) const int errno_before = errno

static inline void errno_put_back(const int *before)
{
	errno = *before;
}

/*
 * ASSERT(label, condition) checks an invariant that the following code relies on.  The condition is evaluated only with
 * the CMake option LFPOOL_ASSERTS, which the builds for the sanitizers and the explorer set.  A violation ends the
 * program.  A condition reads shared words by peek(), which is not a step of the explorer.
 */
#ifdef LFPOOL_ASSERTS
#include <stdio.h>
#include <stdlib.h>

__attribute__((cold, noreturn)) static inline void assert_failed(const char *label, const char *condition,
								 const char *file, int line)
{
	fprintf(stderr, "lfpool: %s:%d: %s is violated: %s\n", file, line, label, condition);
	abort();
}
#define ASSERT(label, condition) \
	(__builtin_expect(!!(condition), 1) ? (void)0 : assert_failed(label, #condition, __FILE__, __LINE__))
#else
#define ASSERT(label, condition) ((void)sizeof(!(condition)))
#endif

/* Used after a call: the compiler cannot turn that call into a tail call, so the calling function appears in every
 * backtrace. */
#define KEEP_FRAME() __asm__ __volatile__("")

/* EMBEDDED is 1 in a build that has only pools in buffers (docs/embedded.md).  EMBEDDED is a constant, so the compiler
 * removes unreachable code, and with it references to functions that such a build lacks.
 * CACHE_LINE_PAIR: processors fetch cache lines in pairs, so data that two threads write must not share a pair.  An
 * embedded build has little memory and few processors, so it uses single lines. */
#ifdef LFPOOL_EMBEDDED
#define EMBEDDED 1
#define CACHE_LINE_PAIR 64
#else
#define EMBEDDED 0
#define CACHE_LINE_PAIR 128
#endif

/* Slot numbers start at 1; 0 means no slot. */
#define SLOT_NONE UINT32_C(0)

static inline size_t round_up(size_t value, size_t power_of_two)
{
	return (value + power_of_two - 1) & ~(power_of_two - 1);
}

static inline size_t at_most(size_t value, size_t limit)
{
	return value < limit ? value : limit;
}

static inline size_t larger_of(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The largest power of two that is at most `value`; value is at least 1. */
static inline size_t power_of_two_at_most(size_t value)
{
	size_t power = 1;

	while (power <= value / 2)
		power *= 2;
	return power;
}

#endif
