/* SPDX-License-Identifier: MIT */
/*
 * workloads.h - the loops that are measured; a template.  Each file in subjects/ defines
 *
 *     static inline void *acquire(void *hand);
 *     static inline void release(void *hand, void *object);
 *
 * and then includes this file, which compiles the loops around them, and names SUBJECT_LOOPS in its `struct subject`.
 *
 * Idea         The same source for all, one copy of machine code for each.  Nothing is in a loop but acquire, its
 *              check, one use of the object, release; in the hand-off also the ring.
 */
#ifndef LFPOOL_COMPARE_WORKLOADS_H
#define LFPOOL_COMPARE_WORKLOADS_H

#include "ring.h"
#include "subject.h"

#define SUBJECT_LOOPS .pairs = run_pairs, .bursts = run_bursts, .produce = run_produce, .consume = run_consume

static inline void *acquire_and_write(void *hand, uint64_t value)
{
	void *object = acquire(hand);

	if (__builtin_expect(!object, 0))
		out_of_objects();
	object_write(object, value);
	return object;
}

/* Between a release and the next acquire, a program does something else: the compiler may not carry anything over in
 * registers. */
static inline void release_and_forget(void *hand, void *object)
{
	release(hand, object);
	__asm__ __volatile__("" : : : "memory");
}

static size_t run_pairs(struct worker *worker, size_t pairs)
{
	void *hand = worker->hand;

	for (size_t i = 0; i < pairs; i++)
		release_and_forget(hand, acquire_and_write(hand, i));
	return pairs;
}

static size_t run_bursts(struct worker *worker, size_t pairs)
{
	void *hand = worker->hand;
	void **objects = worker->objects;
	const size_t burst = worker->burst;
	size_t done = 0;

	for (; done < pairs; done += burst) {
		for (size_t i = 0; i < burst; i++)
			objects[i] = acquire_and_write(hand, i);
		for (size_t i = 0; i < burst; i++)
			release_and_forget(hand, objects[i]);
	}
	return done;
}

static size_t run_produce(struct worker *worker, size_t pairs)
{
	void *hand = worker->hand;
	struct ring *ring = worker->ring;

	for (size_t i = 0; i < pairs; i++)
		ring_push(ring, acquire_and_write(hand, i));
	return pairs;
}

/* Returns less than `pairs` when a NULL came through the ring: the producer's last word. */
static size_t run_consume(struct worker *worker, size_t pairs)
{
	void *hand = worker->hand;
	struct ring *ring = worker->ring;

	for (size_t i = 0; i < pairs; i++) {
		void *object = ring_pop(ring);

		if (!object)
			return i;
		object_read(object);
		release_and_forget(hand, object);
	}
	return pairs;
}

#endif
