/* SPDX-License-Identifier: MIT */
/*
 * malloc.c - malloc() and free() of the C library, called directly: LFPOOL_BACKEND_MALLOC would add the count that
 * keeps its capacity.
 */
#include "../subject.h"

#include <stdlib.h>

static inline void *acquire(void *hand)
{
	(void)hand;
	return malloc(OBJECT_BYTES);
}

static inline void release(void *hand, void *object)
{
	(void)hand;
	free(object);
}

#include "../workloads.h"

static void *open_malloc(size_t threads, size_t held)
{
	(void)threads;
	(void)held;
	return NULL;
}

static void *join(void *shared)
{
	return shared;
}

static void nothing(void *pointer)
{
	(void)pointer;
}

const struct subject subject_malloc = {
	.name = "malloc",
	.what = "malloc() and free() of the C library",
	.workloads = 1 << PAIRS | 1 << BURSTS | 1 << HANDOFF,
	.open = open_malloc,
	.close = nothing,
	.join = join,
	.leave = nothing,
	SUBJECT_LOOPS,
};
