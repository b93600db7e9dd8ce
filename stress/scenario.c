/* SPDX-License-Identifier: MIT */
/*
 * scenario.c - the table of scenarios, in the order in which they run.
 */
#include "scenario.h"

const struct scenario *const scenarios[] = {
	&scenario_pairs,
	&scenario_bursts,
	&scenario_handoff_1_1,
	&scenario_handoff_1_n,
	&scenario_handoff_n_1,
	&scenario_tables,
	&scenario_exhaustion,
	&scenario_over_demand,
	&scenario_over_demand_free,
	&scenario_churn,
	&scenario_misuse,
	&scenario_double_release,
	&scenario_walk,
	&scenario_handles,
	&scenario_wait,
	&scenario_resize,
	&scenario_priority,
	&scenario_retire,
#ifdef STRESS_RCU
	&scenario_rcu,
#endif
#ifdef STRESS_CK
	&scenario_epoch,
#endif
	&scenario_soak,
};
const size_t scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);
