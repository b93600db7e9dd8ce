/* SPDX-License-Identifier: MIT */
/*
 * evicts.h - programs on an evicting pool: src/priority/evicting.c and src/priority/tournament.c, on a tree of fan 2 over a few
 * slots.
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
 *   Once         no object is evicted that was released, evicted or pinned; none is reached by a stale handle.
 *   Payload      the holder, a thread that pins, and one that evicts write the object: unordered writes are data races
 *                (weak search).
 *   In the end   the least is the least, everything can be released in order, each slot is free once, and each record
 *                that is not named is unused.
 *
 * When something happened is said by the number of an operation: in the weak search too, for states and nodes are
 * seq_cst, and the model reads their last store.
 */
#ifndef EXPLORE_EVICTS_H
#define EXPLORE_EVICTS_H

#include "scenario.h"

#include "priority/evicting.h"

/* Before the search; one thread's program; after all threads. */
void evicts_open(const struct scenario *scenario);
void evicts_run(unsigned thread, const char *program);
void evicts_check(void);

/* ---- What is noted while the threads run ---- */

#define SLOTS_MAX 8
#define LIVES_MAX 24
#define SPANS_MAX 64
#define VERDICTS_MAX 24
#define SPARES_MAX 16
#define NEVER UINT64_MAX

/* The life of one acquired object. */
struct life {
	lfpool_handle_t handle;
	void *owner;
	uint32_t slot;
	unsigned pins, key;
	unsigned keys;  /* that it ever had, one bit each */
	bool published; /* it could be evicted, once at least */
	uint64_t ended; /* the operation by which it was evicted, or after which its release had begun */
	bool gone;
};

/* When an object could be evicted for certain, with which priority; or a slot was free: after operation `from`, up to `until`. */
struct span {
	int life; /* -1: the slot was free */
	uint32_t slot;
	uint64_t from, until, key;
};

struct verdict {
	uint64_t after, upto;   /* the operations of the call, up to the one that decided */
	int victim;             /* of lives; -1: none                                     */
	uint64_t key, newcomer; /* the victim's; NEVER: of no newcomer                    */
};

extern struct evicts {
	lfpool_priority_t pool;
	struct place slots[SLOTS_MAX], nodes[SLOTS_MAX];
	_Atomic(uint64_t) links[SLOTS_MAX];
	void *owners[SLOTS_MAX];
	char objects[SLOTS_MAX][16];
	struct record spares[SPARES_MAX];
	bool spare_used[SPARES_MAX];
	bool filled[SLOTS_MAX]; /* by fill_own() */
	struct life life[LIVES_MAX];
	unsigned lives;
	struct verdict verdict[VERDICTS_MAX];
	unsigned verdicts;
	struct span span[SPANS_MAX];
	unsigned spans;
	struct evict_thread {
		unsigned mine[SLOTS_MAX], mines; /* lives that are new */
		unsigned pinned;                 /* objects of the set-up, one bit each */
		uint64_t began;
		int evicted;             /* the life that the call has just taken, or -1 */
		struct verdict *verdict; /* on it                                        */
	} thread[THREADS_MAX + 1];
} evicts;

/* Slots; 0: no such program. */
extern unsigned evicts_capacity;

/* Which life the handle was given to. */
int evicts_life_of(lfpool_handle_t handle);

#endif
