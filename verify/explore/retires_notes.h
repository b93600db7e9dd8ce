/* SPDX-License-Identifier: MIT */
/*
 * retires_notes.h - what retires.c notes of a pool with a scheme, and retires_scheme.c, its scheme.
 */
#ifndef EXPLORE_RETIRES_NOTES_H
#define EXPLORE_RETIRES_NOTES_H

#include "retires.h"

#include "oracle.h"
#include "stage.h"

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
	struct thread {
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
	uint64_t lives, batches;
	void *common;
	unsigned common_retires, common_tries;
} retires;

/* Kinds, from `retiring`; NULL: no such program. */
extern const char *retires_kinds;

/* The calling thread's; the set-up is a thread of its own. */
struct thread *retires_self(void);
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
