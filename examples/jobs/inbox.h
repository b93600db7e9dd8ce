/* SPDX-License-Identifier: MIT */
/*
 * inbox.h - what comes from elsewhere: a ring, and how much is in it.
 *
 * Idea         The count is raised before a pointer is put in and lowered after it was taken out.  It does three things.
 *              A worker that finds 0 has not touched the ring.  A sleeper that finds more than 0 stays awake, although the
 *              pointer may still be on its way: so no wake-up is lost, whatever the ring does (sleep.h).  And it carries
 *              the order from the thread that puts to the thread that takes in C11's own terms: each operation on it is a
 *              read-modify-write, so the taker's acquires from every putter before it.  A ring in assembly orders too, but
 *              neither the language nor ThreadSanitizer knows.
 * Invariant    I1  count >= pointers in the ring.
 */
#ifndef EXAMPLE_INBOX_H
#define EXAMPLE_INBOX_H

#include "ring.h"

#include <stdatomic.h>

struct inbox {
	_Atomic(size_t) count;
	struct ring *ring;
};

/* Room for at least `capacity` pointers.  False: no memory. */
static inline bool inbox_init(struct inbox *inbox, size_t capacity)
{
	atomic_init(&inbox->count, 0);
	inbox->ring = ring_create(capacity);
	return inbox->ring != NULL;
}

static inline void inbox_free(struct inbox *inbox)
{
	ring_destroy(inbox->ring);
}

/* Any thread.  False: full. */
static inline bool inbox_put(struct inbox *inbox, void *entry)
{
	/* seq_cst: before the putter looks for sleepers; and releases what was written to the entry. */
	atomic_fetch_add_explicit(&inbox->count, 1, memory_order_seq_cst);
	if (ring_put(inbox->ring, entry))
		return true;
	/* relaxed: it says nothing. */
	atomic_fetch_sub_explicit(&inbox->count, 1, memory_order_relaxed);
	return false;
}

/* Any thread.  NULL: empty, or on its way. */
static inline void *inbox_take(struct inbox *inbox)
{
	/* relaxed: a hint; a worker that goes to sleep asks inbox_looks_empty(). */
	if (atomic_load_explicit(&inbox->count, memory_order_relaxed) == 0)
		return NULL;

	void *entry = ring_take(inbox->ring);

	if (entry)
		/* acquire: what was written to the entry before it was put. */
		atomic_fetch_sub_explicit(&inbox->count, 1, memory_order_acquire);
	return entry;
}

/* Any thread. */
static inline bool inbox_looks_empty(struct inbox *inbox)
{
	/* seq_cst: after the sleeper has counted itself, see sleep.h. */
	return atomic_load_explicit(&inbox->count, memory_order_seq_cst) == 0;
}

#endif
