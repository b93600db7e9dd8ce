/* SPDX-License-Identifier: MIT */
/*
 * evicting.h - the loop over an evicting pool (lfpool/evict.h); a template for C and C++, like loops.h.  Each file in
 * subjects/ with an evicting pool defines
 *
 *     static inline void *acquire_filled(void *hand, uint64_t priority, uint64_t *handle_out);
 *     static inline bool update(void *hand, uint64_t handle, uint64_t priority);
 *     static inline bool release(void *hand, uint64_t handle);
 *
 * then includes this file and names EVICTING_LOOPS in its `struct subject`. It uses object_fill() for a new object.
 *
 *     acquire    takes a free object, or evicts the least one; fills it; from then on it may be evicted.  NULL: the
 *                least object does not give way to the newcomer.
 *     update     sets a new priority; refused if the handle is stale.
 *     release    refused if the handle is stale.
 *
 * All such pools refuse stale handles, fill a new object completely, and evict the oldest among equal priorities.
 *
 * Idea         A thread keeps the handles of its share of the objects.  An operation is, at random, an update of one
 *              of these, or an acquire.  The new handle replaces a handle that was found stale, or else a random one.
 *              (So some objects belong to no thread; they age, and are evicted.) The pool is always full: each acquire
 *              evicts.  An update of an evicted object is refused, as in any program.  It counts as an operation, and
 *              the report shows the share of refused updates.
 * The clock    Priorities are those of a cache that ages: now + random.  "Now" is the number of all threads'
 *              operations, in steps of about an eighth of the pool.  So a newcomer ranks above the least and evicts it,
 *              however the threads share the processors.  All threads read one clock, so a thread that was not running
 *              is not behind.  An operation whose thread sleeps between the clock and its call may be refused; the
 *              report shows the share of refused acquires.
 */
#ifndef LFPOOL_BENCH_EVICTING_H
#define LFPOOL_BENCH_EVICTING_H

#include "workload.h"

#define EVICTING_LOOPS {.evict = run_evict, .fill = run_fill, .drain = run_drain, .evicting = &evicting_calls}

static const struct evicting_calls evicting_calls = {acquire_filled, update, release};

/* 0 .. bound - 1, from the highest 20 bits of a lot.  One draw gives three lots, because the loop's cost is in all
 * figures. */
static inline uint32_t lot_below(uint64_t lot, uint32_t bound)
{
	return (uint32_t)((lot >> 44) * bound >> 20);
}

static size_t run_evict(struct worker *worker, size_t operations)
{
	const uint32_t count = (uint32_t)worker->held;
	size_t acquired = 0, refused = 0, stale = 0;
	uint32_t lost = count; /* the index of a stale handle; count: none */
	uint64_t since = 0;

	for (size_t i = 0; i < operations; i++) {
		const uint64_t lot = random_next(&worker->random);
		const bool acquires = lot_below(lot, 100) < worker->acquires;
		const uint32_t chosen = lot_below(lot << 24, count);
		/* relaxed: orders nothing else. */
		const uint64_t priority = __atomic_load_n(worker->clock, __ATOMIC_RELAXED) +
					  lot_below(lot << 44, worker->window);

		if (++since == worker->step) {
			(void)__atomic_add_fetch(worker->clock, since, __ATOMIC_RELAXED);
			since = 0;
		}
		if (acquires) {
			uint64_t handle;

			if (acquire_filled(worker->hand, priority, &handle)) {
				worker->handles[lost < count ? lost : chosen] = handle;
				lost = count;
				acquired++;
			} else {
				refused++;
			}
		} else if (!update(worker->hand, worker->handles[chosen], priority)) {
			lost = chosen;
			stale++;
		}
	}
	worker->acquired += acquired;
	worker->refused += refused;
	worker->updated += operations - acquired - refused - stale;
	worker->stale += stale;
	return operations;
}

/* Starts in the steady state.  The clock is at the capacity, and the priorities are those of a pool filled at an even
 * pace until now.  Some handles are stale, and the same number of objects belongs to no thread. */
static size_t run_fill(struct worker *worker, size_t objects)
{
	const uint32_t now = (uint32_t)__atomic_load_n(worker->clock, __ATOMIC_RELAXED);
	uint64_t stale, handle;
	size_t got = 0;

	if (!acquire_filled(worker->hand, 0, &stale) || !release(worker->hand, stale))
		return 0;
	for (; got < objects; got++) {
		if (!acquire_filled(worker->hand, random_below(&worker->random, now), &handle))
			break;
		worker->handles[worker->held++] = random_below(&worker->random, 100) < worker->lost ? stale : handle;
	}
	return got;
}

/* Returns the number of objects that were still active; the handles of evicted objects are refused. */
static size_t run_drain(struct worker *worker, size_t objects)
{
	size_t released = 0;

	for (size_t i = 0; i < objects; i++)
		released += release(worker->hand, worker->handles[--worker->held]);
	return released;
}

#endif
