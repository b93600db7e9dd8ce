/* SPDX-License-Identifier: MIT */
/*
 * drive.h - a thread is stopped before every instruction of every operation: the driver of freeze.c and evict.c.
 *
 * Idea         For each operation and each n = 0, 1, 2, ... : a fresh pool; the sleeper runs the operation up to its n-th
 *              instruction and stands there.  The others use the pool, and nothing of this may take 10 s.  Then, by
 *              `pass`, the sleeper goes on, or never does.
 * Controls     `control`: at three places the others must get stuck, and must get on when the sleeper does.
 *              `--mutant N`, in a build with seeded bugs: bug N must be caught.
 *
 *     PROGRAM give-back|hold|never|fork|heirs|meet|control|hits [--only TEXT] [--at N] [--mutant N]
 *
 * TEXT is a part of operations' names.
 */
#ifndef LFPOOL_VERIFY_DRIVE_H
#define LFPOOL_VERIFY_DRIVE_H

#include "mutant.h"
#include "sleeper.h"

/* What becomes of the sleeper after the others have lived without it. */
enum pass {
	PASS_GIVE_BACK, /* they give all back; it goes on                                    */
	PASS_HOLD,      /* they keep it; it goes on, in a pool that is exhausted             */
	PASS_NEVER,     /* it never finishes its call                                        */
	PASS_FORK,      /* the process forks, the child empties the pool again; then never   */
	PASS_HEIRS,     /* they wait, the process forks, the child serves them; then never   */
	PASS_MEET,      /* they make but one or two changes; it goes on                      */
	PASS_CONTROL,   /* PASS_GIVE_BACK where some places must be stuck                    */
	PASS_HITS       /* nobody is stopped: the price                                       */
};

/* An operation, as far as the driver has to know it. */
struct part {
	const char *name;
	unsigned moves;  /* words of the pool, that it is meant to change                                      */
	bool in_program; /* it is not stopped in libc                                                          */
	bool locks;      /* it may stand in the registry's mutex: no fork, no exit of a thread, until it goes on */
};

/* The price of an operation. */
struct hit {
	const char *operation;
	long ceiling, locked; /* instructions, at most; locked ones, exactly */
};

/* What is played.  Each text is NULL, or says what went wrong. */
struct play {
	/* Operation `index` is what is played from now on; false beyond the last. */
	bool (*choose)(size_t index, struct part *part_out);
	/* The sleeper's: a fresh scene, and the operation; sets drive_moved. */
	void (*act)(void *nothing);
	void (*close)(void);
	/* After an undisturbed act. */
	const char *(*check)(void);
	/* The sleeper stands: what the others do.  Raises *worst to the objects that cannot be had. */
	const char *(*live_on)(enum pass pass, long *worst);
	/* The others give back everything they hold. */
	const char *(*give_back)(void);
	/* It goes on, and finishes: drive_resume().  Not in PASS_MEET, which does so in live_on(). */
	const char *(*go_on)(enum pass pass);
	/* In the child of a fork, whose thread is the only one. */
	const char *(*inherit)(enum pass pass, long *worst);
	enum pass lacks; /* it has all passes but this one */
	const struct hit *hits;
	size_t hit_count;
};

/* The program.  `worker`, which is one of the others, is stopped at the end. */
int drive_main(const struct play *play, struct worker *worker, int count, char **arguments);
/* The words that the operation has changed, if it was undisturbed. */
extern unsigned drive_moved;
/* The sleeper goes on to the end of its operation. */
void drive_resume(void);
/* The instruction that it stands before. */
long drive_place(void);
/* So many objects cannot be had while it stands.  Raises *worst; NULL, or what is wrong with that. */
const char *drive_lost(long lost, long at_most, long *worst);
/* How often the others do what they do at random. */
unsigned drive_rounds(unsigned usual, unsigned deep);

#endif
