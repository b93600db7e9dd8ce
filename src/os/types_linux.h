/* SPDX-License-Identifier: MIT */
/*
 * types_linux.h - the types of os.h, and what is one call of the C library: POSIX threads.
 */
#ifndef LFPOOL_TYPES_LINUX_H
#define LFPOOL_TYPES_LINUX_H

#include <pthread.h>
#include <stdint.h>

typedef pthread_mutex_t os_mutex_t;
#define OS_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER

/* Read without a call, and not allocated at the first access.  A library that is loaded by dlopen() needs
 * room for it in the static TLS block. */
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#define os_of_thread(variable) (variable)

static inline void os_mutex_lock(os_mutex_t *mutex)
{
	(void)pthread_mutex_lock(mutex);
}

static inline void os_mutex_unlock(os_mutex_t *mutex)
{
	(void)pthread_mutex_unlock(mutex);
}

static inline uintptr_t os_thread_self(void)
{
	return (uintptr_t)pthread_self();
}

#endif
