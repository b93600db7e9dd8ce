/* SPDX-License-Identifier: MIT */
/*
 * evicting.h - the loop over a pool that evicts (lfpool/evict.h); a template for C and C++, as loops.h.  Each file in
 * subjects/ that is one defines
 *
 *     static inline void *acquire_filled(void *hand, uint64_t priority, uint64_t *handle_out);
 *     static inline bool update(void *hand, uint64_t handle, uint64_t priority);
 *     static inline bool release(void *hand, uint64_t handle);
 *
 * then includes this file and names EVICTING_LOOPS in its `struct subject`.  It uses object_fill() for a new object.
 *
 *     acquire    an object that is free, or is taken from the holder with the least priority; it is filled, and from
 *     then on
 *                may be taken itself.  NULL: the least does not give way to the newcomer.
 *     update     another priority; refused if the handle is stale.
 *     release    refused likewise.
 *
 * All refuse stale handles, fill all of a new object, and of equal priorities evict the oldest.
 *
 * Idea         A thread keeps the handles of its share of the objects.  An operation is, by lot, an update of one of
 *              them, or an acquire, whose handle takes the place of one that was found stale, or else of any.  (So some
 *              objects belong to no thread any more; they age, and go.)  The pool is full all the time: each acquire
 *              evicts.  When its holder does not know yet that an object was evicted, the update is refused; so is any
 *              program's.  It counts as an operation; how many there were is reported.
 * The clock    Priorities are those of a cache that ages: now + random.  `Now` counts the operations of all threads, in
 *              steps of an eighth of the pool or so.  So a newcomer comes after the least, and evicts it, however the
 *              threads share the processors; a thread that was not running has missed nothing, since all read one
 *              clock.  A thread that sleeps between the clock and its call is refused; the share is reported.
 */
#ifndef LFPOOL_BENCH_EVICTING_H
#define LFPOOL_BENCH_EVICTING_H

#include "workload.h"

#define EVICTING_LOOPS {.evict = run_evict, .fill = run_fill, .drain = run_drain, .evicting = &evicting_calls}

static const struct evicting_calls evicting_calls = {acquire_filled, update, release};

/* 0 .. bound - 1, by the highest 20 bits of a lot; three such from one draw, for the loop is in all figures. */
static inline uint32_t lot_below(uint64_t lot, uint32_t bound)
{
	return (uint32_t)((lot >> 44) * bound >> 20);
}

static size_t run_evict(struct worker *worker, size_t operations)
{
	const uint32_t count = (uint32_t)worker->held;
	size_t acquired = 0, refused = 0, stale = 0;
	uint32_t lost = count; /* its handle was found stale; count: none was */
	uint64_t since = 0;

	for (size_t i = 0; i < operations; i++) {
		const uint64_t lot = random_next(&worker->random);
		const bool acquires = lot_below(lot, 100) < worker->acquires;
		const uint32_t chosen = lot_below(lot << 24, count);
		/* relaxed, both: nothing else is read because of it. */
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

/*
 * As if the loop had gone on for long.  The clock stands at the capacity: priorities are those of a pool that was
 * filled at an even pace until now.  Some handles are stale, and as many objects belong to no thread.  Otherwise a
 * thread that does more operations in the same time had more of them.
 */
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

/* How many were still there: others were evicted, and their handles are refused. */
static size_t run_drain(struct worker *worker, size_t objects)
{
	size_t released = 0;

	for (size_t i = 0; i < objects; i++)
		released += release(worker->hand, worker->handles[--worker->held]);
	return released;
}

#endif
