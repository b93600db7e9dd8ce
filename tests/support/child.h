/* SPDX-License-Identifier: MIT */
/* child.h - a forked child reports by its exit status: REQUIRE, then _exit(0).  Its parent ends a child that hangs,
 * even inside fork(). */
#ifndef LFPOOL_TESTS_CHILD_H
#define LFPOOL_TESTS_CHILD_H

#include "support.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { CHILD_SECONDS = 30 };

static inline pid_t child_start(void)
{
	fflush(stdout);
	const pid_t pid = fork();

	REQUIRE(pid >= 0);
	return pid;
}

static inline void child_end(pid_t pid)
{
	pid_t ended = 0;
	int status = 0;

	for (int left = CHILD_SECONDS * 1000; left && !ended; left--)
		if (!(ended = waitpid(pid, &status, WNOHANG)))
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	if (!ended)
		REQUIRE(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
	REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Runs `run` in a child, and waits for the child's end. */
static inline void child_run(void (*run)(void *argument), void *argument)
{
	const pid_t pid = child_start();

	if (pid == 0) {
		run(argument);
		_exit(0);
	}
	child_end(pid);
}

#endif
