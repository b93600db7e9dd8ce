/* SPDX-License-Identifier: MIT */
/* ring.c - the ring alone: the cost of the hand-off.  Objects go through it and are used, but none is acquired or
 * released. */
#include "../objects.h"
#include "../ring.h"

/* One thread's objects. */
struct circle {
	size_t next;
	struct objects objects;
};

static inline void *acquire(void *hand)
{
	struct circle *circle = (struct circle *)hand;

	return objects_at(&circle->objects, circle->next++ & (circle->objects.count - 1));
}

static inline void release(void *hand, void *object)
{
	(void)hand;
	(void)object;
}

#include "../loops.h"

/* When an object is used again, the consumer has long read it: a ring holds at most RING_CAPACITY. Objects of whole
 * KiB are a line further apart, as in a pool that spreads them.  Otherwise all would share a few sets of each cache,
 * and would fall out of the producer's cache before the consumer reads them.  That is quicker than a transfer from
 * the other processor (4096 bytes: 17 ns instead of 32), so the ring would take less time than it does under such a
 * pool. */
static void *open_ring(const struct plan *plan)
{
	struct plan *own = open_plan(plan);

	own->object_bytes += own->object_bytes % 1024 ? 0 : 64;
	own->capacity = (size_t)2 * RING_CAPACITY;
	while (own->capacity < (size_t)2 * RING_CAPACITY * plan->threads)
		own->capacity *= 2;
	return own;
}

static void *join(void *shared)
{
	struct circle *circle = (struct circle *)must(malloc(sizeof(*circle)));

	*circle = (struct circle){.objects = objects_make((const struct plan *)shared)};
	return circle;
}

static void leave(void *hand)
{
	struct circle *circle = (struct circle *)hand;

	objects_free(&circle->objects);
	free(circle);
}

const struct subject subject_ring = {
	SUBJECT("ring", "limit", "the ring alone: nothing is acquired or released", NULL, TRAIT_NOTHING),
	FOR_EACH_THREAD(open_ring, free, join, leave, SUBJECT_LOOPS),
};
