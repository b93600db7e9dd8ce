/* SPDX-License-Identifier: MIT */
/*
 * config.h - what a pool should be, and what calls answer: status values, flags, backends, hooks, the configuration.
 *
 * lfpool_config_t begins with its own size and only ever grows at the end: a program that was compiled against an older
 * header goes on working, and zero in a field means that the library chooses.
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

/* Who compiles the library may say otherwise (docs/plug-ins.md). */
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

/* C linkage, for C++ callers; a conversion of a void pointer; a null pointer. */
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

typedef struct lfpool_pool lfpool_t;        /* a pool */
typedef struct lfpool_cache lfpool_cache_t; /* one worker's cache of a pool; it has one user at a time */
struct lfpool_registry;                     /* all pools of a program in one place, see lfpool/registry.h */
typedef uint64_t lfpool_handle_t; /* names an object until it is released, see lfpool/handle.h; 0 is never valid */

/* ---- Status ------------------------------------------------------------------------------------------------ */

/* Every status: X(name, value, text).  One value per kind of refusal; a config refusal names its field. */
#define LFPOOL_STATUS_MAP(X)                                                                                        \
	X(LFPOOL_OK, 0, "ok")                                                                                       \
	X(LFPOOL_E_ARGUMENT, -1, "a required pointer is NULL, or a struct_size is none")                            \
	X(LFPOOL_E_NO_MEMORY, -2, "the operating system refused memory")                                            \
	X(LFPOOL_E_CREATE, -3, "hooks.create refused an object (LFPOOL_CREATE_ALL)")                                \
	X(LFPOOL_E_LOCK, -4, "the operating system refused to lock memory (RLIMIT_MEMLOCK)")                        \
	X(LFPOOL_E_BUFFER, -5, "config.memory is too small, not aligned, or NULL with the other fields set")        \
	X(LFPOOL_E_PROFILE, -6, "the profile of a registry has an error")                                           \
	X(LFPOOL_E_SCENARIO, -7, "the profile of the registry has no scenario of this name")                        \
	X(LFPOOL_E_EXISTS, -8, "the registry has a pool of this name already")                                      \
	X(LFPOOL_E_CONFIG_STRUCT_SIZE, -10, "config.struct_size is unknown, or a newer field is set")               \
	X(LFPOOL_E_CONFIG_NAME, -11, "config.name is longer than 63 bytes")                                         \
	X(LFPOOL_E_CONFIG_OBJECT_SIZE, -12, "config.object_size is not in 1 .. 1 GiB")                              \
	X(LFPOOL_E_CONFIG_OBJECT_ALIGNMENT, -13, "config.object_alignment is not a power of two in 1 .. 1 GiB")     \
	X(LFPOOL_E_CONFIG_CAPACITY, -14, "config.capacity is not in 1 .. 2^31")                                     \
	X(LFPOOL_E_CONFIG_CACHE_CAPACITY, -15, "config.cache_capacity is not in 1 .. 8192")                         \
	X(LFPOOL_E_CONFIG_FLAGS, -16, "config.flags has an unknown bit, or one that this pool cannot have")         \
	X(LFPOOL_E_CONFIG_BACKEND, -17, "config.backend or the variable LFPOOL_BACKEND names no backend")           \
	X(LFPOOL_E_CONFIG_HOOKS, -18, "config.hooks has a reserved field set, or create excludes LFPOOL_ZERO")      \
	X(LFPOOL_E_CONFIG_DEPOT_SHARDS, -19, "config.depot_shards is not in 1 .. 32")                               \
	X(LFPOOL_E_CONFIG_DEBUG, -20, "config.debug or LFPOOL_DEBUG has an unknown word, or a number out of range") \
	X(LFPOOL_E_CONFIG_MAX_CAPACITY, -21, "config.max_capacity is neither 0 nor in capacity .. 2^31")            \
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

/* What a call has come to: 0, or why it was refused.  lfpool_status_string() has each in words. */
typedef enum lfpool_status {
#define LFPOOL_STATUS_ENUM(name, value, text) name = value,
	LFPOOL_STATUS_MAP(LFPOOL_STATUS_ENUM)
#undef LFPOOL_STATUS_ENUM
} lfpool_status_t;

/*
 * lfpool_status_string - what a status means, in English.
 *
 * status    Any value.
 * Returns   A string that lives for ever; "unknown status" for a value that is none.
 * Threads   Any.  Wait-free.
 */
LFPOOL_API const char *lfpool_status_string(lfpool_status_t status);

/* ---- Configuration ----------------------------------------------------------------------------------------- */

/*
 * Flags, joined by |.  Zero is the usual choice.
 *
 * LFPOOL_PREFAULT     Touch all memory when it is mapped, so that no hit meets a page fault: the objects and the first
 *                     caches at creation, further caches when they are made, what is added when the pool grows.
 *                     Create is then O(capacity).
 * LFPOOL_ZERO         Every acquired object is all zero bytes.  Costs a memset of object_size per acquire.
 * LFPOOL_CHECK_RACES  Two releases of one object at the same instant: exactly one succeeds (while nobody acquires it in
 *                     between).  Without it one of such a pair is refused nearly always, not always.  Costs one locked
 *                     instruction per release.
 * LFPOOL_CREATE_ALL   hooks.create builds every object when the pool is created, not each when it is first used. Create
 *                     is then O(capacity).  Without hooks.create it does nothing.  Objects by which the pool grows, and
 *                     those that lfpool_trim() took down, are built when they are first used, as without the flag.
 * LFPOOL_LOCK         Lock the same memory in RAM (mlock), so that it is never paged out; implies LFPOOL_PREFAULT.  Not
 *                     locked: what debug modes keep, the objects of LFPOOL_BACKEND_MALLOC, and, in a child after fork,
 *                     anything.  When the system refuses (RLIMIT_MEMLOCK, CAP_IPC_LOCK), lfpool_create() returns
 *                     LFPOOL_E_LOCK, a pool grows by fewer, and a thread does without a cache of its own.
 * LFPOOL_HUGE_PAGES   Objects begin on a boundary of 2 MiB, and the system is asked for transparent huge pages for
 *                     them and for the states and magazines (madvise): fewer misses of the TLB, and fewer page
 *                     faults.  A wish: pools without it work the same (docs/memory.md has what it gains).
 * LFPOOL_PLAIN_STRIDE Objects begin object_size bytes apart, rounded up to object_alignment: for programs that compute
 *                     addresses (debug modes that guard objects, and AddressSanitizer, add to it).  Without the flag,
 *                     objects of 1024 bytes and more that would share few sets of the processor's caches begin up to
 *                     1/16 further apart, usually 64 bytes (docs/memory.md).
 * LFPOOL_FENCED       No membarrier(2) for this pool: a thief interrupts nobody, and every acquire executes a full
 *                     fence and takes the general path.  For threads with deadlines beside which others come to the
 *                     bottom of a pool (docs/real-time.md).
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
 * The stride: bytes from the start of an object to the start of the next.  One rule, for the library, for
 * LFPOOL_BUFFER_BYTES, and for code that needs the stride as a constant.  No interface.
 *
 * Rule: the plain stride is object_size, rounded up to object_alignment.  A step is a cache line of 64
 * bytes, or object_alignment if that is more.  A plain stride that is an even number of steps, and at least 16, gets
 * one step more; but not with an alignment of 4096 or more.
 *
 * Reason: a first-level cache has 64 sets of 8 to 12 lines, and addresses 4096 bytes apart share a set.  With a stride
 * of 4096 all objects begin in one set, with 1024 in four, with an odd number of lines in all 64.  Below 16 lines one
 * more would be more than 1/16 of the memory; with such an alignment no stride helps.  docs/memory.md has measurements.
 *
 * Source: DPDK's mempool, since its first release in 2012 (rte_mempool.c, arch_mem_object_align()).  There the number
 * of lines has no divisor in common with the number of memory channels times ranks, 4 by default: it is odd, too.
 */
#define LFPOOL_ROUND_UP_(bytes, alignment) ((sizeof(char) * (bytes) + (alignment) - 1) / (alignment) * (alignment))
#define LFPOOL_STRIDE_STEP_(alignment) ((alignment) > 64 ? sizeof(char) * (alignment) : sizeof(char[64]))
/* Of a plain stride. */
#define LFPOOL_STRIDE_SPREAD_(plain, alignment)                                  \
	((alignment) < 4096 && (plain) >= 16 * LFPOOL_STRIDE_STEP_(alignment) && \
			 (plain) % (2 * LFPOOL_STRIDE_STEP_(alignment)) == 0     \
		 ? (plain) + LFPOOL_STRIDE_STEP_(alignment)                      \
		 : (plain))
/* Neither of them 0; without LFPOOL_PLAIN_STRIDE and debug modes. */
#define LFPOOL_STRIDE_(object_size, object_alignment) \
	LFPOOL_STRIDE_SPREAD_(LFPOOL_ROUND_UP_(object_size, object_alignment), object_alignment)

/* For config.cache_capacity: threads get no caches.  Calls share a few: each call claims one, and leaves it empty. */
#define LFPOOL_CACHE_NONE SIZE_MAX

/*
 * Modes of a pool (config.backend).  The environment variable LFPOOL_BACKEND (lockfree, mutex, malloc), when set,
 * overrides the config of every pool, so that a program can be compared without a rebuild.
 *
 * LFPOOL_BACKEND_LOCKFREE  The pool proper.
 * LFPOOL_BACKEND_MUTEX     The same code, with one cache that every call uses under a mutex: for comparison.  Every
 *                          feature works as elsewhere, fork included, but any call may wait.
 * LFPOOL_BACKEND_MALLOC    Each acquire is an aligned allocation, each release a free: for measuring what pooling
 *                          gains, and for letting AddressSanitizer or Valgrind see each object.  Walks, handles, hooks
 *                          and counts work as elsewhere, except that each object is built and taken apart each time,
 *                          and LFPOOL_CREATE_ALL does nothing.  A new object has the allocator's bytes, not zeros.
 *                          The pool looks an address up in a table before it reads anything.  Only active objects have
 *                          addresses: a foreign, interior or second release is refused as LFPOOL_E_FOREIGN.  Objects
 *                          that are active when the pool is destroyed stay allocated, for a leak checker to see.
 *                          Acquire also returns NULL when the allocator does.
 */
typedef enum lfpool_backend {
	LFPOOL_BACKEND_LOCKFREE = 0,
	LFPOOL_BACKEND_MUTEX = 1,
	LFPOOL_BACKEND_MALLOC = 2
} lfpool_backend_t;

/* Eviction, see lfpool/evict.h: which objects give way to a newcomer when the pool is full. */
typedef enum lfpool_evict {
	LFPOOL_EVICT_NONE = 0,          /* none: objects have no priorities                                 */
	LFPOOL_EVICT_LESS = 1,          /* an object with a lower priority than the newcomer's              */
	LFPOOL_EVICT_LESS_OR_EQUAL = 2, /* an object with a lower priority than the newcomer's, or the same */
	LFPOOL_EVICT_NEVER = 3          /* none, but objects have priorities, for lfpool_release_least()    */
} lfpool_evict_t;

/* What the misuse hook is told.  Valid during the hook only. */
typedef struct lfpool_misuse {
	lfpool_t *pool;         /* the pool that refused; NULL: a set (lfpool/set.h)       */
	const char *pool_name;  /* its config.name, or "unnamed"                       */
	const void *object;     /* the pointer that was refused, or the damaged object */
	lfpool_status_t status; /* why                                                 */
	size_t count;           /* misuses of this pool so far, this one included      */
	lfpool_handle_t handle; /* that was refused, if it was one; else 0             */
	size_t index;           /* of the slot, see lfpool_index_of(); SIZE_MAX: none  */
	ptrdiff_t offset;       /* LFPOOL_E_WRITTEN_WHEN_FREE, LFPOOL_E_GUARD: of the
	                           first byte that is wrong, from the object's start   */
	const char *detail;     /* what else is known, in English; never NULL          */
} lfpool_misuse_t;

/*
 * What a pool calls: hooks.  `context` is handed to each.  A hook runs on the calling thread, in the middle of the call
 * that caused it, with no lock held; it may call the pool (except a hook that lfpool_create() or lfpool_destroy()
 * calls).  Several threads may run it at once, for different objects.
 *
 * An object's life: create once; then validate (not the first time), activate, use, deactivate, any number of times;
 * destroy once.  What create built survives reuse.  An object is in use from when activate has returned to when
 * deactivate begins: in a hook it is not, and has no handle.  Each hook is called exactly once for each such step,
 * whatever happens at the same time: releases of pools with one of these hooks are as with LFPOOL_CHECK_RACES.  Pools
 * without validate, activate and deactivate, and without create or with LFPOOL_CREATE_ALL, keep their inlined hits; the
 * others take the general path (about 20 ns for a pair, and what the hooks take).
 */
typedef struct lfpool_hooks {
	void *context; /* handed to each */
	/* A release was refused, or a debug mode found something.  NULL: one line on stderr the first time, after that
	 * only counted. */
	void (*misuse)(void *context, const lfpool_misuse_t *misuse);
	/* Build an object in its memory (zero bytes at first, afterwards what destroy left, with zero bytes where
	 * lfpool_trim() gave a page back): on its first use, or with LFPOOL_CREATE_ALL at lfpool_create().  false: it
	 * cannot be built now: the call takes an object that is built and free, wherever it is cached, or returns NULL
	 * if there is none, and nothing is lost (with LFPOOL_CREATE_ALL lfpool_create() returns LFPOOL_E_CREATE, after
	 * destroying what was built).  Objects that are built are always tried before create is called. */
	bool (*create)(void *context, void *object);
	/* Each acquire of an object that create built earlier, before activate: is it still good?  false: destroy is
	 * called, and create builds it anew, in the same call.  If create refuses, the call tries other objects, each
	 * once.  NULL where there is no hook: all are good. */
	bool (*validate)(void *context, void *object);
	/* Each acquire, before the caller gets the object.  false: the object stays free and built, and the call tries
	 * others, each once.  It returns NULL if each free object was refused, by this call or by one at the same time.
	 * Later calls try a refused object after the other free ones, and before they build a new one. */
	bool (*activate)(void *context, void *object);
	/* Each release: clear references, reset.  false: not fit for reuse: destroy is called now, and create before
	 * the slot is used again. */
	bool (*deactivate)(void *context, void *object);
	/* Undo create: when validate or deactivate said false, and at lfpool_destroy() for every object that was built;
	 * for those still active deactivate is called first.  (Without create: for every object that was ever
	 * acquired.) */
	void (*destroy)(void *context, void *object);
	/* A call found nothing, and the pool could not grow by itself: the hook may release objects, grow the pool, or
	 * give up.  `attempt` counts from 0 within the call.  true: try again, after waiting up to *wait_ns nanoseconds
	 * (0 when it is called: not at all; negative: for ever) for an object, in the queue of lfpool/wait.h; false:
	 * the call goes on as without the hook.  Runs like the others; no hit pays for it. */
	bool (*exhausted)(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns);
	/* An object was evicted (lfpool/evict.h), by lfpool_acquire_evicting() or lfpool_release_least(): its last
	 * priority, and its handle, which is stale.  No other thread has the object: the hook can read it and write
	 * to it.  hooks.deactivate follows.  NULL: nothing. */
	void (*evict)(void *context, void *object, lfpool_handle_t handle, uint64_t priority);
	void (*reserved[1])(void); /* must be NULL */
} lfpool_hooks_t;

typedef struct lfpool_batch lfpool_batch_t; /* a batch of retired objects, which a scheme is asked about */
/* A scheme of safe memory reclamation, for lfpool_retire(): lfpool/retire.h.  All NULL: objects are only released. */
typedef struct {
	void *context;                                             /* handed to each                       */
	void (*begin)(void *context, lfpool_batch_t *batch);       /* the batch is with the scheme now     */
	bool (*ready)(void *context, const lfpool_batch_t *batch); /* may its objects be reused?           */
	bool (*wait)(void *context);                               /* until batches are ready or reclaimed */
	void (*reserved[3])(void);                                 /* must be NULL */
} lfpool_scheme_t;

/* For config.memory_use: config.memory holds the objects, or the whole pool (no call of it enters the kernel). */
#define LFPOOL_MEMORY_OBJECTS 0
#define LFPOOL_MEMORY_POOL 1

/*
 * What a pool should be.  Append-only: zero means "the default" for every field that has one.  Copied by
 * lfpool_create(), never written back. Use LFPOOL_CONFIG_INIT, or lfpool_config_init() in C++.
 */
typedef struct lfpool_config {
	size_t struct_size;       /* bytes: sizeof(lfpool_config_t) as the caller was compiled          */
	const char *name;         /* for messages; at most 63 bytes, copied; NULL = "unnamed"           */
	size_t object_size;       /* bytes, 1 .. 1 GiB; no default                                      */
	size_t object_alignment;  /* bytes, a power of two, 1 .. 1 GiB; 0 = alignof(max_align_t)        */
	size_t capacity;          /* objects that callers can hold at once, 1 .. 2^31; no default; 0 only in
	                             lfpool_create(), with max_capacity and without LFPOOL_CREATE_ALL   */
	size_t cache_capacity;    /* objects one cache may hold, 1 .. 8192, rounded down to twice a power
	                             of two, at least 2; raised in pools of more than 2^23 objects to keep
	                             magazines few; 0 = as many as 256 KiB have room for, at most
	                             max_capacity divided by the number of processors, and a quarter of
	                             that, at most 256, for objects of a page or more and with
	                             hooks.create (docs/design.md, "Limits"); LFPOOL_CACHE_NONE         */
	uint32_t flags;           /* LFPOOL_PREFAULT ...; 0 = none                                      */
	lfpool_backend_t backend; /* 0 = LFPOOL_BACKEND_LOCKFREE                                        */
	lfpool_hooks_t hooks;     /* all NULL = the defaults                                            */
	size_t depot_shards;      /* parts of the shared store, each with the surplus and the unused objects
	                             of some caches, 1 .. 32; 0 = two for each processor, at most one for
	                             each magazine                                                      */
	const char *debug;        /* debug modes, "poison,owner", see lfpool/debug.h; read, not kept;
	                             NULL = those of the environment variable LFPOOL_DEBUG alone        */
	size_t max_capacity;      /* objects it can grow to (lfpool/resize.h), capacity .. 2^31; address
	                             space for them is reserved; 0 = capacity                           */
	size_t growth_step;       /* objects that are added when a call finds nothing, up to max_capacity;
	                             0 = it grows only when it is told to                               */
	lfpool_scheme_t scheme;   /* when retired objects may be reused, see lfpool/retire.h; for pools of
	                             less than 2^30 objects, not in a buffer; 0 = none                   */
	size_t buffer_caches;     /* caches of a pool in a buffer, for calls and explicit (lfpool/buffer.h),
	                             1 .. 16; 0 = 16; of any other pool, 0                               */
	void *memory;             /* caller-provided memory, see lfpool/buffer.h; NULL = the system's   */
	size_t memory_bytes;      /* its size, at least lfpool_memory_bytes()                           */
	uint32_t memory_use;      /* LFPOOL_MEMORY_OBJECTS or LFPOOL_MEMORY_POOL                        */
	lfpool_evict_t evict;     /* the full pool evicts, see lfpool/evict.h; not in a buffer; 0 = it does
	                             not                                                                 */
	/* With `evict`: is an object of priority a evicted before one of priority b?  A strict weak order of all 64-bit
	 * numbers that never changes: the pool also compares numbers that no object has, such as UINT64_MAX.  Any
	 * thread calls it, several times in each call that searches.  NULL: a < b. */
	bool (*before)(void *context, uint64_t a, uint64_t b);
	void *before_context; /* passed to `before` */
} lfpool_config_t;

/* The default of every field, in C.  In C++, where this warns of the fields that it leaves out: lfpool_config_init().
 * */
#define LFPOOL_CONFIG_INIT {.struct_size = sizeof(lfpool_config_t)}

/*
 * lfpool_config_init - set every field to its default: the same as LFPOOL_CONFIG_INIT, for C++ and for structs in
 * dynamic memory.
 *
 * config    Written whole; what was in it does not matter.
 * Threads   Any.  Wait-free.
 */
static inline void lfpool_config_init(lfpool_config_t *config)
{
	memset(config, 0, sizeof(*config));
	config->struct_size = sizeof(*config);
}

LFPOOL_C_END_

#endif
