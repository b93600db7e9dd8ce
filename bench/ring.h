/* SPDX-License-Identifier: MIT */
/*
 * ring.h - a bounded queue of pointers from one thread to another.
 *
 * Idea         Lamport's ring (1983): the producer owns `pushed`, the consumer owns `popped`, both only grow.  Each
 *              side remembers its last read of the other's counter and reads again only when that value means full or
 *              empty.  So a counter's cache line does not move for every pointer.  C++ includes this file too, so it
 *              uses the compiler's atomics.
 * Invariants   R1  popped <= pushed <= popped + RING_CAPACITY.
 * Progress     A push into a full ring and a pop from an empty one wait; after a short spin they yield the processor,
 *              which the other side may need.
 */
#ifndef LFPOOL_BENCH_RING_H
#define LFPOOL_BENCH_RING_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#define RING_CAPACITY 1024 /* pointers; a power of two */
#define RING_BATCH 32      /* pointers */

/* Two cache lines: processors fetch them in pairs. */
#define RING_LINE 128

/* Reads of the other side's counter before the processor is yielded. */
#define RING_SPINS 256

struct ring {
	/* Written by the producer. */
	size_t pushed __attribute__((aligned(RING_LINE)));
	size_t placed __attribute__((aligned(RING_LINE))); /* this and the next field: used only by the producer */
	size_t popped_seen;
	/* Written by the consumer. */
	size_t popped __attribute__((aligned(RING_LINE)));
	size_t taken __attribute__((aligned(RING_LINE))); /* this and the next field: used only by the consumer */
	size_t pushed_seen;
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

/* ---- Singly: published at once ---- */

static inline void ring_publish_pushed(struct ring *ring)
{
	/* release: the cells, and the writes to the objects. */
	__atomic_store_n(&ring->pushed, ring->placed, __ATOMIC_RELEASE);
}

static inline void ring_publish_popped(struct ring *ring)
{
	/* release: this side has read the cells. */
	__atomic_store_n(&ring->popped, ring->taken, __ATOMIC_RELEASE);
}

/* False when the ring is full.  Does not publish. */
static inline bool ring_try_place(struct ring *ring, void *pointer)
{
	if (ring->placed - ring->popped_seen == RING_CAPACITY) {
		/* acquire: the consumer has read the cell that is overwritten next. */
		ring->popped_seen = __atomic_load_n(&ring->popped, __ATOMIC_ACQUIRE);
		if (ring->placed - ring->popped_seen == RING_CAPACITY)
			return false;
	}
	ring->pointers[ring->placed++ % RING_CAPACITY] = pointer;
	return true;
}

/* NULL when the ring is empty.  Does not publish. */
static inline void *ring_try_take(struct ring *ring)
{
	if (ring->taken == ring->pushed_seen) {
		/* acquire: the cell, and the writes to the object. */
		ring->pushed_seen = __atomic_load_n(&ring->pushed, __ATOMIC_ACQUIRE);
		if (ring->taken == ring->pushed_seen)
			return NULL;
	}
	return ring->pointers[ring->taken++ % RING_CAPACITY];
}

/* False when the ring is full. */
static inline bool ring_try_push(struct ring *ring, void *pointer)
{
	const bool placed = ring_try_place(ring, pointer);

	if (placed)
		ring_publish_pushed(ring);
	return placed;
}

/* NULL when the ring is empty. */
static inline void *ring_try_pop(struct ring *ring)
{
	void *pointer = ring_try_take(ring);

	if (pointer)
		ring_publish_popped(ring);
	return pointer;
}

/* ---- In batches: published RING_BATCH at a time, or when the other side may be waiting ---- */

/* The last few pointers become visible only with ring_publish_pushed(). */
static inline void ring_push(struct ring *ring, void *pointer)
{
	for (unsigned spins = 0; !ring_try_place(ring, pointer); ring_pause(&spins))
		ring_publish_pushed(ring);
	if (ring->placed % RING_BATCH == 0)
		ring_publish_pushed(ring);
}

static inline void *ring_pop(struct ring *ring)
{
	void *pointer;

	for (unsigned spins = 0; !(pointer = ring_try_take(ring)); ring_pause(&spins))
		ring_publish_popped(ring);
	if (ring->taken % RING_BATCH == 0)
		ring_publish_popped(ring);
	return pointer;
}

#endif
