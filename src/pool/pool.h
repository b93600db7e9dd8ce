/* SPDX-License-Identifier: MIT */
/*
 * pool.h - struct lfpool_t, a pool.
 *
 * Idea         All pools have one implementation.  They differ in mode flags, which are computed once, when a pool is
 *              opened.  All data of the fast path are in the cache, so only slow paths look at the flags.
 * Modes        Mutex mode (LFPOOL_BACKEND_MUTEX): every call uses the same cache, under a mutex (slots.c).  Malloc mode
 *              (LFPOOL_BACKEND_MALLOC): objects come from malloc (heap.h).
 */
#ifndef LFPOOL_POOL_H
#define LFPOOL_POOL_H

#include "base/atomics.h"
#include "base/base.h"
#include "core/cache.h"
#include "core/cells.h"
#include "base/words.h"
#include "os/os.h"
#include "pool/heap.h"

#define NAME_BYTES 64
#define RETIRED_SLOTS_MAX (UINT32_C(1) << 30) /* a pool with a scheme has fewer slots */

/* A number near 2^64 divided by the golden ratio, chosen for N3 in handle.c. */
#define SALT_STEP UINT64_C(0x9e3779b981a6ccb9)

struct aside;
struct debug_home;
struct lifecycle;
struct order;
struct quarantine;
struct retired;

struct lfpool_t {
	/* Fixed at creation. */
	/* The first member, because inline.h reads it.  head.id is `id` if threads have their own caches, otherwise
	 * 0. */
	struct lfpool_head_ head;
	/* The mode flags: choose_modes() in open.c. */
	bool locked;                   /* mutex mode: every call uses the cache `shared`, under `mutex`        */
	bool plain;                    /* only states and magazines: no mutex, no heap, no `each_call`         */
	bool direct;                   /* no mutex, quarantine, `aside` or `wants_built`: only a cache         */
	bool zero;                     /* LFPOOL_ZERO                                                          */
	bool check_races;              /* a release is a CAS: LFPOOL_CHECK_RACES, or `each_call` is not NULL   */
	bool keeps_none;               /* LFPOOL_CACHE_NONE: a call empties the cache that it borrowed         */
	bool wants_built;              /* slots whose objects are not built are cold, and in no magazine       */
	bool more;                     /* replenish() may get an object, by growth, a scheme or a hook         */
	bool inherited;                /* in the child of a fork: other threads' calls were interrupted        */
	bool disowned;                 /* the same, and the objects are in shared memory: the parent owns them */
	struct lifecycle *each_call;   /* runs at each acquire and each release; NULL: not needed              */
	struct lifecycle *builds;      /* LFPOOL_CREATE_ALL without each_call: builds objects of cold slots    */
	struct lifecycle *lifecycle;   /* NULL: no hooks, debug modes or tools                                 */
	struct quarantine *quarantine; /* NULL: this mode is off                                               */
	struct aside *aside;           /* NULL: no slot is ever set aside                                      */
	struct heap *heap;             /* malloc mode; NULL: the objects are in the slots                      */
	struct retired *retired;       /* NULL: no scheme                                                      */
	struct order *order;           /* the order of eviction; NULL: the pool does not evict                 */
	struct cache *shared;
	os_mutex_t mutex;
	uint64_t salt; /* the salt of handles: N3 in handle.c */
	/* The pool's id is unique in the process.  Its low bits are the pool's index among the live pools.  0: the pool
	 * is in a buffer, and has no index. */
	uint64_t id;
	lfpool_backend_t backend_kind;
	uint32_t flags;
	size_t object_size, object_alignment;
	size_t growth_step;        /* 0: grows only by lfpool_grow()                                */
	unsigned char *check_bits; /* lfpool_check()'s memory, in a buffer; NULL: malloc              */
	lfpool_hooks_t hooks;
	struct debug_modes modes;
	char name[NAME_BYTES];
	/* Changed by any thread: */
	_Atomic(size_t) misuses;
	_Atomic(uint64_t) trim_at;      /* the page where the next lfpool_trim() continues                     */
	_Atomic(uint64_t) trim_in_vain; /* pages that lfpool_trim() has examined since it returned one         */
	_Atomic(uint64_t) given_back;   /* bytes that lfpool_trim() has returned to the system; a statistic    */
	_Atomic(uint64_t) idle_left;    /* objects left to trim in a round of LFPOOL_IDLE, plus 1; 0: no round */
	_Atomic(uint64_t) idle_steals;  /* steals before that round, plus the round's own steals                 */
	struct waiters waiters;         /* waiting calls and continuations, and the pending shrink             */
	struct {                        /* statistics of calls that have waited                                */
		_Atomic(uint64_t) calls, timeouts, ns, longest_ns;
	} waited;
	struct { /* statistics at the last lfpool_high_water_reset()         */
		_Atomic(uint64_t) acquires, depot_trips, steals, exhausted;
	} since;
	struct {
		_Atomic(uint64_t) acquires, releases; /* the maxima that lfpool_stats() has returned   */
	} told;
	struct core core; /* the last member, because the shards are at its end */
};

_Static_assert(offsetof(struct lfpool_t, head) == 0, "inline.h");

/* Bytes of a struct lfpool_t with `shards` shards. */
#define POOL_OF_SHARDS(shards) (offsetof(struct lfpool_t, core.depot.shard) + (shards) * sizeof(struct shard))

/* Are the objects in the slots?  In malloc mode they are not: an acquire allocates them. */
#define pool_in_place(pool) (EMBEDDED || likely(!(pool)->heap))

static inline void *pool_object(const lfpool_t *pool, uint32_t slot)
{
	return pool_in_place(pool) ? arena_object(&pool->core.arena, slot) : heap_object_at(pool, slot);
}

/* Returns LFPOOL_OK and the slot of an object, which must be active in malloc mode.  Otherwise returns SLOT_NONE, and
 * the reason why the pointer is not the start of an object. */
static inline lfpool_status_t pool_locate(const lfpool_t *pool, const void *object, uint32_t *slot_out)
{
	return pool_in_place(pool) ? arena_locate(&pool->core.arena, object, slot_out)
				   : heap_locate(pool, object, slot_out);
}

/* ---- Misuse: misuse.c ---- */

/* Counts and reports a refused release; returns `status`. */
COLD lfpool_status_t misuse_report(lfpool_t *pool, const void *object, lfpool_status_t status);
/* Counts and reports any misuse.  The caller fills in status, object and known details, and this function fills in the
 * rest. */
COLD lfpool_status_t misuse_tell(lfpool_t *pool, lfpool_misuse_t *misuse);
struct debug_home misuse_home(lfpool_t *pool);
/* Reports a violated invariant.  `where`: the number of the slot or magazine in question; SIZE_MAX: none. */
COLD void misuse_invariant(const struct debug_home *home, const char *violated, size_t where);

#endif
