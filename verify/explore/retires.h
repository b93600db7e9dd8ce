/* SPDX-License-Identifier: MIT */
/*
 * retires.h - programs on a pool with a scheme: src/retire/retired.c, with readers.
 *
 * The field `retiring` of such a scenario is its kind.  Its programs have these letters in addition to those of
 * scenario.h; actor 3 makes the set-up.  P is a place, one digit: a shared pointer to an object, or NULL.
 *
 *   sP   acquire, write, put it into place P, and retire the object that was there
 *   tP   take out the object in place P, and retire it     bPP  tP for two places, in one call
 *   lP   read: announce the reader, look twice at the object in place P, leave
 *   kP   (set-up) take the object in place P; x retires it: exactly one of several such calls must succeed
 *   p    lfpool_retire_poll()        D    lfpool_drain()
 *   F    waits as lfpool_destroy() does
 *   y    a thread of the scheme: reclaims each batch that may be reused (only if the scheme is not asked)
 *
 *   retiring   r  the scheme is asked        c  threads have no caches
 *              d  hooks.deactivate: for the object of place 0, takes out the object of place 1, and retires it
 *              w  a drain only waits: another thread of the program reclaims (y)
 *              o  there is only one batch
 *              n  `begin` retires the object of place 1, while its shard is held
 *              h  each thread, and the set-up, retires in a separate shard
 *
 * The scheme   Readers increment a count when they enter and when they leave.  `begin` notes the counts, behind a
 *              fence.  The batch may be reused when all readers that were inside have changed their counts.  That is
 *              enough if and only if `begin` sees the accesses of the retiring threads, and a thread that asks sees the
 *              notes of `begin` (RETIRE). A thread of the scheme sees no value older than `begin` could see, but no
 *              event happens before its steps: the library must provide that order (BEGUN).
 * Rules
 *   Readers   No thread gets, or reuses, an object that another thread is reading, or that is retired.
 *   Payload   Holders and hooks write, readers and retiring threads read: unordered accesses are data races (weak
 *             search).
 *   Once      Exactly one of two retires of an object succeeds.  A batch has the retired objects, linked, with a
 *             correct count; a shard has one batch at a time.
 *   NULL      As in oracle.h: a retired object is free when the call that reclaims it has ended.  If the scheme is
 *             asked, no other thread is inside a call and a batch is due, there is no NULL.
 *   Drain     Objects retired before a drain are free when it returns, and the draining thread can acquire them.
 *             After F no object is retired, including objects that a hook retired in the meantime.
 *   At the    R1 and R2 (lfpool_check()).  With no reader left, after two batches of each shard no object is retired,
 *   end       and each can be acquired, once.
 */
#ifndef EXPLORE_RETIRES_H
#define EXPLORE_RETIRES_H

#include "oracle.h"
#include "stage.h"

#include "lfpool/retire.h"

/* Sets the config's scheme and hooks; called before the set-up; called before each execution. */
void retires_configure(const struct scenario *scenario, lfpool_config_t *config);
void retires_open(void);
void retires_begin(void);
/* Does one letter of this file; false: the letter is another file's.  Called after an acquire; before a release; after
 * all threads have ended. */
bool retires_operate(struct actor *actor, char operation, const char **at);
void retires_acquired(void *object, uint64_t mark, bool was_due);
void retires_releases(const void *object);
void retires_check(void);
/* The number that selects a thread's shard. */
uint32_t retires_hint(void);

/* ---- The record while the threads run ---- */

#define PLACES 4
#define NOBODY_READS UINT8_MAX

enum fate { IS_FREE, IS_HELD, IS_SHARED, IS_RETIRED, IS_GOING };

extern struct retires {
	_Atomic(uint64_t) place[PLACES];          /* pointers to objects */
	_Atomic(uint64_t) announced[THREADS_MAX]; /* odd: a reader is inside         */
	struct object {
		enum fate fate;
		bool first; /* it was in place 0 */
		uint64_t life;
		struct moment retired; /* when its retire call ended */
		bool all_know;         /* every thread knows of the retire */
	} object[OBJECTS_MAX];
	struct retire_thread {
		unsigned reads;                      /* an object's number, or NOBODY_READS           */
		unsigned going[OBJECTS_MAX], goings; /* objects that the call reclaims */
		bool inside, disturbed; /* in a call of the library, during which another thread was in one */
	} thread[THREADS_MAX + 1];
	/* The batches that the scheme has. */
	struct with {
		lfpool_batch_t *batch; /* or NULL */
		uint64_t number;       /* its number among all batches */
		struct glimpse seen;
	} with[LFPOOL_PLACES_MAX];
	uint64_t batches;
	void *common;
	unsigned common_retires, common_tries;
} retires;

/* The letters of `retiring`; NULL: the program does not retire. */
extern const char *retires_kinds;

/* The calling thread's record; the set-up counts as a thread. */
struct retire_thread *retires_self(void);
/* The scheme declares that the objects of this batch may be reused. */
void retires_due(const lfpool_batch_t *batch);

/* A call of the library begins; the objects that it reclaims are free when it ends. */
struct moment retires_begin_call(void);
void retires_end_call(void);

/* Takes out the object of that place, or NULL; retires an object, also inside a call: from a hook or the scheme. */
void *retires_take_out(unsigned place);
void retires_retire(void *object);

/* ---- retires_judge.c ---- */

void retires_drain(void);
void retires_finish(void);
void retires_poll(void);
/* Acts as a thread of the scheme. */
void retires_turn(void);

/* ---- retires_scheme.c ---- */

lfpool_scheme_t retires_scheme(bool asked);
/* Reclaims due batches, as a thread of the scheme. */
void retires_scheme_turn(void);
/* Is any batch due, read directly from memory? */
bool retires_any_due(void);
/* A reader enters, and leaves. */
void retires_enter(void);
void retires_leave(void);

#endif
