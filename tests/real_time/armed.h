/* SPDX-License-Identifier: MIT */
/*
 * armed.h - calls of the library that must do without the kernel, the heap and locks.
 *
 * Idea         A process sets up what it needs, and then arms the trap: from there on a system call is its end
 *              (no_kernel.h), and so is a call of malloc, free, pthread_mutex_lock or their kin (interpose.c), also if
 *              none of them would have entered the kernel this time.  Each call goes through CALL(), which writes its
 *              name and its state into a journal that the parent reads: so it knows what was called, and in which call
 *              the process ended.
 */
#ifndef LFPOOL_TESTS_ARMED_H
#define LFPOOL_TESTS_ARMED_H

#include "../support/no_kernel.h"

/* Which function was called, in which state; each pair once.  In memory that parent and children share. */
struct journal {
	const char *trapped; /* the function of the C library that was called when it must not be */
	size_t now;          /* the entry of the last call                                        */
	size_t count;
	struct journal_entry {
		const char *function, *state;
	} entry[1000];
};
extern struct journal *journal;
/* This thread is: another that it wakes may go on as it likes. */
extern _Thread_local bool armed;

void journal_note(const char *function, const char *state);

/* CALL(lfpool_acquire, "hit")(pool): the call, noted. */
#define CALL(function, state) (journal_note(#function, state), function)

/* The end of what is prepared, and of what is called. */
static inline void arm(void)
{
	shut_filter();
	armed = true;
}

static inline void disarm(void)
{
	armed = false;
}

/* What is called armed, in processes of their own: how each ends, and what it is expected to end by. */
struct group {
	const char *name;
	void (*run)(void);
	const char *trapped;             /* NULL: it lives; "kernel": a system call; else a function of the C library */
	void (*run_kind)(unsigned kind); /* instead of run() */
	unsigned kind;
};
extern const struct group groups_of_pools[], groups_of_others[], groups_of_traps[];

#endif
