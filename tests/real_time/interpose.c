/* SPDX-License-Identifier: MIT */
/* interpose.c - the C library's heap and locks; none may be called while the trap is armed. */
#include "armed.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>

_Thread_local bool armed;

static void trap(const char *name)
{
	if (!armed)
		return;
	armed = false;
	journal->trapped = name;
	end_thread(3);
}

/* glibc's internal names for its heap: dlsym() may need it. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

void *malloc(size_t size)
{
	trap("malloc");
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	trap("calloc");
	return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	trap("realloc");
	return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	trap("aligned_alloc");
	return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
	trap("memalign");
	return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory_out, size_t alignment, size_t size)
{
	trap("posix_memalign");
	*memory_out = __libc_memalign(alignment, size);
	return *memory_out ? 0 : ENOMEM;
}

void free(void *memory)
{
	trap("free");
	__libc_free(memory);
}

/* LOCK(name, parameters, arguments): the next definition of that name, looked up once. */
#define LOCK(name, parameters, arguments)                                  \
	int name parameters                                                \
	{                                                                  \
		static int(*_Atomic real) parameters;                      \
                                                                           \
		trap(#name);                                               \
		if (!real)                                                 \
			*(void **)(void *)&real = dlsym(RTLD_NEXT, #name); \
		return real arguments;                                     \
	}

LOCK(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
LOCK(pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
LOCK(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
LOCK(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
LOCK(pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
LOCK(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))
LOCK(pthread_setspecific, (pthread_key_t key, const void *value), (key, value))
