/* SPDX-License-Identifier: MIT */
/*
 * ring_ck.c - see ring.h: ConcurrencyKit's ck_ring, for many producers and many consumers.
 *
 * Progress     Taking is lock-free.  Putting is not quite: producers claim their places by compare-and-swap, but hand them
 *              over in the order of the places, so one that is stopped in between holds up those after it.  (No worker
 *              waits for it: they find nothing, and look elsewhere.)
 * Sanitizers   ck_ring synchronises in assembly.  ThreadSanitizer would see its plain accesses and not their order: this
 *              file is compiled without it (CMakeLists.txt).
 */
#include "ring.h"

#include <ck_ring.h>
#include <stdlib.h>

struct ring {
	ck_ring_t ring;
	ck_ring_buffer_t entry[];
};

struct ring *ring_create(size_t capacity)
{
	unsigned places = 2;

	/* A ck_ring has one place more than it has room for. */
	while (places <= capacity)
		places *= 2;

	struct ring *ring = malloc(sizeof(*ring) + places * sizeof(ring->entry[0]));

	if (ring)
		ck_ring_init(&ring->ring, places);
	return ring;
}

void ring_destroy(struct ring *ring)
{
	free(ring);
}

bool ring_put(struct ring *ring, void *entry)
{
	return ck_ring_enqueue_mpmc(&ring->ring, ring->entry, entry);
}

void *ring_take(struct ring *ring)
{
	void *entry;

	return ck_ring_dequeue_mpmc(&ring->ring, ring->entry, &entry) ? entry : NULL;
}
