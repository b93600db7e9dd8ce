/* SPDX-License-Identifier: MIT */
/*
 * faults.h - bugs committed on purpose, to see that the oracle finds them (--break).
 *
 * Idea         A fault strikes between the worker and the pool, where a bug of the pool would show: about one call in
 *              FAULT_RATE, drawn from the seed.  No fault is a data race or corrupts the pool, because the program
 *              must live to report it.
 *                double-grant   acquire returns the decoy, an object that the keeper holds during the whole round
 *                lost-object    release drops the object
 *                spurious-null  acquire returns NULL without asking the pool
 *                quiet-null     as spurious-null, but only when the count of demand.h cannot refute the NULL
 *                torn-payload   one byte of an object changes while it is held
 *                hang           acquire never returns
 *                crash          the thread overruns its stack
 *                leak           the harness loses 512 KiB after each cycle of `soak`
 *                lost-count     lfpool_stats() reports one acquire less
 *                misplaced      lfpool_stats() reports one free object less
 *                low-mark       high_water is one less than the most objects seen in use at once
 *              In `wait` and `resize`:
 *                late-wait      a call returns 100 ms after its timeout
 *              In `wait`:
 *                wrong-turn     the second in the queue is served before the first
 *                not-served     a continuation is not called though an object is free
 *              In `evict`, in addition to the first five:
 *                stale-handle   the handle of an ended object pins an object
 *                lost-pin       the pool forgets a pin
 *                lost-update    lfpool_set_priority() is not called
 *                evicted-twice  hooks.evict is called twice
 *                wrong-victim   an object is evicted that the pool did not choose
 *                wrong-least    lfpool_least() returns an object of another rank
 *              In the scenarios that retire (nodes.h), in addition to the first five:
 *                no-deferral    every object is released, not retired
 *                early-release  one object of 16 is released, not retired
 *                no-section     readers read outside of any section
 *                late-write     after publishing a node its holder overwrites it with the same bytes: only
 *                               ThreadSanitizer can find that
 */
#ifndef STRESS_FAULTS_H
#define STRESS_FAULTS_H

#include "round.h"

#include <sched.h>

#define FAULT_RATE 64
#define FAULT_LATE_NS UINT64_C(100000000)

/* The keeper commits no faults. */
static inline bool faults_wanted(const struct worker *worker)
{
	return options.fault != FAULT_NONE && worker != &current.keeper;
}

/* Counts a fault. */
static inline void fault_committed(void)
{
	/* relaxed: a statistic. */
	add_relaxed(&current.cell->faults, 1);
}

static inline bool fault_strikes_often(struct worker *worker, enum fault fault, uint32_t rate)
{
	if (options.fault != fault || worker == &current.keeper || random_below(&worker->faults, rate) != 0)
		return false;
	fault_committed();
	return true;
}

static inline bool fault_strikes(struct worker *worker, enum fault fault)
{
	return fault_strikes_often(worker, fault, FAULT_RATE);
}

/* Uses all of the stack.  The condition and the sum keep compilers from removing the recursion. */
static inline unsigned fault_overrun(unsigned depth)
{
	volatile char some[4096];

	some[0] = (char)depth;
	return depth == UINT32_MAX ? 0 : fault_overrun(depth + 1) + (unsigned)some[0];
}

/* Returns NULL: ask the pool; or the decoy: hand it out instead. */
static inline void *fault_instead_of_acquire(struct worker *worker, void *decoy)
{
	if (fault_strikes(worker, FAULT_HANG))
		for (;;)
			(void)sched_yield();
	if (fault_strikes(worker, FAULT_CRASH))
		(void)fault_overrun(0);
	return fault_strikes(worker, FAULT_DOUBLE_GRANT) ? decoy : NULL;
}

static inline bool fault_null(struct worker *worker, uint64_t reading)
{
	return fault_strikes(worker, FAULT_SPURIOUS_NULL) ||
	       (demand_null_allowed(&current.demand, reading) && fault_strikes(worker, FAULT_QUIET_NULL));
}

/* Would a worker release the decoy?  Only the keeper may.  (The ledger stops the worker before.) */
static inline bool fault_decoy(const struct worker *worker, const void *object)
{
	return object == current.decoy.object && worker != &current.keeper;
}

static inline bool fault_instead_of_release(struct worker *worker, const void *object)
{
	return fault_strikes(worker, FAULT_LOST_OBJECT) || fault_decoy(worker, object);
}

/* May change one of the bytes. */
static inline void fault_tear(struct worker *worker, unsigned char *bytes, size_t count)
{
	if (fault_strikes(worker, FAULT_TORN_PAYLOAD))
		bytes[random_next(&worker->faults) % count] ^= 0x40;
}

#endif
