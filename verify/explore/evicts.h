/* SPDX-License-Identifier: MIT */
/*
 * evicts.h - programs on an evicting pool: src/priority/evicting.c and src/priority/tournament.c, on a tree of fan 2 over a few slots.
 *
 * Such a scenario has `evicting` slots and a language of its own; K is a priority, H the number of an object that the
 * set-up acquired, each one digit:
 *
 *   aK   acquire and publish          nK   acquire          p, q   publish, release the newest of the thread's own
 *   uHK  update      rH  release      iH   pin it, and look at it       oH   unpin it, if it was pinned by this thread
 *   m    release_min one              k    peek_min         w      walk            gH   get
 *   cN   lfpool_priority_count(): N or more, which are held all the time
 *   xH   (set-up) from now on two calls are filling the slot's own records: others take theirs from the pool
 *
 * What must hold:
 *   Least        of each victim, of what release_min or peek_min name, and of each NULL: there is a moment during the
 *                call at which no object went before it that could be evicted, and whose last change was complete;
 *                under sequential consistency also none at which a slot was free for certain (promises 1 to 3 of
 *                lfpool/priority.h).
 *   Once         nobody is evicted who was released, evicted or pinned; nobody is reached by a stale handle.
 *   Payload      holder, who pins, and who evicts write the object: unordered writes are data races (weak search).
 *   In the end   the least is the least, everything can be released in order, each slot is free once, and each record
 *                that is not named is unused.
 */
#ifndef EXPLORE_EVICTS_H
#define EXPLORE_EVICTS_H

#include "scenario.h"

/* Before the search; one thread's program; after all threads. */
void evicts_open(const struct scenario *scenario);
void evicts_run(unsigned thread, const char *program);
void evicts_check(void);

#endif
