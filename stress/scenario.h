/* SPDX-License-Identifier: MIT */
/*
 * scenario.h - what a scenario is, and the list of all of them.
 *
 * Idea         A scenario says what the threads do with a pool, and how large the pool must be for that.  Everything
 *              else, the drawn configuration, the oracle, the count at the end, is the same for all of them and lives
 *              in round.c.  What the threads of a scenario share is static: there is one round at a time.
 */
#ifndef STRESS_SCENARIO_H
#define STRESS_SCENARIO_H

#include "round.h"

struct scenario {
	const char *name;
	const char *description;             /* one line, for --list                                              */
	bool alone;                          /* not one of "all"; one thread count, and one round                 */
	bool needs_refusals;                 /* the pool must know what is active: not with the malloc backend    */
	bool unlogged;                       /* the history does not know its calls: it does not run with --history */
	void (*plan)(void);                  /* before the pool exists: says how large it must be                 */
	void (*work)(struct worker *worker); /* what each worker does, until worker_goes_on() says no     */
	void (*finish)(void);                /* after the work: releases what lies in shared places; or NULL      */
	void (*close)(void);                 /* when the pool was destroyed: frees what it needed until then; or NULL */
	const struct regime *regime;         /* of those that retire: nodes.h                                     */
};

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
/* clang-format off */
#define SCENARIOS(X)                                                                                                    \
	X(pairs) X(bursts) X(handoff_1_1) X(handoff_1_n) X(handoff_n_1) X(tables) X(exhaustion) X(over_demand)          \
	X(over_demand_free) X(churn) X(misuse) X(double_release) X(walk) X(handles) X(wait) X(resize) X(priority)       \
	X(retire) SCENARIO_RCU(X) SCENARIO_EPOCH(X) X(soak)
/* clang-format on */

#define SCENARIO_DECLARED(name) extern const struct scenario scenario_##name;
SCENARIOS(SCENARIO_DECLARED)

extern const struct scenario *const scenarios[];
extern const size_t scenario_count;

#endif
