/* SPDX-License-Identifier: MIT */
/*
 * workload.h - the list of workloads: which loop, with how many objects, on which threads.
 */
#ifndef LFPOOL_BENCH_WORKLOAD_H
#define LFPOOL_BENCH_WORKLOAD_H

#include "subject.h"

/* Objects that a short-lived thread acquires. */
#define CHURN_OBJECTS 64

enum pattern { ALONE, ONE_TO_ONE, ONE_TO_MANY, MANY_TO_ONE, EXCHANGE, GRAPH };

struct workload {
	const char *name;
	const char *what;     /* in one line                                                              */
	size_t loop;          /* offset of a loop in struct loops                                         */
	enum pattern pattern; /* which thread meets which                                                           */
	size_t count;         /* objects of a worker's array                                              */
	size_t held;          /* the most objects that one thread has out at once; 0: count               */
	size_t chunk;         /* pairs between two looks at the clock                                     */
	unsigned needs;       /* traits that a subject must have                                          */
	bool shuffled;        /* a burst is released in random order, else the newest object first       */
	bool divided;         /* `count` is for all threads together                                      */
	bool timed;           /* has histograms                                                           */
	bool emptied;         /* before the start, everything is acquired; the pool has no reserve       */
	unsigned stale;       /* of 100 handles that a thread begins with                                 */
	unsigned evicts;      /* of 100 operations, in pools that evict; 0: a workload of the others     */
	bool retires;         /* of subjects that defer                                                  */
	bool reads;           /* each other thread only reads                                            */
};

#define WORKLOAD_COUNT 34
extern const struct workload workloads[WORKLOAD_COUNT];

/* Objects for one worker of `threads`. */
size_t workload_count(const struct workload *workload, unsigned threads);
/* Whether this cell makes sense, and fits into memory. */
bool workload_fits(const struct workload *workload, const struct subject *subject, size_t object_bytes, unsigned threads);
/* What the pool must have for it; a subject that cannot have so many objects gets a smaller reserve. */
struct plan workload_plan(const struct workload *workload, const struct subject *subject, size_t object_bytes, unsigned threads);

#endif
