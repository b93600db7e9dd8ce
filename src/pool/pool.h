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

#include "base/atomics.h"
#include "base/base.h"
#include "core/cache.h"
#include "core/cells.h"
#include "core/cold.h"
#include "base/debug_words.h"

#define NAME_BYTES 64
#define STRING_OF(x) #x
#define VERSION_OF(major, minor, patch) STRING_OF(major) "." STRING_OF(minor) "." STRING_OF(patch)
#define VERSION VERSION_OF(LFPOOL_VERSION_MAJOR, LFPOOL_VERSION_MINOR, LFPOOL_VERSION_PATCH)

/* Near 2^64 by the golden ratio, and such that N3 in handle.c holds for ever. */
#define SALT_STEP UINT64_C(0x9e3779b981a6ccb9)

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
	 * was released twice in a race, and is used up; or it was discarded (lifecycle.h).  The caller takes another. */
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
	 * arena_locate(): NULL if they are.  The object is NULL, or one that is gone, while the slot changes hands.  find: the
	 * same as locate, or SLOT_NONE, of any pointer, and nothing before it is read. */
	void *(*object)(const lfpool_t *pool, uint32_t slot);
	lfpool_status_t (*locate)(const lfpool_t *pool, const void *object, uint32_t *slot_out);
	uint32_t (*find)(const lfpool_t *pool, const void *pointer);
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

struct lifecycle;
struct retired;

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
	struct arena *arena;         /* the slots, and the objects (but see backend->object) */
	struct lifecycle *lifecycle; /* what they need besides memory; NULL: nothing       */
	const struct core *core;     /* the lock-free backend's; NULL: another backend     */
	size_t object_size, object_alignment;
	size_t growth_step;      /* 0: it does not grow by itself                        */
	bool more;               /* when nothing is left, resize_or_give_up()            */
	struct retired *retired; /* what is retired; NULL: there is no scheme             */
	uint32_t flags;
	lfpool_hooks_t hooks;
	struct debug_modes modes;
	char name[NAME_BYTES];
	/* Anybody. */
	_Atomic(size_t) misuses;
	struct cold cold;               /* slots that are in no free list: room to grow, what was withdrawn or trimmed */
	_Atomic(uint64_t) trim_at;      /* the page where the next lfpool_trim() goes on                         */
	_Atomic(uint64_t) trim_in_vain; /* pages it has looked at since one was given back                     */
	_Atomic(uint64_t) given_back;   /* bytes, by lfpool_trim(); a statistic                                  */
	struct waiters waiters;         /* who wants objects that are not there                                        */
	struct {                        /* statistics, as they were at the last lfpool_high_water_reset() */
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

#endif
