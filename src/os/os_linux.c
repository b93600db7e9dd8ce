/* SPDX-License-Identifier: MIT */
/*
 * os_linux.c - os.h on Linux, with glibc or musl.
 *
 * Idea         A process must register once before it uses membarrier(2).  Registration takes half a microsecond while
 *              the process has one thread, and up to 0.3 s once it has more, so a constructor registers.  The library
 *              uses membarrier(2) only if OS_MEMBARRIER_QUERY reports the command as supported, and one call has
 *              succeeded.  The registration survives fork.  LFPOOL_MEMBARRIER=off in the environment forces full
 *              fences, for tests and comparison.
 * Concurrency  The choice of the fence is made under pthread_once, and is read-only afterwards.
 */
#include "os/os.h"

#include "base/atomics.h"

#ifdef __linux__
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define HAVE_BACKTRACE 1
#endif
#endif

static pthread_once_t asymmetric_once = PTHREAD_ONCE_INIT;
static bool asymmetric;

/* ---- Memory ---- */

static void *map(size_t bytes, int access)
{
	KEEP_ERRNO();
	void *address = mmap(NULL, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return address == MAP_FAILED ? NULL : address;
}

void *os_map(size_t bytes)
{
	return map(bytes, PROT_READ | PROT_WRITE);
}

void *os_reserve(size_t bytes)
{
	return map(bytes, PROT_NONE);
}

void os_unmap(void *address, size_t bytes)
{
	KEEP_ERRNO();
	(void)munmap(address, bytes);
}

void *os_map_aligned(size_t bytes, size_t offset, size_t alignment, bool open)
{
	const size_t page = os_page_bytes(), slack = alignment > page ? alignment - page : 0;
	size_t all;
	char *mapped = __builtin_add_overflow(bytes, slack, &all) ? NULL : open ? os_map(all) : os_reserve(all);

	if (!mapped || !slack)
		return mapped;

	const size_t ahead = -((uintptr_t)mapped + offset) & (alignment - 1);

	if (ahead)
		os_unmap(mapped, ahead);
	if (slack > ahead)
		os_unmap(mapped + ahead + bytes, slack - ahead);
	return mapped + ahead;
}

bool os_guard(void *address, size_t bytes)
{
	KEEP_ERRNO();
	return mprotect(address, bytes, PROT_NONE) == 0;
}

bool os_open(void *address, size_t bytes)
{
	KEEP_ERRNO();
	return mprotect(address, bytes, PROT_READ | PROT_WRITE) == 0;
}

void os_close(void *address, size_t bytes)
{
	KEEP_ERRNO();
	/* The pages are unlocked first, because MADV_DONTNEED refuses locked pages. */
	(void)munlock(address, bytes);
	(void)madvise(address, bytes, MADV_DONTNEED);
	(void)mprotect(address, bytes, PROT_NONE);
}

bool os_discard(void *address, size_t bytes)
{
	KEEP_ERRNO();
	return madvise(address, bytes, MADV_DONTNEED) == 0;
}

bool os_prefault(void *address, size_t bytes)
{
	KEEP_ERRNO();
#ifdef MADV_POPULATE_WRITE
	if (madvise(address, bytes, MADV_POPULATE_WRITE) == 0)
		return true;
	/* Linux before 5.14, or without CONFIG_ADVISE_SYSCALLS, lacks MADV_POPULATE_WRITE. */
	if (errno != EINVAL && errno != ENOSYS)
		return false;
#endif
	os_touch(address, bytes);
	return true;
}

bool os_lock(void *address, size_t bytes)
{
	KEEP_ERRNO();
	return mlock(address, bytes) == 0;
}

void os_wish_huge(void *address, size_t bytes)
{
	KEEP_ERRNO();
	(void)madvise(address, bytes, MADV_HUGEPAGE);
}

size_t os_page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

unsigned os_processors(void)
{
	KEEP_ERRNO();
	const long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count < 1 ? 1 : (unsigned)count;
}

void *os_heap_resize(void *memory, size_t bytes)
{
	KEEP_ERRNO();
	return realloc(memory, bytes);
}

void *os_heap_aligned(size_t alignment, size_t bytes)
{
	KEEP_ERRNO();
	void *memory;

	return posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes) == 0 ? memory
													    : NULL;
}

void os_heap_free(void *memory)
{
	KEEP_ERRNO();
	free(memory);
}

bool os_can_read(const void *address)
{
	KEEP_ERRNO();
	/* The kernel reads the 8 bytes as a signal set before it rejects the operation ~0 (EINVAL).  So the call fails
	 * with EFAULT only if the bytes cannot be read. */
	return syscall(SYS_rt_sigprocmask, ~0, address, NULL, (size_t)8) == 0 || errno != EFAULT;
}

void os_print(const char *text)
{
	KEEP_ERRNO();
	ssize_t written = 1;

	/* If stderr is closed, or is a full pipe, the rest of the text is lost. */
	for (size_t left = strlen(text); left && written > 0; left -= (size_t)written, text += written)
		if ((written = write(STDERR_FILENO, text, left)) < 0)
			return;
}

/* ---- Is memory shared?  The kernel lists it in /proc/self/maps ----
 *
 * The code reads that file by plain system calls, because read() is a cancellation point.  The code allocates no
 * memory, because it runs in the child of a fork. */

struct mappings {
	long file;
	long at, count; /* in `bytes` */
	char bytes[512];
};

static char mappings_next(struct mappings *r)
{
	if (r->at == r->count) {
		r->at = 0;
		r->count = syscall(SYS_read, r->file, r->bytes, sizeof(r->bytes));
		if (r->count <= 0)
			r->count = 0;
	}
	return r->count ? r->bytes[r->at++] : '\0';
}

/* Reads a hexadecimal number, and the byte after it. */
static uintptr_t mappings_number(struct mappings *r)
{
	uintptr_t number = 0;
	char c;

	while ((c = mappings_next(r)) && c != '-' && c != ' ')
		number = number << 4 | (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	return number;
}

bool os_is_shared(const void *address, size_t bytes)
{
	KEEP_ERRNO();
	struct mappings r = {.file = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC)};
	const uintptr_t first = (uintptr_t)address;
	bool shared = false;
	char c = '\0';

	if (r.file < 0)
		return false;
	/* A line is "from-to rwxs ...", with 'p' instead of 's' for private memory. */
	do {
		const uintptr_t from = mappings_number(&r), to = mappings_number(&r);

		for (int i = 0; i < 4; i++)
			c = mappings_next(&r);
		shared = c == 's' && from < first + bytes && to > first;
		while (c && c != '\n')
			c = mappings_next(&r);
	} while (c && !shared);
	(void)syscall(SYS_close, r.file);
	return shared;
}

const char *os_environment(const char *name)
{
	return secure_getenv(name);
}

/* ---- Threads ---- */

/* dlopen() and dlinfo() are weak, because a program that is statically linked with the C library has neither function,
 * and needs neither. */
#pragma weak dlopen
#pragma weak dlinfo

bool os_stay_loaded(bool *keys_usable_out)
{
	KEEP_ERRNO();
	Dl_info mine, program;

	*keys_usable_out = true;
	/* Code in the program itself stays loaded.  AT_PHDR is an address in the program. */
	if (!dlopen || !dladdr(&asymmetric_once, &mine) || !dladdr((void *)getauxval(AT_PHDR), &program) ||
	    mine.dli_fbase == program.dli_fbase)
		return true;

	void *library = dlopen(mine.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);

	if (!library)
		return false;
#ifdef LM_ID_BASE
	Lmid_t space;

	*keys_usable_out = dlinfo(library, RTLD_DI_LMID, &space) != 0 || space == LM_ID_BASE;
#endif
	(void)dlclose(library);
	return true;
}

static pthread_key_t exit_key;

bool os_at_thread_exit(void (*at_exit)(void *))
{
	KEEP_ERRNO();
	return pthread_key_create(&exit_key, at_exit) == 0;
}

bool os_set_exit_value(void *value)
{
	KEEP_ERRNO();
	return pthread_setspecific(exit_key, value) == 0;
}

bool os_mutex_open(os_mutex_t *mutex)
{
	KEEP_ERRNO();
	return pthread_mutex_init(mutex, NULL) == 0;
}

void os_mutex_close(os_mutex_t *mutex)
{
	(void)pthread_mutex_destroy(mutex);
}

bool os_at_fork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
	KEEP_ERRNO();
	return pthread_atfork(before, parent, child) == 0;
}

void os_yield(void)
{
	KEEP_ERRNO();
	(void)sched_yield();
}

/* 0: not read yet. */
static THREAD_LOCAL uint32_t thread_id;

uint32_t os_thread_id(void)
{
	if (unlikely(!thread_id))
		thread_id = (uint32_t)gettid();
	return thread_id;
}

void os_forget_thread_id(void)
{
	thread_id = 0;
}

uint64_t os_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- Sleep ---- */

/* The kernel compares only 32 bits, so the calls below pass the lower half of the word. */
static void *lower_half(_Atomic(uint64_t) *word)
{
	return (char *)word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0);
}

/* Systems whose time_t is wider than a register need futex_time64. */
static void futex(void *half, int operation, unsigned value, const struct timespec *deadline)
{
#ifdef SYS_futex_time64
	const long number = sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex;
#else
	const long number = SYS_futex;
#endif
	KEEP_ERRNO();
	/* The result does not matter, because the caller loads the word again. */
	(void)syscall(number, half, operation | OS_FUTEX_PRIVATE_FLAG, value, deadline, NULL,
		      OS_FUTEX_BITSET_MATCH_ANY);
}

void os_sleep_on(_Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns)
{
	const uint64_t second = UINT64_C(1000000000), seconds = deadline_ns / second;
	/* On this clock, a time_t of 32 bits overflows after 68 years, so the deadline is limited to that. */
	const struct timespec deadline = {
		.tv_sec = (time_t)(seconds < INT32_MAX ? seconds : INT32_MAX),
		.tv_nsec = (long)(deadline_ns % second),
	};

	/* Unlike FUTEX_WAIT, FUTEX_WAIT_BITSET takes an absolute time, on CLOCK_MONOTONIC. */
	futex(lower_half(word), OS_FUTEX_WAIT_BITSET, (unsigned)seen, deadline_ns == UINT64_MAX ? NULL : &deadline);
}

void os_wake(_Atomic(uint64_t) *word)
{
	futex(lower_half(word), OS_FUTEX_WAKE, INT_MAX, NULL);
}

/* ---- The asymmetric fence ---- */

static int membarrier(int command)
{
	KEEP_ERRNO();
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

static void choose_fence(void)
{
	const int wanted = OS_MEMBARRIER_PRIVATE_EXPEDITED | OS_MEMBARRIER_REGISTER_PRIVATE_EXPEDITED;
	const char *forced = secure_getenv("LFPOOL_MEMBARRIER");

	if (forced && strcmp(forced, "off") == 0)
		return;

	int supported = membarrier(OS_MEMBARRIER_QUERY);

	asymmetric = supported >= 0 && (supported & wanted) == wanted &&
		     membarrier(OS_MEMBARRIER_REGISTER_PRIVATE_EXPEDITED) == 0 &&
		     membarrier(OS_MEMBARRIER_PRIVATE_EXPEDITED) == 0;
}

__attribute__((constructor)) static void choose_fence_early(void)
{
	(void)pthread_once(&asymmetric_once, choose_fence);
}

bool os_asymmetric(void)
{
	choose_fence_early();
	return asymmetric;
}

void os_heavy_fence(void)
{
	/* After registration, the kernel refuses this call only if a system-call filter was installed later.  The
	 * process then registers again.  If that fails too, the process aborts, because without the fence two threads
	 * could get the same object. */
	if (!asymmetric)
		full_fence();
	else if (membarrier(OS_MEMBARRIER_PRIVATE_EXPEDITED) != 0 &&
		 (membarrier(OS_MEMBARRIER_REGISTER_PRIVATE_EXPEDITED) != 0 ||
		  membarrier(OS_MEMBARRIER_PRIVATE_EXPEDITED) != 0))
		abort();
}

/* ---- Addresses ---- */

NOINLINE uint32_t os_backtrace(void **frames_out, uint32_t room)
{
#ifdef HAVE_BACKTRACE
	KEEP_ERRNO();
	const int found = backtrace(frames_out, (int)room);

	return found < 0 ? 0 : (uint32_t)found;
#else
	(void)frames_out;
	(void)room;
	return 0;
#endif
}

struct os_symbol os_symbol_at(const void *address)
{
	KEEP_ERRNO();
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_fname)
		return (struct os_symbol){0};
	return (struct os_symbol){info.dli_fname, info.dli_fbase, info.dli_sname, info.dli_saddr};
}
#endif
