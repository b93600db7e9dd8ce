/* SPDX-License-Identifier: MIT */
/*
 * oracle.h - what must hold for every execution, checked with means of its own.
 *
 * Ownership    An object (or a magazine, for the programs on the bare depot) has one holder.
 * Payload      The holder writes the object; two holds not ordered by happens-before are a data race (weak search).
 * NULL         An acquire may fail only if at some moment during the call no object was free.  A moment is a set of
 *              events that is closed under happens-before, holds all that happens before the call and nothing that
 *              happens after it (under sequential consistency: a point in time).  An object is free from the end of
 *              its release to the start of the acquire that gets it.  All such sets are tried.
 * Conservation When all threads have ended, whatever is not held can be acquired, each object once, and no more.
 */
#ifndef EXPLORE_ORACLE_H
#define EXPLORE_ORACLE_H

#include "explore.h"

#define OBJECTS_MAX 8

/* With all objects free, but for `not_yet` that the pool has to grow to first.  `exchanges`: a release may put its
 * object where it can be had at once and hold another free one in its hands instead (quarantine, somebody who waits); so
 * it is how many are free that counts, not which. */
void oracle_open(unsigned objects, unsigned not_yet, bool exchanges);
/* What holds now is the initial state of each execution; back to it. */
void oracle_save(void);
void oracle_begin(void);
/* After oracle_save(): whoever succeeds releases the object; until then nobody holds it, nor is it free. */
void oracle_releases_any(unsigned object);
/* A call of the running thread begins; `call` goes to the function that ends it. */
struct moment oracle_call(void);
void oracle_acquired(struct moment call, unsigned object, void *address);
void oracle_null(struct moment call);
/* The pool has so many objects more, or less, from then on. */
void oracle_capacity(struct moment at, int change);
/* The call that began then ends: it may have had so many objects in its hands, and put them back: to give one to who
 * waits, and found nobody any more; to trim them. */
void oracle_holds_some(struct moment call, unsigned objects);
/* It had the object in its hands, and did not get it. */
void oracle_passed(struct moment call, unsigned object);
/* Before the object is released; after. */
void oracle_releases(unsigned object, void *address);
void oracle_released(unsigned object);
/* The running thread has been told that it is free: by now, and not only from when its release, or what reclaimed it, ended. */
void oracle_known_free(unsigned object);
/* After all threads: were the NULLs right? */
void oracle_check_nulls(void);
bool oracle_held(unsigned object);
/* The high-water mark was reset; and what it must have reached since. */
void oracle_high_water_reset(void);
unsigned oracle_most(void);

#endif
