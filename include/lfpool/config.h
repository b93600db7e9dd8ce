/* SPDX-License-Identifier: MIT */
/*
 * config.h - the configuration of a pool: status values, flags, backends, hooks.
 *
 * lfpool_config_t begins with its own size and only grows at the end, so a program compiled against an older header
 * keeps working.
 */
#ifndef LFPOOL_CONFIG_H
#define LFPOOL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The version of this header, and of the library that it belongs to. */
#define LFPOOL_VERSION_MAJOR 0
#define LFPOOL_VERSION_MINOR 2
#define LFPOOL_VERSION_PATCH 0

/* May be overridden when the library is built (docs/plug-ins.md). */
#ifndef LFPOOL_API
#if defined(__GNUC__)
#define LFPOOL_API __attribute__((visibility("default")))
#else
#define LFPOOL_API
#endif
#endif

#if defined(__GNUC__)
#define LFPOOL_MUST_USE __attribute__((warn_unused_result))
#else
#define LFPOOL_MUST_USE
#endif

/* For a function that a header defines.  In C++ other inline functions call it, so the one-definition rule requires
 * external linkage.  The symbol is hidden, so that a plug-in does not get the function of another version. */
#if !defined(__cplusplus)
#define LFPOOL_INLINE_ static inline
#elif defined(__ELF__)
#define LFPOOL_INLINE_ __attribute__((visibility("hidden"))) inline
#else
#define LFPOOL_INLINE_ inline
#endif

/* Where C++ differs from C: declarations with C linkage, the conversion of a void pointer, and a null pointer. */
#ifdef __cplusplus
#define LFPOOL_C_BEGIN_ extern "C" {
#define LFPOOL_C_END_ }
#define LFPOOL_CAST_(type, pointer) static_cast<type>(pointer)
#define LFPOOL_NULL_ nullptr
#else
#define LFPOOL_C_BEGIN_
#define LFPOOL_C_END_
#define LFPOOL_CAST_(type, pointer) ((type)(pointer))
#define LFPOOL_NULL_ NULL
#endif

LFPOOL_C_BEGIN_

typedef struct lfpool_t lfpool_t;             /* a pool */
typedef struct lfpool_cache_t lfpool_cache_t; /* one worker's cache of a pool; it has one user at a time */
struct lfpool_registry_t;                     /* all pools of a program in one place, see lfpool/registry.h */
typedef uint64_t lfpool_handle_t; /* names an object until it is released, see lfpool/handle.h; 0 is never valid */

/* ---- Status ------------------------------------------------------------------------------------------------ */

/* Every status: X(name, value, text).  One value per kind of refusal; LFPOOL_E_CONFIG_* names the refused field. */
#define LFPOOL_STATUS_MAP(X)                                                                                        \
	X(LFPOOL_OK, 0, "ok")                                                                                       \
	X(LFPOOL_E_ARGUMENT, -1, "a required pointer is NULL, or a struct_size is invalid")                         \
	X(LFPOOL_E_NO_MEMORY, -2, "the operating system refused memory, addresses or a mapping")                    \
	X(LFPOOL_E_CREATE, -3, "hooks.create refused an object (LFPOOL_CREATE_ALL)")                                \
	X(LFPOOL_E_LOCK, -4, "the operating system refused to lock memory (RLIMIT_MEMLOCK)")                        \
	X(LFPOOL_E_BUFFER, -5,                                                                                      \
	  "config.memory is too small (memory_bytes), not aligned, NULL with memory_use or memory_bytes set, or "   \
	  "given to a set")                                                                                         \
	X(LFPOOL_E_PROFILE, -6, "the profile of a registry has an error")                                           \
	X(LFPOOL_E_SCENARIO, -7, "the profile of the registry has no scenario of this name")                        \
	X(LFPOOL_E_EXISTS, -8, "the registry has a pool of this name already")                                      \
	X(LFPOOL_E_CONFIG_STRUCT_SIZE, -10, "config.struct_size is unknown, or a newer field is set")               \
	X(LFPOOL_E_CONFIG_NAME, -11, "config.name is longer than 63 bytes, or not a name that a registry can have") \
	X(LFPOOL_E_CONFIG_OBJECT_SIZE, -12, "config.object_size, or largest of a set, is not in 1 .. 1 GiB")        \
	X(LFPOOL_E_CONFIG_OBJECT_ALIGNMENT, -13, "config.object_alignment is not a power of two in 1 .. 1 GiB")     \
	X(LFPOOL_E_CONFIG_CAPACITY, -14,                                                                            \
	  "config.capacity, also from class_bytes or plan of a set, is not in 1 .. 2^31 - 1")                       \
	X(LFPOOL_E_CONFIG_CACHE_CAPACITY, -15, "config.cache_capacity is not in 1 .. 8192")                         \
	X(LFPOOL_E_CONFIG_FLAGS, -16, "config.flags has an unknown bit, or one that this pool cannot have")         \
	X(LFPOOL_E_CONFIG_BACKEND, -17, "config.backend or the variable LFPOOL_BACKEND names no backend")           \
	X(LFPOOL_E_CONFIG_HOOKS, -18,                                                                               \
	  "config.hooks has a reserved field set, create excludes LFPOOL_ZERO, or a set has a hook that builds "    \
	  "objects")                                                                                                \
	X(LFPOOL_E_CONFIG_DEPOT_SHARDS, -19, "config.depot_shards is not in 1 .. 32")                               \
	X(LFPOOL_E_CONFIG_DEBUG, -20,                                                                               \
	  "config.debug or LFPOOL_DEBUG has a word that is unknown or not for such a pool; there are check, "       \
	  "poison, quarantine=N (to 65536), guard, owner, backtrace=1/N (to 1000000), zero, no-tools")              \
	X(LFPOOL_E_CONFIG_MAX_CAPACITY, -21,                                                                        \
	  "config.max_capacity, also from max_class_bytes or plan of a set, is neither 0 nor in capacity .. "       \
	  "2^31 - 1")                                                                                               \
	X(LFPOOL_E_CONFIG_STEPS, -22, "config.steps of a set is not 4, 8 or 16")                                    \
	X(LFPOOL_E_CONFIG_SCHEME, -23, "config.scheme is incomplete, or not for such a pool")                       \
	X(LFPOOL_E_CONFIG_BUFFER_CACHES, -24, "config.buffer_caches is above 16, or the pool is in no buffer")      \
	X(LFPOOL_E_CONFIG_EVICT, -25, "config.evict or config.before is not for such a pool, or unknown")           \
	X(LFPOOL_E_FOREIGN, -30, "release of a pointer that does not point into the pool")                          \
	X(LFPOOL_E_INTERIOR, -31, "release of a pointer into the pool that is not the start of an object")          \
	X(LFPOOL_E_NOT_IN_USE, -32, "release of an object that is not in use: a double release")                    \
	X(LFPOOL_E_STALE, -33, "release by a handle that names no active object of this pool")                      \
	X(LFPOOL_E_WRITTEN_WHEN_FREE, -34, "an object was written to after its release")                            \
	X(LFPOOL_E_GUARD, -35, "bytes beside an object were overwritten")                                           \
	X(LFPOOL_E_STILL_ACTIVE, -36, "an object was still active when its pool was destroyed")                     \
	X(LFPOOL_E_INVARIANT, -37, "the pool itself is damaged")                                                    \
	X(LFPOOL_E_NOT_PINNED, -38, "unpin of an object that is not pinned")                                        \
	X(LFPOOL_E_NO_SCHEME, -39, "retire in a pool without config.scheme")                                        \
	X(LFPOOL_E_IN_SECTION, -40, "drain or destroy inside a read-side section, for which it would wait")         \
	X(LFPOOL_E_CLOSED, -41, "the pool is closed")                                                               \
	X(LFPOOL_E_EXHAUSTED, -42, "fewer objects are free than were asked for")                                    \
	X(LFPOOL_E_REFUSED, -43, "hooks.create or hooks.activate refused an object")

/* The result of a call: 0, or the reason for its failure.  lfpool_status_string() describes each. */
typedef enum lfpool_status {
#define LFPOOL_STATUS_ENUM(name, value, text) name = value,
	LFPOOL_STATUS_MAP(LFPOOL_STATUS_ENUM)
#undef LFPOOL_STATUS_ENUM
} lfpool_status_t;

/*
 * lfpool_status_string - describe a status in English.
 *
 * status    Any value.
 * Returns   A static string; "unknown status" for an unknown value.
 * Threads   Any.  Wait-free.
 */
LFPOOL_API const char *lfpool_status_string(lfpool_status_t status);

/* ---- Configuration ----------------------------------------------------------------------------------------- */

/*
 * Flags, joined by |.  Zero is the usual choice.
 *
 * LFPOOL_PREFAULT     Touch memory when it is mapped, so that no fast path meets a page fault.  lfpool_create() touches
 *                     all objects and the first caches, and is O(capacity) then.
 * LFPOOL_ZERO         Every acquired object is all zero bytes.  Costs a memset of object_size per acquire, and makes
 *                     every call take the slow path.
 * LFPOOL_CHECK_RACES  If two threads release one object at once, exactly one release succeeds, unless the object is
 *                     acquired between the two releases.  Without the flag both may succeed.  The object is then free
 *                     twice, which the pool notices when the object is acquired for the second time.  Costs one locked
 *                     instruction per release.
 * LFPOOL_CREATE_ALL   lfpool_create() calls hooks.create for every object, and is O(capacity) then.  Without the flag
 *                     an object's first acquire calls the hook.  Objects that growth adds or lfpool_trim() destroys are
 *                     always built by an acquire.
 * LFPOOL_LOCK         As LFPOOL_PREFAULT, and lock the memory in RAM (mlock), so that it is never paged out.  Not
 *                     locked: memory of debug modes, objects in malloc mode, and anything in a child after fork.  If
 *                     the system refuses (RLIMIT_MEMLOCK, CAP_IPC_LOCK), lfpool_create() returns LFPOOL_E_LOCK.  If it
 *                     refuses later, a growth adds fewer objects, and a thread that gets no cache borrows one for each
 *                     call.
 * LFPOOL_HUGE_PAGES   Align the objects to 2 MiB and ask for transparent huge pages (madvise).  If the system has no
 *                     huge pages, only the alignment changes (docs/memory.md has the gain).
 * LFPOOL_PLAIN_STRIDE Objects begin object_size bytes apart, rounded up to object_alignment, for programs that compute
 *                     addresses.  (Guards of debug modes, and AddressSanitizer, add to this distance.)  Without the
 *                     flag large objects may begin up to 1/16 further apart: see LFPOOL_STRIDE_ below.
 * LFPOOL_FENCED       Do not use membarrier(2) for this pool: taking objects out of another thread's cache interrupts
 *                     no thread, but every acquire takes the slow path and executes a full fence.  Meant for threads
 *                     with deadlines that share a pool with threads that may exhaust it (docs/real-time.md).
 */
#define LFPOOL_PREFAULT UINT32_C(0x1)
#define LFPOOL_ZERO UINT32_C(0x2)
#define LFPOOL_CHECK_RACES UINT32_C(0x4)
#define LFPOOL_CREATE_ALL UINT32_C(0x8)
#define LFPOOL_LOCK UINT32_C(0x10)
#define LFPOOL_HUGE_PAGES UINT32_C(0x20)
#define LFPOOL_PLAIN_STRIDE UINT32_C(0x40)
#define LFPOOL_FENCED UINT32_C(0x80)

/*
 * The stride: bytes from the start of an object to the start of the next.  Internal; shared by the library and
 * LFPOOL_BUFFER_BYTES.
 *
 * Reason: a first-level cache has 64 sets, and addresses 4096 bytes apart share a set.  With a stride of 4096 bytes all
 * objects would begin in one set, and with 1024 bytes in four sets.  With an odd number of cache lines they begin in
 * all 64 (docs/memory.md).
 *
 * Rule: the plain stride is object_size, rounded up to object_alignment.  A step is 64 bytes, or object_alignment if
 * that is larger.  If the plain stride is an even number of steps, one step is added.  No step is added below 16 steps,
 * where it would cost over 1/16 of the memory, or with an alignment of 4096 or more, where no stride helps.
 *
 * Source: DPDK's mempool (rte_mempool.c, arch_mem_object_align()), which makes the number of lines odd too.
 */
#define LFPOOL_ROUND_UP_(bytes, alignment) ((sizeof(char) * (bytes) + (alignment) - 1) / (alignment) * (alignment))
#define LFPOOL_STRIDE_STEP_(alignment) ((alignment) > 64 ? sizeof(char) * (alignment) : sizeof(char[64]))
#define LFPOOL_STRIDE_SPREAD_(plain, alignment)                                  \
	((alignment) < 4096 && (plain) >= 16 * LFPOOL_STRIDE_STEP_(alignment) && \
			 (plain) % (2 * LFPOOL_STRIDE_STEP_(alignment)) == 0     \
		 ? (plain) + LFPOOL_STRIDE_STEP_(alignment)                      \
		 : (plain))
/* The stride without LFPOOL_PLAIN_STRIDE and debug modes; size and alignment must be above 0. */
#define LFPOOL_STRIDE_(object_size, object_alignment) \
	LFPOOL_STRIDE_SPREAD_(LFPOOL_ROUND_UP_(object_size, object_alignment), object_alignment)

/* A value of config.cache_capacity: no thread has a cache.  Each call borrows one of a few caches, and leaves it
 * empty. */
#define LFPOOL_CACHE_NONE SIZE_MAX

/*
 * Modes of a pool (config.backend).  The environment variable LFPOOL_BACKEND (lockfree, mutex, malloc) overrides the
 * config of every pool, so the modes can be compared without a rebuild.
 *
 * LFPOOL_BACKEND_LOCKFREE  The normal mode.
 * LFPOOL_BACKEND_MUTEX     For comparison: the same code with one cache, which every call uses under a mutex.  All
 *                          features work, fork included, but any call may block.
 * LFPOOL_BACKEND_MALLOC    Each acquire is an aligned allocation, and each release a free.  This mode measures the gain
 *                          of pooling, and lets AddressSanitizer or Valgrind see each object.  Walks, handles, hooks
 *                          and counts work.  Differences:
 *                          - Each object is built and destroyed at each use, and LFPOOL_CREATE_ALL has no effect.
 *                          - A new object has the allocator's bytes, not zeros.
 *                          - Only active objects have addresses.  So look-ups by address or index find no free objects,
 *                            and every wrong release returns LFPOOL_E_FOREIGN.
 *                          - lfpool_destroy() does not free active objects, so that a leak checker reports them.
 *                          - Acquire returns NULL if the allocator does.
 */
typedef enum lfpool_backend {
	LFPOOL_BACKEND_LOCKFREE = 0,
	LFPOOL_BACKEND_MUTEX = 1,
	LFPOOL_BACKEND_MALLOC = 2
} lfpool_backend_t;

/* Which objects a full pool evicts for a new one (lfpool/evict.h). */
typedef enum lfpool_evict {
	LFPOOL_EVICT_NONE = 0,          /* none; objects have no priorities                          */
	LFPOOL_EVICT_LESS = 1,          /* an object with a lower priority than the new one          */
	LFPOOL_EVICT_LESS_OR_EQUAL = 2, /* an object with a lower or equal priority                  */
	LFPOOL_EVICT_NEVER = 3          /* none; objects have priorities, for lfpool_release_least() */
} lfpool_evict_t;

/* The report that the misuse hook gets.  Valid during the hook only. */
typedef struct lfpool_misuse_t {
	lfpool_t *pool;         /* the pool that refused; NULL: a set (lfpool/set.h)   */
	const char *pool_name;  /* its config.name, or "unnamed"                       */
	const void *object;     /* the pointer that was refused, or the damaged object */
	lfpool_status_t status; /* why                                                 */
	size_t count;           /* misuses of this pool so far, this one included      */
	lfpool_handle_t handle; /* the handle that was refused; 0: not a handle        */
	size_t index;           /* the object's lfpool_index_of(); SIZE_MAX: none      */
	ptrdiff_t offset;       /* LFPOOL_E_WRITTEN_WHEN_FREE, LFPOOL_E_GUARD: where
	                           the first wrong byte is, from the object's start    */
	const char *detail;     /* further details, in English; never NULL             */
} lfpool_misuse_t;

/*
 * Hooks: functions that a pool calls.  A hook runs on the calling thread, inside the call that caused it, with no lock
 * held.  It may call the pool, except inside lfpool_create() and lfpool_destroy().  Several threads may run a hook at
 * once, for different objects.
 *
 * In the life of an object, create is called once; then, for each use, validate (not for the first), activate and
 * deactivate; and at the end destroy, once.  State that create built survives reuse.  An object is in use from the
 * return of activate to the call of deactivate; inside a hook it is not in use and has no handle.  Each of these hooks
 * is called exactly once per step, also under races, because a pool with any of them checks its releases as with
 * LFPOOL_CHECK_RACES.
 *
 * The inlined fast paths need a pool without validate, activate and deactivate, and without create unless
 * LFPOOL_CREATE_ALL is set.  Other pools with hooks take the slow path: about 20 ns for an acquire and its release,
 * plus the hooks.
 */
typedef struct lfpool_hooks_t {
	void *context; /* passed to each hook */
	/* Called when a release is refused, or a debug mode has found something.  NULL: the first misuse writes a line
	 * to stderr, and later ones are only counted. */
	void (*misuse)(void *context, const lfpool_misuse_t *misuse);
	/* Build an object, on first use or, with LFPOOL_CREATE_ALL, in lfpool_create().  Its memory is zero at first;
	 * later it has the contents that destroy left, or zeros where lfpool_trim() returned a page.  false: the object
	 * cannot be built now.  Then an acquire takes a free object that is built, from any cache, or returns NULL;
	 * lfpool_create() returns LFPOOL_E_CREATE.  Built objects are tried before create is called. */
	bool (*create)(void *context, void *object);
	/* Called before activate, in each acquire of an object that was built earlier: is the object still usable?
	 * false: destroy is called, and create builds it again in the same call.  If create refuses, the call tries
	 * other objects, each once. */
	bool (*validate)(void *context, void *object);
	/* Called in each acquire, before the caller gets the object.  false: the object stays free and built, and the
	 * call tries other objects, each once.  The call returns NULL if every free object was refused, by this call or
	 * by an overlapping call.  Later calls try refused objects last, but before they build a new object. */
	bool (*activate)(void *context, void *object);
	/* Called in each release, to clear references or reset the object.  false: the object must not be reused.  Then
	 * destroy is called at once, and create before the slot is used again. */
	bool (*deactivate)(void *context, void *object);
	/* Undo create.  Called after validate or deactivate returned false, and in lfpool_destroy() for every built
	 * object; in a pool without create, for every object that was ever acquired.  If lfpool_destroy() finds the
	 * object active, it calls deactivate first. */
	void (*destroy)(void *context, void *object);
	/* Called when an acquire finds no free object, and the pool cannot grow automatically.  The hook may release
	 * objects, grow the pool, or give up.  `attempt` counts from 0 within the acquire.  false: the acquire
	 * continues as without the hook.  true: the acquire tries again, after it has waited in the queue of
	 * lfpool/wait.h for at most *wait_ns nanoseconds (initially 0: no wait; negative: no limit), and not beyond its
	 * own timeout.  Some calls must not wait: those with timeout 0, lfpool_acquire_async(), and a call for several
	 * objects that has one already.  In such a call, true with a wait has the effect of false. */
	bool (*exhausted)(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns);
	/* lfpool_acquire_evicting() or lfpool_release_least() evicted this object (lfpool/evict.h); `priority` is its
	 * last priority, and `handle` is stale.  The hook can read and write the object, because no other thread has
	 * it.  hooks.deactivate follows. */
	void (*evict)(void *context, void *object, lfpool_handle_t handle, uint64_t priority);
	void (*reserved[1])(void); /* must be NULL */
} lfpool_hooks_t;

typedef struct lfpool_batch_t lfpool_batch_t; /* retired objects: the unit that a scheme handles */
/* A scheme of safe memory reclamation, for lfpool_retire(): lfpool/retire.h.  All NULL: no scheme. */
typedef struct lfpool_scheme_t {
	void *context;                                             /* passed to each function                  */
	void (*begin)(void *context, lfpool_batch_t *batch);       /* start the grace period of a batch        */
	bool (*ready)(void *context, const lfpool_batch_t *batch); /* may the batch's objects be reused?       */
	bool (*wait)(void *context);                               /* block until a batch is ready or reclaimed */
	void (*reserved[3])(void);                                 /* must be NULL                         */
} lfpool_scheme_t;

/* For config.memory_use: config.memory holds the objects, or the whole pool (then no call enters the kernel). */
#define LFPOOL_MEMORY_OBJECTS 0
#define LFPOOL_MEMORY_POOL 1

/*
 * The configuration.  Append-only; zero means "the default" for every field that has one.  lfpool_create() copies the
 * struct and never writes to it.  Use LFPOOL_CONFIG_INIT, or lfpool_config_init() in C++.
 */
typedef struct lfpool_config_t {
	size_t struct_size;       /* sizeof(lfpool_config_t) in the caller's version of this header     */
	const char *name;         /* for messages; at most 63 bytes, copied; NULL = "unnamed"           */
	size_t object_size;       /* bytes, 1 .. 1 GiB; no default                                      */
	size_t object_alignment;  /* bytes, a power of two, 1 .. 1 GiB; 0 = alignof(max_align_t)        */
	size_t capacity;          /* objects that callers can hold at once, 1 .. 2^31 - 1; no default; 0 only in
	                             lfpool_create(), with max_capacity and without LFPOOL_CREATE_ALL   */
	size_t cache_capacity;    /* objects one cache may hold, 1 .. 8192, or LFPOOL_CACHE_NONE; 0 =
	                             256 KiB of objects, at most max_capacity / processors; with objects of a
	                             page or more, or hooks.create, a quarter as many, at most 256.  The number
	                             is rounded down to twice a power of two, but at least 2, and is raised in
	                             pools of more than 2^23 objects, to limit the number of magazines
	                             (docs/design.md, "Limits")                                         */
	uint32_t flags;           /* LFPOOL_PREFAULT ...; 0 = none                                      */
	lfpool_backend_t backend; /* 0 = LFPOOL_BACKEND_LOCKFREE                                        */
	lfpool_hooks_t hooks;     /* all NULL = the defaults                                            */
	size_t depot_shards;      /* shards of the depot, the free lists that all caches share, 1 .. 32;
	                             0 = two for each processor, but at most one for each magazine      */
	const char *debug;        /* debug modes, such as "poison,owner" (lfpool/debug.h); read, not kept;
	                             NULL = only those of the environment variable LFPOOL_DEBUG         */
	size_t max_capacity;      /* objects to which the pool can grow (resize.h), capacity .. 2^31 - 1;
	                             address space for them is reserved; 0 = capacity                   */
	size_t growth_step;       /* objects to add when a call finds none, up to max_capacity;
	                             0 = the pool grows only in calls of lfpool/resize.h                 */
	lfpool_scheme_t scheme;   /* decides when retired objects may be reused (lfpool/retire.h); for pools
	                             of less than 2^30 objects, not in a buffer; 0 = none                */
	size_t buffer_caches;     /* caches of a pool in a buffer (lfpool/buffer.h), 1 .. 16; 0 = 16; in any
	                             other pool it must be 0                                             */
	void *memory;             /* caller-provided memory, see lfpool/buffer.h; NULL = the system's   */
	size_t memory_bytes;      /* bytes of `memory`, at least lfpool_memory_bytes()                  */
	uint32_t memory_use;      /* LFPOOL_MEMORY_OBJECTS or LFPOOL_MEMORY_POOL                        */
	lfpool_evict_t evict;     /* eviction in the full pool, see lfpool/evict.h; not in a buffer;
	                             0 = none                                                            */
	/* With `evict`: is an object of priority a evicted before one of priority b?  The order must be a strict weak
	 * order of all 64-bit numbers, and must never change: the pool also compares numbers that no object has.  Any
	 * thread may call it, several times per search.  NULL: a < b. */
	bool (*before)(void *context, uint64_t a, uint64_t b);
	void *before_context; /* passed to `before` */
} lfpool_config_t;

/* The default of every field, in C.  In C++ use lfpool_config_init(), to avoid warnings about missing fields. */
#define LFPOOL_CONFIG_INIT {.struct_size = sizeof(lfpool_config_t)}

/*
 * lfpool_config_init - set every field to its default, as LFPOOL_CONFIG_INIT does.
 *
 * config    Every byte is written.
 * Threads   Any.  Wait-free.
 */
LFPOOL_INLINE_ void lfpool_config_init(lfpool_config_t *config)
{
	memset(config, 0, sizeof(*config));
	config->struct_size = sizeof(*config);
}

LFPOOL_C_END_

#endif
