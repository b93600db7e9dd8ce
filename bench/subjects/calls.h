/* SPDX-License-Identifier: MIT */
/* calls.h - a subject's calls made from lfpool's; a template, in C. A file defines CALL(name), the local name of
 * acquire, release, acquire_bulk and release_bulk, then includes this file, and loops.h. */
#ifndef LFPOOL_BENCH_CALLS_H
#define LFPOOL_BENCH_CALLS_H

/* always_inline, both: as in loops.h. */
__attribute__((always_inline)) static inline void *acquire(void *hand)
{
	return CALL(acquire)(hand);
}

__attribute__((always_inline)) static inline void release(void *hand, void *object)
{
	(void)CALL(release)(hand, object);
}

#define SUBJECT_HAS_BULK

static inline bool acquire_bulk(void *hand, void **objects, size_t count)
{
	return CALL(acquire_bulk)(hand, objects, count) == count;
}

static inline void release_bulk(void *hand, void **objects, size_t count)
{
	(void)CALL(release_bulk)(hand, objects, count);
}

#endif
