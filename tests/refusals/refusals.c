/* SPDX-License-Identifier: MIT */
/*
 * refusals.c - see refusals.h.
 */
#include "refusals.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSAL_KIND(name, symbol, ...) {#name, {__VA_ARGS__}},
const struct refusal_kind refusal_kinds[REFUSALS] = {EACH_REFUSAL(REFUSAL_KIND)};

static struct {
	enum refusal which;
	unsigned long nth;
	bool on;
	int error;
} plan;
static atomic_ulong calls[REFUSALS], made;
static atomic_size_t mapped_bytes, heap_blocks, keys, fork_handlers;
void (*after_munmap)(void);
void (*on_call)(enum refusal which);

void refuse(enum refusal which, unsigned long nth, bool on, int error)
{
	for (int i = 0; i < REFUSALS; i++)
		atomic_store(&calls[i], 0);
	atomic_store(&made, 0);
	plan.which = which;
	plan.nth = nth;
	plan.on = on;
	plan.error = error;
}

unsigned long refusals_calls(enum refusal which)
{
	return atomic_load(&calls[which]);
}

unsigned long refusals_made(void)
{
	return atomic_load(&made);
}

struct held held_now(void)
{
	return (struct held){atomic_load(&mapped_bytes), atomic_load(&heap_blocks), atomic_load(&keys),
			     atomic_load(&fork_handlers)};
}

static pthread_once_t plan_once = PTHREAD_ONCE_INIT;

static void plan_from_environment(void)
{
	const char *text = getenv("REFUSE");
	unsigned which;
	unsigned long nth;
	int on, error;

	if (text && sscanf(text, "%u %lu %d %d", &which, &nth, &on, &error) == 4)
		refuse((enum refusal)which, nth, on, error);
}

/* 0: the call is to succeed; otherwise its error, also in errno. */
static int refused(enum refusal which)
{
	(void)pthread_once(&plan_once, plan_from_environment);

	const unsigned long nth = atomic_fetch_add(&calls[which], 1) + 1;

	if (on_call)
		on_call(which);

	if (which != plan.which || !plan.nth || nth < plan.nth || (nth > plan.nth && !plan.on))
		return 0;
	atomic_fetch_add(&made, 1);
	errno = plan.error;
	return plan.error;
}

/* WRAP(type, name, (parameters)): declares the real one, and begins ours. */
#define WRAP(type, name, parameters)   \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters

WRAP(void *, mmap, (void *address, size_t bytes, int access, int flags, int file, off_t offset))
{
	if (refused(REFUSE_MMAP))
		return MAP_FAILED;

	void *mapped = __real_mmap(address, bytes, access, flags, file, offset);

	if (mapped != MAP_FAILED)
		atomic_fetch_add(&mapped_bytes, bytes);
	return mapped;
}

void *shared_memory(size_t bytes)
{
	void *mapped = __real_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return mapped == MAP_FAILED ? NULL : mapped;
}

WRAP(int, munmap, (void *address, size_t bytes))
{
	/* Memory that could not be unmapped counts as returned. */
	atomic_fetch_sub(&mapped_bytes, bytes);
	if (refused(REFUSE_MUNMAP))
		return -1;

	const int result = __real_munmap(address, bytes);

	if (after_munmap)
		after_munmap();
	return result;
}

WRAP(int, mprotect, (void *address, size_t bytes, int access))
{
	return refused(access == PROT_NONE ? REFUSE_GUARD : REFUSE_OPEN) ? -1 : __real_mprotect(address, bytes, access);
}

WRAP(int, madvise, (void *address, size_t bytes, int advice))
{
	const enum refusal which = advice == MADV_DONTNEED   ? REFUSE_DISCARD
				   : advice == MADV_HUGEPAGE ? REFUSE_HUGE
							     : REFUSE_POPULATE;

	return refused(which) ? -1 : __real_madvise(address, bytes, advice);
}

WRAP(int, mlock, (const void *address, size_t bytes))
{
	return refused(REFUSE_MLOCK) ? -1 : __real_mlock(address, bytes);
}

WRAP(int, munlock, (const void *address, size_t bytes))
{
	return refused(REFUSE_MUNLOCK) ? -1 : __real_munlock(address, bytes);
}

WRAP(long, syscall, (long number, ...))
{
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);

	const enum refusal which = number == SYS_membarrier                ? REFUSE_MEMBARRIER
				   : (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE ? REFUSE_FUTEX_WAKE
									   : REFUSE_FUTEX_WAIT;

	return refused(which) ? -1 : __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

WRAP(void *, realloc, (void *memory, size_t bytes))
{
	if (refused(REFUSE_REALLOC))
		return NULL;

	void *resized = __real_realloc(memory, bytes);

	if (resized && !memory)
		atomic_fetch_add(&heap_blocks, 1);
	return resized;
}

WRAP(int, posix_memalign, (void **memory_out, size_t alignment, size_t bytes))
{
	const int error = refused(REFUSE_POSIX_MEMALIGN);

	if (!error)
		atomic_fetch_add(&heap_blocks, 1);
	return error ? error : __real_posix_memalign(memory_out, alignment, bytes);
}

WRAP(void, free, (void *memory))
{
	if (memory)
		atomic_fetch_sub(&heap_blocks, 1);
	__real_free(memory);
	/* As in some C libraries. */
	errno = EINVAL;
}

WRAP(int, pthread_atfork, (void (*before)(void), void (*parent)(void), void (*child)(void)))
{
	const int error = refused(REFUSE_ATFORK);

	if (!error)
		atomic_fetch_add(&fork_handlers, 1);
	return error ? error : __real_pthread_atfork(before, parent, child);
}

WRAP(int, pthread_key_create, (pthread_key_t * key, void (*at_exit)(void *)))
{
	const int error = refused(REFUSE_KEY_CREATE);

	if (!error)
		atomic_fetch_add(&keys, 1);
	return error ? error : __real_pthread_key_create(key, at_exit);
}

WRAP(int, pthread_key_delete, (pthread_key_t key))
{
	atomic_fetch_sub(&keys, 1);
	return __real_pthread_key_delete(key);
}

WRAP(int, pthread_setspecific, (pthread_key_t key, const void *value))
{
	const int error = refused(REFUSE_SETSPECIFIC);

	return error ? error : __real_pthread_setspecific(key, value);
}

WRAP(int, pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes))
{
	const int error = refused(REFUSE_MUTEX_INIT);

	return error ? error : __real_pthread_mutex_init(mutex, attributes);
}

WRAP(long, sysconf, (int name))
{
	return name == _SC_NPROCESSORS_ONLN && refused(REFUSE_PROCESSORS) ? -1 : __real_sysconf(name);
}

WRAP(ssize_t, write, (int file, const void *text, size_t bytes))
{
	return file == STDERR_FILENO && refused(REFUSE_STDERR) ? -1 : __real_write(file, text, bytes);
}

WRAP(int, vsnprintf, (char *out, size_t bytes, const char *format, va_list list))
{
	return refused(REFUSE_FORMAT) ? -1 : __real_vsnprintf(out, bytes, format, list);
}

WRAP(int, backtrace, (void **addresses_out, int most))
{
	return refused(REFUSE_STACK) ? 0 : __real_backtrace(addresses_out, most);
}

WRAP(int, dladdr, (const void *address, Dl_info *info_out))
{
	return refused(REFUSE_LOOK_UP) ? 0 : __real_dladdr(address, info_out);
}
