/* SPDX-License-Identifier: MIT */
/*
 * ring.h - a bounded queue of pointers that any thread may put into and take out of.
 *
 * Two that do the same: ring_ck.c is ConcurrencyKit's ck_ring; ring_mutex.c is for where that is not installed.  Neither
 * promises an order that a compiler or a sanitizer could know of: inbox.h does.
 */
#ifndef EXAMPLE_RING_H
#define EXAMPLE_RING_H

#include <stdbool.h>
#include <stddef.h>

struct ring;

/* Room for at least `capacity` pointers, 1 .. 2^30.  NULL: no memory. */
struct ring *ring_create(size_t capacity);
void ring_destroy(struct ring *ring);
/* False: full. */
bool ring_put(struct ring *ring, void *entry);
/* NULL: empty. */
void *ring_take(struct ring *ring);

#endif
