/* SPDX-License-Identifier: MIT */
/*
 * promise.h - continuations (lfpool_acquire_async), and what must be true of each.
 *
 * Idea         Each has a record of its own, which is used once.  Its state says what became of it: asked, and then either
 *              run or cancelled; anything else is a violation.  The state is relaxed: what the caller
 *              wrote before the call must be visible to the continuation by the library's own edge.
 * Order        "First come, first served", without false alarms.  In some rounds one counter stamps: when the call
 *              began and had ended (the continuation was in the queue by then); when the outermost call on the pool
 *              began, of the thread that ran it (it was given its object after that); and when it ran.  If A had been in the
 *              queue before B's call began, and before the call that served B began, then that call had to see A first,
 *              unless A was not waiting any more.  But it was, if B ran before the call that served A began.  So a
 *              violation is a pair with
 *                  A.end < min(B.begin, B.served_in)   and   B.ran < A.served_in.
 *              The begin of a successful cancel counts as A.served_in.  With A sorted by end, and B by that
 *              minimum, the largest A.served_in so far is all that must be known: O(n log n).
 *              The counter orders the threads and could hide a missing edge: rounds without it leave that to
 *              ThreadSanitizer.
 */
#ifndef STRESS_PROMISE_H
#define STRESS_PROMISE_H

#include "worker.h"

#define PROMISES_MAX 1024 /* of one worker, in a round */

enum promise_state { PROMISE_NONE, PROMISE_ASKED, PROMISE_RAN, PROMISE_CANCELLED };

struct promise {
	_Atomic(unsigned) state;
	bool release_at_once;   /* by the continuation                            */
	lfpool_ticket_t ticket; /* the asker's                    */
	uint64_t history_begin;
	uint64_t begin, end;     /* stamps; written by the asker   */
	uint64_t served_in, ran; /* by the thread that ran or cancelled it */
};

/* A round's. */
struct promises {
	bool stamped;
	_Atomic(uint64_t) clock;
	struct promise *of; /* PROMISES_MAX for each worker */
	unsigned *count;    /* used, of each worker's       */
	unsigned workers;
};

void promises_open(struct promises *promises, unsigned workers, bool stamped);
void promises_close(struct promises *promises);

/* The next moment; 0 without stamps. */
static inline uint64_t promises_now(struct promises *promises)
{
	/* acq_rel: a thread with a later stamp has seen what was done before an earlier one. */
	return promises->stamped ? atomic_fetch_add_explicit(&promises->clock, 1, memory_order_acq_rel) + 1 : 0;
}

static inline unsigned promise_state(const struct promise *promise)
{
	/* relaxed: see Idea. */
	return atomic_load_explicit(&promise->state, memory_order_relaxed);
}

/* A record for worker `index`'s next continuation; NULL: all are used. */
struct promise *promise_next(struct promises *promises, unsigned index);
/* From one state to another; a violation if it is in a third.  Says whether it was well. */
bool promise_turn(struct promise *promise, enum promise_state from, enum promise_state to);

/* All threads are at rest: how many are still asked for? */
size_t promises_pending(const struct promises *promises);
/* The round is over: was each served in turn? */
void promises_check_order(const struct promises *promises);

#endif
