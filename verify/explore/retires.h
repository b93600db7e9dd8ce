/* SPDX-License-Identifier: MIT */
/*
 * retires.h - programs on a pool with a scheme: src/retire/retired.c, with readers.
 *
 * Such a scenario says in `retiring` how, and has letters of its own besides those of scenario.h; actor 3 makes the
 * set-up.  P is a place, one digit: a pointer that is shared, to an object or to none.
 *
 *   sP   acquire, write, put it into place P, and retire what was there
 *   tP   take out what is in place P, and retire it        bPP  the same for two, in one call
 *   lP   read: announce oneself, look at what is in place P, twice, leave
 *   kP   (set-up) take what is in place P; x retires it: of several such calls one must succeed
 *   p    lfpool_retire_poll()        D    lfpool_drain()
 *   F    what lfpool_destroy() waits for
 *   y    a thread of the scheme's own: reclaims each batch that may be reused (only where the scheme is not asked)
 *
 *   retiring   r  the scheme is asked        c  threads have no caches
 *              d  hooks.deactivate: of what was in place 0, takes out what is in place 1, and retires it
 *              w  a drain only waits: another takes turns             o  there is only one batch
 *              n  `begin` retires what is in place 1: its place is held
 *              h  each thread, and the set-up, retires in a place of its own
 *
 * The scheme   Readers count up when they come and when they go.  `begin` notes the counts, behind a fence; the batch
 *              may be reused when all that were inside have counted on.  That is enough if, and only if, `begin` knows
 *              what those have done who retired, and who asks knows what `begin` has noted (RETIRE).  A thread of the
 *              scheme's own sees no value older than `begin` could, yet nothing happens before: it is for the library
 *              to order (BEGUN).
 * What must    Readers  No thread gets, or reuses, an object that another is reading, or that is retired.
 * hold         Payload  holders and hooks write, readers and who retires read: unordered, data races (weak search).
 *              Once     of two that retire one object one succeeds; a batch has what was retired, linked as it says;
 *                       one batch of a place at a time.
 *              NULL     as in oracle.h: a retired object is free when the call that reclaims it has ended.  And if
 *                       no other thread is inside a call, and a batch is due, there is no NULL (where the scheme is
 *                       asked).
 *              Drain    what was retired before is free when it returns, and found by the thread that drained.  After F
 *                       nothing is retired, also nothing that a hook has retired meanwhile.
 *              In the end   R1 and R2 (lfpool_check()); no thread reads, and then after two batches of each place
 *                              nothing is
 *                       retired, everything can be acquired, each object once.
 */
#ifndef EXPLORE_RETIRES_H
#define EXPLORE_RETIRES_H

#include "oracle.h"
#include "stage.h"

#include "lfpool/retire.h"

/* The config's scheme and hooks; before the set-up; before each execution; after all threads. */
void retires_configure(const struct scenario *scenario, lfpool_config_t *config);
void retires_open(void);
void retires_begin(void);
/* One of the letters; false: it is none of these.  An acquire has ended, or a release begins. */
bool retires_operate(struct actor *actor, char operation, const char **at);
void retires_acquired(void *object, uint64_t mark, bool was_due);
void retires_releases(const void *object);
void retires_check(void);
/* The number by which a thread finds its place. */
uint32_t retires_hint(void);

/* ---- What is noted while the threads run ---- */

#define PLACES 4
#define NOBODY_READS UINT8_MAX

enum fate { IS_FREE, IS_HELD, IS_SHARED, IS_RETIRED, IS_GOING };

extern struct retires {
	_Atomic(uint64_t) place[PLACES];          /* pointers                        */
	_Atomic(uint64_t) announced[THREADS_MAX]; /* odd: a reader is inside         */
	struct object {
		enum fate fate;
		bool first; /* it was in place 0 */
		uint64_t life;
		struct moment retired; /* its retirement ended */
		bool all_know;         /* that it has          */
	} object[OBJECTS_MAX];
	struct retire_thread {
		unsigned reads;                      /* an object's number, or NOBODY_READS           */
		unsigned going[OBJECTS_MAX], goings; /* that the call reclaims                  */
		bool inside, disturbed;              /* a call of the library; another was meanwhile  */
	} thread[THREADS_MAX + 1];
	/* The batches that are with the scheme. */
	struct with {
		lfpool_batch_t *batch; /* NULL: there is none */
		uint64_t number;       /* of all              */
		struct glimpse seen;
	} with[LFPOOL_PLACES_MAX];
	uint64_t batches;
	void *common;
	unsigned common_retires, common_tries;
} retires;

/* Kinds, from `retiring`; NULL: no such program. */
extern const char *retires_kinds;

/* The calling thread's; the set-up is a thread of its own. */
struct retire_thread *retires_self(void);
/* The objects of this batch may be reused: so says the scheme. */
void retires_due(const lfpool_batch_t *batch);

/* A call of the library begins; what it has reclaimed is free when it ends. */
struct moment retires_begin_call(void);
void retires_end_call(void);

/* What is in that place, or NULL; and retires it: inside a call, when a hook or the scheme does it. */
void *retires_take_out(unsigned place);
void retires_retire(void *object);

/* ---- retires_judge.c ---- */

void retires_drain(void);
void retires_finish(void);
void retires_poll(void);
/* A thread of the scheme's own. */
void retires_turn(void);

/* ---- retires_scheme.c ---- */

lfpool_scheme_t retires_scheme(bool asked);
/* Reclaims what is due, as a thread of the scheme's own. */
void retires_scheme_turn(void);
/* Is any batch due, looking at the memory itself? */
bool retires_any_due(void);
/* A reader comes, and goes. */
void retires_enter(void);
void retires_leave(void);

#endif
