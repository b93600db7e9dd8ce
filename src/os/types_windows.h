/* SPDX-License-Identifier: MIT */
/*
 * types_windows.h - the types of os.h, and what is one call of kernel32, without <windows.h>.
 *
 * Idea         Of compilers that make thread-local variables of calls which allocate, as mingw-w64's gcc does, a key is the
 *              better one: LFPOOL_THREAD_KEY, always.  docs/windows.md has the reasons for what is used here, and what is not.
 */
#ifndef LFPOOL_TYPES_WINDOWS_H
#define LFPOOL_TYPES_WINDOWS_H

#include <stdint.h>

#ifndef LFPOOL_THREAD_KEY
#define LFPOOL_THREAD_KEY
#endif

/* An SRWLOCK, which is one pointer, and nothing to close. */
typedef struct {
	void *lock;
} os_mutex_t;
#define OS_MUTEX_INITIALIZER {0}

void os_mutex_lock(os_mutex_t *mutex);
void os_mutex_unlock(os_mutex_t *mutex);

/* An index of TlsAlloc(). */
typedef unsigned long os_thread_key_t;
extern __declspec(dllimport) void *__stdcall TlsGetValue(unsigned long index);
#define os_thread_key_get(key) TlsGetValue(key)

uintptr_t os_thread_self(void);

#endif
