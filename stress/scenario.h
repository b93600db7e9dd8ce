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
	/* After the work: releases what lies in shared places, and frees those.  NULL = nothing to do. */
	void (*finish)(struct round *round);
	/* When the pool was destroyed: frees what it needed until then.  NULL = nothing to do. */
	void (*close)(struct round *round);
};

extern const struct scenario *const scenarios[];
extern const size_t scenario_count;

extern const struct scenario scenario_pairs, scenario_bursts, scenario_handoff_1_1, scenario_handoff_1_n,
	scenario_handoff_n_1, scenario_tables, scenario_exhaustion, scenario_over_demand, scenario_over_demand_free,
	scenario_churn, scenario_misuse, scenario_double_release, scenario_walk, scenario_handles, scenario_wait,
	scenario_resize, scenario_priority, scenario_soak, scenario_retire;

/* Where the library is installed: STRESS_RCU, STRESS_CK. */
extern const struct scenario scenario_rcu, scenario_epoch;

#endif
