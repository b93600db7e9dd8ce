/* SPDX-License-Identifier: MIT */
/* refuse.c - the linker's --wrap routes the library's system calls (src/os/os.h) through this file, which refuses
 * one. */
#include "base/atomics.h"
#include "os/os.h"

static _Atomic(unsigned long) requests, refused_at;

void refuse_request(unsigned long n);

/* Refuses the n-th request from now on (1: the next one), and only that one; 0: none. */
void refuse_request(unsigned long n)
{
	/* relaxed, here and below: any thread's request may be the n-th. */
	store_relaxed(&requests, 0);
	store_relaxed(&refused_at, n);
}

static bool refused(void)
{
	return fetch_add_relaxed(&requests, 1) + 1 == load_relaxed(&refused_at);
}

#define WRAP(type, name, parameters, arguments, refusal)                \
	type __real_##name parameters;                                  \
	type __wrap_##name parameters;                                  \
	type __wrap_##name parameters                                   \
	{                                                               \
		return refused() ? (refusal) : __real_##name arguments; \
	}

WRAP(void *, os_map, (size_t bytes), (bytes), NULL)
WRAP(void *, os_reserve, (size_t bytes), (bytes), NULL)
WRAP(void *, os_map_aligned, (size_t bytes, size_t offset, size_t alignment, bool open),
     (bytes, offset, alignment, open), NULL)
WRAP(bool, os_guard, (void *address, size_t bytes), (address, bytes), false)
WRAP(bool, os_open, (void *address, size_t bytes), (address, bytes), false)
WRAP(bool, os_discard, (void *address, size_t bytes), (address, bytes), false)
WRAP(bool, os_prefault, (void *address, size_t bytes), (address, bytes), false)
WRAP(bool, os_lock, (void *address, size_t bytes), (address, bytes), false)
WRAP(void *, os_heap_resize, (void *memory, size_t bytes), (memory, bytes), NULL)
WRAP(void *, os_heap_aligned, (size_t alignment, size_t bytes), (alignment, bytes), NULL)
WRAP(bool, os_set_exit_value, (void *value), (value), false)
WRAP(bool, os_mutex_open, (os_mutex_t * mutex), (mutex), false)
