/* SPDX-License-Identifier: MIT */
/*
 * types_none.h - the types of os.h where there is no system: with LFPOOL_EMBEDDED (src/embedded/absent.c).
 */
#ifndef LFPOOL_TYPES_NONE_H
#define LFPOOL_TYPES_NONE_H

#include <stddef.h>
#include <stdint.h>

typedef int os_mutex_t;

/* Threads have no caches there: nothing is thread-local. */
#define THREAD_LOCAL
#define os_of_thread(variable) (variable)

/* No pool is in mutex mode. */
static inline void os_mutex_lock(os_mutex_t *mutex)
{
	(void)mutex;
}

static inline void os_mutex_unlock(os_mutex_t *mutex)
{
	(void)mutex;
}

/* Each thread has a stack of its own: two of them differ, as far as anybody asks (only a fork would ask for more). */
static inline uintptr_t os_thread_self(void)
{
	return (uintptr_t)__builtin_frame_address(0);
}

#endif
