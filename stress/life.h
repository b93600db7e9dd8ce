/* SPDX-License-Identifier: MIT */
/*
 * life.h - some rounds give the pool hooks, or debug modes, whatever the scenario.
 *
 * Idea         The hooks touch no object, so every other promise can be checked as without them.  They write down each
 *              object's step in a table beside the pool: create, then activate and deactivate in turn, then destroy, one
 *              hook at a time; now and then deactivate says that the object is not fit for reuse.  When the pool is gone
 *              each step must have been taken as often as the one that undoes it.  Debug modes must find nothing.
 */
#ifndef STRESS_LIFE_H
#define STRESS_LIFE_H

struct round;

/* Before the pool is created, its config being complete otherwise. */
void life_open(struct round *round);
/* After it was destroyed. */
void life_close(struct round *round);

#endif
