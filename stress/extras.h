/* SPDX-License-Identifier: MIT */
/*
 * extras.h - what some rounds have besides, whatever the scenario: growth, trims, refusals, hooks, debug modes.
 *
 * Growth       A pool that starts with less than the scenario needs, and may grow to just that, must answer as if it had it
 *              all: NULL is as wrong as before.
 * Trims        Memory that lfpool_trim() gives back must be that of free objects.  While it does so a step of objects is in
 *              its hands, and NULL may be right: so a round is trimmed only where that can be counted (demand.h), or where
 *              the scenario leaves room, and then by one worker at a time.
 * Refusals     The chaos build is linked with the door through which the library asks the system for anything (os.h, built with
 *              LFPOOL_TESTING); the workers close it for the n-th call from now on.  A call may then do less, and says
 *              so; nothing may be lost, and all sums must hold.  NULL may be right at any time, so only in rounds where
 *              it is not judged.  At meetings the door is open.
 * Hooks        They touch no object, so every other promise can be checked as without them.  They write down each
 *              object's step in a table beside the pool: create, then activate and deactivate in turn, then destroy, one
 *              hook at a time; now and then deactivate says that the object is not fit for reuse.  When the pool is gone
 *              each step must have been taken as often as the one that undoes it.  Debug modes must find nothing.
 */
#ifndef STRESS_EXTRAS_H
#define STRESS_EXTRAS_H

#include "round.h"

/* Before the pool is created: when the scenario has planned; when its config is complete otherwise. */
void elastic_draw(void);
void life_open(void);
/* After it was destroyed. */
void life_close(void);

/* A call of lfpool_trim(), if no other thread is making one. */
void elastic_trim(struct worker *worker);

/* src/os/os.h; not there in the other builds. */
extern unsigned long os_testing_refuse(unsigned long n) __attribute__((weak));

/* Of the calls from now on the n-th is refused; 0: none. */
static inline void refusals_next(bool wanted, unsigned long n)
{
	if (wanted)
		(void)os_testing_refuse(n);
}

#endif
