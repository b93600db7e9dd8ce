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
 * Objects only (config.memory_use = LFPOOL_MEMORY_OBJECTS): for memory that is pinned, bound to a NUMA node, mapped
 * from hugetlbfs, or registered with a device or the kernel.
 *
 *     config.memory_bytes = lfpool_memory_bytes(&config);
 *     config.memory = my_pinned_pages(config.memory_bytes);
 *     if (lfpool_create(&pool, &config) != LFPOOL_OK) ...
 *
 * The pool is like any other, and grows within that memory.  The library does not map, protect, lock, or return any of
 * it, and asks for no huge pages: lfpool_trim() does nothing, and LFPOOL_LOCK and LFPOOL_PREFAULT concern the rest.  It
 * must be readable and writable, and aligned to pages and to config.object_alignment.  Unused objects hold its former
 * contents; hooks.create finds these.  After lfpool_destroy() it belongs to the caller again.  Malloc mode does
 * not use it.
 *
 * A pool in a buffer (LFPOOL_MEMORY_POOL) keeps all promises of lfpool.h and one more: no function of it makes a system
 * call, from creation to destruction.  Creation writes to the whole buffer, so no later call meets an untouched page.
 * The costs:
 *
 *   - Both sides of a steal execute a fence, because membarrier(2) is a system call: no fast path is inlined.
 *   - Nothing is kept per thread.  Calls without an explicit cache borrow one of the config.buffer_caches for their
 *     length.  A quarter of these (rounded up) is reserved for such calls: lfpool_cache_create() returns NULL instead,
 *     so 4 of 16, or 1 of 1 to 4, remain.  A call that finds all of them in use spins until another call ends; with
 *     more threads inside calls than caches it is not lock-free.  For speed give each thread a cache; for space have
 *     few.
 *   - The pool is in no list: lfpool_of() and lfpool_release_self() do not find it.  After fork the child's copy keeps
 *     the calls that other threads were waiting in, and loses each cache that another thread's call was using; without
 *     any, calls in the child wait for ever.  So fork while no other thread is inside a call of this pool, or while
 *     none waits and there are more caches than threads.
 *   - It cannot grow beyond its capacity.  Shrinking and growing back work; lfpool_trim() does nothing.
 *   - Waiting calls (lfpool/wait.h) spin.  With a timeout they read CLOCK_MONOTONIC, which needs no system call where
 *     Linux has a clock in user space (vDSO).  At most 16 calls and continuations queue: one more waiting call is
 *     served out of turn, and one more lfpool_acquire_async() returns LFPOOL_E_NO_MEMORY.
 *   - A misuse is counted and reported to the hook; nothing is written to stderr.
 *   - In the config: max_capacity 0 or equal to capacity, else LFPOOL_E_CONFIG_MAX_CAPACITY; backend
 *     LFPOOL_BACKEND_LOCKFREE, else LFPOOL_E_CONFIG_BACKEND; buffer_caches at most LFPOOL_BUFFER_CACHES, else
 *     LFPOOL_E_CONFIG_BUFFER_CACHES; depot_shards 0 or 1, else LFPOOL_E_CONFIG_DEPOT_SHARDS; flags without LFPOOL_LOCK
 *     and LFPOOL_HUGE_PAGES, else LFPOOL_E_CONFIG_FLAGS; of the debug modes only check, zero and no-tools, else
 *     LFPOOL_E_CONFIG_DEBUG; no scheme, else LFPOOL_E_CONFIG_SCHEME.  The default of cache_capacity is that for 4
 *     processors, or for buffer_caches if that is less.  The environment variables LFPOOL_BACKEND and LFPOOL_DEBUG are
 *     ignored (one line on stderr per process reports it), and Valgrind and AddressSanitizer do not see free objects.
 *
 * Processes  If the buffer is in memory that a process shares with its children (mmap with MAP_SHARED, then fork), the
 * pool is shared: calls of all processes are like calls of threads.  It must be at the same address in each, and so
 * must the library and the hooks, which run in the process of the call.  So there is no exec, and no mapping elsewhere.
 * A continuation runs in the process whose call serves it, not in the one that asked: its function and its context must
 * be valid there, as objects in the shared memory are.
 * If a process ends inside a call, the pool loses the objects of that call, and the cache that the call was using.
 * Objects that the process held are never released automatically.  Any other pool belongs to the process that created
 * it; a child has a copy.
 *
 * Objects only, in memory that a process shares with its children: the objects remain the parent's.  The child's copy
 * of the pool is closed (lfpool_close()): acquires return NULL, pending continuations are called with NULL, and an
 * object that the child releases leaves its copy, without a hook.  (The child looks into /proc/self/maps.  Where that
 * is not mounted, it must not use the pool.)
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
/* Caches of such a pool, for calls and explicit: the maximum, and the default of config.buffer_caches. */
#define LFPOOL_BUFFER_CACHES 16

/*
 * LFPOOL_BUFFER_BYTES, LFPOOL_BUFFER_BYTES_WITH - bytes that are enough for a pool of `capacity` objects, with the
 * defaults for everything else: an integer constant expression, if its arguments are.
 *
 * object_size       As config.object_size.
 * object_alignment  As config.object_alignment: 0 is the default.
 * capacity          As config.capacity.
 * caches            As config.buffer_caches, and not 0.
 *
 * The overhead is 17 KiB for one object (6 KiB with one cache), 57 KiB for 1000, and 25 bytes per object for a million,
 * up to 33 if the stride is not a power of two (docs/memory.md has a table).  The hooks create, activate, deactivate
 * and destroy need one byte more for each object, and at most 256 more.  With an explicit cache_capacity use
 * lfpool_buffer_bytes().
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

/* Parts of the above; internal. */
#define LFPOOL_BUFFER_POOL_ sizeof(char[LFPOOL_BUFFER_ALIGNMENT == 64 ? 3264 : 4736])
#define LFPOOL_BUFFER_CACHE_ (LFPOOL_BUFFER_ALIGNMENT == 64 ? 320 : 384)
#define LFPOOL_BUFFER_EXTRA_ 3
#define LFPOOL_BUFFER_CHECK_ (LFPOOL_BUFFER_ALIGNMENT == 64 ? 0 : 1)
#define LFPOOL_BUFFER_MAGAZINE_HEAD_ 32
#define LFPOOL_BUFFER_ALIGN_(alignment) ((alignment) ? (alignment) : sizeof(char[16]))
#define LFPOOL_BUFFER_MAGAZINE_(slots) \
	LFPOOL_ROUND_UP_(LFPOOL_BUFFER_MAGAZINE_HEAD_ + sizeof(void *) * (slots), LFPOOL_BUFFER_ALIGNMENT)
/* A word for each granule: the largest power of two of bytes that is not above the stride. */
#define LFPOOL_BUFFER_STATES_(stride, capacity) \
	(sizeof(void *) * ((((stride) * (capacity)) >> (63 - __builtin_clzll(stride))) + 2))
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
 * lfpool_memory_bytes - size of config.memory.
 *
 * config    As for lfpool_create(); `memory` and `memory_bytes` are ignored, `memory_use` is not.  For
 *           LFPOOL_MEMORY_OBJECTS the environment variable LFPOOL_DEBUG applies.
 * Returns   The bytes for the objects (whole pages for max_capacity objects), or for the whole pool (exact for any
 *           buffer address); 0 if lfpool_create() would refuse the config, it is NULL, or memory is short.
 * Threads   Any.
 * Progress  For LFPOOL_MEMORY_POOL wait-free, else lock-free; may enter the kernel for LFPOOL_MEMORY_OBJECTS.
 */
LFPOOL_API size_t lfpool_memory_bytes(const lfpool_config_t *config);

/*
 * lfpool_buffer_bytes - lfpool_memory_bytes() of a pool in a buffer.
 *
 * config    As there, with any `memory_use`.
 * Returns   As there.
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
 * lfpool_create_in - lfpool_create() in a buffer: sets the three fields of the memory.
 *
 * pool_out  Receives the pool; set to NULL on failure.
 * config    As for lfpool_create(), with the limits above; struct_size must be this header's.
 * buffer    Aligned to LFPOOL_BUFFER_ALIGNMENT; the contents do not matter.  Used by the pool until lfpool_destroy().
 * size      At least lfpool_buffer_bytes(config).
 * Returns   As lfpool_create(), but never LFPOOL_E_NO_MEMORY or LFPOOL_E_LOCK; LFPOOL_E_BUFFER: the buffer is too
 *           small, or not aligned (and was not touched).
 * Threads   Any.  Wait-free, except hooks; no system call.
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
