/* SPDX-License-Identifier: MIT */
/*
 * records.h - where a job's record comes from: lfpool, the same calls over a mutex, or malloc.
 *
 * Idea         What a scheduler keeps for each job - what to do, what waits for it - is small, of one size, made a million
 *              times a second, and mostly given back by another thread than the one that took it.  That is a pool's work.
 *              The switch is here and nowhere else, so that what differs between two runs is the allocator alone.
 * Hands        A thread reaches the records through a `struct hand`.  Code that knows which worker it is running on has one
 *              with a cache for each worker: no look-up, hits inlined.  Code that does not has one without a cache for all
 *              threads, and lfpool finds the thread's own.  Which of the two a scheduler can have, its file says.
 * Capacity     A pool has so many records and not one more.  A NULL is not an error: the worker that wanted to spawn a job
 *              does the job itself, at once.  malloc goes on for ever, and so does the queue.
 *                 A NULL costs more than a record, some 200 ns, because the pool says it only after it has looked everywhere.
 *              So a worker that got one does a few more jobs without asking: record_ask().
 */
#ifndef EXAMPLE_SCHEDULERS_RECORDS_H
#define EXAMPLE_SCHEDULERS_RECORDS_H

#include "lfpool/inline.h"

#include <stdio.h>
#include <stdlib.h>

/* Jobs that are done without asking, after one for which there was no record. */
#define RECORD_REST 31
#define RECORD_ALIGNMENT ((size_t)64)

enum allocator {
	ALLOCATOR_LFPOOL,
	ALLOCATOR_MUTEX,  /* lfpool's calls, with LFPOOL_BACKEND_MUTEX behind them */
	ALLOCATOR_MALLOC, /* malloc() and free(), and nothing of the library       */
};

struct records {
	lfpool_t *pool; /* NULL: malloc */
	size_t bytes;
};

struct hand {
	const struct records *records;
	lfpool_cache_t *cache; /* NULL: the calling thread's, or malloc */
};

/* False: there is no such pool; the reason was printed. */
static inline bool records_open(struct records *records_out, enum allocator allocator, size_t bytes, size_t capacity)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	/* Whole cache lines, whatever they come from. */
	bytes = (bytes + RECORD_ALIGNMENT - 1) / RECORD_ALIGNMENT * RECORD_ALIGNMENT;
	*records_out = (struct records){.bytes = bytes};
	if (allocator == ALLOCATOR_MALLOC)
		return true;
	config.name = "records";
	config.object_size = bytes;
	/* Two workers do not write to one line because their records are neighbours. */
	config.object_alignment = RECORD_ALIGNMENT;
	config.capacity = capacity;
	config.backend = allocator == ALLOCATOR_MUTEX ? LFPOOL_BACKEND_MUTEX : LFPOOL_BACKEND_LOCKFREE;
	const lfpool_status_t status = lfpool_create(&records_out->pool, &config);

	if (status != LFPOOL_OK)
		fprintf(stderr, "no pool of records: %s\n", lfpool_status_string(status));
	return status == LFPOOL_OK;
}

/* One for all threads. */
static inline struct hand hand_of_all(const struct records *records)
{
	return (struct hand){.records = records};
}

/* One for one worker.  It needs no closing: its cache goes with the pool. */
static inline struct hand hand_of_worker(const struct records *records)
{
	/* Without memory for a cache: as the others do it, a little slower. */
	return (struct hand){
		.records = records,
		.cache = records->pool ? lfpool_cache_create(records->pool) : NULL,
	};
}

/* NULL: every record is in use. */
static inline void *record_acquire(const struct hand *hand)
{
	if (hand->cache)
		return lfpool_cache_acquire(hand->cache);
	if (hand->records->pool)
		return lfpool_acquire(hand->records->pool);
	return malloc(hand->records->bytes);
}

/* As record_acquire(), for jobs so small that asking in vain would be most of their time.  `rest` is the caller's, 0 at first:
 * so many times NULL is the answer without a look. */
static inline void *record_ask(const struct hand *hand, uint32_t *rest)
{
	if (*rest) {
		--*rest;
		return NULL;
	}
	void *record = record_acquire(hand);

	if (!record)
		*rest = RECORD_REST;
	return record;
}

/* From any thread, with its own hand. */
static inline void record_release(const struct hand *hand, void *record)
{
	if (hand->cache)
		lfpool_cache_release(hand->cache, record);
	else if (hand->records->pool)
		lfpool_release(hand->records->pool, record);
	else
		free(record);
}

#endif
