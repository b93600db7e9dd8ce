/* SPDX-License-Identifier: MIT */
/*
 * absent.h - a function that is left out with LFPOOL_EMBEDDED, in a line: NONE answers that there is none of it, NOTHING has nothing to
 * do, NEVER is not called, and traps.
 */
#ifndef LFPOOL_ABSENT_H
#define LFPOOL_ABSENT_H

/* What is not there has no use for parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NONE(answer, type, function, ...) \
	type function(__VA_ARGS__)        \
	{                                 \
		return answer;            \
	}
#define NOTHING(function, ...) \
	void function(__VA_ARGS__) {}
#define NEVER(type, function, ...) \
	type function(__VA_ARGS__) \
	{                          \
		__builtin_trap();  \
	}

#endif
