/* SPDX-License-Identifier: MIT */
/*
 * lfpool.h - a thread-safe, lock-free pool of objects of one size.
 *
 *     lfpool_config_t config = LFPOOL_CONFIG_INIT;
 *     lfpool_t *pool;
 *
 *     config.object_size = sizeof(struct job);
 *     config.capacity = 10000;
 *     if (lfpool_create(&pool, &config) != LFPOOL_OK) ...
 *
 *     struct job *job = lfpool_acquire(pool);     // any thread
 *     ...
 *     lfpool_release(pool, job);                  // any thread, not only the one that acquired
 *
 *     lfpool_destroy(pool);
 *
 * The promises, in short (docs/design.md argues each):
 *   1. lfpool_acquire() returns an object that nobody else holds, or NULL; and NULL only if at some moment
 *      during the call every object was in use (or a hook refused, or the malloc backend had no memory).  Objects that
 *      lie idle in other threads' caches are free: the caller gets them.  (In the hands of a call, for the moment it
 *      takes, are: what is being acquired or released, also on its way to a call that waits, and what lfpool_shrink() or a
 *      step of lfpool_trim() has just taken out.  With config.scheme, what is retired and not yet reclaimed is in use.)
 *      (A release has happened, for this, when it happens before the acquire in the sense of C11: through a lock, a
 *      join, an atomic flag.)
 *   2. Releasing a valid object never fails, whatever memory the system refuses, and waits for nobody (one exception
 *      is named in docs/design.md, "Progress").  What was written before the release is visible to whoever acquires
 *      the object next.
 *   3. A hit in the cache is wait-free and uses no locked instruction; everything else on the way from acquire to
 *      release is lock-free: a thread stopped at any instruction holds up nobody.
 *   4. Foreign, interior and double releases are refused in O(1), reported, and change nothing.
 *   5. The pool never reads or writes an object, active or free, unless LFPOOL_ZERO, a hook or a debug mode does:
 *      what a hook built in an object survives reuse.
 *
 * Words.  An object is active from acquire to release, otherwise free.  A slot is the cell that holds one object.
 * A cache is one worker's private store of free slots.  "Wait-free", "lock-free" and "may enter the kernel" are
 * stated for each function.  Pointers to pools and caches must be valid and not NULL unless said otherwise.
 *
 * This header reads as C99 to C23 and as C++11 to C++23.
 */
#ifndef LFPOOL_LFPOOL_H
#define LFPOOL_LFPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The version of this header, and of the library that it belongs to. */
#define LFPOOL_VERSION_MAJOR 0
#define LFPOOL_VERSION_MINOR 1
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

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lfpool_pool lfpool_t;        /* a pool */
typedef struct lfpool_cache lfpool_cache_t; /* one worker's cache of a pool; it has one user at a time */
typedef uint64_t lfpool_handle_t;           /* names an object until it is released, see lfpool/handle.h; 0 is never valid */

/* ---- Status ------------------------------------------------------------------------------------------------ */

/* Every status: X(name, value, text).  One value per kind of refusal; a config refusal names its field. */
#define LFPOOL_STATUS_MAP(X)                                                                                    \
	X(LFPOOL_OK, 0, "ok")                                                                                   \
	X(LFPOOL_E_ARGUMENT, -1, "a required pointer is NULL, or a struct_size is none")                        \
	X(LFPOOL_E_NO_MEMORY, -2, "the operating system refused memory")                                        \
	X(LFPOOL_E_CREATE, -3, "hooks.create refused an object (LFPOOL_CREATE_ALL)")                            \
	X(LFPOOL_E_LOCK, -4, "the operating system refused to lock memory (RLIMIT_MEMLOCK)")                    \
	X(LFPOOL_E_BUFFER, -5, "the buffer for lfpool_create_in() is too small or not aligned")                 \
	X(LFPOOL_E_PROFILE, -6, "the profile of a registry has an error")                                       \
	X(LFPOOL_E_SCENARIO, -7, "the profile of the registry has no scenario of this name")                    \
	X(LFPOOL_E_EXISTS, -8, "the registry has a pool of this name already")                                  \
	X(LFPOOL_E_CONFIG_STRUCT_SIZE, -10, "config.struct_size is unknown, or a newer field is set")           \
	X(LFPOOL_E_CONFIG_NAME, -11, "config.name is longer than 63 bytes")                                     \
	X(LFPOOL_E_CONFIG_OBJECT_SIZE, -12, "config.object_size is not in 1 .. 1 MiB")                          \
	X(LFPOOL_E_CONFIG_OBJECT_ALIGNMENT, -13, "config.object_alignment is not a power of two in 1 .. 4096")  \
	X(LFPOOL_E_CONFIG_CAPACITY, -14, "config.capacity is not in 1 .. 2^31")                                 \
	X(LFPOOL_E_CONFIG_CACHE_CAPACITY, -15, "config.cache_capacity is not in 1 .. 8192")                     \
	X(LFPOOL_E_CONFIG_FLAGS, -16, "config.flags has an unknown bit, or bits that exclude each other")       \
	X(LFPOOL_E_CONFIG_BACKEND, -17, "config.backend or the variable LFPOOL_BACKEND names no backend")       \
	X(LFPOOL_E_CONFIG_HOOKS, -18, "config.hooks has a reserved field set, or create excludes LFPOOL_ZERO")  \
	X(LFPOOL_E_CONFIG_DEPOT_SHARDS, -19, "config.depot_shards is not in 1 .. 32")                           \
	X(LFPOOL_E_CONFIG_DEBUG, -20, "config.debug or LFPOOL_DEBUG has an unknown word, or a number out of range") \
	X(LFPOOL_E_CONFIG_MAX_CAPACITY, -21, "config.max_capacity is neither 0 nor in capacity .. 2^31")         \
	X(LFPOOL_E_CONFIG_STEPS, -22, "config.steps of a set is not 4, 8 or 16")                                \
	X(LFPOOL_E_CONFIG_SCHEME, -23, "config.scheme is incomplete, or not for such a pool")                    \
	X(LFPOOL_E_FOREIGN, -30, "release of a pointer that does not point into the pool")                      \
	X(LFPOOL_E_INTERIOR, -31, "release of a pointer into the pool that is not the start of an object")      \
	X(LFPOOL_E_NOT_IN_USE, -32, "release of an object that is not in use: a double release")                \
	X(LFPOOL_E_STALE, -33, "release by a handle that names no active object of this pool")                         \
	X(LFPOOL_E_WRITTEN_WHEN_FREE, -34, "an object was written to after its release")                        \
	X(LFPOOL_E_GUARD, -35, "bytes beside an object were overwritten")                                       \
	X(LFPOOL_E_STILL_ACTIVE, -36, "an object was still active when its pool was destroyed")                 \
	X(LFPOOL_E_INVARIANT, -37, "the pool itself is damaged")                                                 \
	X(LFPOOL_E_NOT_PINNED, -38, "unpin of an object that is not pinned")                                     \
	X(LFPOOL_E_NO_SCHEME, -39, "retire in a pool without config.scheme")                                     \
	X(LFPOOL_E_IN_SECTION, -40, "drain or destroy inside a read-side section, for which it would wait")

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
 * LFPOOL_CHECK_RACES  Two releases of one object at the same instant: exactly one succeeds.  Without it such a pair
 *                     is refused nearly always, not always.  Costs one locked instruction per release.
 * LFPOOL_CREATE_ALL   hooks.create builds every object when the pool is created, not each when it is first used. Create
 *                     is then O(capacity).  Without hooks.create it does nothing.  Objects by which the pool grows, and
 *                     those that lfpool_trim() took down, are built when they are first used, as without the flag.
 * LFPOOL_UNTRACKED    Keep no state per object.  Saves a nanosecond or two and 4 bytes per object; loses the refusal
 *                     of double releases (they then corrupt the pool's contents, as with most allocators: one object
 *                     may be handed out twice, and a later release may not return), handles and walks; and
 *                     lfpool_in_use() answers like lfpool_owns().  Excludes LFPOOL_CHECK_RACES.  Pools with hooks other
 *                     than misuse, debug modes or a scheme, keep their state words all the same.
 * LFPOOL_LOCK         Lock the same memory in RAM (mlock), so that it is never paged out; implies LFPOOL_PREFAULT.  Not
 *                     locked: what debug modes keep, the objects of LFPOOL_BACKEND_MALLOC, and, in a child after fork,
 *                     anything.  When the system refuses (RLIMIT_MEMLOCK, CAP_IPC_LOCK), lfpool_create() returns
 *                     LFPOOL_E_LOCK, a pool grows by fewer, and a thread does without a cache of its own.
 * LFPOOL_HUGE_PAGES   Objects begin on a boundary of 2 MiB, and the system is asked for transparent huge pages for
 *                     them and for the state words and magazines (madvise): fewer misses of the TLB, and fewer page
 *                     faults.  A wish: pools without it work the same (docs/memory.md has what it gains).
 */
#define LFPOOL_PREFAULT UINT32_C(0x1)
#define LFPOOL_ZERO UINT32_C(0x2)
#define LFPOOL_CHECK_RACES UINT32_C(0x4)
#define LFPOOL_UNTRACKED UINT32_C(0x8)
#define LFPOOL_CREATE_ALL UINT32_C(0x10)
#define LFPOOL_LOCK UINT32_C(0x20)
#define LFPOOL_HUGE_PAGES UINT32_C(0x40)

/* For config.cache_capacity: threads get no cache of their own; calls share a few caches and claim one per call. */
#define LFPOOL_CACHE_NONE SIZE_MAX

/*
 * Backends: what stands behind the same calls.  The environment variable LFPOOL_BACKEND (lockfree, mutex, malloc),
 * when set, overrides the config of every pool, so that a program can be compared without a rebuild.
 *
 * LFPOOL_BACKEND_LOCKFREE  The library proper.
 * LFPOOL_BACKEND_MUTEX     One mutex around one intrusive list, what people write by hand: free objects are
 *                          overwritten with links, any call may wait, not safe after fork.  Slots are at least 8
 *                          bytes.
 * LFPOOL_BACKEND_MALLOC    Each acquire is an aligned allocation, each release a free: for measuring what pooling
 *                          gains, and for letting AddressSanitizer or Valgrind see each object.  Walks, handles, hooks
 *                          and counts work as elsewhere (each object is built and taken down each time; those
 *                          still active at destroy stay as they are, and LFPOOL_CREATE_ALL does nothing).  What is in
 *                          an acquired object is the allocator's, not zero.  A release
 *                          reads a label before the object, and refuses one that does not fit (foreign, interior and
 *                          most double releases: what is read there may have been freed); owns and in_use answer yes
 *                          for every pointer but NULL.  Objects that are active when the pool is destroyed stay
 *                          allocated, for a leak checker to see.  Acquire also returns NULL when the allocator does.
 */
typedef enum lfpool_backend {
	LFPOOL_BACKEND_LOCKFREE = 0,
	LFPOOL_BACKEND_MUTEX = 1,
	LFPOOL_BACKEND_MALLOC = 2
} lfpool_backend_t;

/* What the misuse hook is told.  Valid during the hook only. */
typedef struct lfpool_misuse {
	lfpool_t *pool;         /* the pool that refused; NULL: a set, lfpool/set.h    */
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
 * that caused it, with no lock held; it may call the pool (but for those that lfpool_create() and lfpool_destroy()
 * call).  Several threads may run it at once, for different objects.
 *
 * An object's life: create once; then activate, use, deactivate, any number of times; destroy once.  What create built
 * survives reuse.  An object is in use from when activate has returned to when deactivate begins: in a hook it is not,
 * and has no handle.  Each hook is called
 * exactly once for each such step, whatever happens at the same time: releases of pools with hooks other than misuse
 * are as with LFPOOL_CHECK_RACES.  Pools without activate and deactivate, and without create or with LFPOOL_CREATE_ALL,
 * keep their inlined hits; the others take the general path (about 20 ns for a pair, and what the hooks take).
 */
typedef struct lfpool_hooks {
	void *context; /* handed to each */
	/* A release was refused, or a debug mode found something.  NULL: one line on stderr the first time, after that
	 * only counted. */
	void (*misuse)(void *context, const lfpool_misuse_t *misuse);
	/* Build an object in its memory (zero bytes at first, afterwards what destroy left): on its first use, or with
	 * LFPOOL_CREATE_ALL at lfpool_create().  false: it cannot be built now: acquire returns NULL and nothing is
	 * lost (with LFPOOL_CREATE_ALL lfpool_create() returns LFPOOL_E_CREATE, after destroying what was built).  The
	 * slot is tried again by the next who gets it: while create goes on refusing, a thread may get NULL each time
	 * although built objects lie free in other caches.  So let the capacity be what create can build. */
	bool (*create)(void *context, void *object);
	/* Each acquire, before the caller gets the object.  false: acquire returns NULL, and the object stays free. */
	bool (*activate)(void *context, void *object);
	/* Each release: clear references, reset.  false: not fit for reuse: destroy is called now, and create before
	 * the slot is used again. */
	bool (*deactivate)(void *context, void *object);
	/* Undo create: when deactivate said false, and at lfpool_destroy() for every object that was built; for those
	 * still active deactivate is called first.  (Without create: for every object that was ever acquired.) */
	void (*destroy)(void *context, void *object);
	/* A call found nothing, and the pool could not grow by itself: the hook may release objects, grow the pool, or
	 * give up.  `attempt` counts from 0 within the call.  true: try again, after waiting up to *wait_ns nanoseconds
	 * (0 when it is called: not at all; negative: for ever) for an object, in the queue of lfpool/wait.h; false: the
	 * call goes on as without the hook.  Runs like the others; no hit pays for it. */
	bool (*exhausted)(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns);
	void (*reserved[1])(void); /* must be NULL */
} lfpool_hooks_t;

typedef struct lfpool_batch lfpool_batch_t; /* a batch of retired objects, which a scheme is asked about */
/* A scheme of safe memory reclamation, for lfpool_retire(): lfpool/retire.h.  All NULL: objects are only released. */
typedef struct {
	void *context;                                             /* handed to each                       */
	void (*begin)(void *context, lfpool_batch_t *batch);       /* the batch is with the scheme now     */
	bool (*ready)(void *context, const lfpool_batch_t *batch); /* may its objects be reused?           */
	bool (*wait)(void *context);                               /* until batches are ready or reclaimed */
	void (*reserved[3])(void); /* must be NULL */
} lfpool_scheme_t;

/*
 * What a pool should be.  Append-only: zero means "the default" for every field that has one.  Copied by
 * lfpool_create(), never written back. Use LFPOOL_CONFIG_INIT, or lfpool_config_init() in C++.
 */
typedef struct lfpool_config {
	size_t struct_size;       /* bytes: sizeof(lfpool_config_t) as the caller was compiled          */
	const char *name;         /* for messages; at most 63 bytes, copied; NULL = "unnamed"           */
	size_t object_size;       /* bytes, 1 .. 1 MiB; no default                                      */
	size_t object_alignment;  /* bytes, a power of two, 1 .. 4096; 0 = alignof(max_align_t)         */
	size_t capacity;          /* objects that callers can hold at once, 1 .. 2^31; no default       */
	size_t cache_capacity;    /* objects one cache may hold, 1 .. 8192, rounded down to twice a power
	                             of two, at least 2; raised in pools of more than 2^23 objects to keep
	                             magazines few; 0 = at most 512, less in small pools so that a cache
	                             for each processor holds about half of them; LFPOOL_CACHE_NONE     */
	uint32_t flags;           /* LFPOOL_PREFAULT ...; 0 = none                                      */
	lfpool_backend_t backend; /* 0 = LFPOOL_BACKEND_LOCKFREE                                        */
	lfpool_hooks_t hooks;     /* all NULL = the defaults                                            */
	size_t depot_shards;      /* parts of the shared store, 1 .. 32; 0 = one for every 8 processors */
	const char *debug;        /* debug modes, "poison,owner", see lfpool/debug.h; read, not kept;
	                             NULL = those of the environment variable LFPOOL_DEBUG alone        */
	size_t max_capacity;      /* objects it can grow to (lfpool/resize.h), capacity .. 2^31; address
	                             space for them is reserved; 0 = capacity                           */
	size_t growth_step;       /* objects that are added when a call finds nothing, up to max_capacity;
	                             0 = it grows only when it is told to                               */
	lfpool_scheme_t scheme;   /* when retired objects may be reused, see lfpool/retire.h; for pools of
	                             less than 2^30 objects, not in a buffer, never untracked; 0 = none  */
} lfpool_config_t;

/* The default of every field, in C.  In C++, where this warns of the fields that it leaves out: lfpool_config_init(). */
#define LFPOOL_CONFIG_INIT                                                                                      \
	{                                                                                                       \
		.struct_size = sizeof(lfpool_config_t)                                                          \
	}

/*
 * lfpool_config_init - set every field to its default: the same as LFPOOL_CONFIG_INIT, for C++ and for structs in dynamic
 * memory.
 *
 * config    Written whole; what was in it does not matter.
 * Threads   Any.  Wait-free.
 */
static inline void lfpool_config_init(lfpool_config_t *config)
{
	memset(config, 0, sizeof(*config));
	config->struct_size = sizeof(*config);
}

/* ---- Pool -------------------------------------------------------------------------------------------------- */

/*
 * lfpool_create - make a pool.
 *
 * pool_out  Receives the pool; set to NULL on failure.
 * config    Read, not kept.
 * Returns   LFPOOL_OK; LFPOOL_E_ARGUMENT (a NULL pointer); LFPOOL_E_CONFIG_* (names the field); LFPOOL_E_NO_MEMORY;
 *           LFPOOL_E_CREATE; LFPOOL_E_LOCK.
 *           After a failure nothing is left behind.
 * Owner     The caller, until lfpool_destroy().
 * Memory    Address space for capacity objects is reserved here and at once; memory is used as objects are first
 *           touched. Beside the objects: about 8.5 bytes per object touched (4.5 untracked) and 5 KiB per cache with
 *           magazines of 256 objects; small magazines cost more per object (docs/design.md, "Limits").
 * Threads   Any.  Takes a lock shared with destroy and thread exit; enters the kernel.
 * Cost      O(1) in the capacity, unless LFPOOL_PREFAULT or LFPOOL_CREATE_ALL.
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_create(lfpool_t **pool_out, const lfpool_config_t *config);

/*
 * lfpool_destroy - give the pool's memory back, its active objects included.
 *
 * pool      NULL is fine.  No other call on this pool or its caches may be under way or follow.  Threads that used
 *           the pool may live on, or be exiting at this very moment.
 * Returns   How many objects were still active (0 for NULL).  With a scheme it waits first, as lfpool_drain(): see there.
 * Threads   Any.  Takes a lock shared with create and thread exit; enters the kernel.
 * Cost      O(memory touched).
 */
LFPOOL_API size_t lfpool_destroy(lfpool_t *pool);

/*
 * lfpool_acquire - take one object out of the pool, through the calling thread's own cache.
 *
 * Returns   An object of config.object_size bytes, aligned to config.object_alignment; its contents are what the last
 *           holder left (zero bytes if it was never used).  NULL when every object was in use at some moment during
 *           the call, or hooks.create or hooks.activate refused.  errno is left alone.
 * Owner     The caller, until a release from any thread.
 * Threads   Any, with no registration, also while a thread exits and in a child after fork.  Not from a signal
 *           handler, which needs a cache of its own (docs/signals.md); with LFPOOL_CACHE_NONE it may.
 * Progress  Hit: wait-free.  Miss: lock-free; enters the kernel only when it takes objects out of another thread's
 *           cache (membarrier), and on a thread's first call on this pool, to get the thread a cache of its own; where
 *           that is refused, and with LFPOOL_CACHE_NONE, each call borrows one (docs/design.md, "Progress").  And for
 *           what was asked for: growth_step, a scheme, hooks, debug modes (docs/real-time.md has every case).
 * Cost      O(1) amortised; an exhausted, stealing or borrowing call is O(caches).
 * Source    Magazines after Bonwick and Adams (2001); stealing after Chase and Lev (2005) with the orders of Le, Pop,
 *           Cohen and Zappa Nardelli (2013); the depot after Treiber (1986).
 */
LFPOOL_API void *lfpool_acquire(lfpool_t *pool);

/*
 * lfpool_release - give an object back, from any thread.
 *
 * object    An active object of this pool; NULL is fine and does nothing.
 * Returns   LFPOOL_OK; LFPOOL_E_FOREIGN, LFPOOL_E_INTERIOR, LFPOOL_E_NOT_IN_USE: refused, reported to the misuse
 *           hook, nothing changed.
 * Threads   Any.  From a signal handler: as lfpool_acquire().
 * Progress  Hit: wait-free.  Miss: lock-free.  Enters the kernel only on a thread's first call on this pool, to get
 *           the thread a cache of its own; where that is refused, and with LFPOOL_CACHE_NONE, each call borrows one
 *           (docs/design.md, "Progress").  And while somebody waits, to serve him (docs/real-time.md has every case).
 * Cost      O(1); a borrowing call is O(caches).
 */
LFPOOL_API lfpool_status_t lfpool_release(lfpool_t *pool, void *object);

/*
 * lfpool_acquire_bulk - acquire up to `count` objects.
 *
 * objects_out  Room for `count` pointers; as many of them as the call returns are set.
 * count        How many are wanted; 0 does nothing.
 * Returns      How many; fewer than `count` only if every other object was in use at some moment during the call, or a
 *              hook refused the next.
 * Threads, progress   As lfpool_acquire().
 * Cost         O(count): one barrier for as many as the thread's magazine holds, instead of one each.
 */
LFPOOL_API size_t lfpool_acquire_bulk(lfpool_t *pool, void **objects_out, size_t count);

/*
 * lfpool_release_bulk - release `count` objects.
 *
 * objects   `count` pointers.  NULLs are passed over; what lfpool_release() would refuse is refused and reported, and
 *           the rest is released nevertheless.
 * count     How many pointers there are.
 * Returns   How many objects were released.
 * Threads, progress   As lfpool_release().
 * Cost      O(count).
 */
LFPOOL_API size_t lfpool_release_bulk(lfpool_t *pool, void *const *objects, size_t count);

/* ---- Explicit caches: for workers and fibers that carry their own ------------------------------------------ */

/*
 * lfpool_cache_create - a cache of one's own.
 *
 * Returns   The cache; NULL when the operating system refuses memory, or when the pool has 8172 caches already.
 * Owner     The caller, until lfpool_cache_destroy().  A cache has one user at a time.  It may move from thread to
 *           thread (a fiber that migrates) if the hand-over itself is synchronised.
 * Threads   Any.  Lock-free; may enter the kernel.
 * Cost      O(caches).
 */
LFPOOL_API lfpool_cache_t *lfpool_cache_create(lfpool_t *pool);

/*
 * lfpool_cache_destroy - hand the cache's free objects back to the pool, and the cache too.
 *
 * cache     NULL is fine.  Need not be called before lfpool_destroy().
 * Threads   Any, but nobody may be using the cache.  Lock-free.
 */
LFPOOL_API void lfpool_cache_destroy(lfpool_cache_t *cache);

/*
 * lfpool_cache_acquire, lfpool_cache_release - as lfpool_acquire() and lfpool_release(), through this cache: no look-up,
 * nothing thread-local.
 *
 * Include lfpool/inline.h to have the hits of both inlined.
 *
 * object    As for lfpool_release(), acquired through whichever cache.
 * Returns   As lfpool_acquire() and lfpool_release().
 * Threads   The cache's user; also a signal handler, through a cache that no call which it may interrupt is using
 *           (docs/signals.md).
 * Progress  As lfpool_acquire() and lfpool_release() where the thread has a cache already.
 */
LFPOOL_API void *lfpool_cache_acquire(lfpool_cache_t *cache);
LFPOOL_API lfpool_status_t lfpool_cache_release(lfpool_cache_t *cache, void *object);

/*
 * lfpool_cache_acquire_bulk, lfpool_cache_release_bulk - as lfpool_acquire_bulk() and lfpool_release_bulk(), through this
 * cache.
 *
 * objects_out, objects, count   As there.
 * Returns   As lfpool_acquire_bulk() and lfpool_release_bulk().
 * Threads, progress   As lfpool_cache_acquire().
 */
LFPOOL_API size_t lfpool_cache_acquire_bulk(lfpool_cache_t *cache, void **objects_out, size_t count);
LFPOOL_API size_t lfpool_cache_release_bulk(lfpool_cache_t *cache, void *const *objects, size_t count);

/* ---- Questions: also from a signal handler ------------------------------------------------------------------ */

/*
 * lfpool_owns - is `pointer` the address of one of this pool's objects?
 *
 * pointer   Any value.
 * Returns   true if it is one's start: active or free, or one that the pool may grow by, or that was taken out.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API bool lfpool_owns(const lfpool_t *pool, const void *pointer);

/*
 * lfpool_in_use - is `object` an object of this pool, and active?
 *
 * object    Any value.
 * Returns   true if it is; while another thread acquires or releases that very object, either answer.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API bool lfpool_in_use(const lfpool_t *pool, const void *object);

/*
 * lfpool_capacity - objects there are, active and free.
 *
 * Returns   config.capacity, until it grows or shrinks.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API size_t lfpool_capacity(const lfpool_t *pool);

/*
 * lfpool_active_count, lfpool_available_count - objects in use; objects not in use.
 *
 * Retired objects (lfpool/retire.h) count as in use.
 *
 * Returns   How many: exact, and their sum the capacity, while no other thread is inside a call on the pool; else a
 *           snapshot within 0 .. capacity.
 * Threads   Any.  Wait-free.
 * Cost      O(objects ever used / objects per magazine + caches).
 */
LFPOOL_API size_t lfpool_active_count(const lfpool_t *pool);
LFPOOL_API size_t lfpool_available_count(const lfpool_t *pool);

/*
 * lfpool_misuse_count - how many misuses were found so far.
 *
 * Returns   Releases that were refused, and what debug modes found.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API size_t lfpool_misuse_count(const lfpool_t *pool);

/*
 * lfpool_backend - the backend in force.
 *
 * Returns   config.backend, or what the environment has chosen instead.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API lfpool_backend_t lfpool_backend(const lfpool_t *pool);

#ifdef __cplusplus
}
#endif

#include "lfpool/buffer.h"
#include "lfpool/debug.h"
#include "lfpool/handle.h"
#include "lfpool/report.h"
#include "lfpool/resize.h"
#include "lfpool/retire.h"
#include "lfpool/wait.h"
#include "lfpool/walk.h"

#endif
