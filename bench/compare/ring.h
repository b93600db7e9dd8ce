/* SPDX-License-Identifier: MIT */
/*
 * ring.h - a bounded queue of pointers from one thread to one other.
 *
 * Idea         Lamport's ring (1983): the producer owns `pushed`, the consumer owns `popped`, both only grow.  Each
 *              side remembers what it last read of the other's counter and looks again only when that says full or
 *              empty, so that a counter's cache line does not travel for every pointer.
 * Invariants   R1  popped <= pushed <= popped + RING_CAPACITY.
 * Progress     A push into a full ring and a pop from an empty one wait; after a short spin they yield the processor,
 *              since the other side may need it.
 */
#ifndef LFPOOL_COMPARE_RING_H
#define LFPOOL_COMPARE_RING_H

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#define RING_CAPACITY 1024 /* pointers; a power of two */

/* Two cache lines: processors fetch them in pairs. */
#define RING_LINE 128

/* Looks at the other side's counter before the processor is yielded. */
#define RING_SPINS 256

struct ring {
	/* Written by the producer. */
	_Alignas(RING_LINE) _Atomic(size_t) pushed;
	_Alignas(RING_LINE) size_t popped_seen; /* only the producer's */
	/* Written by the consumer. */
	_Alignas(RING_LINE) _Atomic(size_t) popped;
	_Alignas(RING_LINE) size_t pushed_seen; /* only the consumer's */
	/* Written by the producer, published by `pushed`; given back by `popped`. */
	_Alignas(RING_LINE) void *pointers[RING_CAPACITY];
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

static inline void ring_push(struct ring *ring, void *pointer)
{
	/* relaxed: our own last store. */
	size_t pushed = atomic_load_explicit(&ring->pushed, memory_order_relaxed);

	for (unsigned spins = 0; pushed - ring->popped_seen == RING_CAPACITY; ring_pause(&spins))
		/* acquire: the consumer has read the cell that we are about to overwrite. */
		ring->popped_seen = atomic_load_explicit(&ring->popped, memory_order_acquire);
	ring->pointers[pushed % RING_CAPACITY] = pointer;
	/* release: the cell, and what was written to the object. */
	atomic_store_explicit(&ring->pushed, pushed + 1, memory_order_release);
}

static inline void *ring_pop(struct ring *ring)
{
	/* relaxed: our own last store. */
	size_t popped = atomic_load_explicit(&ring->popped, memory_order_relaxed);

	for (unsigned spins = 0; popped == ring->pushed_seen; ring_pause(&spins))
		/* acquire: the cell, and what was written to the object. */
		ring->pushed_seen = atomic_load_explicit(&ring->pushed, memory_order_acquire);

	void *pointer = ring->pointers[popped % RING_CAPACITY];

	/* release: we have read the cell. */
	atomic_store_explicit(&ring->popped, popped + 1, memory_order_release);
	return pointer;
}

#endif
