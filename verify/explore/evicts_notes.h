/* SPDX-License-Identifier: MIT */
/*
 * evicts_notes.h - the pool of evicts.h, and what is noted of it while the threads run.
 *
 * When something happened is said by the number of an operation: in the weak search too, for states and nodes are
 * seq_cst, and the model reads their last store.
 */
#ifndef EXPLORE_EVICTS_NOTES_H
#define EXPLORE_EVICTS_NOTES_H

#include "evicts.h"

#include "priority/evicting.h"

#define SLOTS_MAX 8
#define LIVES_MAX 24
#define SPANS_MAX 8
#define VERDICTS_MAX 24
#define SPARES_MAX 16
#define NEVER UINT64_MAX

/* The life of one acquired object. */
struct life {
	lfpool_handle_t handle;
	void *owner;
	uint32_t slot;
	/* When it could be evicted for certain, with which priority: after operation `from`, up to `until`. */
	struct span {
		uint64_t from, until, key;
	} span[SPANS_MAX];
	unsigned spans, pins, key;
	unsigned keys;  /* that it ever had, one bit each */
	uint64_t ended; /* the operation by which it was evicted, or after which its release had begun */
	bool gone;
};

struct verdict {
	uint64_t after, upto;   /* the operations of the call, up to the one that decided */
	int victim;             /* of lives; -1: nobody                                   */
	uint64_t key, newcomer; /* the victim's; NEVER: of no newcomer                    */
};

/* When a slot was free for certain. */
struct freed {
	uint32_t slot;
	uint64_t from, until;
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
	struct freed freed[LIVES_MAX];
	unsigned frees;
	struct thread {
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
