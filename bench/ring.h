/* SPDX-License-Identifier: MIT */
/*
 * ring.h - a bounded queue of pointers from one thread to one other.
 *
 * Idea         Lamport's ring (1983): the producer owns `pushed`, the consumer owns `popped`, both only grow.  Each
 *              side remembers what it last read of the other's counter and looks again only when that says full or
 *              empty, so that a counter's cache line does not travel for every pointer.
 * Invariants   R1  popped <= pushed <= popped + RING_CAPACITY.
 *              The compiler's own atomics, because C++ includes this file as well.
 * Progress     A push into a full ring and a pop from an empty one wait; after a short spin they yield the processor,
 *              since the other side may need it.
 */
#ifndef LFPOOL_BENCH_RING_H
#define LFPOOL_BENCH_RING_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#define RING_CAPACITY 1024 /* pointers; a power of two */

/* Two cache lines: processors fetch them in pairs. */
#define RING_LINE 128

/* Looks at the other side's counter before the processor is yielded. */
#define RING_SPINS 256

struct ring {
	/* Written by the producer. */
	size_t pushed __attribute__((aligned(RING_LINE)));
	size_t popped_seen __attribute__((aligned(RING_LINE))); /* only the producer's */
	/* Written by the consumer. */
	size_t popped __attribute__((aligned(RING_LINE)));
	size_t pushed_seen __attribute__((aligned(RING_LINE))); /* only the consumer's */
	/* Written by the producer, published by `pushed`; given back by `popped`. */
	void *pointers[RING_CAPACITY] __attribute__((aligned(RING_LINE)));
};

static inline void ring_pause(unsigned *spins)
{
	if (++*spins % RING_SPINS == 0)
		(void)sched_yield();
#if defined(__x86_64__) || defined(__i386__)
	else
		__builtin_ia32_pause();
#endif
}

/* False when it is full. */
static inline bool ring_try_push(struct ring *ring, void *pointer)
{
	/* relaxed: our own last store. */
	size_t pushed = __atomic_load_n(&ring->pushed, __ATOMIC_RELAXED);

	if (pushed - ring->popped_seen == RING_CAPACITY) {
		/* acquire: the consumer has read the cell that we are about to overwrite. */
		ring->popped_seen = __atomic_load_n(&ring->popped, __ATOMIC_ACQUIRE);
		if (pushed - ring->popped_seen == RING_CAPACITY)
			return false;
	}
	ring->pointers[pushed % RING_CAPACITY] = pointer;
	/* release: the cell, and what was written to the object. */
	__atomic_store_n(&ring->pushed, pushed + 1, __ATOMIC_RELEASE);
	return true;
}

/* NULL when it is empty. */
static inline void *ring_try_pop(struct ring *ring)
{
	/* relaxed: our own last store. */
	size_t popped = __atomic_load_n(&ring->popped, __ATOMIC_RELAXED);

	if (popped == ring->pushed_seen) {
		/* acquire: the cell, and what was written to the object. */
		ring->pushed_seen = __atomic_load_n(&ring->pushed, __ATOMIC_ACQUIRE);
		if (popped == ring->pushed_seen)
			return NULL;
	}

	void *pointer = ring->pointers[popped % RING_CAPACITY];

	/* release: we have read the cell. */
	__atomic_store_n(&ring->popped, popped + 1, __ATOMIC_RELEASE);
	return pointer;
}

static inline void ring_push(struct ring *ring, void *pointer)
{
	for (unsigned spins = 0; !ring_try_push(ring, pointer);)
		ring_pause(&spins);
}

static inline void *ring_pop(struct ring *ring)
{
	void *pointer;

	for (unsigned spins = 0; !(pointer = ring_try_pop(ring));)
		ring_pause(&spins);
	return pointer;
}

#endif
