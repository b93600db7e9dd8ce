/* SPDX-License-Identifier: MIT */
/*
 * retires.h - programs on a pool with a scheme: src/retire/retired.c, with readers.
 *
 * Such a scenario says in `retiring` how, and has a language of its own.  P is a place, one digit: a pointer that is
 * shared, to an object or to none.
 *
 *   sP   acquire, write, put it into place P, and retire what was there
 *   tP   take out what is in place P, and retire it        bPP  the same for two, in one call
 *   lP   read: announce oneself, look at what is in place P, twice, leave
 *   a    acquire      r   release the newest of those      w    acquire, and wait for ever if there is nothing
 *   kP   (set-up) take what is in place P; x retires it: of several such calls one must succeed
 *   p    lfpool_retire_poll()        D    lfpool_drain()
 *   F    what lfpool_destroy() waits for
 *   y    a thread of the scheme's own: reclaims each batch that may be reused (only where the scheme is not asked)
 *
 *   retiring   r  the scheme is asked        c  threads have no caches
 *              d  hooks.deactivate: of what was in place 0, takes out what is in place 1, and retires it
 *              w  a drain only waits: somebody takes turns            o  there is only one batch
 *              n  `begin` retires what is in place 1: its place is held
 *              h  each thread, and the set-up, retires in a place of its own
 *
 * The scheme   Readers count up when they come and when they go.  `begin` notes the counts, behind a fence; the batch may
 *              be reused when everyone who was inside has counted on.  That is enough if, and only if, `begin` knows
 *              what those have done who retired, and who asks knows what `begin` has noted (RETIRE).  A thread of the
 *              scheme's own sees no value older than `begin` could, yet nothing happens before: it is for the library
 *              to order (BEGUN).
 * What must    Nobody   gets, or reuses, an object that somebody is reading, or that is retired.
 * hold         Payload  holders and hooks write, readers and who retires read: unordered, data races (weak search).
 *              Once     of two that retire one object one succeeds; a batch has what was retired, linked as it says;
 *                       one batch of a place at a time.
 *              NULL     as in oracle.h: a retired object is free when the call that reclaims it has ended.  And if
 *                       nobody else is inside a call, and a batch is due, there is no NULL (where the scheme is asked).
 *              Drain    what was retired before is free when it returns, and found by who has drained.  After F nothing is
 *                       retired, also nothing that a hook has retired meanwhile.
 *              In the end   R1 and R2 (lfpool_check()); nobody reads, and then after two batches of each place nothing is
 *                       retired, everything can be acquired, each object once.
 */
#ifndef EXPLORE_RETIRES_H
#define EXPLORE_RETIRES_H

#include "scenario.h"

/* The config's scheme and hooks; before the search; before each execution; one thread's program; after all threads. */
void retires_configure(const struct scenario *scenario, lfpool_config_t *config);
void retires_open(const struct scenario *scenario);
void retires_begin(void);
void retires_run(unsigned thread, const char *program);
void retires_check(void);
/* The number by which a thread finds its place. */
uint32_t retires_hint(void);

#endif
