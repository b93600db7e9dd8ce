/* SPDX-License-Identifier: MIT */
/* soak_beside.h - two more pools of the scenario soak: see soak_beside.c. */
#ifndef STRESS_SOAK_BESIDE_H
#define STRESS_SOAK_BESIDE_H

#include "round.h"

#include "lfpool/report.h"

/* With no other thread in a call: beside_open(), beside_rest(), beside_close(). */
void beside_open(void);
/* A few uses of both pools. */
void beside_step(struct worker *worker);
/* Everything is released, and the memory given back. */
void beside_rest(void);
void beside_stats(lfpool_stats_t *built_out, lfpool_stats_t *evicting_out);
void beside_close(void);

#endif
