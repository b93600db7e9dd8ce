/* SPDX-License-Identifier: MIT */
/*
 * setup.h - how a pool is brought into one exact state, as a text: "mine +8 -8 +4 want 1".
 *
 *   mine, other, own   from here on through that cache of the scene, or through the thread's own; that at first
 *   +N, -N, all        acquires so many, for the operation's caller to hold; releases the last; acquires all there are
 *   want N             so many the operation is to acquire
 *   hand N, older      the last N of what is held, or the first one, is what the operation is to release
 *   lend N             the last N are the others' to hold, who release them once the victim stands
 *   retire N, bundle N  retires the last N, one by one or at once
 *   handle, handles    of the first object to be released, or else held; of every other one to be released
 *   ask                acquires through `mine`, in vain
 *   renew, spread N    `other` is given up for a new one; N times, each with one object released
 *   caches N, leave    N more caches are made; `mine` is given up
 *   beside, made       there is one more pool; and one, which the operation may destroy; `active`: with an object in use
 *   grow N, shrink N   lfpool_grow(), lfpool_shrink();   limit   the maximum is the capacity;   trim N   N KiB get cold
 *   async, call        a continuation waits; a call sleeps
 *   end N              when all has come back the capacity is N less than now
 *   willing            the hooks refuse this thread no more
 */
#ifndef LFPOOL_VERIFY_SETUP_H
#define LFPOOL_VERIFY_SETUP_H

#include "scene.h"

#define EACH 4 /* slots per magazine, for cache_capacity 8 */

/* The middle of a table's row: capacity, cache_capacity, flags, hooks, debug, special. */
#define POOL(capacity, cache_capacity, flags, hooks, debug, special) \
	0, capacity, cache_capacity, 0, 0, flags, hooks, debug, special
/* One that can grow to `most`, by itself if there is a `step`. */
#define GROWING(capacity, most, step) 0, capacity, 2 * EACH, most, step, 0, NULL, NULL, SPECIAL_NOTHING
#define SMALL POOL(2 * EACH, 2 * EACH, 0, NULL, NULL, SPECIAL_NOTHING)
#define USUAL POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, SPECIAL_NOTHING)
#define WITH(flags) POOL(4 * EACH, 2 * EACH, flags, NULL, NULL, SPECIAL_NOTHING)

#define CHANGED (MOVES_CURRENT | MOVES_PREVIOUS)

/* Does what the text says; ends the program when it says nothing known. */
void setup(struct scene *s, const char *text);

/* The continuation of every lfpool_acquire_async(): got[0] of the scene; and the call that sleeps begins.  waits.c */
void keep_object(void *scene, lfpool_t *pool, void *object);
void caller_begin(struct scene *s);

/* In operations.c. */
void acquire(struct scene *s);
void release(struct scene *s);
void acquire_inlined(struct scene *s);
void release_inlined(struct scene *s);
void acquire_through_cache(struct scene *s);
void release_through_cache(struct scene *s);
void acquire_bulk(struct scene *s);
void release_bulk(struct scene *s);

#endif
