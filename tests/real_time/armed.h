/* SPDX-License-Identifier: MIT */
/*
 * armed.h - calls of the library that must do without the kernel, the heap and locks.
 *
 * Idea         A process prepares, then arms the trap.  From there on a system call ends it (no_kernel.h), and so
 *              does a call of malloc, free, pthread_mutex_lock and so on (interpose.c), even if this one would not
 *              have entered the kernel.  Each call goes through CALL(), which writes its name and state into a
 *              journal that the parent reads.  So the parent knows which calls were made, and in which one the
 *              process ended.
 */
#ifndef LFPOOL_TESTS_ARMED_H
#define LFPOOL_TESTS_ARMED_H

#include "../support/no_kernel.h"

/* Each pair of function and state once.  In memory that parent and children share. */
struct journal {
	const char *trapped; /* the forbidden function of the C library that was called */
	size_t now;          /* the entry of the last call                                        */
	size_t count;
	struct journal_entry {
		const char *function, *state;
	} entry[1000];
};
extern struct journal *journal;
/* This thread is armed; other threads that it wakes are not. */
extern _Thread_local bool armed;

void journal_note(const char *function, const char *state);

/* CALL(lfpool_acquire, "hit")(pool): the call, with a note in the journal. */
#define CALL(function, state) (journal_note(#function, state), function)

/* The end of the preparation; the end of the tested calls. */
static inline void arm(void)
{
	shut_filter();
	armed = true;
}

static inline void disarm(void)
{
	armed = false;
}

/* Armed calls, in separate processes; how each process must end. */
struct group {
	const char *name;
	void (*run)(void);
	const char *trapped; /* NULL: it survives; "kernel": a system call; otherwise a function of the C library */
	void (*run_kind)(unsigned kind); /* instead of run() */
	unsigned kind;
};
extern const struct group groups_of_pools[], groups_of_others[], groups_of_traps[];

#endif
