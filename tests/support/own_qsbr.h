/* SPDX-License-Identifier: MIT */
/*
 * own_qsbr.h - quiescent states, with counters, as a program's own scheme for config.scheme, complete.
 *
 *     static struct qsbr qsbr;
 *
 *     qsbr_open(&qsbr);
 *     config.scheme = qsbr_scheme(&qsbr);
 *     ...
 *     qsbr_quiescent(&qsbr, me);                               // readers, now and then: "I hold nothing"
 *     node = atomic_load(&head);                               // reading needs nothing more
 *     ... read *node ...
 *     qsbr_offline(&qsbr, me);                                 // before it waits, or exits
 *
 *     old = atomic_exchange(&head, node);                      // writers
 *     lfpool_retire(pool, old);
 *
 * Idea         A clock.  Each batch that begins advances it, and keeps the new time in its room.  A thread that holds
 *              nothing records the current time.  Once all threads have recorded a time at or after the batch's, the
 *              batch may be reused.
 * Why          A thread that reads a time at or after the batch's also sees the writes before `begin`, so it cannot
 *              find the batch's objects.  (seq_cst: `ready` sees a thread that comes online, or that thread finds the
 *              objects gone.)
 */
#ifndef LFPOOL_TESTS_OWN_QSBR_H
#define LFPOOL_TESTS_OWN_QSBR_H

#include "lfpool/lfpool.h"

#include <stdatomic.h>

#define QSBR_THREADS 16
#define QSBR_OFFLINE UINT64_MAX /* later than any time: no batch waits for this thread */

struct qsbr {
	_Alignas(64) _Atomic(uint64_t) now;
	struct {
		_Alignas(64) _Atomic(uint64_t) time;
	} of[QSBR_THREADS];
};

static inline void qsbr_open(struct qsbr *q)
{
	atomic_init(&q->now, 0);
	for (size_t i = 0; i < QSBR_THREADS; i++)
		atomic_init(&q->of[i].time, QSBR_OFFLINE);
}

/* This thread holds no object now, and is online from here on. */
static inline void qsbr_quiescent(struct qsbr *q, unsigned me)
{
	atomic_store(&q->of[me].time, atomic_load(&q->now));
}

static inline void qsbr_offline(struct qsbr *q, unsigned me)
{
	atomic_store(&q->of[me].time, QSBR_OFFLINE);
}

static inline void qsbr_begin(void *context, lfpool_batch_t *batch)
{
	struct qsbr *q = context;
	uint64_t *time = batch->room;

	*time = atomic_fetch_add(&q->now, 1) + 1;
}

static inline bool qsbr_ready(void *context, const lfpool_batch_t *batch)
{
	struct qsbr *q = context;
	const uint64_t *time = batch->room;

	for (size_t i = 0; i < QSBR_THREADS; i++)
		if (atomic_load(&q->of[i].time) < *time)
			return false;
	return true;
}

static inline lfpool_scheme_t qsbr_scheme(struct qsbr *q)
{
	return (lfpool_scheme_t){.context = q, .begin = qsbr_begin, .ready = qsbr_ready};
}

#endif
