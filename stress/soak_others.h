/* SPDX-License-Identifier: MIT */
/* soak_others.h - two more pools of the scenario soak: see soak_others.c. */
#ifndef STRESS_SOAK_OTHERS_H
#define STRESS_SOAK_OTHERS_H

#include "round.h"

#include "lfpool/report.h"

/* others_open(), others_rest() and others_close() need that no other thread is in a call. */
void others_open(void);
/* A few uses of both pools. */
void others_step(struct worker *worker);
/* Releases all objects, and gives their memory back to the system. */
void others_rest(void);
void others_stats(lfpool_stats_t *built_out, lfpool_stats_t *evicting_out);
void others_close(void);

#endif
