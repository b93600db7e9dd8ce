/* SPDX-License-Identifier: MIT */
/*
 * stage.h - what a scenario plays on: the pool, who holds what, and the operations.
 */
#ifndef EXPLORE_STAGE_H
#define EXPLORE_STAGE_H

#include "scenario.h"

#include "pool/pool.h"

#define HELD_MAX 8

struct actor {
	lfpool_cache_t *cache;
	void *held[HELD_MAX];
	unsigned held_count;
	uint32_t popped[HELD_MAX];
	unsigned popped_count;
	bool bare; /* has popped a magazine, and left its announcement */
};

struct stage {
	const struct scenario *scenario;
	lfpool_t *pool;
	struct actor actor[THREADS_MAX];
	_Atomic(uint64_t) mailbox;
	void *common;                  /* what x and g release                  */
	unsigned common_releases;      /* that succeeded                      */
	lfpool_handle_t common_handle; /* that y has got; 0: none yet        */
	unsigned makers;               /* threads with a y                          */
	uint32_t magazine_out;         /* popped magazines, one bit each        */
	bool loose;                    /* there is an l: no record says what is held */
	unsigned resets;               /* of the high-water mark: begun, and ended          */
	unsigned acquired, released;   /* one by one, or by l                          */
};

extern struct stage stage;

struct core *stage_core(void);
/* One letter of a program, by this actor. */
void stage_operate(struct actor *actor, const char **at);
/* A call of the library begins; it has got an object, which the actor holds; it ends. */
struct moment stage_call(void);
void stage_got(struct actor *actor, struct moment call, void *object, bool was_due);
void stage_end_call(void);
/* False: there is none. */
bool stage_acquire(struct actor *actor, bool borrowed);
/* It is not below what was held at once. */
void stage_check_high_water(void);
/* Pushes back a magazine that the actor has popped: the oldest, or the newest. */
void stage_push_magazine(struct actor *actor, bool oldest);

/* ---- wants.c: programs that grow, shrink and trim the pool, and that wait for objects ----
 *
 * Capacity     At the end: what it was, what was added and forgiven, less what was to be taken out and is not owed any
 *              more; and nothing is free while anything is owed.  (oracle.h: what a shrink is owed counts as gone from
 *              when the shrink began.)
 * Continuation Called once, unless cancelled: then never; and if it is not called, nothing is free.
 * Queue        No call is given an object by the queue while a thread sleeps that fell asleep before the call began.
 * Payload      What the holder wrote is there when it releases the object, whatever was trimmed.
 */

/* Before the set-up; at its end: is there room for all that the threads will ask for?  After all threads. */
void wants_open(lfpool_t *pool);
void wants_look_ahead(void);
/* Objects that the pool should have now, by what the calls said. */
void wants_check(void);

/* One of the letters u v f F k G J S Z K T. */
void wants_operate(struct actor *actor, char operation);
/* Does this program change the capacity, or wait? */
bool wants_any(const char *program);

/* The holder's mark on an object: written when it is acquired, looked for when it is released. */
uint64_t *wants_mark_in(const void *object);
uint64_t wants_mark(void *object);
void wants_check_mark(const void *object);

/* ---- parts.c: programs on parts of the library alone ---- */

/*
 * src/core/cold.c: slots beyond one word of bits.  A pool of 64 objects, a page each, with addresses for 256 more,
 * which are opened in one step: the first have one word of bits, those others.  A slot has one holder; a thread that
 * was told that there is one gets one; and at the end the counts and the bits say the same.
 *
 *   {  grow by one    }  take one    [  put the newest taken back, or in the set-up slot 64    ]  withdraw it
 *   _  forbid one     =  borrow all that may be, and give them back
 */
void colds_open(void);
void colds_operate(char operation);
/* After all threads. */
void colds_check(void);

/*
 * src/pool/live_pools.c: who owns this address, while ranges come and go?  Three ranges are there from the start and to
 * the end; one, between them, comes (+) and goes (-), another, before them all, too (*, /), by one thread.  A look (?)
 * must find the three, each time, and of the others their owner or none.  (Two changes must not leave an array as it
 * was, or no thread could tell that it was read too early.)  With arrays of so many ranges:
 */
void finds_open(unsigned room);
void finds_change(char operation);
void finds_look(void);

/*
 * How src/set/pool_set.h publishes the pool of a class: a thread that finds it finds it complete.  The thread that
 * makes it (M) holds the lock of all windows (api/window.h), which is not played: one thread does.  Its "pool" is plain
 * data.
 */
void sets_open(void);
void sets_make(void);
/* As lfpool_set_acquire() and lfpool_set_release(). */
void sets_look(void);

#endif
