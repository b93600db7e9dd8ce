/* SPDX-License-Identifier: MIT */
/*
 * history.h - the log: what every call on the pool answered, and when (--history).
 *
 * Idea         Every thread writes each acquire, each release and each NULL into an array of its own, between two
 *              stamps (stamps.h).  Nothing is shared and nothing is allocated on the way, so logging orders nothing
 *              but by taking time.  When the round is over the checker (history_check.h) reads all the arrays.
 * Hold         An acquire begins a hold, and a release names the hold that it ends: struct held carries it from the
 *              one to the other, from thread to thread.
 * Room         The arrays are touched before the round.  When one of them is nearly full the round ends
 *              (history_full()); what the threads then still have to do fits into HISTORY_RESERVE records.
 */
#ifndef STRESS_HISTORY_H
#define STRESS_HISTORY_H

#include "stamps.h"

#include <stddef.h>

/* More than any scenario does between two looks at the time: 512 acquires, 512 releases, and NULLs. */
#define HISTORY_RESERVE 2048

enum history_kind { HISTORY_ACQUIRE = 1, HISTORY_RELEASE, HISTORY_NULL };

/* Which acquisition: the index-th record of that log. */
struct hold {
	uint32_t log, index;
};

struct history_record {
	uint64_t begin, end; /* stamps                                       */
	uintptr_t object;    /* its address; 0 for a NULL                    */
	uint32_t kind : 2;   /* enum history_kind                            */
	uint32_t log : 30;   /* of a release: the hold that it ends          */
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

static inline uint64_t history_begin(const struct history_log *log)
{
	return log ? stamp_begin() : 0;
}

static inline uint64_t history_end(const struct history_log *log)
{
	return log ? stamp_end() : 0;
}

static inline uint32_t history_append(struct history_log *log, struct history_record record)
{
	uint32_t index = log->count++;

	if (index >= log->limit) {
		if (index >= log->room)
			history_overflow(log);
		/* relaxed: to know soon is enough. */
		atomic_store_explicit(log->full, true, memory_order_relaxed);
	}
	log->records[index] = record;
	return index;
}

static inline struct hold history_acquired(struct history_log *log, uint64_t begin, uint64_t end, const void *object)
{
	struct hold hold = {0, 0};

	if (log) {
		hold.log = log->number;
		hold.index = history_append(
			log, (struct history_record){
				     .begin = begin, .end = end, .object = (uintptr_t)object, .kind = HISTORY_ACQUIRE});
	}
	return hold;
}

static inline void history_released(struct history_log *log, uint64_t begin, uint64_t end, const void *object, struct hold hold)
{
	if (log)
		(void)history_append(log, (struct history_record){.begin = begin,
								  .end = end,
								  .object = (uintptr_t)object,
								  .kind = HISTORY_RELEASE,
								  .log = hold.log & 0x3fffffff,
								  .index = hold.index});
}

static inline void history_null(struct history_log *log, uint64_t begin, uint64_t end)
{
	if (log)
		(void)history_append(log, (struct history_record){.begin = begin, .end = end, .kind = HISTORY_NULL});
}

/* ---- The history of one round: history.c ---- */

struct cell;

/* So many of a round's faults are described; all are counted. */
#define HISTORY_MESSAGES 3

/* None of these does anything without --history. */

/* Touches the memory for the logs of a cell, so that this does not happen in its time. */
void history_prepare(const struct cell *cell);

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
