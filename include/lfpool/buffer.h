/* SPDX-License-Identifier: MIT */
/*
 * buffer.h - pools in caller-provided memory: the whole pool in a buffer, or only the objects.
 *
 *     static _Alignas(LFPOOL_BUFFER_ALIGNMENT) unsigned char memory[LFPOOL_BUFFER_BYTES(sizeof(struct job), 0, 1000)];
 *
 *     config.object_size = sizeof(struct job);
 *     config.capacity = 1000;
 *     if (lfpool_create_in(&pool, &config, memory, sizeof(memory)) != LFPOOL_OK) ...
 *
 * With config.memory_use = LFPOOL_MEMORY_OBJECTS only the objects are in caller-provided memory.  Use this for memory
 * that is pinned, bound to a NUMA node, mapped from hugetlbfs, or registered with a device or the kernel.
 *
 *     config.memory_bytes = lfpool_memory_bytes(&config);
 *     config.memory = my_pinned_pages(config.memory_bytes);
 *     if (lfpool_create(&pool, &config) != LFPOOL_OK) ...
 *
 * Such a pool grows within that memory.  The memory must be readable and writable, and aligned to pages and to
 * config.object_alignment.  The library does not map, protect, lock or decommit it: lfpool_trim() does nothing, and
 * LFPOOL_LOCK, LFPOOL_PREFAULT and LFPOOL_HUGE_PAGES concern only the rest of the pool.  Unused objects have the
 * memory's former contents.  After lfpool_destroy() the memory belongs to the caller again.  Malloc mode does not use
 * config.memory.
 *
 * A pool in a buffer (LFPOOL_MEMORY_POOL) keeps all promises of lfpool.h and one more: from creation to destruction no
 * call on it makes a system call.  Creation writes to the whole buffer, so no later call is the first to touch a page.
 * The costs:
 *
 *   - No fast path is inlined.  The pool cannot use membarrier(2), a system call, so every acquire and every steal
 *     execute a full fence instead.
 *   - Threads have no caches.  A call without an explicit cache borrows one of the config.buffer_caches caches until it
 *     returns.  A quarter of these caches, rounded up, is reserved for such calls; lfpool_cache_create() returns NULL
 *     when only the reserved caches are left.  A call that finds all caches in use spins until another call ends, so
 *     the pool is not lock-free while it has fewer caches than calls in progress.  An explicit cache for each thread is
 *     faster; few caches need less space.
 *   - lfpool_of() and lfpool_release_self() do not find the pool.
 *   - After fork the child's copy of the pool still has the parent's waiting calls in its queue, and has lost the
 *     caches that calls of other threads were using.  If no cache is left, calls on the copy spin for ever.  So fork
 *     only while no other thread is inside a call of this pool; or, if there are more caches than threads, while no
 *     call waits.
 *   - The pool cannot grow beyond its first capacity.  Shrinking and growing back work; lfpool_trim() does nothing.
 *   - Waiting calls (lfpool/wait.h) spin.  With a timeout they read CLOCK_MONOTONIC, which needs no system call where
 *     Linux has a clock in user space (vDSO).  The queue has room for 16 calls and continuations: a further waiting
 *     call is served out of turn, and a further lfpool_acquire_async() returns LFPOOL_E_NO_MEMORY.
 *   - A misuse is counted and reported to the hook; nothing is written to stderr.
 *   - Some fields of the config are restricted as follows; for other values lfpool_create() returns the status that
 *     names the field.  max_capacity must be 0 or capacity; backend LFPOOL_BACKEND_LOCKFREE; buffer_caches at most
 *     LFPOOL_BUFFER_CACHES; depot_shards 0 or 1; flags without LFPOOL_LOCK and LFPOOL_HUGE_PAGES; debug modes only
 *     check, zero and no-tools; scheme all NULL.  The default of cache_capacity is the one on a machine with 4
 *     processors, or with buffer_caches processors if that is less.
 *   - The environment variables LFPOOL_BACKEND and LFPOOL_DEBUG are ignored (one line on stderr per process reports
 *     this), and Valgrind and AddressSanitizer do not know which objects are free.
 *
 * Processes.  A pool in a buffer that a process shares with its children (mmap with MAP_SHARED, then fork) is one pool
 * for all of them: a call of another process is like a call of another thread.  The buffer, the library and the hooks
 * must have the same address in each process, so a process must not call exec, or map the buffer a second time.  Hooks
 * run in the process of the call.  A continuation runs in the process whose call serves it: its function and context
 * must be valid there.  If a process ends inside a call, the pool loses the objects and the cache of that call.
 * Objects that the process held are never released automatically.
 *
 * Any other pool belongs to the process that created it, and a child has a copy of it.  If the pool's objects are in
 * caller-provided memory that the child shares, they remain the parent's, and the child's copy of the pool is closed
 * (lfpool_close()): a child's release removes the object from the copy and runs no hook.  (The child finds in
 * /proc/self/maps that the memory is shared.  Where /proc is not mounted, the child must not use the pool.)
 */
#ifndef LFPOOL_BUFFER_H
#define LFPOOL_BUFFER_H

#include "lfpool/lfpool.h"

LFPOOL_C_BEGIN_

/* The alignment of a buffer, in bytes.  (LFPOOL_EMBEDDED: docs/embedded.md.) */
#ifdef LFPOOL_EMBEDDED
#define LFPOOL_BUFFER_ALIGNMENT 64
#else
#define LFPOOL_BUFFER_ALIGNMENT 128
#endif
/* The maximum and the default of config.buffer_caches. */
#define LFPOOL_BUFFER_CACHES 16

/*
 * LFPOOL_BUFFER_BYTES, LFPOOL_BUFFER_BYTES_WITH - bytes that are enough for a pool of `capacity` objects, with the
 * defaults for everything else.  Both are integer constant expressions if their arguments are.
 *
 * object_size       As config.object_size.
 * object_alignment  As config.object_alignment: 0 is the default.
 * capacity          As config.capacity.
 * caches            As config.buffer_caches, but not 0.
 *
 * The overhead is 17 KiB for one object (6 KiB with one cache), 57 KiB for 1000, and 25 to 33 bytes per object for a
 * million (docs/memory.md has a table).  If hooks.create, activate, deactivate or destroy is set, add 256 bytes, and
 * one byte for each object.  If cache_capacity is set, use lfpool_buffer_bytes().
 */
#define LFPOOL_BUFFER_BYTES(object_size, object_alignment, capacity) \
	LFPOOL_BUFFER_BYTES_WITH(object_size, object_alignment, capacity, LFPOOL_BUFFER_CACHES)
#define LFPOOL_BUFFER_BYTES_WITH(object_size, object_alignment, capacity, caches)                                \
	(LFPOOL_BUFFER_POOL_ + LFPOOL_BUFFER_CACHE_ * (caches) +                                                 \
	 LFPOOL_BUFFER_MAGAZINE_(LFPOOL_BUFFER_SLOTS_(capacity, LFPOOL_BUFFER_FEW_(caches))) *                   \
		 (LFPOOL_BUFFER_EXTRA_ * (caches) +                                                              \
		  LFPOOL_BUFFER_CHUNKS_(capacity, LFPOOL_BUFFER_SLOTS_(capacity, LFPOOL_BUFFER_FEW_(caches)))) + \
	 sizeof(char) * (capacity) / 8 + 8 * (sizeof(char) * (capacity) + 1) +                                   \
	 LFPOOL_BUFFER_STATES_(LFPOOL_STRIDE_(object_size, LFPOOL_BUFFER_ALIGN_(object_alignment)), capacity) +  \
	 LFPOOL_BUFFER_CHECK_ *                                                                                  \
		 (sizeof(char) * (capacity) +                                                                    \
		  LFPOOL_BUFFER_CHUNKS_(capacity, LFPOOL_BUFFER_SLOTS_(capacity, LFPOOL_BUFFER_FEW_(caches)))) / \
		 8 +                                                                                             \
	 LFPOOL_BUFFER_ALIGN_(object_alignment) +                                                                \
	 LFPOOL_STRIDE_(object_size, LFPOOL_BUFFER_ALIGN_(object_alignment)) * (capacity))

/* Parts of LFPOOL_BUFFER_BYTES_WITH; internal. */
#define LFPOOL_BUFFER_POOL_ sizeof(char[LFPOOL_BUFFER_ALIGNMENT == 64 ? 3328 : 4736])
#define LFPOOL_BUFFER_CACHE_ (LFPOOL_BUFFER_ALIGNMENT == 64 ? 320 : 384)
#define LFPOOL_BUFFER_EXTRA_ 3
#define LFPOOL_BUFFER_CHECK_ (LFPOOL_BUFFER_ALIGNMENT == 64 ? 0 : 1)
#define LFPOOL_BUFFER_MAGAZINE_HEAD_ 32
#define LFPOOL_BUFFER_ALIGN_(alignment) ((alignment) ? (alignment) : sizeof(char[16]))
#define LFPOOL_BUFFER_MAGAZINE_(slots) \
	LFPOOL_ROUND_UP_(LFPOOL_BUFFER_MAGAZINE_HEAD_ + sizeof(void *) * (slots), LFPOOL_BUFFER_ALIGNMENT)
/* A word for each granule.  The size of a granule is the largest power of two not above the stride. */
#define LFPOOL_BUFFER_STATES_(stride, capacity) \
	(sizeof(void *) * ((((stride) * (capacity)) >> (63 - __builtin_clzll(stride))) + 2))
#define LFPOOL_BUFFER_CHUNKS_(capacity, slots) ((sizeof(char) * (capacity) - 1) / (slots) + 1)
#define LFPOOL_BUFFER_FEW_(caches) ((caches) < 4 ? sizeof(char) * (caches) : sizeof(char[4]))
/* The slots of a magazine: a power of two, and with four caches or more at most a sixteenth of the capacity. */
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
 * lfpool_memory_bytes - the bytes that config.memory needs.
 *
 * config    As for lfpool_create(); `memory` and `memory_bytes` are ignored, `memory_use` is not.  For
 *           LFPOOL_MEMORY_OBJECTS the environment variable LFPOOL_DEBUG applies.
 * Returns   For LFPOOL_MEMORY_OBJECTS the bytes of whole pages for max_capacity objects; for LFPOOL_MEMORY_POOL the
 *           bytes of the whole pool, enough for any address of the buffer; 0 if `config` is NULL, lfpool_create() would
 *           refuse it, or the system refuses memory.
 * Threads   Any.
 * Progress  For LFPOOL_MEMORY_POOL wait-free.  For LFPOOL_MEMORY_OBJECTS lock-free; may enter the kernel.
 */
LFPOOL_API size_t lfpool_memory_bytes(const lfpool_config_t *config);

/*
 * lfpool_buffer_bytes - the bytes that a whole pool in a buffer needs.
 *
 * config    As for lfpool_memory_bytes(), with any `memory_use`.
 * Returns   As lfpool_memory_bytes() with LFPOOL_MEMORY_POOL.
 * Threads   Any.  Wait-free, O(1), no system call.
 */
LFPOOL_INLINE_ size_t lfpool_buffer_bytes(const lfpool_config_t *config)
{
	lfpool_config_t whole;

	if (!config || config->struct_size != sizeof(whole))
		return 0;
	whole = *config;
	whole.memory_use = LFPOOL_MEMORY_POOL;
	return lfpool_memory_bytes(&whole);
}

/*
 * lfpool_create_in - lfpool_create() with memory, memory_bytes and memory_use set for a buffer.
 *
 * pool_out  Receives the pool; set to NULL on failure.
 * config    As for lfpool_create(), with the limits at the top of this file; struct_size must be this header's.
 * buffer    Aligned to LFPOOL_BUFFER_ALIGNMENT; the contents do not matter.  Used by the pool until lfpool_destroy().
 * size      At least lfpool_buffer_bytes(config).
 * Returns   As lfpool_create(), but never LFPOOL_E_NO_MEMORY or LFPOOL_E_LOCK; LFPOOL_E_BUFFER: the buffer is too small
 *           or not aligned, and was not touched.
 * Threads   Any.  Wait-free, except for hooks; no system call.
 * Cost      O(size needed): all of it is written.
 */
LFPOOL_INLINE_ LFPOOL_MUST_USE lfpool_status_t lfpool_create_in(lfpool_t **pool_out, const lfpool_config_t *config,
								void *buffer, size_t size)
{
	lfpool_config_t whole;

	if (!pool_out || !config || !buffer)
		return lfpool_create(pool_out, LFPOOL_NULL_);
	*pool_out = LFPOOL_NULL_;
	if (config->struct_size != sizeof(whole))
		return LFPOOL_E_CONFIG_STRUCT_SIZE;
	whole = *config;
	whole.memory = buffer;
	whole.memory_bytes = size;
	whole.memory_use = LFPOOL_MEMORY_POOL;
	return lfpool_create(pool_out, &whole);
}

LFPOOL_C_END_

#endif
