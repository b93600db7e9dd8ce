/* SPDX-License-Identifier: MIT */
/*
 * buffer.h - a pool in memory that the caller gives: a static array, a part of a larger arrangement.  Included by
 * lfpool.h.
 *
 *     static _Alignas(LFPOOL_BUFFER_ALIGNMENT) unsigned char memory[LFPOOL_BUFFER_BYTES(sizeof(struct job), 0, 1000)];
 *
 *     config.object_size = sizeof(struct job);
 *     config.capacity = 1000;
 *     if (lfpool_create_in(&pool, &config, memory, sizeof(memory)) != LFPOOL_OK) ...
 *
 * All promises of lfpool.h hold, and one more: no function of such a pool makes a system call, from creation to
 * destruction; and since creation writes to all of the buffer, none meets a page that was never touched.
 * What that costs:
 *
 *   - Both sides of a theft fence, since membarrier(2) is a system call: no hit is inlined, and every call takes the
 *     general path.
 *   - Nothing is kept per thread.  Calls without an explicit cache borrow one for their length, of config.buffer_caches
 *     that there are in all; a quarter of them, rounded up, is never an explicit one (lfpool_cache_create() returns NULL
 *     instead), so that 4 of 16, or 1 of 1 to 4, are left for calls.  A call that finds all in use waits, looking again
 *     and again, until another call ends: so with more threads inside calls than caches it is not lock-free.  For speed,
 *     give each thread a cache; for space, have no more caches than that, and one.
 *   - The pool is in no list: lfpool_of() and lfpool_release_self() do not find it, and after fork the child's copy
 *     still has the calls in its queue that other threads were waiting in, and has lost each cache that another thread's call
 *     was using: without one left, calls in the child wait for ever.  (So fork while no other thread is inside a call of this
 *     pool; or while none waits, with more caches than threads.)
 *   - It has no room to grow.  Shrinking and growing back work; lfpool_trim() does nothing.
 *   - Calls that wait (lfpool/wait.h) do not sleep: they look again and again.  With a timeout they read
 *     CLOCK_MONOTONIC, for which Linux makes no system call where it has a clock in user space (vDSO).  At most 16
 *     calls and continuations stand in the queue: one more call that waits is served out of turn, and one more
 *     lfpool_acquire_async() returns LFPOOL_E_NO_MEMORY.
 *   - A misuse is told to the hook, and counted; nothing is written to stderr.
 *
 * Processes  If the buffer lies in memory that a process shares with its children (mmap with MAP_SHARED, then fork), so does the
 * pool: calls of all of them are as calls of threads.  It lies at the same address in each, and so do the library and the hooks,
 * which run in the process whose call runs them: so no exec, and no process that maps it elsewhere.  A process that ends inside
 * a call keeps what that call had, and one of the caches; what it held is never released by itself.  Any other pool belongs to
 * the process that made it: its child has a copy.
 */
#ifndef LFPOOL_BUFFER_H
#define LFPOOL_BUFFER_H

#include "lfpool/lfpool.h"

LFPOOL_C_BEGIN_

/* Where a buffer begins: at a multiple of so many bytes.  (LFPOOL_EMBEDDED: docs/embedded.md.) */
#ifdef LFPOOL_EMBEDDED
#define LFPOOL_BUFFER_ALIGNMENT 64
#else
#define LFPOOL_BUFFER_ALIGNMENT 128
#endif
/* Caches of such a pool, for calls and explicit: as many as there can be, and the default of config.buffer_caches. */
#define LFPOOL_BUFFER_CACHES 16

/*
 * LFPOOL_BUFFER_BYTES, LFPOOL_BUFFER_BYTES_WITH - bytes that are enough for a pool of so many objects, with the defaults for
 * everything else: an integer constant expression, if its arguments are.
 *
 * object_size       As config.object_size.
 * object_alignment  As config.object_alignment: 0 is the default.
 * capacity          As config.capacity.
 * caches            As config.buffer_caches, and not 0.
 *
 * The macro asks for 19 KiB more than one object, 56 KiB more than 1000, and 18 bytes for each of a million; with one cache 6 KiB for
 * one (docs/memory.md has a table).  With the hooks create, activate, deactivate or destroy it takes one byte more for
 * each object, and at most 256 more; with an explicit cache_capacity lfpool_buffer_bytes() knows.
 */
#define LFPOOL_BUFFER_BYTES(object_size, object_alignment, capacity) \
	LFPOOL_BUFFER_BYTES_WITH(object_size, object_alignment, capacity, LFPOOL_BUFFER_CACHES)
#define LFPOOL_BUFFER_BYTES_WITH(object_size, object_alignment, capacity, caches)                                \
	(LFPOOL_BUFFER_POOL_ + LFPOOL_BUFFER_CACHE_ * (caches) +                                                 \
	 LFPOOL_BUFFER_MAGAZINE_(LFPOOL_BUFFER_SLOTS_(capacity, LFPOOL_BUFFER_FEW_(caches))) *                   \
		 (LFPOOL_BUFFER_EXTRA_ * (caches) +                                                              \
		  LFPOOL_BUFFER_CHUNKS_(capacity, LFPOOL_BUFFER_SLOTS_(capacity, LFPOOL_BUFFER_FEW_(caches)))) + \
	 sizeof(char) * (capacity) / 8 + (1 + 8) * (sizeof(char) * (capacity) + 1) +                             \
	 LFPOOL_BUFFER_CHECK_ *                                                                                  \
		 (sizeof(char) * (capacity) +                                                                    \
		  LFPOOL_BUFFER_CHUNKS_(capacity, LFPOOL_BUFFER_SLOTS_(capacity, LFPOOL_BUFFER_FEW_(caches)))) / \
		 8 +                                                                                             \
	 LFPOOL_BUFFER_ALIGN_(object_alignment) +                                                                \
	 LFPOOL_STRIDE_(object_size, LFPOOL_BUFFER_ALIGN_(object_alignment)) * (capacity))

/* Parts of the above, and no interface. */
#define LFPOOL_BUFFER_POOL_ sizeof(char[LFPOOL_BUFFER_ALIGNMENT == 64 ? 3264 : 4736])
#define LFPOOL_BUFFER_CACHE_ (LFPOOL_BUFFER_ALIGNMENT == 64 ? 256 : 384)
#define LFPOOL_BUFFER_EXTRA_ 4
#define LFPOOL_BUFFER_CHECK_ (LFPOOL_BUFFER_ALIGNMENT == 64 ? 0 : 1)
#define LFPOOL_BUFFER_MAGAZINE_HEAD_ 32
#define LFPOOL_BUFFER_ALIGN_(alignment) ((alignment) ? (alignment) : sizeof(char[16]))
#define LFPOOL_BUFFER_MAGAZINE_(slots) \
	LFPOOL_ROUND_UP_(LFPOOL_BUFFER_MAGAZINE_HEAD_ + sizeof(void *) * (slots), LFPOOL_BUFFER_ALIGNMENT)
#define LFPOOL_BUFFER_CHUNKS_(capacity, slots) ((sizeof(char) * (capacity) - 1) / (slots) + 1)
#define LFPOOL_BUFFER_FEW_(caches) ((caches) < 4 ? sizeof(char) * (caches) : sizeof(char[4]))
/* A power of two; with four caches or more a sixteenth of the capacity at most. */
#define LFPOOL_BUFFER_SLOTS_(capacity, few)              \
	((capacity) < 8 * (few)      ? sizeof(char)      \
	 : (capacity) < 16 * (few)   ? sizeof(char[2])   \
	 : (capacity) < 32 * (few)   ? sizeof(char[4])   \
	 : (capacity) < 64 * (few)   ? sizeof(char[8])   \
	 : (capacity) < 128 * (few)  ? sizeof(char[16])  \
	 : (capacity) < 256 * (few)  ? sizeof(char[32])  \
	 : (capacity) < 512 * (few)  ? sizeof(char[64])  \
	 : (capacity) < 1024 * (few) ? sizeof(char[128]) \
				     : sizeof(char[256]))

/*
 * lfpool_buffer_bytes - bytes that lfpool_create_in() needs for this config: exact, wherever the buffer lies.
 *
 * Returns   0 if the config is one that lfpool_create_in() refuses, or NULL, or no address space would hold it.
 * Threads   Any.  Wait-free, O(1), no system call.
 */
LFPOOL_API size_t lfpool_buffer_bytes(const lfpool_config_t *config);

/*
 * lfpool_create_in - make a pool in a buffer.
 *
 * pool_out  Receives the pool; set to NULL on failure.
 * config    As for lfpool_create(), but:
 *               max_capacity   0 or equal to capacity, else LFPOOL_E_CONFIG_MAX_CAPACITY;
 *               backend        LFPOOL_BACKEND_LOCKFREE, else LFPOOL_E_CONFIG_BACKEND;
 *               buffer_caches  0 .. LFPOOL_BUFFER_CACHES, else LFPOOL_E_CONFIG_BUFFER_CACHES;
 *               depot_shards   0 or 1, else LFPOOL_E_CONFIG_DEPOT_SHARDS;
 *               flags          neither LFPOOL_LOCK nor LFPOOL_HUGE_PAGES, else LFPOOL_E_CONFIG_FLAGS: the owner of the
 *                              memory can ask the system for both;
 *               debug          of the modes only check, zero and no-tools, else LFPOOL_E_CONFIG_DEBUG.
 *           The default of cache_capacity is that of 4 processors, or of buffer_caches if that is less.  The environment variables
 *           LFPOOL_BACKEND and LFPOOL_DEBUG are ignored (a line on stderr says so, once in a process), and Valgrind and
 *           AddressSanitizer are not told which objects are free.
 * buffer    Aligned to LFPOOL_BUFFER_ALIGNMENT; what is in it does not matter.  The pool's until lfpool_destroy(),
 *           which leaves it to the caller, to be used again for whatever it may be.
 * size      At least lfpool_buffer_bytes(config).
 * Returns   As lfpool_create(), but never LFPOOL_E_NO_MEMORY or LFPOOL_E_LOCK; LFPOOL_E_BUFFER: the buffer is too
 *           small, or not aligned (and was not touched).
 * Threads   Any.  Wait-free, except hooks; no system call, except for that line.
 * Cost      O(size needed): all of it is written.
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_create_in(lfpool_t **pool_out, const lfpool_config_t *config, void *buffer,
							    size_t size);

/*
 * lfpool_object_bytes - bytes of memory that the objects of such a pool take: for lfpool_create_on().
 *
 * config    As for lfpool_create(); the environment variable LFPOOL_DEBUG counts as it does there.
 * Returns   Whole pages for max_capacity objects; 0 if lfpool_create() refuses the config, or it is NULL, or the system
 *           refuses memory.
 * Threads   Any.  Lock-free; may enter the kernel.
 */
LFPOOL_API size_t lfpool_object_bytes(const lfpool_config_t *config);

/*
 * lfpool_create_on - make a pool whose objects lie in memory of the caller's, and everything else in the library's.
 *
 * For memory that is pinned, bound to a NUMA node, mapped from hugetlbfs, registered with a device or the kernel.  The pool is like
 * any other: hits are inlined, there are as many caches as threads, and it grows within the memory that was given.  The library
 * neither maps, protects, locks, wishes for huge pages, nor gives back any of it: lfpool_trim() does nothing, and LFPOOL_LOCK and
 * LFPOOL_PREFAULT speak of the rest.  Memory is touched as objects are used.
 *
 * pool_out  Receives the pool; set to NULL on failure.
 * config    As for lfpool_create().  (With LFPOOL_BACKEND_MALLOC the memory is not used.)
 * memory    Readable and writable, aligned to pages, and to config.object_alignment if that is more.  Objects that were never
 *           used hold what was in it; hooks.create finds that.  The caller's again after lfpool_destroy().
 * size      At least lfpool_object_bytes(config).
 * Returns   As lfpool_create(); LFPOOL_E_BUFFER: too small, or not aligned; LFPOOL_E_ARGUMENT: a pointer is NULL.
 * Threads, cost   As lfpool_create().
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_create_on(lfpool_t **pool_out, const lfpool_config_t *config, void *memory,
							    size_t size);

LFPOOL_C_END_

#endif
