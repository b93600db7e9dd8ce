/* SPDX-License-Identifier: MIT */
/*
 * malloc.c - malloc() and free() of the process: the C library's, or those of the allocator that was preloaded, whose
 * name LFPOOL_BENCH_MALLOC gives.
 */
#include "../subject.h"

#include <gnu/libc-version.h>

struct size {
	size_t object_bytes;
};

static inline void *acquire(void *hand)
{
	return malloc(((const struct size *)hand)->object_bytes);
}

static inline void release(void *hand, void *object)
{
	(void)hand;
	free(object);
}

#include "../workloads.h"

static void *open_malloc(const struct plan *plan)
{
	struct size *size = (struct size *)must(malloc(sizeof(*size)));

	size->object_bytes = plan->object_bytes;
	return size;
}

static const char *version(void)
{
	return getenv("LFPOOL_BENCH_MALLOC") ? "preloaded" : gnu_get_libc_version();
}

const struct subject subject_malloc = {
	.name = "malloc",
	.group = "allocator",
	.what = "malloc() and free() of the C library, or of the allocator that is preloaded",
	.version = version,
	.open = open_malloc,
	.close = free,
	.join = join_shared,
	.leave = leave_nothing,
	.loops = SUBJECT_LOOPS,
};
