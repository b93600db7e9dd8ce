/* SPDX-License-Identifier: MIT */
/*
 * deque.h - a work-stealing deque of jobs (Chase and Lev 2005; orders after Le, Pop, Cohen and Zappa Nardelli 2013).
 *
 * Idea         One owner pushes and pops at the bottom, like a stack: the newest job, whose data is still in the
 *              processor's cache.  Any other worker steals at the top: the oldest job, which in a tree of work has
 *              the most work below it.  Owner and thieves meet only when one job is left; a compare-and-swap on top
 *              decides which gets it.
 * Invariants   D1  jobs in the deque = entries top .. bottom - 1, modulo the ring.
 *              D2  only the owner writes bottom and the entries; top only grows, by compare-and-swap.
 *              D3  the owner pops without a compare-and-swap only if an older job remains.
 * Fixed size   Jobs never move to a bigger ring while thieves read the old one.
 * Progress     push and pop are wait-free; a steal fails only because another succeeded.
 *
 * The published algorithm uses two seq_cst fences.  Here the operations next to those fences are seq_cst instead: the
 * store of bottom and the load of top in pop, the loads of top and bottom in steal.  Those four and the
 * compare-and-swap have one order that all threads agree on: a thief that the owner did not see (old top) must see
 * the owner (new bottom). ThreadSanitizer understands operations, but not fences.  The store of bottom in push, and
 * the loads in deque_looks_empty(), are seq_cst because of sleepers (sleep.h); without sleepers, release in push and
 * relaxed in the loads would suffice.
 */
#ifndef EXAMPLE_DEQUE_H
#define EXAMPLE_DEQUE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct job;

struct deque {
	/* Written by thieves, and by the owner when it takes the last job. */
	alignas(128) _Atomic(int64_t) top; /* position of the oldest job           */
	/* Written by the owner. */
	alignas(128) _Atomic(int64_t) bottom; /* position after the newest job      */
	_Atomic(struct job *) *entry;         /* ring                               */
	int64_t mask;                         /* entries in the ring - 1            */
};

/* Room for at least `capacity` jobs, 1 .. 2^31.  False: no memory. */
static inline bool deque_init(struct deque *deque, size_t capacity)
{
	size_t entries = 1;

	while (entries < capacity)
		entries *= 2;
	atomic_init(&deque->top, 0);
	atomic_init(&deque->bottom, 0);
	deque->mask = (int64_t)entries - 1;
	/* Entries stay uninitialised: each is stored before it is loaded (D1). */
	deque->entry = malloc(entries * sizeof(*deque->entry));
	return deque->entry != NULL;
}

static inline void deque_free(struct deque *deque)
{
	free(deque->entry);
}

/* Owner only.  False: full. */
static inline bool deque_push(struct deque *deque, struct job *job)
{
	/* relaxed: our own last store (D2). */
	int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
	/* acquire: the thief that advanced top has read the entry we are about to overwrite. */
	int64_t top = atomic_load_explicit(&deque->top, memory_order_acquire);

	if (bottom - top > deque->mask)
		return false;
	/* relaxed: published by the store of bottom. */
	atomic_store_explicit(&deque->entry[bottom & deque->mask], job, memory_order_relaxed);
	/* Releases the entry, and the job's contents, to the thief that reads this bottom; seq_cst: before the check
	 * for sleepers. */
	atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_seq_cst);
	return true;
}

/* Owner only.  The newest job, or NULL. */
static inline struct job *deque_pop(struct deque *deque)
{
	/* relaxed: our own last store (D2). */
	int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed) - 1;
	struct job *job = NULL;

	/* seq_cst: claims the newest job before reading top; see the file's comment. */
	atomic_store_explicit(&deque->bottom, bottom, memory_order_seq_cst);
	/* seq_cst: as above. */
	int64_t top = atomic_load_explicit(&deque->top, memory_order_seq_cst);

	if (top <= bottom) {
		/* relaxed: our own store. */
		job = atomic_load_explicit(&deque->entry[bottom & deque->mask], memory_order_relaxed);
		if (top < bottom)
			return job;
		/* seq_cst: the last one, thieves compete for it; relaxed on failure: a thief has it, we read
		 * nothing. */
		if (!atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1, memory_order_seq_cst,
							     memory_order_relaxed))
			job = NULL;
	}
	/* Empty: restores bottom = top. relaxed: no entry below top can be stolen, so it publishes nothing. */
	atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_relaxed);
	return job;
}

/* Any worker.  The oldest job; NULL if there is none, or if another worker took it first. */
static inline struct job *deque_steal(struct deque *deque)
{
	/* seq_cst: top before bottom; see the file's comment. */
	int64_t top = atomic_load_explicit(&deque->top, memory_order_seq_cst);
	/* seq_cst: as above; and it acquires what the owner released with this bottom. */
	int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_seq_cst);

	if (top >= bottom)
		return NULL;
	/* relaxed: made visible by bottom.  If the owner has overwritten the entry since, top has moved and the CAS
	 * below fails. */
	struct job *job = atomic_load_explicit(&deque->entry[top & deque->mask], memory_order_relaxed);

	/* seq_cst: competes with the owner and with other thieves; relaxed on failure: another worker has the job. */
	if (!atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1, memory_order_seq_cst,
						     memory_order_relaxed))
		return NULL;
	return job;
}

/* Any worker.  False if, in the order of all seq_cst operations, a job was pushed before this call and is still there.
 */
static inline bool deque_looks_empty(struct deque *deque)
{
	/* seq_cst, both: after the sleeper has counted itself.  An old top makes the deque look fuller, never empty. */
	int64_t top = atomic_load_explicit(&deque->top, memory_order_seq_cst);

	return top >= atomic_load_explicit(&deque->bottom, memory_order_seq_cst);
}

#endif
