/* SPDX-License-Identifier: MIT */
/*
 * drive.h - the driver of all passes: a thread is stopped before every instruction of every operation.
 *
 * Idea         For each operation and each n = 0, 1, 2, ... : a fresh pool; the sleeper runs the operation up to its
 *              n-th instruction and stops there.  The others use the pool, and no step may take 10 s.  Then, by
 *              `drive_pass`, the sleeper continues, or never does.  In the passes of signals it is not stopped: it
 *              runs the handler there.
 * Controls     `control`: at two places the others must get stuck, and must continue when the sleeper does.  `own`
 *              must find an error.  With LFPOOL_MUTANT in the environment, in a build with seeded bugs, that bug must
 *              be caught.
 *
 *     PROGRAM PASS [--only TEXT] [--at N]
 *
 * TEXT is a part of operations' names.
 */
#ifndef LFPOOL_VERIFY_DRIVE_H
#define LFPOOL_VERIFY_DRIVE_H

#include "sleeper.h"

/* The sleeper's fate after the others have used the pool. */
enum pass {
	PASS_GIVE_BACK, /* the others release everything; it continues */
	PASS_HOLD,      /* the others keep everything; it continues, in an exhausted pool */
	PASS_NEVER,     /* it never finishes its call */
	PASS_FORK,      /* the process forks, and the child empties the pool; it never continues */
	PASS_CONTROL,   /* PASS_GIVE_BACK, where the others must get stuck at some places */
	PASS_HITS,      /* nothing is stopped: counts instructions */
	PASS_HEIRS,     /* the others wait, the process forks, the child serves them; it never continues */
	PASS_PAIRS,     /* two threads are stopped at once (pairs.c) */
	PASS_EMPTY,     /* a signal handler acquires everything, at one place (signals.c) */
	PASS_OWN,       /* PASS_EMPTY with the interrupted cache, which must fail */
	PASSES
};

extern enum pass drive_pass;
/* A seeded bug is active. */
extern bool drive_mutant;

/* The driver's view of an operation. */
struct part {
	const char *name;
	unsigned moves;  /* words of the pool that it must change */
	bool in_program; /* it is not stopped in libc */
	bool locks;      /* it may hold the registry's mutex: no fork and no exit of a thread until it continues */
};

#define HITS 12

/* The cost of an operation. */
struct hit {
	const char *operation;
	long ceiling, locked; /* the most instructions; exactly this many locked ones */
};

/* The interface to a kind of pool.  Each text is NULL, or an error. */
struct play {
	/* Selects operation `index`; false beyond the last. */
	bool (*choose)(size_t index, struct part *part_out);
	/* The sleeper's part: a fresh scene, and the operation; sets drive_moved. */
	void (*act)(void);
	void (*close)(void);
	/* Checks after an undisturbed act. */
	const char *(*check)(void);
	/* The others' part while the sleeper stands.  Raises *worst to the number of objects that cannot be acquired.
	 */
	const char *(*live_on)(long *worst);
	/* The others release everything they hold. */
	const char *(*give_back)(void);
	/* The sleeper continues, and finishes: drive_resume(). */
	const char *(*go_on)(void);
	/* In a forked child, which has only this thread. */
	const char *(*inherit)(long *worst);
	struct worker *worker; /* one of the others                                     */
	struct hit hits[HITS];
};

extern const struct play pool_play;

/* The words that the operation has changed, if it was undisturbed. */
extern unsigned drive_moved;
/* Words of a pool; the differing ones, one bit each. */
struct reading {
	uint64_t word[10];
};
unsigned drive_changes(const struct reading *before, const struct reading *after);
/* Lets the sleeper finish its operation. */
void drive_resume(void);
/* The instruction before which it stands. */
long drive_place(void);
/* Checks that at most `at_most` of `lost` objects are lost while it stands.  Raises *worst; NULL, or an error. */
const char *drive_lost(long lost, long at_most, long *worst);
/* How often the others repeat their random work. */
unsigned drive_rounds(unsigned usual, unsigned deep);

/* ---- signals.c ---- */

struct scene;
struct operation;

/* The next operation in this scene may be interrupted. */
void signals_begin(struct scene *s, const struct operation *o);
/* The handler, before one of its instructions. */
void signals_handle(void);
/* After its end.  NULL, or an error, here or in the handler. */
const char *signals_end(void);

/* ---- pairs.c ---- */

/* The pass: true if everything is right. */
bool pairs_run(const char *only);

#endif
