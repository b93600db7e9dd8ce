/* SPDX-License-Identifier: MIT */
/*
 * history.h - the log: what every call on the pool answered, and when (--history).
 *
 * Idea         Every thread writes each acquire, each release and each NULL into an array of its own, between two
 *              stamps.  Nothing is shared and nothing is allocated on the way, so logging orders nothing
 *              but by taking time.  When the round is over the checker (history_check.h) reads all the arrays.
 * Hold         An acquire begins a hold, and a release names the hold that it ends: struct held carries it from the
 *              one to the other, from thread to thread.
 * Room         The arrays are touched before the round.  When one of them is nearly full the round ends
 *              (history_full()); what the threads then still have to do fits into HISTORY_RESERVE records.
 * Stamps       A claim "a ended before b began" is worth something only if each interval contains the effect of its
 *              call.  So no access of the call may be made before its first stamp is read, and all of its stores must
 *              have left the processor's buffer before its last one is: a full fence stands between clock and call.
 *              Nanoseconds are whole numbers: equal stamps order nothing.
 * Clock        CLOCK_MONOTONIC, which is the same for all processors.  Where the kernel has found their time-stamp
 *              counters to agree, and goes on watching them, the clock is read from these, without a system call.
 */
#ifndef STRESS_HISTORY_H
#define STRESS_HISTORY_H

#include "common/harness.h"
#include "relaxed.h"

#include <stddef.h>

/* More than any scenario does between two looks at the time: 512 acquires, 512 releases, and NULLs; 1024 evictions. */
#define HISTORY_RESERVE 2048

/* The last three are of pools that evict.  STEADY: from the end of the call on, the object can be evicted, and has this
 * rank; until a CHANGE begins, or a call begins that made it the VICTIM. */
enum history_kind {
	HISTORY_ACQUIRE = 1,
	HISTORY_RELEASE,
	HISTORY_NULL,
	HISTORY_STEADY,
	HISTORY_CHANGE,
	HISTORY_VICTIM
};

/* Which acquisition: the index-th record of that log. */
struct hold {
	uint32_t log, index;
};

struct history_record {
	uint64_t begin, end;  /* stamps                                                                 */
	uint64_t object;      /* its address; a rank, if it can be evicted; of a NULL: see history_null() */
	uint32_t kind : 3;    /* enum history_kind                                                      */
	uint32_t thread : 13; /* the number of its log                                                  */
	uint32_t log : 16;    /* the hold that a release ends, or of an object that can be evicted      */
	uint32_t index;
};

struct history_log {
	_Alignas(64) struct history_record *records;
	uint32_t count, limit, room; /* records: written; that end the round; that there is memory for */
	uint32_t number;             /* of this log                                                    */
	_Atomic(bool) *full;         /* the round's                                                    */
};

/* The log is of no use without room: ends the program. */
_Noreturn void history_overflow(const struct history_log *log);

/* All of these do nothing without a log. */

static inline void history_fence(void)
{
#if defined(__x86_64__)
	/* ThreadSanitizer knows no fences, and gcc says so. */
	__asm__ __volatile__("mfence" ::: "memory");
#else
	/* seq_cst: everything before it is done before anything after it begins. */
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* The stamps: before the call; after it. */
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
		/* relaxed: to know soon is enough. */
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

/* A call begins that may change the rank, or after which the object may not be evicted. */
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

/* NULL: no object below `rank` could be evicted. */
static inline void history_refused(struct history_log *log, uint64_t begin, uint64_t rank)
{
	if (log)
		(void)history_append(log, HISTORY_NULL, begin, history_end(log), rank, (struct hold){0, 0});
}

/* ---- The history of one round: history.c ---- */

/* So many of a round's faults are described; all are counted. */
#define HISTORY_MESSAGES 3

/* None of these does anything without --history. */

/* The time begins. */
void history_open(void);

/* The log of worker `index`, empty; NULL without --history.  That of the keeper is made for the capacity in
 * current.config. */
struct history_log *history_log_of(uint32_t index);

/* Every thread has stopped: checks, and reports what is wrong as violations. */
void history_close(void);

/* How much was checked in all rounds. */
void history_say(void);

#endif
