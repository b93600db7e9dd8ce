/* SPDX-License-Identifier: MIT */
/*
 * oracle.h - the rules for every execution, checked independently of the library.
 *
 * Ownership    An object (or a magazine, for the programs on the bare depot) has one holder.
 * Payload      The holder writes the object; two holds not ordered by happens-before are a data race (weak search).
 * NULL         An acquire may fail only if at some moment during the call no object was free.  A moment is a set of
 *              events that is closed under happens-before, with all events that happen before the call and none that
 *              happen after it (under sequential consistency: a point in time). An object is free from the end of its
 *              release to the start of the acquire that gets it.  All such sets are tried.
 * Walk         Visits exactly once each object that is acquired before the walk begins and whose release begins after
 *              the walk has ended.  Visits no object twice, and no object whose holds all ended before the walk began
 *              or began after it ended.
 * Resolve      Returns the handle's object if its release has not begun; nothing if its release ended before the
 *              resolve began.
 * Hooks        holds_activate() writes a mark, and a thread that gets the object reads it: a race unless TELL orders
 *              them.
 * Conservation After all threads have ended, every object that is not held can be acquired, each once.
 *
 * Record       All checks read one record: each hold of an object, from the start of the acquire to the end of the
 *              release.  "Before" is happens-before, or the order of operations if the search is sequentially
 *              consistent.
 */
#ifndef EXPLORE_ORACLE_H
#define EXPLORE_ORACLE_H

#include "explore.h"

#include "lfpool/lfpool.h"

#define OBJECTS_MAX 8
#define HOLDS_MAX 96

/* ---- The record: oracle.c ---- */

struct hold {
	unsigned object;           /* OBJECTS_MAX: released in the set-up; the record is kept for its handle */
	bool from_start;           /* acquired in the set-up                           */
	bool releasing, released;  /* the release has begun; has ended */
	bool releasing_from_start; /* the release counts as begun in the set-up: it may take effect at any time */
	struct moment call, acquired, releases, end;
};

/* The holds of this execution, in the order in which the acquires returned. */
const struct hold *oracle_hold(unsigned index);
unsigned oracle_holds(void);

/* Starts a record in which all objects are free.  `exchanges`: a release may make its object available at once and hold
 * another free one instead (quarantine, a waiter), so only the number of free objects counts, not which are free. */
void oracle_open(unsigned objects, bool exchanges);
/* The current state is the initial state of each execution.  `not_yet` objects are outside of the pool, or leave it
 * when they are released. */
void oracle_save(unsigned not_yet);
/* After oracle_save(): the first thread to succeed releases the object; until then it is neither held nor free. */
void oracle_releases_any(unsigned object);
/* A call of the running thread begins; pass `call` to the function that ends it. */
struct moment oracle_call(void);
/* Now; in the set-up: no moment. */
struct moment oracle_now(void);
void oracle_acquired(struct moment call, unsigned object, void *address);
void oracle_null(struct moment call);
/* As oracle_null(), in a closed pool: the call does not have to search. */
void oracle_null_of_closed(struct moment call);
/* From `at` on the pool has `change` more objects. */
void oracle_capacity(struct moment at, int change);
/* The call that began at `call` ends.  It may have held up to `objects` objects and put them back: to give one to a
 * waiter that was gone, or to trim them. */
void oracle_holds_some(struct moment call, unsigned objects);
/* The call held the object, and put it back. */
void oracle_passed(struct moment call, unsigned object);
/* Before the object is released; after. */
void oracle_releases(unsigned object, void *address);
void oracle_released(unsigned object);
/* The running thread knows that the object is free, from now on, not only from the end of its release or reclaim. */
void oracle_known_free(unsigned object);
/* After all threads have ended: were the NULLs right? */
void oracle_check_nulls(void);
bool oracle_held(unsigned object);
/* The high-water mark was reset; the least value that it must have reached since. */
void oracle_high_water_reset(void);
unsigned oracle_most(void);

/* ---- Walks and handles: holds.c ---- */

void holds_open(const lfpool_t *pool);
/* Walks over the active objects, or over all slots. */
void holds_walk(lfpool_t *pool, bool all_slots);
/* Takes the handle of an active object; in the set-up, of a free object: the handle that its slot's next use will
 * have. */
void holds_take_handle(const void *object);
void holds_take_next_handle(void);
void holds_resolve(void);
lfpool_handle_t holds_handle(void);
/* After all threads have ended: were the walks right? */
void holds_check_walks(void);
/* A hook. */
bool holds_activate(void *context, void *object);

#endif
