/* SPDX-License-Identifier: MIT */
/*
 * pool.h - what a pool is, whatever stands behind it.
 *
 * Idea         A backend is one set of functions.  The pool's struct is the head of the backend's own struct, in
 *              memory that the backend got. Everything that a hit needs is in the cache, so this costs only the
 *              misses.
 */
#ifndef LFPOOL_POOL_H
#define LFPOOL_POOL_H

#include "atomics.h"
#include "base.h"
#include "cache.h"
#include "lifecycle.h"
#include "cold.h"
#include "waiters.h"
#include "retired.h"
#include "debug_words.h"

#define NAME_BYTES 64
#define STRING_OF(x) #x
#define VERSION_OF(major, minor, patch) STRING_OF(major) "." STRING_OF(minor) "." STRING_OF(patch)
#define VERSION VERSION_OF(LFPOOL_VERSION_MAJOR, LFPOOL_VERSION_MINOR, LFPOOL_VERSION_PATCH)

/* Near 2^64 by the golden ratio, and such that N3 in handle.c holds for ever. */
#define SALT_STEP UINT64_C(0x9e3779b981a6ccb9)
#define DETAIL_BYTES 1024 /* of a misuse, at most */
#define STRUCT_SIZE_MAX 4096 /* beyond this a caller's struct_size is no size */

/* Addresses without access, whole pages, reserved by the caller for objects to lie there.  All 0: the pool reserves
 * its own. */
struct window {
	void *at;
	size_t bytes;
	bool whole; /* a buffer of the caller's, with access, in which all of the pool shall lie */
};

struct backend {
	/* Makes a pool with `config` (validated, complete) and `lifecycle`, its objects in `window`; fills in what the
	 * backend needs, and of the head `arena`, `lifecycle` and `core`.  NULL: no memory. */
	lfpool_t *(*open)(const lfpool_config_t *config, struct lifecycle *lifecycle, const struct window *window);
	/* Frees it; returns how many objects were active. */
	size_t (*close)(lfpool_t *pool);
	/* Without a cache of the caller's. */
	void *(*acquire)(lfpool_t *pool);
	lfpool_status_t (*release)(lfpool_t *pool, void *object);
	/* In three steps, the first two without looking at what is in the slot, through the cache `head` if there is one:
	 * takes a free slot, exactly as acquire does; or puts it back, and no one is told (waiters.h, W1); or makes its object
	 * active: *object_out is NULL if a hook refused, and the slot was put back.  False: it was active already, since it
	 * was released twice in a race; it is used up. */
	uint32_t (*take)(lfpool_t *pool, struct cache_head *head_or_null);
	/* As take, but only what lies idle: neither what was never used, or is cold, nor out of others' hands.  And how many
	 * lie in free lists; a snapshot. */
	uint32_t (*take_idle)(lfpool_t *pool, struct cache_head *head_or_null);
	size_t (*listed)(const lfpool_t *pool);
	void (*put_free)(lfpool_t *pool, struct cache_head *head_or_null, uint32_t slot);
	bool (*begin)(lfpool_t *pool, struct cache_head *head_or_null, uint32_t slot, void **object_out);
	/* Gives back a slot that the caller has just made free: lifecycle_end(), and through the cache of the caller's if
	 * there is one. */
	void (*put)(lfpool_t *pool, struct cache_head *head_or_null, uint32_t slot);
	/* Slots that were ever handed out are among 1 .. this. */
	size_t (*used)(const lfpool_t *pool);
	/* Free objects are about to be shown to code that may write to them.  NULL: nothing of the backend's is there. */
	void (*show)(lfpool_t *pool);
	/* The object of an active slot, and the slot of an object, where they are not arena_object() and
	 * arena_locate(): NULL if they are.  The object is NULL, or one that is gone, while the slot changes hands. */
	void *(*object)(const lfpool_t *pool, uint32_t slot);
	lfpool_status_t (*locate)(const lfpool_t *pool, const void *object, uint32_t *slot_out);
	bool (*owns)(const lfpool_t *pool, const void *pointer);
	bool (*in_use)(const lfpool_t *pool, const void *object);
	size_t (*active_count)(const lfpool_t *pool);
	/* Adds where its objects are, and what it has counted, to stats that are zero except for `capacity` and
	 * `misuses`. */
	void (*stats)(const lfpool_t *pool, lfpool_stats_t *stats_out);
	/* As lfpool_high_water_reset(), for `high_water`. */
	void (*reset)(lfpool_t *pool);
	/* As lfpool_check(), for what is the backend's own; NULL: there is nothing to check. */
	const char *(*check)(const lfpool_t *pool, size_t *where_out);
	/* Explicit caches. */
	struct cache_head *(*cache_create)(lfpool_t *pool);
	void (*cache_destroy)(struct cache_head *head);
	size_t (*cache_acquire_bulk)(struct cache_head *head, void **objects_out, size_t count);
	size_t (*cache_release_bulk)(struct cache_head *head, void *const *objects, size_t count);
};

struct plain_cache;

struct lfpool_pool {
	/* Fixed at creation. */
	/* `id`, if threads have caches of their own of it; else 0, which no thread has an entry for.  First: inline.h reads it. */
	uint64_t table_id;
	uint64_t salt; /* of handles: N3 in handle.c */
	/* Of this pool among all pools ever; its low bits are the place in the registry.  0: it is in a buffer, and not
	 * in the registry. */
	uint64_t id;
	const struct backend *backend;
	lfpool_backend_t backend_kind;
	struct arena *arena; /* the slots, and the objects (but see backend->object) */
	struct lifecycle *lifecycle;   /* what they need besides memory; NULL: nothing       */
	const struct core *core; /* the lock-free backend's; NULL: another backend     */
	size_t object_size, object_alignment;
	size_t growth_step;  /* 0: it does not grow by itself                        */
	bool more;           /* when nothing is left, resize_or_give_up()            */
	struct retired *retired; /* what is retired; NULL: there is no scheme             */
	uint32_t flags;
	lfpool_hooks_t hooks;
	struct debug_modes modes;
	char name[NAME_BYTES];
	/* Under the registry's lock. */
	struct plain_cache *plain_caches; /* explicit caches of a backend that has none */
	/* Anybody. */
	_Atomic(size_t) misuses;
	struct cold cold;     /* slots that are in no free list: room to grow, what was withdrawn or trimmed */
	_Atomic(uint64_t) trim_at;    /* the page where the next lfpool_trim() goes on                         */
	_Atomic(uint64_t) trim_in_vain; /* pages it has looked at since one was given back                     */
	_Atomic(uint64_t) given_back; /* bytes, by lfpool_trim(); a statistic                                  */
	struct waiters waiters; /* who wants objects that are not there                                        */
	struct { /* statistics, as they were at the last lfpool_high_water_reset() */
		_Atomic(uint64_t) acquires, depot_trips, steals, exhausted;
	} since;
	struct {
		_Atomic(uint64_t) acquires, releases; /* at the most, by lfpool_stats()        */
	} told;
};

_Static_assert(offsetof(struct lfpool_pool, table_id) == 0, "inline.h");

extern const struct backend backend_lockfree, backend_mutex, backend_malloc;

static inline void *pool_object(const lfpool_t *pool, uint32_t slot)
{
	return pool->backend->object ? pool->backend->object(pool, slot) : arena_object(pool->arena, slot);
}

/* LFPOOL_OK and the slot, or why not and SLOT_NONE. */
static inline lfpool_status_t pool_locate(const lfpool_t *pool, const void *object, uint32_t *slot_out)
{
	return pool->backend->locate ? pool->backend->locate(pool, object, slot_out)
				     : arena_locate(pool->arena, object, slot_out);
}

/* Do the objects lie in the slots, built or not?  Else they are allocated when they are acquired. */
static inline bool pool_in_place(const lfpool_t *pool)
{
	return !pool->backend->object;
}

/* ---- config.c ---- */

/* Copies a config that may be older or newer than the library, its missing fields 0; false: a field is set that the library
 * does not know. */
bool config_copy(lfpool_config_t *config_out, const lfpool_config_t *given);
/* Checks `given`, completes it with defaults and the environment, and copies it. */
lfpool_status_t config_import(lfpool_config_t *config_out, struct debug_modes *modes_out, const lfpool_config_t *given);
/* The same without the environment and config.debug. */
lfpool_status_t config_import_as_given(lfpool_config_t *config_out, const lfpool_config_t *given);
/* The same for a pool in a buffer: without the environment, and what enters the kernel is refused. */
lfpool_status_t config_import_for_buffer(lfpool_config_t *config_out, struct debug_modes *modes_out,
					 const lfpool_config_t *given);

/* Copies a config, of which `known` bytes are known here, and the caller may know fewer (but `least`) or more: what he
 * does not know is 0.  False when its struct_size is none, or a field is set that is unknown here. */
bool config_copy_known(void *config_out, size_t known, size_t least, const void *given);

/* ---- pool.c ---- */

/*
 * As lfpool_create(), with what config_import() has made of the config, after threads_open(), and with the objects in
 * `window` (of which the malloc backend, whose objects are the heap's, makes no use).
 */
lfpool_status_t pool_create_at(lfpool_t **pool_out, const lfpool_config_t *config, const struct debug_modes *modes,
			       const struct window *window);
/* The same after lifecycle_open(); closes `lifecycle` when it fails. */
lfpool_status_t pool_open_as(lfpool_t **pool_out, const lfpool_config_t *config, const struct debug_modes *modes,
			  struct lifecycle *lifecycle, const struct window *window);
/* lfpool_destroy() in two steps: drains, or reports that it is refused, and returns false; and all the rest. */
bool pool_finish(lfpool_t *pool);
size_t pool_end(lfpool_t *pool);
/* Releases without a cache of the caller's: NULL is fine, a refusal is reported. */
lfpool_status_t pool_release(lfpool_t *pool, void *object);

/* ---- stats.c ---- */

/* What both sides know of `stats`, of which the caller's struct has struct_size bytes.  LFPOOL_E_ARGUMENT: stats_out is
 * NULL, or that is no size. */
lfpool_status_t stats_give(lfpool_stats_t *stats_out, const lfpool_stats_t *stats);

/* Adds the slots 1 .. used, by their states: active. */
void stats_of_slots(const struct arena *arena, size_t used, lfpool_stats_t *stats_out);
/* The lock-free backend's.  */
void stats_of_core(const struct core *core, lfpool_stats_t *stats_out);
/* Free slots in all magazines in use; slots of the chunks that were used; free objects that were never used, or are cold.
 * Snapshots.  *pushes: what was ever pushed on magazines. */
size_t stats_in_magazines(const struct core *core, uint64_t *pushes);
size_t stats_from_chunks(const struct core *core);
size_t stats_untouched(const struct core *core);

/* Is there a pool whose objects do not lie in place? */
bool pool_any_heap(void);

/* ---- dump.c ---- */

const char *backend_name(lfpool_backend_t backend);

/* ---- lockfree_open.c ---- */

/* Bytes of a buffer for such a pool, without its lifecycle; 0: there is no such number. */
size_t lockfree_buffer_bytes(const lfpool_config_t *config);

/* ---- backend_malloc.c ---- */

/* The address that the bytes before a heap's object say its cell has; of another pointer, anything. */
const void *heap_label(const void *object);

/* ---- plain_cache.c ---- */

struct cache_head *plain_cache_create(lfpool_t *pool);
void plain_cache_destroy(struct cache_head *head);
void plain_cache_destroy_all(lfpool_t *pool);
/* One by one. */
size_t plain_cache_acquire_bulk(struct cache_head *head, void **objects_out, size_t count);
size_t plain_cache_release_bulk(struct cache_head *head, void *const *objects, size_t count);

/* ---- misuse.c ---- */

/* Counts and reports a refused release; returns `status`. */
COLD lfpool_status_t misuse_report(lfpool_t *pool, const void *object, lfpool_status_t status);
/* Tells the hook; or stderr, if there is none and it is the first.  Without a pool it is a set's. */
COLD void misuse_say(const lfpool_hooks_t *hooks, const lfpool_misuse_t *misuse);
/* Counts and reports anything: status, object, and what else is known are the caller's; the rest is filled in. */
COLD lfpool_status_t misuse_tell(lfpool_t *pool, lfpool_misuse_t *misuse);

/* ---- threads.c ---- */

/* Once per process, before the first pool; false when the system refuses. */
bool threads_open(void);
/* Can a thread have caches of its own?  After threads_open(). */
bool threads_keep_caches(void);
/* A number that differs from thread to thread, more or less. */
uint32_t thread_hint(void);
/* The pools that this thread is serving (waiters.c), the innermost first; another innermost.  Neither allocates, nor can be
 * refused by the system; from a signal handler too. */
struct serving;
struct serving *thread_serving(void);
void thread_serve(struct serving *innermost);
/* The calling thread's cache of this pool, made if need be; NULL: it cannot have one now, or the backend has none. */
struct cache_head *thread_cache(lfpool_t *pool);

#endif
