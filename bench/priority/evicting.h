/* SPDX-License-Identifier: MIT */
/*
 * evicting.h - what is compared with the evicting pool (lfpool/priority.h), and what its loop works with.  C11 and C++20.
 *
 * Idea         A subject of this folder is a `struct subject` with another set of loops: workloads `evict-P-N` are for
 *              these, all others are not.  Its calls are those that a program has of such a pool:
 *
 *                  acquire    an object that is free, or is taken from the holder with the least priority; it is filled,
 *                             and from then on may be taken itself.  NULL: the least does not give way to the newcomer.
 *                  update     another priority; refused if the handle is stale.
 *                  release    refused likewise.
 *
 *              All refuse stale handles, fill all of a new object, and of equal priorities evict the oldest.
 * The clock    Priorities are those of a cache that ages: now + random.  `Now` counts the operations of all threads, in steps
 *              of an eighth of the pool or so.  So a newcomer comes after the least, and evicts it, however the
 *              threads share the processors; a thread that was not running has missed nothing, since all read one
 *              clock.  (Each counting its own: after a time slice its newcomers come before all others, and are refused until
 *              the end of the run.)  A thread that sleeps between the clock and its call is refused; the share is reported.
 */
#ifndef LFPOOL_BENCH_EVICTING_H
#define LFPOOL_BENCH_EVICTING_H

#include "../subject.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Objects of no other size: they are filled once each time they are acquired, and copying is not what is compared. */
#define EVICTING_BYTES 64

/* What one thread has for the loop. */
struct evicting {
	uint64_t *handles; /* as many as this thread's share of the objects; worker->held of them are there */
	uint64_t *clock;   /* of all threads; atomic                                                        */
	uint64_t step;     /* operations between two advances of it by this thread                          */
	uint32_t window;   /* priorities are below now + window                                             */
	uint32_t acquires; /* of 100 operations                                                             */
	uint32_t lost;     /* of 100 handles, stale from the beginning                                      */
	/* What became of the operations so far. */
	size_t acquired, refused, updated, stale;
};

/* One call at a time, for tests. */
struct evicting_calls {
	void *(*acquire)(void *hand, uint64_t priority, uint64_t *handle_out);
	bool (*update)(void *hand, uint64_t handle, uint64_t priority);
	bool (*release)(void *hand, uint64_t handle);
};

/* All of a new object.  Nobody looks at it, which the compiler must not guess. */
static inline void object_fill(void *object, uint64_t value)
{
	for (size_t i = 0; i < EVICTING_BYTES / sizeof(value); i++)
		((uint64_t *)object)[i] = value;
	__asm__ __volatile__("" : : "r"(object) : "memory");
}

/* An eighth of the pool; or 64, when advancing it costs nothing that could be seen. */
static inline uint64_t evicting_step(size_t capacity)
{
	return capacity < 512 ? (capacity + 7) / 8 : 64;
}

#ifdef __cplusplus
}
#endif

#endif
