/* SPDX-License-Identifier: MIT */
/*
 * options.h - what becomes of a thread that stands, and what the programs are told about it.
 */
#ifndef LFPOOL_VERIFY_OPTIONS_H
#define LFPOOL_VERIFY_OPTIONS_H

/* What becomes of it after the others have lived without it. */
enum pass {
	PASS_GIVE_BACK, /* they give all back; it goes on                                    */
	PASS_HOLD,      /* they keep it; it goes on, in a pool that is exhausted             */
	PASS_NEVER,     /* it never finishes its call                                        */
	PASS_FORK,      /* the process forks, the child empties the pool again; then never   */
	PASS_HEIRS,     /* they wait, the process forks, the child serves them; then never   */
	PASS_CONTROL,   /* PASS_GIVE_BACK where some places must be stuck                    */
	PASS_MEET       /* evict.c: they make but one or two changes; it goes on             */
};

struct options {
	enum pass pass;
	const char *name; /* of the pass                     */
	const char *only; /* a part of operations' names     */
	long at;          /* an instruction; -1 = all        */
};

/* Which seeded bug is on (mutant.h); 0 in the library as it is. */
extern int verify_mutant;

/*
 *     PROGRAM give-back|hold|never|fork|heirs|control [--only TEXT] [--at N] [--mutant N]
 *
 * Sets verify_mutant.  Ends the program when it is told something else, or a pass beyond `last`.
 */
struct options options_parse(int count, char **arguments, enum pass last);
/*
 * Of how many places a pass visits one.  What the others find while it stands is the same in every pass but `meet`: one of
 * these goes to every place, the rest to every third, and to every sixth where the process forks, which takes long.
 */
long options_stride(enum pass pass);

#endif
