/* SPDX-License-Identifier: MIT */
/*
 * no_kernel.h - a process that may not enter the kernel.
 *
 * Idea         Under seccomp(2) every system call except the few for reporting and exiting ends the process with a
 *              signal.
 */
#ifndef LFPOOL_TESTS_NO_KERNEL_H
#define LFPOOL_TESTS_NO_KERNEL_H

#include "support.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* From now on this thread may write and exit; any other system call ends the process with SIGSYS. */
static inline void shut_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {COUNT(code), code};

	REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* Not exit(3) or _exit(2): these end all threads, by a system call that is forbidden here. */
static inline _Noreturn void end_thread(int status)
{
	(void)syscall(SYS_exit, status);
	for (;;)
		;
}

/* Without stdio, which may allocate.  On failure calls the forbidden exit_group(), which ends all threads. */
#define MUST(condition)                                                                       \
	do {                                                                                  \
		static const char said[] = "required: " #condition "\n";                      \
		if (!(condition)) {                                                           \
			if (write(STDERR_FILENO, said, sizeof(said) - 1) != sizeof(said) - 1) \
				(void)syscall(SYS_exit_group, 2);                             \
			(void)syscall(SYS_exit_group, 1);                                     \
		}                                                                             \
	} while (0)

/* Runs `run` in a child process.  Returns its exit status, or minus the signal that ended it. */
static inline int run_in_process(void (*run)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		run();
		end_thread(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
