/* SPDX-License-Identifier: MIT */
/*
 * meeting.h - free running, with a meeting now and then: moments at which no thread is in a call.
 *
 * Idea         Thread 0 decides when it is time, and says so in a flag, which orders nothing.  Every thread comes to the
 *              rendezvous as soon as it has seen it.  Between two rendezvous thread 0 may look at the pool as
 *              no other thread can.
 */
#ifndef STRESS_MEETING_H
#define STRESS_MEETING_H

#include "worker.h"

#include <sched.h>
#include <stdatomic.h>

/* Threads wait for each other, and leave at nearly the same instant: a barrier whose waiters watch one word instead of sleeping
 * in the kernel, which would wake them one after the other.  The last to arrive advances the word.  Everything before the
 * rendezvous, of any thread, is visible to every thread after it. */
struct rendezvous {
	unsigned threads;
	_Atomic(unsigned) arrived;
	_Atomic(unsigned) meetings;
};

static inline void rendezvous_meet(struct rendezvous *r)
{
	/* relaxed: cannot advance before we have arrived. */
	unsigned meeting = atomic_load_explicit(&r->meetings, memory_order_relaxed);

	/* acq_rel: the last one collects what all the others did before. */
	if (atomic_fetch_add_explicit(&r->arrived, 1, memory_order_acq_rel) + 1 == r->threads) {
		/* relaxed: published by the next line; no thread arrives again before it. */
		atomic_store_explicit(&r->arrived, 0, memory_order_relaxed);
		/* release: hands it all to the waiters. */
		atomic_store_explicit(&r->meetings, meeting + 1, memory_order_release);
		return;
	}
	/* acquire: see above.  Ends when the last thread arrives. */
	for (unsigned spins = 0; atomic_load_explicit(&r->meetings, memory_order_acquire) == meeting; spins++)
		if (spins % 64 == 63)
			(void)sched_yield();
}

struct meeting {
	struct rendezvous rendezvous;
	_Atomic(bool) called;
	bool go_on; /* thread 0's, between two rendezvous */
};

/* It is time, says the caller. */
static inline void meeting_call(struct meeting *meeting)
{
	/* relaxed, here and below: to know soon is enough. */
	atomic_store_explicit(&meeting->called, true, memory_order_relaxed);
}

/* Is it time?  Thread 0 calls a meeting once in `times` on average.  When the round is over any thread does, so that all stand
 * still if one does not come: then the watchdog sees it. */
static inline bool meeting_due(struct meeting *meeting, struct worker *worker, uint32_t times)
{
	if (!worker_goes_on(worker, 16) || (worker->index == 0 && worker_chance(worker, times)))
		meeting_call(meeting);
	return atomic_load_explicit(&meeting->called, memory_order_relaxed);
}

/* Every thread has come.  Thread 0 may close the meeting, before the next rendezvous. */
static inline void meeting_join(struct meeting *meeting)
{
	rendezvous_meet(&meeting->rendezvous);
}

static inline void meeting_close(struct meeting *meeting, struct worker *worker)
{
	/* relaxed: the rendezvous that follows publishes it. */
	atomic_store_explicit(&meeting->called, false, memory_order_relaxed);
	meeting->go_on = worker_goes_on(worker, 1);
}

#endif
