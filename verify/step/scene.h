/* SPDX-License-Identifier: MIT */
/*
 * scene.h - one operation of the library, and the pool it is to meet.
 *
 * Idea         A case is a pool's configuration, a preparation that brings the pool and the victim's cache into one
 *              exact state, and the operation, which stands between STEP_BEGIN and STEP_END.  A scene is one fresh
 *              pool prepared for a case.  Who holds what is on record in the scene, so that whoever looks at it while
 *              the victim stands knows what must be obtainable.
 * Proof that   `moves` of a case says which of the pool's words the operation changes when nothing disturbs it.  It is
 * it is so     compared before anything is stopped: a case that does not go the way its name says is a failed test.
 */
#ifndef LFPOOL_VERIFY_SCENE_H
#define LFPOOL_VERIFY_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lfpool/lfpool.h"

#define OBJECTS_MAX 64
#define OBJECT_BYTES 64

struct scene {
	lfpool_t *pool;
	lfpool_cache_t *mine;  /* the victim's explicit cache, or NULL: it uses its thread's own       */
	lfpool_cache_t *other; /* another cache: the driver's, once the victim stands                  */
	/* Held by the victim's caller, whatever happens. */
	void *held[OBJECTS_MAX];
	size_t held_count;
	/* What the operation is to release. */
	void *given[OBJECTS_MAX];
	size_t given_count;
	/* What the operation acquires, NULL before. */
	void *got[OBJECTS_MAX];
	size_t wanted;
	/* How many releases the operation reported as done. */
	size_t released;
	/* What the operation found: objects that it visited, or a look-up's one answer. */
	void *found[OBJECTS_MAX];
	size_t found_count;
	/* Held by the others, who release them once the victim stands. */
	void *lent[OBJECTS_MAX];
	size_t lent_count;
	bool caller_waits;      /* another thread sleeps in lfpool_acquire_wait(), and gets got[0]        */
	lfpool_ticket_t ticket; /* of a continuation that gets got[0]                                     */
	lfpool_batch_t *batch;  /* that is with a scheme which tells                                      */
	bool cancelled;         /* it was                                                                 */
	bool queued;            /* it waited before the operation began                                   */
	size_t capacity_at_end; /* when all has come back; 0: whatever it is then                         */
	lfpool_handle_t handle; /* of the first object held, or given                                     */
	lfpool_t *beside;       /* other pools, or NULL: one that is there meanwhile ...                   */
	lfpool_t *made;         /* ... and one that the operation makes or destroys                        */
	const char *wrong;      /* with what the operation answered; NULL: nothing                         */
};

/* Words of the pool that an operation may change. */
enum moves {
	MOVES_NOTHING = 0,
	MOVES_CARVED = 1,
	MOVES_FULL = 2,
	MOVES_PARTIAL = 4,
	MOVES_EMPTY = 8,
	MOVES_CURRENT = 16,
	MOVES_PREVIOUS = 32, /* of the victim's cache or another                             */
	MOVES_TOP = 64,      /* an object was taken by CAS                                   */
	MOVES_CACHES = 128,  /* a cache was claimed, born or given up                        */
	MOVES_COLD = 256,    /* how many objects there are, or how many of them are cold     */
	MOVES_QUEUE = 512    /* who waits, or what is owed                                   */
};

/* What is different with an operation. */
enum special {
	SPECIAL_NOTHING = 0,
	IN_PROGRAM = 1,   /* it spends its time in libc, where it is not stopped: text, files, the clock            */
	LOCKS = 2,        /* it may stand in the registry's mutex: no fork, no exit of a thread, until it goes on   */
	AMONG_POOLS = 4,  /* the others create and destroy pools meanwhile                                          */
	RELEASES_ALL = 8, /* whatever anybody holds                                                                 */
	ASKED = 16,       /* the pool has a scheme that is asked, and says yes; the others retire as well           */
	TOLD = 32         /* it has one that reclaims: the operation does, once the others are through              */
};

struct operation {
	const char *name;
	size_t object_bytes;              /* config.object_size; 0 = OBJECT_BYTES                */
	size_t capacity, cache_capacity;  /* config                                              */
	size_t max_capacity, growth_step; /* config                                             */
	uint32_t flags;                   /* config                                              */
	const lfpool_hooks_t *hooks;      /* config; NULL: none                                  */
	const char *debug;                /* config                                              */
	unsigned special;
	const char *setup; /* setup.h */
	void (*operate)(struct scene *s);
	unsigned moves;
	unsigned in_hand; /* objects that the operation itself may hold, out of everybody's sight */
};

/* The tables, which end with an operation without a name: one object in and out, and caches; what an object's care, its pool's
 * reports and its neighbours do; how many objects there are, and who waits for one; what is retired. */
extern const struct operation operations[], object_operations[], pool_operations[], resize_operations[], wait_operations[],
	retire_operations[];

/* All of them; NULL beyond the last. */
const struct operation *operation_at(size_t index);

/* A fresh pool, prepared by the calling thread, which is the one to operate. */
void scene_open(struct scene *s, const struct operation *o);
/* Makes one more, small pool; ends the program when that fails. */
lfpool_t *scene_pool(void);
/* Calls and continuations that wait now. */
size_t scene_waiting(const struct scene *s);
/* Continuations in the queue, also those that somebody stands about to call; calls that were given an object. */
void scene_look_at_queue(const struct scene *s, size_t *continuations_out, size_t *given_out);
/* Returns when the call that waits has been served, if there is one. */
void scene_await_caller(struct scene *s);
/* Destroys the pools; returns how many objects of the first one were active. */
size_t scene_close(struct scene *s);
/* Runs the operation; returns what moved, which means something if nobody else used the pool meanwhile. */
unsigned scene_operate(struct scene *s, const struct operation *o);

/* Nobody is in a call: every magazine is in one place, in one cache or on one stack of the depot.  NULL, or what is
 * wrong. */
const char *scene_check(const struct scene *s);

#endif
