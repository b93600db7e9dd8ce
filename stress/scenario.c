/* SPDX-License-Identifier: MIT */
/*
 * scenario.c - the table of scenarios, see scenario.h.
 */
#include "scenario.h"

#define SCENARIO_LISTED(name) &scenario_##name,
const struct scenario *const scenarios[] = {SCENARIOS(SCENARIO_LISTED)};
const size_t scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);
