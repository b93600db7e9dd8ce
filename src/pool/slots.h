/* SPDX-License-Identifier: MIT */
/*
 * slots.h - a slot on its way from the free lists to the caller (take, begin) and back (end, put).
 *
 * Idea         Each function uses the cache `cache`.  If `cache` is NULL, the function borrows a cache.  No hook runs
 *              while a cache is borrowed or a lock is held, so hooks may call the pool.
 * Demand       A function that puts a slot back fences before it returns (W1, waiters.h).  Its caller must then check
 *              the demand word, and serve.
 */
#ifndef LFPOOL_SLOTS_H
#define LFPOOL_SLOTS_H

#include "object/lifecycle.h"
#include "pool/pool.h"

/* These functions do the work of slots_take() and slots_put_ended() if the pool is not `direct`, or if `cache` is
 * NULL. */
uint32_t slots_take_in_mode(lfpool_t *pool, struct cache_head *cache);
void slots_put_in_mode(lfpool_t *pool, struct cache_head *cache, uint32_t slot);

/* A free slot; SLOT_NONE: at some moment during the call no slot was free. */
static inline uint32_t slots_take(lfpool_t *pool, struct cache_head *cache)
{
	return likely(cache && pool->direct) ? cache_take((struct cache *)cache, false)
					     : slots_take_in_mode(pool, cache);
}

/* A free slot from the magazines, or one that was set aside; never an unused or a cold slot. */
uint32_t slots_take_idle(lfpool_t *pool, struct cache_head *cache);

/* Does the work of slots_take() after the fast path of lfpool/inline.h has failed, and has left the hot magazine's
 * bottom lowered. */
static inline uint32_t slots_take_after_hit(lfpool_t *pool, struct cache_head *cache)
{
	struct cache *c = (struct cache *)cache;
	struct lfpool_magazine *hot = cache->face.hot;
	/* relaxed: our own last store (H2). */
	const uint64_t bottom = load_relaxed(&hot->bottom);

	if (unlikely(hot == cache_closed(c))) {
		/* relaxed: no other thread reads this magazine (cache_closed()). */
		store_relaxed(&hot->bottom, bottom + 1);
		return slots_take(pool, cache);
	}

	/* Takes the magazine's last object, which the fast path must not take.  (Pools with fast paths have no mutex
	 * and no quarantine.) */
	const uint32_t slot = arena_slot(&pool->core.arena, magazine_pop_end(hot, pool->core.magazines.slots, bottom));

	return slot ? slot : cache_take(c, true);
}

static inline void slots_exhausted(lfpool_t *pool, struct cache_head *cache)
{
	if (cache)
		tally(&((struct cache *)cache)->counts.exhausted);
	else
		tally_shared(&pool->core.exhausted, 1);
}

/*
 * Makes the object of a taken slot active.  If a hook refuses the object, the slot is put back, and other free objects
 * are tried.
 *   SLOT_BEGUN    *object_out is this object or another one.  In the other cases *object_out is NULL.
 *   SLOT_REFUSED  hooks refused all free objects.
 *   SLOT_BAD      as SLOT_REFUSED; and hooks.validate rejected this object, and hooks.create did not rebuild it.  This
 *                 object is destroyed, so another attempt does not meet it again.
 *   SLOT_USED_UP  the object was already active, because it was released twice in a race.  The caller takes another.
 */
enum slot_begun { SLOT_USED_UP, SLOT_BEGUN, SLOT_REFUSED, SLOT_BAD };

enum slot_begun slots_begin(lfpool_t *pool, struct cache_head *cache, uint32_t slot, void **object_out);

/* W1 (waiters.h): this fence makes the slots that the caller has put back visible before the caller reads the demand
 * word.  Every function that puts back a slot includes this fence.  (In mutex mode an owner's fence is only a compiler
 * barrier, so slots_fence() uses a full fence.) */
static inline void slots_fence(const lfpool_t *pool)
{
	owner_fence(pool->core.asymmetric && !pool->locked);
}

/* Puts back a slot that was taken but not begun. */
void slots_put(lfpool_t *pool, struct cache_head *cache, uint32_t slot);

uint32_t slots_end_on_heap(lfpool_t *pool, uint32_t slot, void *object);

/* Ends the use of an object whose slot was just made free.  Returns the slot to put back.  With a quarantine this is
 * another slot, or SLOT_NONE. */
static inline uint32_t slots_end(lfpool_t *pool, uint32_t slot, void *object)
{
	if (unlikely(!pool_in_place(pool)))
		return slots_end_on_heap(pool, slot, object);
	return pool->each_call ? lifecycle_end(pool->each_call, slot, object) : slot;
}

static inline void slots_put_ended(lfpool_t *pool, struct cache_head *cache, uint32_t slot)
{
	if (likely(cache && pool->direct)) {
		cache_put((struct cache *)cache, slot);
		slots_fence(pool);
	} else {
		slots_put_in_mode(pool, cache, slot);
	}
}

/* The highest slot that was ever handed out, or a higher one. */
size_t slots_used(const lfpool_t *pool);
/* The number of slots that are in free lists or set aside; a snapshot. */
size_t slots_listed(const lfpool_t *pool);
/* The number of slots that are active, held by a call, or retired; a snapshot. */
size_t slots_out(const lfpool_t *pool);
/* The number of free slots that are in no free list, because they are set aside or in quarantine; a snapshot. */
size_t slots_held_back(const lfpool_t *pool);

/* Claims a cache for a thread, or an explicit cache.  NULL: the system refuses memory, or all caches are taken. */
struct cache_head *slots_cache_create(lfpool_t *pool);
void slots_cache_destroy(struct cache_head *cache);
void slots_cache_flush(struct cache_head *cache);

/* ---- Many objects in one step: only for plain pools (pool.h) ---- */

/* Takes up to `wanted` objects, makes them active and returns their number.  *taken_out: the number of entries taken
 * from the magazine, including objects that were already active.  Both numbers are 0 if the magazine is empty, or the
 * pool is not plain. */
size_t bulk_take(struct cache_head *head, void **objects_out, size_t wanted, uint32_t *taken_out);
/*
 * Makes objects free and pushes them, in their order.  Stops when the magazine is full, and at the first pointer that
 * is not an active object of this pool, or has a handle.  Returns the number of pushed objects.  The caller fences and
 * checks the demand word.
 */
size_t bulk_put(struct cache_head *head, void *const *objects, size_t count);

#endif
