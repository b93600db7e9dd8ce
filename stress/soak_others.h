/* SPDX-License-Identifier: MIT */
/* soak_others.h - two more pools of the scenario soak: see soak_others.c. */
#ifndef STRESS_SOAK_OTHERS_H
#define STRESS_SOAK_OTHERS_H

#include "round.h"

#include "lfpool/report.h"

/* With no other thread in a call: others_open(), others_rest(), others_close(). */
void others_open(void);
/* A few uses of both pools. */
void others_step(struct worker *worker);
/* Everything is released, and the memory given back. */
void others_rest(void);
void others_stats(lfpool_stats_t *built_out, lfpool_stats_t *evicting_out);
void others_close(void);

#endif
