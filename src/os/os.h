/* SPDX-License-Identifier: MIT */
/*
 * os.h - everything the library asks of the operating system.
 *
 * Idea         One door: no other file calls the system, so tests can refuse each call from outside (tests/refusals).
 *              Sizes are in bytes.  No function here retries.
 * Ports        A port is os_NAME.c, which is empty on any other system, and its types below.  It implements all
 *              functions declared here.  No other file of the library asks which system this is (tests/docs/claims).
 *              With LFPOOL_EMBEDDED there is no system (os_none.c): a pool in a buffer asks for little.
 * Invariants   OS1 no function here changes errno, whatever the system says: a result is all that a caller gets.
 * Progress     os_heavy_fence() and os_wake() enter the kernel; os_sleep_on() blocks.  The others are for create,
 *              destroy and the first call of a thread.
 */
#ifndef LFPOOL_OS_H
#define LFPOOL_OS_H

#include "base/base.h"

/* ---- Types, and functions that are one call of the C library ---- */

#if defined(LFPOOL_EMBEDDED)
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

/* Threads have different stacks.  (Only a fork needs more than that.) */
static inline uintptr_t os_thread_self(void)
{
	return (uintptr_t)__builtin_frame_address(0);
}
#elif defined(__linux__)
#include <pthread.h>

typedef pthread_mutex_t os_mutex_t;
#define OS_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER

/* Read without a call, and not allocated at the first access.  A library that is loaded by dlopen() needs room for it
 * in the static TLS block. */
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
/* An SRWLOCK: one pointer, and nothing to close. */
typedef struct {
	void *lock;
} os_mutex_t;
#define OS_MUTEX_INITIALIZER {0}

void os_mutex_lock(os_mutex_t *mutex);
void os_mutex_unlock(os_mutex_t *mutex);

/* mingw-w64's gcc turns _Thread_local into calls that allocate.  So a thread-local variable is placed in the section
 * that the loader copies for each thread, and its copy is found by address arithmetic (docs/windows.md). */
#define THREAD_LOCAL __attribute__((section(".tls$")))
#define os_of_thread(variable) (*(__typeof__(variable) *)os_copy_of_thread(&(variable)))
void *os_copy_of_thread(void *variable);

uintptr_t os_thread_self(void);
#else
#error "lfpool has no port to this system: src/os/os.h says what one has to bring"
#endif

/* ---- Memory ---- */

/* Zeroed memory that is reserved, not used, until touched; page-aligned.  NULL when refused. */
void *os_map(size_t bytes);
/* Addresses without access; page-aligned.  NULL when refused. */
void *os_reserve(size_t bytes);
/* As os_map() if `open`, else as os_reserve(): whole pages, of which the one at `offset` begins at a multiple of the
 * alignment, a power of two, or 0, if any page will do. */
void *os_map_aligned(size_t bytes, size_t offset, size_t alignment, bool open);
/* All of what one of these three has returned. */
void os_unmap(void *address, size_t bytes);
/* No access to these pages any more; false when refused. */
bool os_guard(void *address, size_t bytes);
/* Access to these pages, which are zeroed if they had none yet; false when refused. */
bool os_open(void *address, size_t bytes);
/* Undoes os_open() and what was done to these pages since, as far as the system lets: no access, no memory, no lock. */
void os_close(void *address, size_t bytes);
/* Gives the memory of these pages back: they read as zero again.  False when refused. */
bool os_discard(void *address, size_t bytes);
/* Back every page with memory now; false when refused.  Changes nothing on them: other threads may have objects there.
 * */
bool os_prefault(void *address, size_t bytes);
/* Keeps these pages in memory, and brings them there now; false when refused. */
bool os_lock(void *address, size_t bytes);
/* These pages may be huge ones, each of HUGE_PAGE_BYTES: a wish, which the system may refuse. */
void os_wish_huge(void *address, size_t bytes);
#define HUGE_PAGE_BYTES ((size_t)2 << 20)
size_t os_page_bytes(void);
/* Processors that can run threads now, at least 1. */
unsigned os_processors(void);

/* Would a child of a fork share any of these pages, instead of a copy?  False also where this is unknown. */
bool os_is_shared(const void *address, size_t bytes);

/* The C library's heap, for the few small things that live per thread or per process. */
void *os_heap_resize(void *memory, size_t bytes);
void *os_heap_aligned(size_t alignment, size_t bytes);
void os_heap_free(void *memory);

/* Can the 8 bytes at an address be read?  Any address.  Enters the kernel. */
bool os_can_read(const void *address);

/* ---- Threads ---- */

/* Each port has THREAD_LOCAL, for variables of which each thread has a copy, and os_of_thread(variable), the calling
 * thread's copy.  No access allocates memory. */
/*
 * If this code lies in a shared library, that stays loaded from now on, whatever calls dlclose(): threads will run a
 * destructor of ours when they exit.  False when the loader refuses.  *keys_usable_out: not in a namespace of
 * dlmopen(), where glibc's keys have the same places in a thread as those of every other.
 */
bool os_stay_loaded(bool *keys_usable_out);
/* Once per process: from now on `at_exit` is called in each exiting thread, with the thread's exit value, unless that
 * is NULL.  The value is NULL during the call.  If the call sets it again, `at_exit` may be called again.  False when
 * refused. */
bool os_at_thread_exit(void (*at_exit)(void *));
/* Sets the calling thread's exit value, which is NULL in a new thread; false when refused. */
bool os_set_exit_value(void *value);
/* A mutex that is not recursive; false when refused.  Each port has os_mutex_t, OS_MUTEX_INITIALIZER for one without
 * these two, os_mutex_lock(mutex) and os_mutex_unlock(mutex). */
bool os_mutex_open(os_mutex_t *mutex);
void os_mutex_close(os_mutex_t *mutex);
/* From now on `before` runs before each fork, `parent` and `child` after it; false when refused. */
bool os_at_fork(void (*before)(void), void (*parent)(void), void (*child)(void));

/* Lets another thread run. */
void os_yield(void);

/* Each port has os_thread_self(): a uintptr_t that no other thread has which lives now; the same in the child of a
 * fork. */
/* The calling thread's number, as ps and gdb show it. */
uint32_t os_thread_id(void);
/* In the child of a fork, where the thread is another one. */
void os_forget_thread_id(void);
/* Nanoseconds since some moment in the past; never goes back. */
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
 * Sleeps while the lower 32 bits of *word are those of `seen`, at most until `deadline_ns` on the clock of os_now_ns()
 * (UINT64_MAX: for ever).  Returns at once if they are not; may return early for no reason.  No order: the caller loads
 * *word again.
 */
void os_sleep_on(_Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns);
/* Wakes who sleeps on *word. */
void os_wake(_Atomic(uint64_t) *word);

/* ---- The asymmetric fence ---- */

/*
 * The heavy half of the asymmetric fence: when it returns, every other thread of the process has executed a full
 * barrier between its accesses before and after some point of its program.  Enters the kernel.  In the fallback, a
 * plain full fence of the caller.
 */
void os_heavy_fence(void);
/* Is membarrier(2) in use (owners need only a compiler barrier), or must owners fence too?  Fixed from the first call
 * on. */
bool os_asymmetric(void);

/* ---- What is read and told ---- */

/* Writes text to the standard error stream, unbuffered.  stdio would need more stack than a small thread has (8 KiB in
 * glibc). */
void os_print(const char *text);

/* A variable of the environment, or NULL: there is none, or it is not to be trusted, since the program has rights that
 * its user has not. */
const char *os_environment(const char *name);

/* The return addresses of the calls that lead here, the innermost first, this one's too; how many.  0 where the system
 * cannot tell. */
uint32_t os_backtrace(void **frames_out, uint32_t room);
/* What there is at an address: of the file that was loaded there, NULL if there is none, the path and where it begins;
 * and the function's name, or NULL, and where that begins. */
struct os_symbol {
	const char *file, *file_base, *name, *name_base;
};
struct os_symbol os_symbol_at(const void *address);

#endif
