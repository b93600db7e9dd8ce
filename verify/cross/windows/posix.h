/* SPDX-License-Identifier: MIT */
/*
 * posix.h - the few functions of POSIX and C11 that lfpool's tests and stress harness use and mingw-w64 lacks.
 *
 * Idea         The compiler includes it in front of each of these programs (CMakeLists.txt), but not of the library.
 *              So the same sources run.  Missing functions do not compile: fork, signals, mmap, makecontext;
 *              docs/windows.md.
 * Heap         free() must handle the result of aligned_alloc(), so everything comes from the aligned heap.
 */
#ifndef LFPOOL_VERIFY_POSIX_H
#define LFPOOL_VERIFY_POSIX_H

#define WIN32_LEAN_AND_MEAN
#define PSAPI_VERSION 2
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Words of the tests. */
#define SIZE WINDOWS_SIZE
#include <windows.h>
#undef SIZE
#undef OUT
#undef near
#undef far
#include <psapi.h>

enum { _SC_PAGESIZE, _SC_NPROCESSORS_ONLN };

static inline long sysconf(int name)
{
	SYSTEM_INFO info;

	GetSystemInfo(&info);
	return name == _SC_PAGESIZE ? (long)info.dwPageSize : (long)info.dwNumberOfProcessors;
}

static inline int setenv(const char *name, const char *value, int overwrite)
{
	return overwrite || !getenv(name) ? _putenv_s(name, value) : 0;
}

static inline int unsetenv(const char *name)
{
	return _putenv_s(name, "");
}

static inline char *stpcpy(char *out, const char *text)
{
	return strcpy(out, text) + strlen(text);
}

/* ---- Memory ---- */

#define PROC_BYTES 1

/* The figures of /proc/self/status, as far as they exist: VmSize is the memory charged to the commit limit. */
static inline size_t proc_bytes(const char *path, const char *key)
{
	PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof(counters)};

	(void)path;
	if (!GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof(counters)))
		abort();
	return strcmp(key, "VmRSS") == 0    ? counters.WorkingSetSize
	       : strcmp(key, "VmSize") == 0 ? counters.PagefileUsage
					    : 0;
}

/* ---- The heap ---- */

static inline void *posix_allocate(size_t count, size_t bytes)
{
	void *memory = _aligned_malloc(count * bytes, 16);

	return memory ? memset(memory, 0, count * bytes) : NULL;
}

static inline int posix_memalign(void **memory_out, size_t alignment, size_t bytes)
{
	*memory_out = _aligned_malloc(bytes, alignment);
	return *memory_out ? 0 : ENOMEM;
}

#define malloc(bytes) _aligned_malloc(bytes, 16)
#define calloc(count, bytes) posix_allocate(count, bytes)
#define realloc(memory, bytes) _aligned_realloc(memory, bytes, 16)
#define aligned_alloc(alignment, bytes) _aligned_malloc(bytes, alignment)
#define free(memory) _aligned_free(memory)

#endif
