/* SPDX-License-Identifier: MIT */
/*
 * ring.c - the ring alone: objects go through it and are used, but none is ever acquired or released.  What the hand-
 * off itself costs.
 */
#include "../ring.h"
#include "../subject.h"

#include <stdlib.h>

/* When an object's turn comes again, the consumer has long read it: at most RING_CAPACITY are in the ring. */
#define RING_OBJECTS ((size_t)2 * RING_CAPACITY)

struct circle {
	size_t next;
	struct object objects[RING_OBJECTS];
};

static inline void *acquire(void *hand)
{
	struct circle *circle = hand;

	return &circle->objects[circle->next++ % RING_OBJECTS];
}

static inline void release(void *hand, void *object)
{
	(void)hand;
	(void)object;
}

#include "../workloads.h"

static void *open_ring(size_t threads, size_t held)
{
	(void)threads;
	(void)held;
	return NULL;
}

static void close_ring(void *shared)
{
	(void)shared;
}

static void *join(void *shared)
{
	struct circle *circle = must(aligned_alloc(_Alignof(struct circle), sizeof(*circle)));

	(void)shared;
	circle->next = 0;
	return circle;
}

const struct subject subject_ring = {
	.name = "ring",
	.what = "the ring alone: nothing is acquired or released",
	.workloads = 1 << HANDOFF,
	.open = open_ring,
	.close = close_ring,
	.join = join,
	.leave = free,
	SUBJECT_LOOPS,
};
