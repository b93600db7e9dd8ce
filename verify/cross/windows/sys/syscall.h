/* SPDX-License-Identifier: MIT */
/*
 * syscall.h - the one system call that the tests make by its number on any system: which thread is this?
 */
#ifndef LFPOOL_VERIFY_SYSCALL_H
#define LFPOOL_VERIFY_SYSCALL_H

#define SYS_gettid 0

static inline long syscall(int number)
{
	(void)number;
	return (long)GetCurrentThreadId();
}

#endif
