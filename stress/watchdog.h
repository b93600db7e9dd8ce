/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - a hang is a finding too, and must be seen.
 *
 * Idea         Every worker beats a pulse, a counter of its own, with each operation.  One thread adds the pulses up
 *              from time to time: it rewrites the progress line, and when the sum has not moved for too long it names
 *              the cell and ends the program with status 3.  A single stuck thread is seen as well: the others end
 *              their round, and then the sum stands still.
 * Concurrency  A pulse has one writer at a time; relaxed, so that counting orders nothing.
 */
#ifndef STRESS_WATCHDOG_H
#define STRESS_WATCHDOG_H

#include "common/sanitizers.h"
#include "options.h"

#include <stdatomic.h>

#define WATCHDOG_PATIENCE_SECONDS (UNDER_TSAN ? 120 : 60)

/* Workers, the keeper, and two short-lived children for each worker: see worker.h. */
#define PULSES (3 * THREADS_MAX + 1)

struct pulse {
	_Alignas(64) _Atomic(uint64_t) operations;
	_Atomic(uint64_t) acquires; /* that succeeded, of rounds' pools */
};

extern struct pulse pulses[PULSES];

static inline void pulse_add(_Atomic(uint64_t) *count, uint64_t more)
{
	/* relaxed, both: one writer; the watchdog wants no more than an approximate sum. */
	uint64_t before = atomic_load_explicit(count, memory_order_relaxed);

	atomic_store_explicit(count, before + more, memory_order_relaxed);
}

static inline void pulse_beat(struct pulse *pulse, uint64_t operations)
{
	pulse_add(&pulse->operations, operations);
}

static inline void pulse_acquired(struct pulse *pulse, uint64_t acquires)
{
	pulse_add(&pulse->acquires, acquires);
}

/* All operations, and all acquires, since the program began; exact while no worker runs. */
uint64_t pulse_sum(void);
uint64_t pulse_acquires(void);

struct cell;

/* Starts the watchdog; stops it. */
void watchdog_start(const struct options *options);
void watchdog_stop(void);

/* From now on `cell`, the number-th of `count`, is the one that must make progress. */
void watchdog_watch(struct cell *cell, size_t number, size_t count);

#endif
