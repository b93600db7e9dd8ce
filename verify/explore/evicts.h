/* SPDX-License-Identifier: MIT */
/*
 * evicts.h - programs on an evicting pool (lfpool/evict.h), whose order has blocks of two slots.
 *
 * A scenario with `evicting` has a separate language.  K is a priority, H the number of an object that the set-up
 * acquired, each one digit:
 *
 *   aK   acquire and unpin    nK   acquire          p, q   unpin, release and unpin the newest of the thread's own
 *   uHK  set the priority     rH   release          iH, oH  pin, and read the object; unpin, if this thread pinned it
 *   m    release the least    k    find the least   gH     get the priority
 *   wH   write a part of the object that only its releaser writes
 *
 * Checked for each victim, for each object that a search returns, and for each refusal:
 *   - No object that could be evicted during the whole call with an unchanged priority ranks lower, and no slot was
 *     free all the time.  In the weak search an object counts if its last unpin happens before the call.
 *   - No object is evicted while it is pinned, or after its release; a stale handle reaches nothing.
 *   - A priority that is read is the object's; the next object in its slot has a different one.
 *   - The holder of a new object and the hook write the object, and a thread that pins it reads it: unordered accesses
 *     are data races.
 *   - At the end the least comes first, and every slot is free once everything is released.
 */
#ifndef EXPLORE_EVICTS_H
#define EXPLORE_EVICTS_H

#include "scenario.h"

/* Configures the pool of such a scenario, before it is created. */
void evicts_configure(lfpool_config_t *config);
/* The set-up; one thread's program; after all threads. */
void evicts_open(const char *setup);
void evicts_run(const char *program);
void evicts_check(void);

#endif
