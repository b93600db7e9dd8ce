/* SPDX-License-Identifier: MIT */
/*
 * relay.h - calls and continuations that wait one behind the other, and one object that goes from each to the next.
 *
 * Idea         At a meeting, when no thread waits, thread 0 acquires all objects there are.  Then the others begin to wait,
 *              each when lfpool_stats() has said that its predecessor does: so the order of the queue is known.  Then thread
 *              0 releases one object, each that gets it releases it, and it must come to them in that order.
 */
#ifndef STRESS_RELAY_H
#define STRESS_RELAY_H

#include "worker.h"

struct relay {
	bool on;                  /* thread 0's, between two rendezvous             */
	_Atomic(unsigned) next;   /* this thread may begin to wait; 0: none         */
	_Atomic(unsigned) served; /* so many have had their turn                    */
	struct held *all;         /* thread 0's room for all objects there can be   */
	struct runner {
		struct relay *relay;
		unsigned turn;
		uint64_t history_begin;
	} *runners; /* one for each thread                            */
};

/* When the round's capacity is known. */
void relay_open(struct relay *relay);
void relay_close(struct relay *relay);

/* Thread 0, when no thread waits: decides whether there is one. */
void relay_decide(struct relay *relay, struct worker *worker);
/* Every thread, when thread 0 has decided so. */
void relay_run(struct relay *relay, struct worker *worker);

#endif
