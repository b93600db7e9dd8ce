/* SPDX-License-Identifier: MIT */
/*
 * evicts.h - programs on an evicting pool (lfpool/evict.h), whose order has blocks of two slots.
 *
 * A scenario with `evicting` has a language of its own.  K is a priority, H the number of an object that the set-up
 * acquired, each one digit:
 *
 *   aK   acquire and unpin    nK   acquire          p, q   unpin, release and unpin the newest of the thread's own
 *   uHK  set the priority     rH   release          iH, oH  pin, and read the object; unpin, if this thread pinned it
 *   m    release the least    k    find the least   gH     get the priority
 *
 * Checked      Of each victim, of each object that a search names, and of each refusal: no object that could be
 *              evicted during the whole call, and whose priority did not change, goes first; no slot was free all the
 *              time. In the weak search an object counts if the set-up, or the thread itself, was the last to unpin it.
 *              No object is evicted while it is pinned, or after its release; a stale handle reaches nothing.
 *              A priority that is read is the object's; the next object in its slot has another one.
 *              The holder of a new object and the hook write the object, and a thread that pins reads it: unordered
 *              accesses are data races.
 *              In the end the least comes first, and every slot is free once everything is released.
 */
#ifndef EXPLORE_EVICTS_H
#define EXPLORE_EVICTS_H

#include "scenario.h"

/* For the pool of such a scenario, before it is created. */
void evicts_configure(lfpool_config_t *config);
/* The set-up; one thread's program; after all threads. */
void evicts_open(const char *setup);
void evicts_run(const char *program);
void evicts_check(void);

#endif
