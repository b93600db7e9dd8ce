/* SPDX-License-Identifier: MIT */
/*
 * results.h - workers post what they counted; the worker that collects adds it up.  Result records come from a pool of their
 * own.
 *
 * Idea         Results are posted to one list and always taken all at once.  So the list needs no protection against
 *              ABA: a post compares the newest record only with the one it has just linked to, and if they are the
 *              same the link is right, whatever happened meanwhile.  A record is acquired by the worker that posts it
 *              and released by the one that collects it, often another.
 * No record    When every record is in use, they all wait in the list or are about to: the worker collects, and
 *              counts its own result without a record.
 * Invariants   R1  a record is in the list, or held by one worker that posts or collects it.
 *              R2  each result is in exactly one collector's sum.
 * Progress     post and collect are lock-free, as far as the pool's backend is.
 */
#ifndef EXAMPLE_RESULTS_H
#define EXAMPLE_RESULTS_H

#include "reader.h"

#include "lfpool/lfpool.h"

#include <stdalign.h>
#include <stdatomic.h>

struct collector;

/* An object of the pool. */
struct result {
	struct result *next;            /* in the list: the one posted before */
	const struct collector *poster; /* acquired the record           */
	struct counts counts;
};

/* Shared by all. */
struct results {
	lfpool_t *pool;
	alignas(128) _Atomic(struct result *) newest;
};

/* One worker's. */
struct collector {
	struct results *results;
	lfpool_cache_t *cache;
	struct counts sum;      /* of all results collected so far                       */
	uint64_t posted;        /* with a record                                         */
	uint64_t without;       /* without: none was to be had                           */
	uint64_t from_others;   /* records collected that another worker had acquired    */
	uint64_t largest_batch; /* most records collected at once: these were all active */
};

lfpool_status_t results_create(struct results *results_out, size_t capacity, lfpool_backend_t backend);

/* Returns what lfpool_destroy() said: result records still active, 0 if all is well.  Collectors end with it. */
size_t results_destroy(struct results *results);

lfpool_status_t collector_create(struct collector *collector_out, struct results *results);

/* Hands a result to the worker that collects next.  Collects itself now and then. */
void results_post(struct collector *collector, const struct counts *counts);

/* Adds all that was posted to the collector's sum and releases the records. */
void results_collect(struct collector *collector);

#endif
