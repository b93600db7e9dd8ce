/* SPDX-License-Identifier: MIT */
/*
 * refusals.h - a system that refuses: each call of the library to the C library that can fail comes through here, and
 * fails on request, with the requested error.
 *
 * Idea         The linker's --wrap, for the calls that the library itself makes; not for calls inside the C library.
 *              A refusal is (which, nth, error): the nth call of this kind from now on, or the nth and all after it.
 *              REFUSE="which nth on error" in the environment sets it for the first calls of a process, including a
 *              constructor's.  This file also counts the library's memory and other resources, independently of the
 *              library.
 * Concurrency  Any thread may be refused.  The plan is changed only while no call is in progress.
 */
#ifndef LFPOOL_TESTS_REFUSALS_H
#define LFPOOL_TESTS_REFUSALS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* X(NAME, symbol, each error that it documents, and those of a kernel that does not know it).  A symbol with several
 * meanings has several rows.  For calls that return an error instead of setting errno, the error is the result. */
#define EACH_REFUSAL(X)                                                       \
	X(MMAP, "mmap", ENOMEM, EAGAIN, EPERM, EINVAL, ENOSYS)                \
	X(MUNMAP, "munmap", ENOMEM, EINVAL, ENOSYS)                           \
	X(OPEN, "mprotect", ENOMEM, EACCES, EINVAL, ENOSYS)                   \
	X(GUARD, "mprotect", ENOMEM, EACCES, EINVAL, ENOSYS)                  \
	X(POPULATE, "madvise", EINVAL, ENOSYS, ENOMEM, EFAULT, EAGAIN, EPERM) \
	X(DISCARD, "madvise", EINVAL, ENOSYS, ENOMEM, EAGAIN)                 \
	X(HUGE, "madvise", EINVAL, ENOSYS, ENOMEM)                            \
	X(MLOCK, "mlock", ENOMEM, EPERM, EAGAIN, EINVAL, ENOSYS)              \
	X(MUNLOCK, "munlock", ENOMEM, EPERM, EINVAL, ENOSYS)                  \
	X(FUTEX_WAIT, "syscall", EAGAIN, EINTR, ETIMEDOUT, EINVAL, ENOSYS)    \
	X(FUTEX_WAKE, "syscall", EINVAL, EFAULT, ENOSYS)                      \
	X(MEMBARRIER, "syscall", EPERM, EINVAL, ENOSYS)                       \
	X(REALLOC, "realloc", ENOMEM)                                         \
	X(POSIX_MEMALIGN, "posix_memalign", ENOMEM, EINVAL)                   \
	X(ATFORK, "pthread_atfork", ENOMEM)                                   \
	X(KEY_CREATE, "pthread_key_create", EAGAIN, ENOMEM)                   \
	X(SETSPECIFIC, "pthread_setspecific", ENOMEM, EINVAL)                 \
	X(MUTEX_INIT, "pthread_mutex_init", ENOMEM, EAGAIN, EPERM)            \
	X(PROCESSORS, "sysconf", EINVAL, EMFILE)                              \
	X(STDERR, "write", EBADF, EIO, ENOSPC, EPIPE, EAGAIN, EINTR)          \
	X(FORMAT, "vsnprintf", ENOMEM, EOVERFLOW)                             \
	X(STACK, "backtrace", ENOMEM)                                         \
	X(LOOK_UP, "dladdr", ENOMEM)

#define REFUSAL_NAME(name, ...) REFUSE_##name,
enum refusal { EACH_REFUSAL(REFUSAL_NAME) REFUSALS };
#undef REFUSAL_NAME

#define ERRORS_MAX 8

/* A child that runs longer than this is in an endless loop, or waits for itself. */
#ifndef HANGS_AFTER_SECONDS
#define HANGS_AFTER_SECONDS 20
#endif

extern const struct refusal_kind {
	const char *name;
	int errors[ERRORS_MAX]; /* ended by a 0 */
} refusal_kinds[REFUSALS];

/* From now on the nth call of this kind is refused with this error, and if `on` each one after it; 0: none. */
void refuse(enum refusal which, unsigned long nth, bool on, int error);
/* Calls of this kind since then; and the number refused. */
unsigned long refusals_calls(enum refusal which);
unsigned long refusals_made(void);

/* If not NULL, called for each call. */
extern void (*on_call)(enum refusal which);

/* Memory shared with forked children; not counted. */
void *shared_memory(size_t bytes);

/* Resources that the library holds. */
struct held {
	size_t mapped_bytes, heap_blocks, keys, fork_handlers;
};
struct held held_now(void);

/* If not NULL, called after each munmap(). */
extern void (*after_munmap)(void);

#endif
