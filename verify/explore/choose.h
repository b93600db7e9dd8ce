/* SPDX-License-Identifier: MIT */
/*
 * choose.h - which of its possible executions a program runs next: the strategies of a search, and replay strings.
 *
 * Strategies   Depth-first with a bound on preemptions (Musuvathi and Qadeer 2007): all executions with few of them, in
 *              order; ends with "exhausted".  Random walk, one in four of them in strict turns of a few operations,
 *              which is where two threads disturb each other for ever if they can.  PCT (Burckhardt and others 2010):
 *              random priorities, changed at d - 1 random places, which finds a bug of depth d with a stated
 *              probability.
 * Replay       What was chosen against the usual, by number of operation: "12s1,31r2,40f": before operation 12 thread 1
 *              runs, the load at 31 reads the last but two, the CAS at 40 fails for no reason.
 * Sleep        Who sleeps can be chosen only if he has a deadline: then his time is over.  To choose him costs what
 *              another switch costs: nothing when the running thread ends or falls asleep, else a preemption.
 */
#ifndef EXPLORE_CHOOSE_H
#define EXPLORE_CHOOSE_H

#include "explore.h"

/* Before a search of a program with so many threads.  Failures' replay strings go to `replay_out`. */
void choose_open(const struct search *search, unsigned threads, char *replay_out, size_t replay_bytes);
/* Before each execution, with its number; after it, with its operations. */
void choose_begin(uint64_t execution);
void choose_end(uint64_t operations);
/* Depth-first: on to the next execution, false when there is none; or from the first again. */
bool choose_advance(void);
void choose_again(void);
/* Who runs next, of the threads that are ready and those whose time may be over, one bit each.  `running` did so far;
 * `gone`: it has ended or sleeps, so that a switch is not a preemption. */
unsigned choose_thread(unsigned running, bool gone, unsigned ready, unsigned dozing);

#endif
