/* SPDX-License-Identifier: MIT */
/*
 * elastic.h - some rounds let the pool grow by itself, and trim it, whatever the scenario.
 *
 * Idea         A pool that starts with less than the scenario needs, and may grow to just that, must answer as if it had it
 *              all: NULL is as wrong as before.  Memory that lfpool_trim() gives back must be that of free objects.
 *              While it does so a step of objects is in its hands, and NULL may be right: so a round is trimmed only
 *              where that can be counted (demand.h), or where the scenario leaves room, and then by one worker at a
 *              time.
 */
#ifndef STRESS_ELASTIC_H
#define STRESS_ELASTIC_H

#include <stddef.h>

struct round;
struct worker;

/* Before the pool is created: when the scenario has planned. */
void elastic_draw(struct round *round);

/* A call of lfpool_trim(), if no other thread is making one. */
void elastic_trim(struct worker *worker);

/* So many objects one call of lfpool_trim() has in its hands, at most. */
size_t elastic_trim_objects(const struct round *round);

#endif
