/* SPDX-License-Identifier: MIT */
/*
 * drive.h - a thread is stopped before every instruction of every operation: the driver of all passes.
 *
 * Idea         For each operation and each n = 0, 1, 2, ... : a fresh pool; the sleeper runs the operation up to its
 *              n-th instruction and stands there.  The others use the pool, and nothing of this may take 10 s.  Then,
 *              by `drive_pass`, the sleeper goes on, or never does.  In the passes of signals it does not stand: it
 *              runs the handler there.
 * Controls     `control`: at two places the others must get stuck, and must get on when the sleeper does.  `own` must
 *              find something wrong.  With LFPOOL_MUTANT in the environment, in a build with seeded bugs, that one must
 *              be caught.
 *
 *     PROGRAM PASS [--only TEXT] [--at N]
 *
 * TEXT is a part of operations' names.
 */
#ifndef LFPOOL_VERIFY_DRIVE_H
#define LFPOOL_VERIFY_DRIVE_H

#include "sleeper.h"

/* What becomes of the sleeper after the others have lived without it. */
enum pass {
	PASS_GIVE_BACK, /* they give all back; it goes on                                    */
	PASS_HOLD,      /* they keep it; it goes on, in a pool that is exhausted             */
	PASS_NEVER,     /* it never finishes its call                                        */
	PASS_FORK,      /* the process forks, the child empties the pool again; then never   */
	PASS_CONTROL,   /* PASS_GIVE_BACK where some places must be stuck                    */
	PASS_HITS,      /* none is stopped: the price                                       */
	PASS_HEIRS,     /* they wait, the process forks, the child serves them; then never */
	PASS_PAIRS,     /* two are stopped at once (pairs.c)                           */
	PASS_EMPTY,     /* a signal handler takes all there is, at one place (signals.c) */
	PASS_OWN,       /* PASS_EMPTY with the interrupted cache, which must be noticed */
	PASSES
};

extern enum pass drive_pass;
/* A seeded bug is on. */
extern bool drive_mutant;

/* An operation, as far as the driver has to know it. */
struct part {
	const char *name;
	unsigned moves;  /* words of the pool, that it is meant to change                                      */
	bool in_program; /* it is not stopped in libc                                                          */
	bool locks;      /* it may stand in the registry's mutex: no fork, no exit of a thread, until it goes on */
};

#define HITS 12

/* The price of an operation. */
struct hit {
	const char *operation;
	long ceiling, locked; /* instructions, at most; locked ones, exactly */
};

/* A kind of pool.  Each text is NULL, or says what went wrong. */
struct play {
	/* Operation `index` is what is played from now on; false beyond the last. */
	bool (*choose)(size_t index, struct part *part_out);
	/* The sleeper's: a fresh scene, and the operation; sets drive_moved. */
	void (*act)(void);
	void (*close)(void);
	/* After an undisturbed act. */
	const char *(*check)(void);
	/* The sleeper stands: what the others do.  Raises *worst to the objects that cannot be had. */
	const char *(*live_on)(long *worst);
	/* The others give back everything they hold. */
	const char *(*give_back)(void);
	/* It goes on, and finishes: drive_resume(). */
	const char *(*go_on)(void);
	/* In the child of a fork, whose thread is the only one. */
	const char *(*inherit)(long *worst);
	struct worker *worker; /* one of the others                                     */
	struct hit hits[HITS];
};

extern const struct play pool_play;

/* The words that the operation has changed, if it was undisturbed. */
extern unsigned drive_moved;
/* Words of a pool; which of them differ, one bit each. */
struct reading {
	uint64_t word[10];
};
unsigned drive_changes(const struct reading *before, const struct reading *after);
/* The sleeper goes on to the end of its operation. */
void drive_resume(void);
/* The instruction that it stands before. */
long drive_place(void);
/* So many objects cannot be had while it stands.  Raises *worst; NULL, or what is wrong with that. */
const char *drive_lost(long lost, long at_most, long *worst);
/* How often the others do what they do at random. */
unsigned drive_rounds(unsigned usual, unsigned deep);

/* ---- signals.c ---- */

struct scene;
struct operation;

/* This operation, which comes next in this scene, may be interrupted. */
void signals_begin(struct scene *s, const struct operation *o);
/* The handler, before an instruction of it. */
void signals_handle(void);
/* It has ended.  NULL, or what is wrong, or went wrong in the handler. */
const char *signals_end(void);

/* ---- pairs.c ---- */

/* The pass: true if all is well. */
bool pairs_run(const char *only);

#endif
