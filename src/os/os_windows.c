/* SPDX-License-Identifier: MIT */
/*
 * os_windows.c - os.h on Windows 8 and later: uses kernel32, WaitOnAddress() and the heap of the C runtime.
 *
 * Idea         VirtualAlloc() reserves addresses without memory.  Opening pages charges their memory to the system's
 *              commit limit, even if they are never touched.  docs/windows.md lists the other differences from Linux.
 * Fence        The heavy fence is FlushProcessWriteBuffers(), which cannot be refused and needs no registration.  In
 *              Wine, up to version 8 at least, this function does nothing.  So owners use full fences under Wine, and
 *              with LFPOOL_MEMBARRIER=off in the environment.
 * Exit         at_exit_of_thread() is one of the image's TLS callbacks, so the loader calls it in each exiting thread.
 *              (FlsAlloc() also offers destructors, but they run at the exit of a fiber, and a thread can outlive its
 *              fiber.)
 * Concurrency  Several threads may choose the fence at the same time, but all of them make the same choice.  Afterwards
 *              the choice is read-only.
 */
#include "os/os.h"

#include "base/atomics.h"

#ifdef _WIN32

#undef _WIN32_WINNT
#define _WIN32_WINNT 0x0602
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* ---- Memory ---- */

static char *reserve(size_t bytes)
{
	return VirtualAlloc(NULL, bytes, MEM_RESERVE, PAGE_NOACCESS);
}

static bool commit(void *address, size_t bytes)
{
	return VirtualAlloc(address, bytes, MEM_COMMIT, PAGE_READWRITE) != NULL;
}

void *os_map_aligned(size_t bytes, size_t offset, size_t alignment, bool open)
{
	const size_t page = os_page_bytes(), slack = alignment > page ? alignment - page : 0;
	size_t all;
	char *reserved = __builtin_add_overflow(bytes, slack, &all) ? NULL : reserve(all);

	if (!reserved)
		return NULL;

	/* The addresses before and after the mapping stay reserved, which costs nothing. */
	char *mapped = slack ? reserved + (-((uintptr_t)reserved + offset) & (alignment - 1)) : reserved;

	if (open && !commit(mapped, bytes)) {
		(void)VirtualFree(reserved, 0, MEM_RELEASE);
		return NULL;
	}
	return mapped;
}

void *os_map(size_t bytes)
{
	return os_map_aligned(bytes, 0, 1, true);
}

void *os_reserve(size_t bytes)
{
	return os_map_aligned(bytes, 0, 1, false);
}

void os_unmap(void *address, size_t bytes)
{
	(void)bytes;
	MEMORY_BASIC_INFORMATION mapping;

	if (VirtualQuery(address, &mapping, sizeof(mapping)))
		(void)VirtualFree(mapping.AllocationBase, 0, MEM_RELEASE);
}

bool os_guard(void *address, size_t bytes)
{
	return VirtualFree(address, bytes, MEM_DECOMMIT);
}

bool os_open(void *address, size_t bytes)
{
	return commit(address, bytes);
}

void os_close(void *address, size_t bytes)
{
	(void)VirtualFree(address, bytes, MEM_DECOMMIT);
}

/*
 * MEM_DECOMMIT followed by MEM_COMMIT would not do: between the two, a thread that reads an object that it no longer
 * holds would crash.  After MEM_RESET a page is either unchanged or zero, so the pages are zeroed first.  These pages
 * are not locked, and VirtualUnlock() removes such pages from memory.
 */
bool os_discard(void *address, size_t bytes)
{
	memset(address, 0, bytes);
	if (!VirtualAlloc(address, bytes, MEM_RESET, PAGE_READWRITE))
		return false;
	(void)VirtualUnlock(address, bytes);
	return true;
}

bool os_prefault(void *address, size_t bytes)
{
	os_touch(address, bytes);
	return true;
}

bool os_lock(void *address, size_t bytes)
{
	return VirtualLock(address, bytes);
}

/* Does nothing: large pages need the right to lock memory, and only a whole mapping can have them. */
void os_wish_huge(void *address, size_t bytes)
{
	(void)address;
	(void)bytes;
}

/* Pages have this size on every processor that Windows supports. */
size_t os_page_bytes(void)
{
	return 4096;
}

unsigned os_processors(void)
{
	const DWORD count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);

	return count < 1 ? 1 : (unsigned)count;
}

/* Memory from _aligned_malloc() must be freed by _aligned_free(), so all three functions use the _aligned_ family. */
void *os_heap_resize(void *memory, size_t bytes)
{
	KEEP_ERRNO();
	return _aligned_realloc(memory, bytes, _Alignof(max_align_t));
}

void *os_heap_aligned(size_t alignment, size_t bytes)
{
	KEEP_ERRNO();
	return _aligned_malloc(bytes, alignment);
}

void os_heap_free(void *memory)
{
	KEEP_ERRNO();
	_aligned_free(memory);
}

/* ReadProcessMemory() would be simpler, but Wine's version also reads pages without access. */
bool os_can_read(const void *address)
{
	const DWORD readable = PAGE_READONLY | PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READ |
			       PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
	uintptr_t at = (uintptr_t)address;
	const uintptr_t end = at + 8;
	MEMORY_BASIC_INFORMATION mapping;

	if (end < at)
		return false;
	for (; at < end; at = (uintptr_t)mapping.BaseAddress + mapping.RegionSize)
		if (!VirtualQuery((const void *)at, &mapping, sizeof(mapping)) || mapping.State != MEM_COMMIT ||
		    !(mapping.Protect & readable) || mapping.Protect & PAGE_GUARD)
			return false;
	return true;
}

void os_print(const char *text)
{
	DWORD written;

	(void)WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, (DWORD)strlen(text), &written, NULL);
}

const char *os_environment(const char *name)
{
	return getenv(name);
}

/* ---- Threads ---- */

/* The loader gives each thread a copy of the image's TLS template, and stores the address of the copy in the thread
 * environment block (TEB). */
void *os_copy_of_thread(void *variable)
{
	extern const IMAGE_TLS_DIRECTORY _tls_used;
	extern ULONG _tls_index;
	char **copies;

	/* Reads TEB.ThreadLocalStoragePointer.  volatile, because a fiber may continue in another thread. */
	__asm__ __volatile__("movq %%gs:0x58, %0" : "=r"(copies));
	return copies[_tls_index] + ((ULONG_PTR)variable - _tls_used.StartAddressOfRawData);
}

/* `at_thread_exit` is written once, before any thread sets an exit value, so exiting threads see it. */
typedef void exit_function(void *value);
static exit_function *at_thread_exit;
static THREAD_LOCAL void *exit_value;

bool os_at_thread_exit(void (*at_exit)(void *))
{
	at_thread_exit = at_exit;
	return true;
}

bool os_set_exit_value(void *value)
{
	os_of_thread(exit_value) = value;
	return true;
}

static void NTAPI at_exit_of_thread(void *image, DWORD reason, void *reserved)
{
	(void)image;
	(void)reserved;
	if (reason != DLL_THREAD_DETACH)
		return;

	void *value = os_of_thread(exit_value);

	os_of_thread(exit_value) = NULL;
	if (value)
		at_thread_exit(value);
}

/* The linker puts this section between .CRT$XLA and .CRT$XLZ, and so into the list of TLS callbacks. */
__attribute__((section(".CRT$XLC"), used)) static const PIMAGE_TLS_CALLBACK tls_callback = at_exit_of_thread;

bool os_stay_loaded(bool *keys_usable_out)
{
	HMODULE mine;

	*keys_usable_out = true;
	return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
				  (const void *)&tls_callback, &mine);
}

bool os_mutex_open(os_mutex_t *mutex)
{
	*mutex = (os_mutex_t)OS_MUTEX_INITIALIZER;
	return true;
}

void os_mutex_close(os_mutex_t *mutex)
{
	(void)mutex;
}

_Static_assert(sizeof(os_mutex_t) == sizeof(SRWLOCK), "os_mutex_t of os.h");

void os_mutex_lock(os_mutex_t *mutex)
{
	AcquireSRWLockExclusive((PSRWLOCK)mutex);
}

void os_mutex_unlock(os_mutex_t *mutex)
{
	ReleaseSRWLockExclusive((PSRWLOCK)mutex);
}

bool os_is_shared(const void *address, size_t bytes)
{
	(void)address;
	(void)bytes;
	return false;
}

bool os_at_fork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
	(void)before;
	(void)parent;
	(void)child;
	return true;
}

void os_yield(void)
{
	(void)SwitchToThread();
}

uintptr_t os_thread_self(void)
{
	return GetCurrentThreadId();
}

uint32_t os_thread_id(void)
{
	return GetCurrentThreadId();
}

void os_forget_thread_id(void) {}

uint64_t os_now_ns(void)
{
	const uint64_t second = UINT64_C(1000000000);
	LARGE_INTEGER count, per_second;

	(void)QueryPerformanceCounter(&count);
	(void)QueryPerformanceFrequency(&per_second);

	const uint64_t ticks = (uint64_t)count.QuadPart, frequency = (uint64_t)per_second.QuadPart;

	return ticks / frequency * second + ticks % frequency * second / frequency;
}

/* ---- Sleep ---- */

void os_sleep_on(_Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns)
{
	const uint64_t now = deadline_ns == UINT64_MAX ? 0 : os_now_ns(), millisecond = 1000000;
	const uint64_t left = deadline_ns > now ? (deadline_ns - now - 1) / millisecond + 1 : 0;
	uint32_t half = (uint32_t)seen;

	/* The lower half of the word is first in memory, because Windows is little-endian. */
	(void)WaitOnAddress(word, &half, sizeof(half),
			    deadline_ns == UINT64_MAX || left >= INFINITE ? INFINITE : (DWORD)left);
}

void os_wake(_Atomic(uint64_t) *word)
{
	WakeByAddressAll(word);
}

/* ---- The asymmetric fence ---- */

enum { FENCE_UNKNOWN, FENCE_ASYMMETRIC, FENCE_BOTH };
static _Atomic(uint32_t) fence;

static bool is_wine(void)
{
	const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");

	return ntdll && GetProcAddress(ntdll, "wine_get_version");
}

bool os_asymmetric(void)
{
	/* relaxed, both: all threads make the same choice. */
	uint32_t chosen = load_relaxed(&fence);

	if (chosen == FENCE_UNKNOWN) {
		const char *forced = os_environment("LFPOOL_MEMBARRIER");

		chosen = is_wine() || (forced && strcmp(forced, "off") == 0) ? FENCE_BOTH : FENCE_ASYMMETRIC;
		store_relaxed(&fence, chosen);
	}
	return chosen == FENCE_ASYMMETRIC;
}

void os_heavy_fence(void)
{
	if (os_asymmetric())
		FlushProcessWriteBuffers();
	else
		full_fence();
}

/* ---- The environment and reports ---- */

/* The names of functions would need dbghelp.dll, which cannot read gcc's symbols. */
uint32_t os_backtrace(void **frames_out, uint32_t room)
{
	(void)frames_out;
	(void)room;
	return 0;
}

struct os_symbol os_symbol_at(const void *address)
{
	(void)address;
	return (struct os_symbol){0};
}
#endif
