/* SPDX-License-Identifier: MIT */
/*
 * types_windows.h - the types of os.h, and what is one call of kernel32, without <windows.h>.
 *
 * Idea         mingw-w64's gcc turns _Thread_local into calls that allocate.  So a thread-local variable is placed here in the
 *              section that the loader copies for each thread, and its copy is found by address arithmetic.
 *              docs/windows.md explains the choices.
 */
#ifndef LFPOOL_TYPES_WINDOWS_H
#define LFPOOL_TYPES_WINDOWS_H

#include <stdint.h>

/* An SRWLOCK, which is one pointer, and nothing to close. */
typedef struct {
	void *lock;
} os_mutex_t;
#define OS_MUTEX_INITIALIZER {0}

void os_mutex_lock(os_mutex_t *mutex);
void os_mutex_unlock(os_mutex_t *mutex);

#define THREAD_LOCAL __attribute__((section(".tls$")))
#define os_of_thread(variable) (*(__typeof__(variable) *)os_copy_of_thread(&(variable)))
void *os_copy_of_thread(void *variable);

uintptr_t os_thread_self(void);

#endif
