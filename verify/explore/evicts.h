/* SPDX-License-Identifier: MIT */
/*
 * evicts.h - programs on an evicting pool (lfpool/evict.h), whose order has blocks of two slots.
 *
 * A scenario with `evicting` has a separate language.  K is a priority, H the number of an object that the set-up
 * acquired, each one digit:
 *
 *   aK   acquire and unpin    nK   acquire          p, q   unpin, or release and unpin, the newest of this thread's nK
 *   uHK  set the priority     rH   release          iH, oH  pin and read the object; unpin it, if this thread pinned it
 *   m    release the least    k    find the least   gH     get the priority
 *   wH   write a part of the object that only its releaser writes
 *
 * Checked for each victim, for each object that a search returns, and for each refusal:
 *   - No object that could be evicted during the whole call with an unchanged priority ranks lower, and no slot was
 *     free during the whole call.  In the weak search an object counts only if its last unpin happens before the call.
 *   - No object is evicted while it is pinned, or after its release; a stale handle reaches no object.
 *   - A priority that gH returns is one that a call gave the object, not one of the next object in its slot.
 *   - The holder of a new object and the hook write the object, and a thread that pins it reads it: unordered accesses
 *     are data races.
 *   - At the end lfpool_least() returns the objects from the least to the greatest, and none is missing.
 */
#ifndef EXPLORE_EVICTS_H
#define EXPLORE_EVICTS_H

#include "scenario.h"

/* Configures the pool of a scenario with `evicting`, before the pool is created. */
void evicts_configure(lfpool_config_t *config);
/* Runs the set-up; runs one thread's program; checks after all threads have ended. */
void evicts_open(const char *setup);
void evicts_run(const char *program);
void evicts_check(void);

#endif
