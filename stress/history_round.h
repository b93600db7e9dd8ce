/* SPDX-License-Identifier: MIT */
/*
 * history_round.h - the history of one round: opened before it, checked after it.  One round at a time.
 */
#ifndef STRESS_HISTORY_ROUND_H
#define STRESS_HISTORY_ROUND_H

#include "history.h"

struct cell;
struct round;

/* So many of a round's faults are described; all are counted. */
#define HISTORY_MESSAGES 3

/* None of these does anything without --history. */

/* Touches the memory for the logs of a cell, so that this does not happen in its time. */
void history_prepare(const struct cell *cell);

/* The time begins. */
void history_open(struct round *round);

/* The log of worker `index`, empty; NULL without --history.  That of the keeper is made for the capacity in
 * round->config. */
struct history_log *history_log_of(struct round *round, uint32_t index);

/* Every thread has stopped: checks, and reports what is wrong as violations. */
void history_close(struct round *round);

/* How much was checked in all rounds. */
void history_say(void);

#endif
