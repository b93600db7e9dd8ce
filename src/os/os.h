/* SPDX-License-Identifier: MIT */
/*
 * os.h - everything the library asks of the operating system.
 *
 * Idea         No other file calls the system, so tests can make each call fail (tests/refusals).  Sizes are in bytes.
 *              No function here retries.
 * Ports        A port is os_NAME.c, which is empty on any other system, and its types below.  No other file of the
 *              library tests for the system (tests/docs/claims).  What is the same in every port is in os.c.
 *              With LFPOOL_EMBEDDED there is no system, and a pool needs only the time.
 * Invariants   OS1 no function here changes errno: callers get results only.
 * Progress     os_heavy_fence() and os_wake() enter the kernel; os_sleep_on() blocks.  The others are for create,
 *              destroy and the first call of a thread.
 */
#ifndef LFPOOL_OS_H
#define LFPOOL_OS_H

#include "base/base.h"

#include "lfpool/lfpool.h"

/* ---- Types, and functions that are one call of the C library ---- */

#if defined(LFPOOL_EMBEDDED)
#include <time.h>

typedef int os_mutex_t;

/* Threads have no caches in this build: nothing is thread-local. */
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

/* An address on the stack: differs between threads.  (There is no fork, which would need more.) */
static inline uintptr_t os_thread_self(void)
{
	return (uintptr_t)__builtin_frame_address(0);
}

/* Used only to compute sizes of parts. */
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

/* The commands of futex(2) and membarrier(2); musl lacks their headers.  tests/support/own_time.h compares them. */
enum {
	OS_FUTEX_WAKE = 1,
	OS_FUTEX_WAIT_BITSET = 9,
	OS_FUTEX_PRIVATE_FLAG = 128,
	OS_FUTEX_BITSET_MATCH_ANY = -1,
	OS_MEMBARRIER_QUERY = 0,
	OS_MEMBARRIER_PRIVATE_EXPEDITED = 1 << 3,
	OS_MEMBARRIER_REGISTER_PRIVATE_EXPEDITED = 1 << 4,
};

/* initial-exec: an access makes no call and allocates nothing.  So a library that is loaded by dlopen() needs room in
 * the static TLS block. */
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
/* An SRWLOCK: one pointer, which needs no close. */
typedef struct {
	void *lock;
} os_mutex_t;
#define OS_MUTEX_INITIALIZER {0}

void os_mutex_lock(os_mutex_t *mutex);
void os_mutex_unlock(os_mutex_t *mutex);

/* mingw-w64's gcc turns _Thread_local into calls that allocate.  So these variables are in the section that the loader
 * copies for each thread, and address arithmetic finds the copy (docs/windows.md). */
#define THREAD_LOCAL __attribute__((section(".tls$")))
#define os_of_thread(variable) (*(__typeof__(variable) *)os_copy_of_thread(&(variable)))
void *os_copy_of_thread(void *variable);

uintptr_t os_thread_self(void);
#else
#error "lfpool has no port to this system: src/os/os.h says what one has to bring"
#endif

/* ---- Memory ---- */

/* Zeroed pages; each takes memory when it is first touched.  NULL when refused. */
void *os_map(size_t bytes);
/* Pages without access.  NULL when refused. */
void *os_reserve(size_t bytes);
/* As os_map() if `open`, otherwise as os_reserve().  The page at `offset` begins at a multiple of `alignment`: a power
 * of two, or 0 if any page will do. */
void *os_map_aligned(size_t bytes, size_t offset, size_t alignment, bool open);
/* Unmaps a whole mapping that one of these three returned. */
void os_unmap(void *address, size_t bytes);
/* Removes access to these pages; false when refused. */
bool os_guard(void *address, size_t bytes);
/* Gives access to these pages, which are zeroed if they had none before; false when refused. */
bool os_open(void *address, size_t bytes);
/* Undoes os_open() and os_lock(), as far as the system allows: no access, no memory, no lock. */
void os_close(void *address, size_t bytes);
/* Returns the memory of these pages to the system: they read as zero again.  False when refused. */
bool os_discard(void *address, size_t bytes);
/* Backs every page with memory now; false when refused.  Keeps their contents: other threads may have objects there. */
bool os_prefault(void *address, size_t bytes);
/* Backs these pages with memory now, and locks them there; false when refused. */
bool os_lock(void *address, size_t bytes);
/*
 * os.c: LFPOOL_PREFAULT and LFPOOL_LOCK, for all mappings of a pool: at creation, in growth, and for new caches.
 * (LFPOOL_HUGE_PAGES affects addresses, so the arena handles it: os_wish_huge().)
 */
#define BACKING_FLAGS (LFPOOL_PREFAULT | LFPOOL_LOCK | LFPOOL_HUGE_PAGES)
/* The pages are mapped and accessible.  LFPOOL_E_NO_MEMORY, LFPOOL_E_LOCK: refused; some pages may be backed. */
lfpool_status_t backing_give(uint32_t flags, void *address, size_t bytes);
/* os_map() and backing_give(); NULL when either is refused. */
void *backing_map(uint32_t flags, size_t bytes);
/* os.c: backs pages with memory by a write to each, where the system has no call for that. */
void os_touch(void *address, size_t bytes);

/* Asks for huge pages, of HUGE_PAGE_BYTES each; the system may refuse. */
void os_wish_huge(void *address, size_t bytes);
#define HUGE_PAGE_BYTES ((size_t)2 << 20)
size_t os_page_bytes(void);
/* Processors that can run threads now, at least 1. */
unsigned os_processors(void);

/* Would a child of a fork share any of these pages, instead of a copy?  False also where this is unknown. */
bool os_is_shared(const void *address, size_t bytes);

/* The C library's heap, for small data of a thread or the process. */
void *os_heap_resize(void *memory, size_t bytes);
void *os_heap_aligned(size_t alignment, size_t bytes);
void os_heap_free(void *memory);

/* Can the 8 bytes at this address be read?  The address may be any number.  Enters the kernel. */
bool os_can_read(const void *address);

/* ---- Threads ---- */

/* Each port has THREAD_LOCAL, for thread-local variables, and os_of_thread(variable), the calling thread's copy.  No
 * access allocates memory. */
/*
 * Keeps this shared library loaded despite dlclose(), because exiting threads run a destructor in it.  False when the
 * loader refuses.  *keys_usable_out: false in a namespace of dlmopen(), because the thread-specific keys of glibc in
 * different namespaces use the same places in a thread.
 */
bool os_stay_loaded(bool *keys_usable_out);
/* Once per process.  From now on each exiting thread whose exit value is not NULL calls `at_exit` with it, and sets it
 * to NULL before.  If `at_exit` sets it again, it may be called again.  False when refused. */
bool os_at_thread_exit(void (*at_exit)(void *));
/* Sets the calling thread's exit value, which is NULL in a new thread; false when refused. */
bool os_set_exit_value(void *value);
/* A mutex that is not recursive; false when refused.  Each port also has os_mutex_lock(mutex), os_mutex_unlock(mutex),
 * and OS_MUTEX_INITIALIZER for a mutex that is neither opened nor closed. */
bool os_mutex_open(os_mutex_t *mutex);
void os_mutex_close(os_mutex_t *mutex);
/* From now on `before` runs before each fork, `parent` and `child` after it; false when refused. */
bool os_at_fork(void (*before)(void), void (*parent)(void), void (*child)(void));

void os_yield(void);

/* Each port has os_thread_self(): a uintptr_t that differs from every other living thread's.  A fork keeps it. */
/* The calling thread's number, as ps and gdb show it. */
uint32_t os_thread_id(void);
/* In the child of a fork, where the thread's number differs. */
void os_forget_thread_id(void);
/* Nanoseconds since a moment in the past; never decreases. */
uint64_t os_now_ns(void);

/* The moment `timeout_ns` from now; negative: never. */
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
 * once if the lower 32 bits of *word differ from `seen`; may return early for no reason.  Gives no memory order: the
 * caller loads *word again.
 */
void os_sleep_on(_Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns);
/* Wakes all threads that sleep on *word. */
void os_wake(_Atomic(uint64_t) *word);

/* ---- The asymmetric fence ---- */

/* The heavy half of the asymmetric fence (atomics.h): during this call, every other thread of the process executes a
 * full barrier.  Enters the kernel.  Without membarrier(2) it is a full fence of the caller only. */
void os_heavy_fence(void);
/* True: the heavy fence works, and owners need only a compiler barrier.  False: owners fence too.  The answer never
 * changes. */
bool os_asymmetric(void);

/* ---- The environment and reports ---- */

/* Writes text to the standard error stream, without stdio, because glibc's needs 8 KiB of stack. */
void os_print(const char *text);

/* A variable of the environment; NULL if it is not set, or if the program has more rights than its user. */
const char *os_environment(const char *name);

/* The return addresses of the calls that lead here, the innermost first.  Returns their number; 0 where the system has
 * no such function. */
uint32_t os_backtrace(void **frames_out, uint32_t room);
/* The file loaded at an address, and the function there: their names, each NULL if unknown, and where they begin. */
struct os_symbol {
	const char *file, *file_base, *name, *name_base;
};
struct os_symbol os_symbol_at(const void *address);

#endif
