/* SPDX-License-Identifier: MIT */
/*
 * os.h - everything that the library asks of the operating system.
 *
 * Idea         No other file calls the system, so tests can make each call fail (tests/refusals).  Sizes are in bytes.
 *              No function here retries.
 * Ports        A port consists of os_NAME.c, which is empty on all other systems, and of its types below.  No other
 *              file of the library tests which system it is compiled for (tests/docs/claims).  os.c has the functions
 *              that are the same in every port.  With LFPOOL_EMBEDDED there is no operating system, and a pool needs
 *              only a clock.
 * Invariants   OS1 no function here changes errno: a caller learns of a failure only from the result.
 * Progress     os_heavy_fence() and os_wake() enter the kernel; os_sleep_on() blocks.  Most other functions are only
 *              for create, destroy and the first call of a thread.
 */
#ifndef LFPOOL_OS_H
#define LFPOOL_OS_H

#include "base/base.h"

#include "lfpool/lfpool.h"

/* ---- Types, and functions that are one call of the C library ---- */

#if defined(LFPOOL_EMBEDDED)
#include <time.h>

typedef int os_mutex_t;

/* In this build threads have no caches, so no variable is thread-local. */
#define THREAD_LOCAL
#define os_of_thread(variable) (variable)

/* This build has no mutex mode. */
static inline void os_mutex_lock(os_mutex_t *mutex)
{
	(void)mutex;
}

static inline void os_mutex_unlock(os_mutex_t *mutex)
{
	(void)mutex;
}

/* An address on the calling thread's stack, which differs between threads.  (The value also differs between calls of
 * one thread.  Only the code for a fork needs a fixed value, and this build has no fork.) */
static inline uintptr_t os_thread_self(void)
{
	return (uintptr_t)__builtin_frame_address(0);
}

/* Used only to compute the sizes of a pool's parts. */
static inline size_t os_page_bytes(void)
{
	return 4096;
}

static inline uint64_t os_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
#elif defined(__linux__)
#include <pthread.h>

typedef pthread_mutex_t os_mutex_t;
#define OS_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER

/* The commands of futex(2) and membarrier(2), defined here because musl lacks their headers.  tests/support/own_time.h
 * compares these numbers with the headers. */
enum {
	OS_FUTEX_WAKE = 1,
	OS_FUTEX_WAIT_BITSET = 9,
	OS_FUTEX_PRIVATE_FLAG = 128,
	OS_FUTEX_BITSET_MATCH_ANY = -1,
	OS_MEMBARRIER_QUERY = 0,
	OS_MEMBARRIER_PRIVATE_EXPEDITED = 1 << 3,
	OS_MEMBARRIER_REGISTER_PRIVATE_EXPEDITED = 1 << 4,
};

/* In the model initial-exec, an access makes no call and allocates nothing.  The price is that a library that is loaded
 * by dlopen() needs space in the static TLS block. */
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
#elif defined(_WIN32)
/* The memory of an SRWLOCK, which is one pointer and is never destroyed. */
typedef struct {
	void *lock;
} os_mutex_t;
#define OS_MUTEX_INITIALIZER {0}

void os_mutex_lock(os_mutex_t *mutex);
void os_mutex_unlock(os_mutex_t *mutex);

/* mingw-w64's gcc turns _Thread_local into calls that allocate.  So thread-local variables are in the section that the
 * loader copies for each thread, and address arithmetic finds the calling thread's copy (docs/windows.md). */
#define THREAD_LOCAL __attribute__((section(".tls$")))
#define os_of_thread(variable) (*(__typeof__(variable) *)os_copy_of_thread(&(variable)))
void *os_copy_of_thread(void *variable);

uintptr_t os_thread_self(void);
#else
#error "lfpool has no port to this system: src/os/os.h says what one has to bring"
#endif

/* ---- Memory ---- */

/* Maps zeroed pages.  A page takes memory when it is first touched.  NULL when the system refuses. */
void *os_map(size_t bytes);
/* Maps pages without access.  NULL when the system refuses. */
void *os_reserve(size_t bytes);
/* Like os_map() if `open`, otherwise like os_reserve().  The page at `offset` begins at a multiple of `alignment`: a
 * power of two, or 0 if any page will do. */
void *os_map_aligned(size_t bytes, size_t offset, size_t alignment, bool open);
/* Unmaps a whole mapping that os_map(), os_reserve() or os_map_aligned() returned. */
void os_unmap(void *address, size_t bytes);
/* Removes access to these pages; false when refused. */
bool os_guard(void *address, size_t bytes);
/* Gives access to these pages; false when refused.  Pages that had no access before are zeroed. */
bool os_open(void *address, size_t bytes);
/* Undoes os_open() and os_lock(), as far as the system allows: removes access, memory and locks. */
void os_close(void *address, size_t bytes);
/* Returns the memory of these pages to the system.  They read as zero afterwards.  False when refused. */
bool os_discard(void *address, size_t bytes);
/* Backs every page with memory now; false when refused.  Keeps the contents of the pages, because other threads may
 * have objects there. */
bool os_prefault(void *address, size_t bytes);
/* Backs these pages with memory now, and locks them in memory; false when refused. */
bool os_lock(void *address, size_t bytes);
/*
 * os.c applies LFPOOL_PREFAULT and LFPOOL_LOCK to all mappings of a pool: at creation, in growth, and for new caches.
 * (LFPOOL_HUGE_PAGES affects addresses, so the arena handles it: os_wish_huge().)
 */
#define BACKING_FLAGS (LFPOOL_PREFAULT | LFPOOL_LOCK | LFPOOL_HUGE_PAGES)
/* Backs or locks pages that are mapped and accessible.  After LFPOOL_E_NO_MEMORY or LFPOOL_E_LOCK, some of the pages
 * may be backed. */
lfpool_status_t backing_give(uint32_t flags, void *address, size_t bytes);
/* Calls os_map(), then backing_give().  NULL when the system refuses either. */
void *backing_map(uint32_t flags, size_t bytes);
/* os.c: backs pages with memory by writing to each of them, for systems without a call that does so. */
void os_touch(void *address, size_t bytes);

/* Asks for huge pages, of HUGE_PAGE_BYTES each; the system may refuse. */
void os_wish_huge(void *address, size_t bytes);
#define HUGE_PAGE_BYTES ((size_t)2 << 20)
size_t os_page_bytes(void);
/* The number of processors that can run threads now, at least 1. */
unsigned os_processors(void);

/* Would a child of a fork share any of these pages, instead of getting a copy?  Also false if the system cannot
 * answer. */
bool os_is_shared(const void *address, size_t bytes);

/* The C library's heap, for small data, and for the objects of malloc mode. */
void *os_heap_resize(void *memory, size_t bytes);
void *os_heap_aligned(size_t alignment, size_t bytes);
void os_heap_free(void *memory);

/* Can the 8 bytes at this address be read?  The address may be any number.  Enters the kernel. */
bool os_can_read(const void *address);

/* ---- Threads ---- */

/* Each port has THREAD_LOCAL, for thread-local variables, and os_of_thread(variable), the calling thread's copy of a
 * variable.  An access never allocates memory. */
/*
 * Keeps this shared library loaded despite dlclose(), because exiting threads run a destructor in it.  False when the
 * loader refuses.  *keys_usable_out becomes false in a namespace of dlmopen().  In such a namespace a second glibc
 * stores the values of its thread-specific keys in the same memory of a thread as the first glibc.
 */
bool os_stay_loaded(bool *keys_usable_out);
/* Called once per process.  From then on, an exiting thread whose exit value is not NULL sets the value to NULL, and
 * calls `at_exit` with the previous value.  If `at_exit` sets a value again, the thread may call `at_exit` again.
 * False when refused. */
bool os_at_thread_exit(void (*at_exit)(void *));
/* Sets the calling thread's exit value, which is NULL in a new thread; false when refused. */
bool os_set_exit_value(void *value);
/* Initialises a mutex, which is not recursive; false when refused.  Each port also has os_mutex_lock(mutex),
 * os_mutex_unlock(mutex), and OS_MUTEX_INITIALIZER for a static mutex, which is neither opened nor closed. */
bool os_mutex_open(os_mutex_t *mutex);
void os_mutex_close(os_mutex_t *mutex);
/* From now on `before` runs before each fork; after it, `parent` runs in the parent and `child` in the child.  False
 * when refused. */
bool os_at_fork(void (*before)(void), void (*parent)(void), void (*child)(void));

void os_yield(void);

/* Each port has os_thread_self(), a uintptr_t that differs between living threads.  A fork does not change the
 * value. */
/* The calling thread's number, as ps and gdb show it. */
uint32_t os_thread_id(void);
/* Called in the child of a fork, where the thread has a new number. */
void os_forget_thread_id(void);
/* Nanoseconds since a moment in the past; never decreases. */
uint64_t os_now_ns(void);

/* The time that is `timeout_ns` nanoseconds from now, on the clock of os_now_ns(); UINT64_MAX for a negative timeout,
 * which never ends. */
static inline uint64_t os_deadline(int64_t timeout_ns)
{
	if (timeout_ns < 0)
		return UINT64_MAX;

	const uint64_t now = os_now_ns();

	return (uint64_t)timeout_ns >= UINT64_MAX - now ? UINT64_MAX : now + (uint64_t)timeout_ns;
}

/* ---- Sleep ---- */

/*
 * Sleeps until os_wake(), or until `deadline_ns` on the clock of os_now_ns() (UINT64_MAX: no deadline).  Returns at
 * once if the lower 32 bits of *word and `seen` differ.  May also return early for no reason, and orders no memory
 * accesses, so the caller must load *word again.
 */
void os_sleep_on(_Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns);
/* Wakes all threads that sleep on *word. */
void os_wake(_Atomic(uint64_t) *word);

/* ---- The asymmetric fence ---- */

/* The heavy half of the asymmetric fence (atomics.h): during this call, every other thread of the process executes a
 * full barrier.  Enters the kernel.  Without membarrier(2) this function is only a full fence of the caller. */
void os_heavy_fence(void);
/* True: the heavy fence works, and owners need only a compiler barrier.  False: owners must use full fences too.  The
 * answer never changes. */
bool os_asymmetric(void);

/* ---- The environment and reports ---- */

/* Writes text to the standard error stream, without stdio, because glibc's stdio needs 8 KiB of stack. */
void os_print(const char *text);

/* A variable of the environment; NULL if it is not set, or if the program runs with more rights than its user
 * (setuid). */
const char *os_environment(const char *name);

/* Stores the return addresses of the calling functions, the innermost first, and returns their number.  Returns 0 if
 * the system has no such service. */
uint32_t os_backtrace(void **frames_out, uint32_t room);
/* The loaded file and the function that contain an address: their names, each NULL if unknown, and their start
 * addresses. */
struct os_symbol {
	const char *file, *file_base, *name, *name_base;
};
struct os_symbol os_symbol_at(const void *address);

#endif
