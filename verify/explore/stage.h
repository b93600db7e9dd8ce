/* SPDX-License-Identifier: MIT */
/* stage.h - the stage of a scenario: the pool, the holders, and the operations. */
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
	bool bare; /* has popped a magazine whose announcement is still set */
};

struct stage {
	const struct scenario *scenario;
	lfpool_t *pool;
	struct actor actor[THREADS_MAX];
	_Atomic(uint64_t) mailbox;
	void *common;                  /* the object that x and g release */
	unsigned common_releases;      /* successful ones */
	lfpool_handle_t common_handle; /* its handle, taken by y; 0: none yet */
	unsigned makers;               /* number of threads with a y */
	uint32_t magazine_out;         /* popped magazines, one bit each        */
	bool loose;                    /* there is an l: the record does not know what is held */
	unsigned resets;               /* of the high-water mark: counts the begin and the end of each */
	unsigned acquired, released;   /* numbers of objects; l counts all that it released */
};

extern struct stage stage;

struct core *stage_core(void);
/* Does one letter of a program for this actor. */
void stage_operate(struct actor *actor, const char **at);
/* For a call of the library: at its begin; when it got an object, which the actor now holds; at its end. */
struct moment stage_call(void);
void stage_got(struct actor *actor, struct moment call, void *object, bool was_due);
void stage_end_call(void);
/* False: no object. */
bool stage_acquire(struct actor *actor, bool borrowed);
/* The high-water mark must not be below the most objects held at once. */
void stage_check_high_water(void);
/* Pushes back a magazine that the actor has popped: the oldest, or the newest. */
void stage_push_magazine(struct actor *actor, bool oldest);

/* ---- wants.c: programs that grow, shrink and trim the pool, and that wait for objects ----
 *
 * Capacity     At the end it is the initial capacity, plus added objects and cancelled shrinks, minus complete
 *              shrinks.  No object is free while a shrink is pending.  (oracle.h: a pending shrink's objects count
 *              as gone from when the shrink began.)
 * Continuation Called once, unless cancelled: then never.  If it is not called, no object is free.
 * Queue        The queue gives a call no object while another thread sleeps that fell asleep before the call began.
 * Payload      The holder's writes are still there when it releases the object, whatever was trimmed.
 */

/* Before the set-up; at its end: is there room for everything that the threads will ask for? */
void wants_open(lfpool_t *pool);
void wants_look_ahead(void);
/* After all threads: are all rules above kept? */
void wants_check(void);

/* One of the letters u v f F k G J S Z K T I. */
void wants_operate(struct actor *actor, char operation);
/* Does this program change the capacity, or wait? */
bool wants_any(const char *program);

/* The holder's mark on an object: written after the acquire, checked before the release. */
uint64_t *wants_mark_in(const void *object);
uint64_t wants_mark(void *object);
void wants_check_mark(const void *object);

/* ---- parts.c: programs on parts of the library alone ---- */

/*
 * src/core/cold.c: slots beyond one word of bits.  A pool of 64 objects, a page each, with addresses for 256 more,
 * which are committed in one step: the 64 have one word of bits, the others more.  A slot has one holder; a thread
 * that was promised a slot gets one; at the end the counts and the bits agree.
 *
 *   {  grow by one    }  take one    [  put the newest taken back, or in the set-up slot 64    ]  withdraw it
 *   _  forbid one     =  borrow all slots that may be borrowed, and give them back
 */
void colds_open(void);
void colds_operate(char operation);
/* After all threads. */
void colds_check(void);

/* src/pool/live_pools.c: which pool owns this address, while ranges are added and removed?  Three ranges exist from
 * start to end.  One thread adds (+) and removes (-) a range between them, and adds (*) and removes (/) one before
 * them.  A look-up (?) must always find the three, and for the other two their owner or none.  (Two changes must not
 * restore the same array, or no thread could notice that it read too early.) Arrays have room for `room` ranges: */
void finds_open(unsigned room);
void finds_change(char operation);
void finds_look(void);

/* How src/set/pool_set.h publishes the pool of a class: a thread that finds the pool finds it complete.  The thread
 * that makes it (M) would hold the lock of all windows (api/window.h); here only one thread does.  Its "pool" is plain
 * data. */
void sets_open(void);
void sets_make(void);
/* As lfpool_set_acquire() and lfpool_set_release(). */
void sets_look(void);

#endif
