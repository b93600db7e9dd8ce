/* SPDX-License-Identifier: MIT */
/*
 * rpmalloc.c - rpmalloc inlined: its source is part of this file.
 *
 * Documented   "The easiest way to use the library is simply adding rpmalloc.[h|c] to your project and compile them
 *              along with your sources."  ENABLE_OVERRIDE 0: does not replace the process's malloc().
 */
#define ENABLE_OVERRIDE 0
#include <rpmalloc.c>

#include "../subject.h"

__attribute__((always_inline)) static inline void *acquire(void *hand)
{
	return rpmalloc(((const struct plan *)hand)->object_bytes);
}

__attribute__((always_inline)) static inline void release(void *hand, void *object)
{
	(void)hand;
	rpfree(object);
}

#include "../loops.h"

VERSION_IS(BENCH_RPMALLOC_COMMIT)

const struct subject subject_rpmalloc = {
	SUBJECT("rpmalloc-inlined", "allocator", "rpmalloc() and rpfree(), compiled together with the loops", version,
		0),
	SHARED_BY_ALL(open_plan, free, SUBJECT_LOOPS),
};
