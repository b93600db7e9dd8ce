/* SPDX-License-Identifier: MIT */
/* syscall.h - the one system call that the tests make by its number on any system: the thread's id. */
#ifndef LFPOOL_VERIFY_SYSCALL_H
#define LFPOOL_VERIFY_SYSCALL_H

#define SYS_gettid 0

static inline long syscall(int number)
{
	(void)number;
	return (long)GetCurrentThreadId();
}

#endif
