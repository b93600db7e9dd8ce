/* SPDX-License-Identifier: MIT */
/*
 * history.h - the log: the answer and the time of every call on the pool (--history).
 *
 * Idea         Every thread writes each acquire, release and NULL, between two stamps, into an array that only it
 *              uses.  Logging shares and allocates nothing, so it orders nothing, except by taking time.  After the
 *              round the checker (history_check.h) reads all arrays.
 * Hold         An acquire begins a hold, and a release names the hold that it ends: struct held carries it from
 *              thread to thread.
 * Room         The arrays are touched before the round.  When one is nearly full, the round ends (round_full()); each
 *              thread's remaining calls fit into HISTORY_RESERVE records.
 * Stamps       "a ended before b began" means something only if each interval contains the effect of its call.  So no
 *              access of the call may come before its first stamp, and all its stores must have left the processor's
 *              buffer before its last stamp: a full fence separates clock and call.  Nanoseconds are whole numbers:
 *              equal stamps order nothing.
 * Clock        CLOCK_MONOTONIC, which is the same on all processors.  Where the kernel has found their time-stamp
 *              counters to agree, and keeps watching them, the counter is read instead, without a system call.
 */
#ifndef STRESS_HISTORY_H
#define STRESS_HISTORY_H

#include "common/harness.h"
#include "relaxed.h"

#include <stddef.h>

/* The most records of a thread between two calls of worker_goes_on(): 512 acquires, 512 releases, and NULLs; or 1024
 * evictions. */
#define HISTORY_RESERVE 2048

/* The last three kinds are for pools that evict.  From the end of a STEADY record its object can be evicted, and keeps
 * the record's rank, until a CHANGE begins, or the call that evicts the object (VICTIM). */
enum history_kind {
	HISTORY_ACQUIRE = 1,
	HISTORY_RELEASE,
	HISTORY_NULL,
	HISTORY_STEADY,
	HISTORY_CHANGE,
	HISTORY_VICTIM
};

/* An acquisition: record `index` of log number `log`. */
struct hold {
	uint32_t log, index;
};

struct history_record {
	uint64_t begin, end;  /* stamps */
	uint64_t object;      /* its address; STEADY, VICTIM, NULL when evicting: a rank; else 0 */
	uint32_t kind : 3;    /* enum history_kind */
	uint32_t thread : 13; /* number of the log with this record */
	uint32_t log : 16;    /* log and index: the hold that a release ends, or that the last three kinds describe */
	uint32_t index;
};

struct history_log {
	_Alignas(64) struct history_record *records;
	uint32_t count, limit, room; /* records: written; at which the round ends; that fit */
	uint32_t number;             /* this log's number */
	_Atomic(bool) *full;         /* the round's history_full */
};

/* The log has no room left: ends the program. */
_Noreturn void history_overflow(const struct history_log *log);

/* If `log` is NULL, the functions below do nothing. */

static inline void history_fence(void)
{
#if defined(__x86_64__)
	/* Not a fence of C: gcc warns that ThreadSanitizer knows none. */
	__asm__ __volatile__("mfence" ::: "memory");
#else
	/* seq_cst: everything before it is done before anything after it begins. */
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* The stamp before a call; history_end() returns the stamp after it. */
static inline uint64_t history_begin(const struct history_log *log)
{
	const uint64_t now = log ? now_ns() : 0;

	if (log)
		history_fence();
	return now;
}

static inline uint64_t history_end(const struct history_log *log)
{
	if (!log)
		return 0;
	history_fence();
	return now_ns();
}

static inline uint32_t history_append(struct history_log *log, enum history_kind kind, uint64_t begin, uint64_t end,
				      uint64_t object, struct hold ended)
{
	uint32_t index = log->count++;

	if (index >= log->limit) {
		if (index >= log->room)
			history_overflow(log);
		/* relaxed: a late reader does no harm. */
		store_relaxed(log->full, true);
	}
	log->records[index] = (struct history_record){.begin = begin,
						      .end = end,
						      .object = object,
						      .kind = kind & 7,
						      .thread = log->number & 0x1fff,
						      .log = ended.log & 0xffff,
						      .index = ended.index};
	return index;
}

static inline struct hold history_acquired(struct history_log *log, uint64_t begin, uint64_t end, const void *object)
{
	struct hold hold = {0, 0};

	if (log) {
		hold.index = history_append(log, HISTORY_ACQUIRE, begin, end, (uintptr_t)object, hold);
		hold.log = log->number;
	}
	return hold;
}

static inline void history_released(struct history_log *log, uint64_t begin, uint64_t end, const void *object,
				    struct hold hold)
{
	if (log)
		(void)history_append(log, HISTORY_RELEASE, begin, end, (uintptr_t)object, hold);
}

static inline void history_null(struct history_log *log, uint64_t begin, uint64_t end)
{
	if (log)
		(void)history_append(log, HISTORY_NULL, begin, end, 0, (struct hold){0, 0});
}

/* ---- Pools that evict ---- */

static inline void history_steady(struct history_log *log, uint64_t begin, struct hold hold, uint64_t rank)
{
	if (log)
		(void)history_append(log, HISTORY_STEADY, begin, history_end(log), rank, hold);
}

/* Before a call that may change the object's rank, or may end its being evictable. */
static inline uint64_t history_change(struct history_log *log, struct hold hold)
{
	const uint64_t now = history_begin(log);

	if (log)
		(void)history_append(log, HISTORY_CHANGE, now, now, 0, hold);
	return now;
}

static inline void history_victim(struct history_log *log, uint64_t begin, struct hold hold, uint64_t rank)
{
	if (log)
		(void)history_append(log, HISTORY_VICTIM, begin, history_end(log), rank, hold);
}

/* Logs a NULL, which claims that no object below `rank` could be evicted. */
static inline void history_refused(struct history_log *log, uint64_t begin, uint64_t rank)
{
	if (log)
		(void)history_append(log, HISTORY_NULL, begin, history_end(log), rank, (struct hold){0, 0});
}

/* ---- The history of one round: history.c ---- */

/* The most faults of a round that are described; all are counted. */
#define HISTORY_MESSAGES 3

/* Without --history the functions below do nothing. */

/* Sets the origin of the stamps. */
void history_open(void);

/* The log of worker `index`, empty; NULL without --history.  The keeper's log has room for the capacity in
 * current.config. */
struct history_log *history_log_of(uint32_t index);

/* After every thread has stopped: checks the logs, and reports faults as violations. */
void history_close(void);

/* Prints the totals of all rounds. */
void history_say(void);

#endif
