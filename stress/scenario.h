/* SPDX-License-Identifier: MIT */
/*
 * scenario.h - what a scenario is, and the table of all of them.
 *
 * Idea         A scenario says what the threads do with a pool, and how large the pool must be for that.  Everything
 *              else, the drawn configuration, the oracle, the count at the end, is the same for all of them and lives
 *              in round.c.
 */
#ifndef STRESS_SCENARIO_H
#define STRESS_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

struct regime;
struct round;
struct worker;

struct scenario {
	const char *name;
	const char *description; /* one line, for --list                                                          */
	bool alone;              /* not one of "all"; one thread count, and one round                           */
	bool needs_refusals;     /* the pool must know what is active: nothing to test with the malloc backend    */
	bool unlogged;           /* the history does not know its calls: it does not run with --history            */
	/* Before the pool exists: calls round_capacity() or sets round->capacity, and makes what the threads
	 * share. */
	void (*plan)(struct round *round);
	/* What each worker does, until worker_goes_on() says no. */
	void (*work)(struct worker *worker);
	/* After the work: releases what lies in shared places, and frees those.  NULL = frees round->shared. */
	void (*finish)(struct round *round);
	/* When the pool was destroyed: frees what it needed until then.  NULL = nothing to do. */
	void (*close)(struct round *round);
	const struct regime *regime; /* of those that retire: nodes.h */
};

extern const struct scenario *const scenarios[];
extern const size_t scenario_count;

/* Those for which a library must be installed. */
#ifdef STRESS_RCU
#define SCENARIO_RCU(X) X(rcu)
#else
#define SCENARIO_RCU(X)
#endif
#ifdef STRESS_CK
#define SCENARIO_EPOCH(X) X(epoch)
#else
#define SCENARIO_EPOCH(X)
#endif
/* All, in the order in which they run. */
#define SCENARIOS(X)                                                                                                    \
	X(pairs) X(bursts) X(handoff_1_1) X(handoff_1_n) X(handoff_n_1) X(tables) X(exhaustion) X(over_demand)          \
	X(over_demand_free) X(churn) X(misuse) X(double_release) X(walk) X(handles) X(wait) X(resize) X(priority)       \
	X(retire) SCENARIO_RCU(X) SCENARIO_EPOCH(X) X(soak)

#define SCENARIO_DECLARED(name) extern const struct scenario scenario_##name;
SCENARIOS(SCENARIO_DECLARED)

#endif
