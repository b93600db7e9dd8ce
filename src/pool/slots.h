/* SPDX-License-Identifier: MIT */
/*
 * slots.h - a slot of a pool, between the free lists and the caller: taken, begun, ended, put back.
 *
 * Idea         Each call uses the cache `cache`; NULL: it borrows one.  No hook runs while a cache is borrowed or a
 *              lock is held, so a hook may call the pool.
 * Demand       A function that puts a slot back has fenced when it returns (W1, waiters.h).  Its caller then looks
 *              whether another call wants objects, and serves that call.
 */
#ifndef LFPOOL_SLOTS_H
#define LFPOOL_SLOTS_H

#include "object/lifecycle.h"
#include "pool/pool.h"

/* The same as slots_take() and slots_put_ended(), in every mode and without a cache. */
uint32_t slots_take_in_mode(lfpool_t *pool, struct cache_head *cache);
void slots_put_in_mode(lfpool_t *pool, struct cache_head *cache, uint32_t slot);

/* A free slot; SLOT_NONE: at some moment during the call none was free. */
static inline uint32_t slots_take(lfpool_t *pool, struct cache_head *cache)
{
	return likely(cache && pool->direct) ? cache_take((struct cache *)cache, false)
					     : slots_take_in_mode(pool, cache);
}

/* A free slot out of the magazines, or one that was set aside: not an unused one, and not a cold one. */
uint32_t slots_take_idle(lfpool_t *pool, struct cache_head *cache);

/* As slots_take(), after a hit of lfpool/inline.h that found nothing: it has lowered the bottom of the hot magazine. */
static inline uint32_t slots_take_after_hit(lfpool_t *pool, struct cache_head *cache)
{
	struct cache *c = (struct cache *)cache;
	struct lfpool_magazine *hot = cache->face.hot;
	/* relaxed: our own last store (H2). */
	const uint64_t bottom = load_relaxed(&hot->bottom);

	if (unlikely(hot == cache_closed(c))) {
		/* relaxed: no other thread looks at a closed magazine. */
		store_relaxed(&hot->bottom, bottom + 1);
		return slots_take(pool, cache);
	}

	/* The last object, which the hit must not take.  A pool with hits has neither a mutex nor a quarantine. */
	const uint32_t slot = arena_slot(&pool->core.arena, magazine_pop_end(hot, pool->core.magazines.slots, bottom));

	return slot ? slot : cache_take(c, true);
}

/* Nothing was free: a statistic. */
static inline void slots_exhausted(lfpool_t *pool, struct cache_head *cache)
{
	if (cache)
		tally(&((struct cache *)cache)->counts.exhausted);
	else
		tally_shared(&pool->core.exhausted, 1);
}

/*
 * Makes the object of a slot that was taken active.  If a hook refuses it, the slot is put back, and other free objects
 * are tried.
 *   SLOT_BEGUN    *object_out is the object, or another one.  In the other cases it is NULL.
 *   SLOT_REFUSED  hooks refused all that were free.
 *   SLOT_BAD      the same, and the object of this slot was one that hooks.validate found bad and hooks.create did not
 *                 build anew.  It is destroyed: a call that tries again meets it no more.
 *   SLOT_USED_UP  the object was active already, because it was released twice in a race.  The caller takes another.
 */
enum slot_begun { SLOT_USED_UP, SLOT_BEGUN, SLOT_REFUSED, SLOT_BAD };

enum slot_begun slots_begin(lfpool_t *pool, struct cache_head *cache, uint32_t slot, void **object_out);

/* W1 (waiters.h): slots that the caller has put back are visible before it looks at the demand.  The functions
 * below include this fence.  (In mutex mode the fence of an owner is only a compiler barrier.) */
static inline void slots_fence(const lfpool_t *pool)
{
	owner_fence(pool->core.asymmetric && !pool->locked);
}

/* Puts back a slot that was taken and not begun. */
void slots_put(lfpool_t *pool, struct cache_head *cache, uint32_t slot);

uint32_t slots_end_on_heap(lfpool_t *pool, uint32_t slot, void *object);

/* The slot has just been made free, and the use of its object ends.  Returns the slot to put back: with a quarantine
 * another one, or SLOT_NONE. */
static inline uint32_t slots_end(lfpool_t *pool, uint32_t slot, void *object)
{
	if (unlikely(!pool_in_place(pool)))
		return slots_end_on_heap(pool, slot, object);
	return pool->each_call ? lifecycle_end(pool->each_call, slot, object) : slot;
}

/* Puts back the slot that slots_end() has returned, if it is one. */
static inline void slots_put_ended(lfpool_t *pool, struct cache_head *cache, uint32_t slot)
{
	if (likely(cache && pool->direct)) {
		cache_put((struct cache *)cache, slot);
		slots_fence(pool);
	} else {
		slots_put_in_mode(pool, cache, slot);
	}
}

/* Slots that were ever handed out are among 1 .. this. */
size_t slots_used(const lfpool_t *pool);
/* Slots in free lists, or set aside; a snapshot. */
size_t slots_listed(const lfpool_t *pool);
/* Slots that are active, or in the hands of a call, or retired; a snapshot. */
size_t slots_out(const lfpool_t *pool);

/* A cache for a thread, or an explicit one.  NULL: the system refuses memory, or all caches are taken. */
struct cache_head *slots_cache_create(lfpool_t *pool);
void slots_cache_destroy(struct cache_head *cache);
/* Its objects go to the depot. */
void slots_cache_flush(struct cache_head *cache);

/* ---- Many objects in one step: only for plain pools (pool.h) ---- */

/* Takes up to `wanted` objects and makes them active. *taken_out: entries of the magazine that were used up,
 * including those of objects that were active already.  Both are 0 if the magazine is empty, or the pool is not
 * plain. */
size_t bulk_take(struct cache_head *head, void **objects_out, size_t wanted, uint32_t *taken_out);
/*
 * Makes objects free and pushes them, in their order.  Stops at the first pointer that is not an active object of this
 * pool without a handle, and when the magazine is full.  Returns how many.  The caller fences and looks at the demand.
 */
size_t bulk_put(struct cache_head *head, void *const *objects, size_t count);

#endif
