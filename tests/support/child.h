/* SPDX-License-Identifier: MIT */
/* child.h - the child of a fork speaks through its exit: REQUIRE, then _exit(0).  An alarm ends one that hangs. */
#ifndef LFPOOL_TESTS_CHILD_H
#define LFPOOL_TESTS_CHILD_H

#include "support.h"

#include <sys/wait.h>

static inline pid_t child_start(void)
{
	fflush(stdout);
	const pid_t pid = fork();

	REQUIRE(pid >= 0);
	if (pid == 0)
		alarm(20);
	return pid;
}

static inline void child_end(pid_t pid)
{
	int status = 0;

	REQUIRE(waitpid(pid, &status, 0) == pid);
	REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* From its start to its end. */
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
