/* SPDX-License-Identifier: MIT */
/*
 * wants.h - programs that grow, shrink and trim the pool, and that wait for objects: what their letters do, and what
 * must hold.
 *
 * Capacity     At the end: what it was, what was added and forgiven, less what was to be taken out and is not owed any
 *              more; and nothing is free while anything is owed.  (oracle.h: what a shrink is owed counts as gone from
 *              when the shrink began.)
 * Continuation Called once, unless cancelled: then never; and if it is not called, nothing is free.
 * Queue        Nobody is given an object by the queue while one sleeps who fell asleep before his call began.
 * Payload      What the holder wrote is there when it releases the object, whatever was trimmed.
 */
#ifndef EXPLORE_WANTS_H
#define EXPLORE_WANTS_H

#include "stage.h"

/* Before the set-up; at its end: is there room for all that the threads will ask for?  After all threads. */
void wants_open(lfpool_t *pool);
void wants_look_ahead(void);
/* Objects that the pool should have now, by what the calls said. */
void wants_check(void);

/* One of the letters u v f F k G J S Z K T. */
void wants_operate(struct actor *actor, char operation);
/* Does this program change the capacity, or wait? */
bool wants_any(const char *program);

/* The holder's mark on an object: written when it is acquired, looked for when it is released. */
void wants_mark(void *object);
void wants_check_mark(const void *object);

#endif
