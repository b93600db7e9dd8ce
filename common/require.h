/* SPDX-License-Identifier: MIT */
/* require.h - REQUIRE(condition): if the condition does not hold, ends the program and prints the place; on any
 * thread. */
#ifndef LFPOOL_COMMON_REQUIRE_H
#define LFPOOL_COMMON_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition) ((condition) ? (void)0 : require_failed(#condition, __FILE__, __LINE__))

static inline _Noreturn void require_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: required: %s\n", file, line, condition);
	abort();
}

#endif
