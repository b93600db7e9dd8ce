/* SPDX-License-Identifier: MIT */
/*
 * freezing.h - threads that are stopped at any instruction, by a signal, and go on at another one.  The handlers call
 * nothing of the library.
 */
#ifndef LFPOOL_TESTS_FREEZING_H
#define LFPOOL_TESTS_FREEZING_H

#include "support.h"

#include <semaphore.h>
#include <signal.h>

/* The handlers know nothing but this. */
static sem_t frozen;
static sigset_t while_frozen;

static inline void freeze(int signal_number)
{
	int kept = errno;

	(void)signal_number;
	sem_post(&frozen);
	sigsuspend(&while_frozen);
	errno = kept;
}

static inline void thaw(int signal_number)
{
	(void)signal_number;
}

static inline void prepare_signals(void)
{
	struct sigaction action = {.sa_handler = freeze, .sa_flags = SA_RESTART};
	sigset_t thaw_only;

	sem_init(&frozen, 0, 0);
	sigfillset(&while_frozen);
	sigdelset(&while_frozen, SIGUSR2);
	/* A thaw that comes before the victim waits for it stays pending until it does. */
	sigemptyset(&thaw_only);
	sigaddset(&thaw_only, SIGUSR2);
	action.sa_mask = thaw_only;
	REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
	action.sa_handler = thaw;
	REQUIRE(sigaction(SIGUSR2, &action, NULL) == 0);
	REQUIRE(pthread_sigmask(SIG_BLOCK, &thaw_only, NULL) == 0);
}

#endif
