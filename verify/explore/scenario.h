/* SPDX-License-Identifier: MIT */
/*
 * scenario.h - a small concurrent program on a pool, written as strings.
 *
 * Threads 0, 1, 2 run side by side; 3 is an actor of the set-up only.  Each has a cache, made before the set-up, except
 * a thread whose program begins with c.  Operations:
 *
 *   a  acquire through the cache           A  acquire through a borrowed cache (LFPOOL_CACHE_NONE, exiting threads)
 *   r  release the newest object held      R  the same, through a borrowed cache
 *   o  release the oldest object held
 *   e, b, t  acquire one, two, three by a call for many    B  release the two newest held in one call
 *   c  create a cache    d  destroy it     C  create one more, and abandon it
 *   p  put the newest object held into the mailbox (release)    q  take what is in it, if anything (acquire)
 *   x  release the object that actor 3 acquired first: exactly one of several such calls must succeed
 *   s  lfpool_stats()
 *   z  lfpool_high_water_reset(): s, and the end, check that the mark is not too low
 *   n  lfpool_active_count(): exact while no object changes hands
 *   h  take a handle of the newest object held              m  make it the handle of its slot's next use (set-up)
 *   y  take a handle of the object that x and g release     Y  release it, if all threads with a y have their handle
 *   H  resolve the handle that was taken last
 *   g  release by handle the object that actor 3 acquired first: as x
 *   w  walk over the active objects        W  over all slots
 *   u  acquire through the cache, and wait for ever if there is none      v  the same, with a timeout
 *   U  lfpool_acquire_bulk_wait(): two, for ever             E  lfpool_close()
 *   f  lfpool_acquire_async(): keeps the object   F  the same, releases it at once   k  cancel the thread's newest
 *   X  cancel the newest of all threads, by its ticket, knowing nothing else of the thread that asked
 *   j  F, and once more F inside the continuation
 *   G, J  lfpool_grow() by one, two    S, Z  lfpool_shrink() by one, two      K  lfpool_shrink_cancel()
 *   N  lfpool_limit() to one object
 *   T  lfpool_trim() of all pages
 *   I  a round of LFPOOL_IDLE: it removes the objects that were free since the round before
 *   O  from now on the system commits no memory; after the next O it does again
 *   l  lfpool_release_all(): then objects are only counted, and the end is judged
 *   +, *, (  add a range    -, /, )  remove it    ?  look for them and their neighbours (stage.h)
 *   { } [ ] _ =  the cold store (stage.h)
 *   M  make the pool of a class    i  look for the pool (stage.h)
 *   -  at the beginning of the set-up: actor 3 has no cache
 *   L  lfpool_cache_flush()
 *   <  pop a magazine off the full stack   >  push the newest popped, ^  the oldest, back
 */
#ifndef EXPLORE_SCENARIO_H
#define EXPLORE_SCENARIO_H

#include "explore.h"

#include "lfpool/lfpool.h"

/* hooks.activate is holds_activate() of oracle.h. */
#define SCENARIO_HOOKS 0x80000000u

struct scenario {
	const char *name;
	const char *about;
	unsigned slots; /* per magazine; 0: LFPOOL_CACHE_NONE, magazines of one slot, none on caches' stacks */
	unsigned capacity;
	const char *setup; /* "0aa 1a 0r": thread 0 does aa, then 1 a, then 0 r */
	const char *threads[3];
	unsigned flags;  /* LFPOOL_..., SCENARIO_HOOKS */
	unsigned shards; /* of the depot; 0 is 1. Each thread has a different home; the set-up has thread 0's. */
	/* NULL: no hooks; otherwise all hooks.  By letter: C, A, D, V: the first create, activate, deactivate, validate
	 * refuses; n: activate acquires and releases another object. */
	const char *hooks;
	const char *debug;     /* config.debug; NULL: none */
	unsigned max_capacity; /* 0 is capacity */
	unsigned growth_step;
	unsigned object_bytes; /* 0 is 64 */
	bool evicting;         /* an evicting pool; evicts.h has its language */
	const char *retiring;  /* the scheme; retires.h has its language; or NULL */
};

extern const struct scenario scenarios[];
extern const size_t scenario_count;

static inline unsigned scenario_digit(const char **at)
{
	return (unsigned)(*(*at)++ - '0');
}

/* In hooks.c.  Sets the config's hooks. */
void hooks_open(const char *kind, lfpool_config_t *config);
/* The object that the thread's last call did not get because a hook refused; or NULL. Forgets it. */
void *hooks_refused(unsigned thread);
/* Do the hooks agree with the holders? */
void hooks_check(unsigned objects);

/* The most objects that there may ever be. */
unsigned scenario_objects(void);
/* For hooks.c: an object's number, or OBJECTS_MAX; an acquire and its release by a thread that is in a call. */
unsigned scenario_object_number(const void *object);
void scenario_nested(unsigned thread);

/* For os.c: the contents of these pages are lost. */
void scenario_discarded(const void *address, size_t bytes);
/* os.c: lends the cache to the running thread as its own; NULL: it has none. */
void os_play_lend(lfpool_cache_t *cache);

void scenario_search(const struct scenario *scenario, bool asymmetric, const struct search *search,
		     struct result *result_out);

#endif
