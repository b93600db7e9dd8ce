/* SPDX-License-Identifier: MIT */
/*
 * backend_lockfree.c - the library proper, as a backend: arena, depot and caches put together; its calls.
 *
 * Idea         What the hits leave over: a slot is taken through a cache and its object made active, or made free and
 *              its slot put back; with a cache of the caller's, or one that is borrowed for the call.  The malloc
 *              backend is the same with objects that are allocated as their slots are acquired (backend_malloc.c).
 */
#include "backend/backend_lockfree.h"

#include "base/probes.h"
#include "object/lifecycle.h"
#include "object/misuse.h"
#include "os/os.h"
#include "pool/pool.h"
#include "pool/threads.h"
#include "waiting/waiters.h"

#include <string.h>

/* ---- A slot that was taken, and one that will be put back ---- */

/* Of lifecycle_begin(), and: it is active already (released twice, in a race), and the entry is used up. */
enum { BEGUN_TWICE = BEGIN_DISCARDED + 1 };

/* Makes the slot's object active.  BEGIN_REFUSED: by a hook, or the heap refused memory; it must be put back as it is. */
static inline unsigned make_active(struct core *core, uint32_t slot, void **object_out)
{
	struct arena *arena = &core->arena;
	const size_t heap_bytes = core->heap_bytes;
	void *object = arena_object(arena, slot);

	/* Was it released twice, in a race? */
	if (arena_is_active(arena, slot)) {
		(void)misuse_report(core->pool, object, LFPOOL_E_NOT_IN_USE);
		return BEGUN_TWICE;
	}
	if (heap_bytes && !(object = heap_object_new(core, slot)))
		return BEGIN_REFUSED;
	if (unlikely(core->builds) && !lifecycle_build(core->builds, slot, object))
		return BEGIN_REFUSED;
	*object_out = object;
	if (core->zero && !core->lifecycle)
		memset(object, 0, heap_bytes ? heap_bytes : arena->face.stride);
	/* A new object is built anew, whatever its slot was. */
	const enum begun begun = core->lifecycle ? lifecycle_begin(core->lifecycle, heap_bytes ? SLOT_NONE : slot, object)
						 : BEGIN_OK;

	if (begun == BEGIN_OK)
		arena_activate(arena, slot);
	else if (heap_bytes)
		heap_object_free(core, slot, object);
	return begun;
}

/* The slot has just become free.  Returns which to put back: with a quarantine another one, or SLOT_NONE. */
static inline uint32_t end_use(struct core *core, uint32_t slot, void *object)
{
	if (core->heap_bytes) {
		if (core->lifecycle)
			(void)lifecycle_end(core->lifecycle, SLOT_NONE, object);
		heap_object_free(core, slot, object);
		return slot;
	}
	return core->lifecycle ? lifecycle_end(core->lifecycle, slot, object) : slot;
}

/* Makes an active object's slot free; *slot_out as end_use().  *later_out: it is pinned, and the last unpin does so. */
static inline lfpool_status_t make_free(lfpool_t *pool, void *object, uint32_t *slot_out, bool *later_out)
{
	struct core *core = core_of(pool);
	lfpool_status_t status = core->heap_bytes ? heap_locate(pool, object, slot_out)
						  : arena_locate(&core->arena, object, slot_out);

	if (status != LFPOOL_OK)
		return status;

	const enum leave leave = arena_leave_active(&core->arena, *slot_out, core->check_races, GENERATION_RELEASED);

	if (leave == LEAVE_REFUSED)
		return LFPOOL_E_NOT_IN_USE;
	*later_out = leave == LEAVE_LATER;
	if (leave == LEAVE_NOW)
		*slot_out = end_use(core, *slot_out, object);
	return LFPOOL_OK;
}

/* ---- A slot, through a cache that the caller has ---- */

/* The caches and the depot have nothing: what is in quarantine, or SLOT_NONE as cache_take(). */
static COLD uint32_t take_quarantined(struct cache *c)
{
	uint64_t seen, versions;
	uint32_t slot = debug_take_back(lifecycle_debug(c->core->lifecycle), &versions);

	/* Repeats only after another thread put into the quarantine, or took from it. */
	while (!slot) {
		seen = versions;
		slot = cache_take(c, false);
		if (!slot)
			slot = debug_take_back(lifecycle_debug(c->core->lifecycle), &versions);
		if (!slot && versions == seen)
			break;
	}
	return slot;
}

/* A free slot; SLOT_NONE: at some moment none was free.  `empty`: the caller has just found the current magazine so. */
static inline uint32_t take_slot(struct cache *c, bool empty)
{
	const uint32_t slot = cache_take(c, empty);

	return unlikely(!slot) && c->core->quarantine ? take_quarantined(c) : slot;
}

/* Back to the free lists; `core->builds`: only what is built, since hits do not look.  `released`: its object was active, so it
 * is built. */
static inline void put_slot(struct cache *c, uint32_t slot, bool released)
{
	struct core *core = c->core;

	if (unlikely(core->builds) && !lifecycle_is_built(core->builds, slot)) {
		cold_put(core->cold, slot);
	} else {
		/* Before: so releases are never too many. */
		if (!released)
			tally(&c->counts.returned);
		cache_put(c, slot);
	}
	/* W1 (waiters.h): what was put back is visible before the caller looks at the demand. */
	owner_fence(core->asymmetric);
}

/* After put_slot(): does a call want objects? */
static inline bool is_wanted(const struct core *core)
{
	/* relaxed: after the fence. */
	return unlikely(load_relaxed(core->arena.wanted));
}

/* ---- Without one: borrow a cache for the call ---- */

static struct cache *borrow(lfpool_t *pool)
{
	/* Waits only if as many threads are in here already as caches are kept for calls, and there can be no more caches: memory
	 * is refused, or all there can be are taken. */
	struct cache *c;

	while (!(c = cache_claim(core_of(pool), CACHE_FOR_CALL, thread_hint()))) {
		if (pool->arena->in_buffer)
			cpu_relax();
		else
			os_yield();
	}
	return c;
}

uint32_t lockfree_take(lfpool_t *pool, struct cache_head *head)
{
	if (head)
		return take_slot((struct cache *)head, false);

	struct cache *c = borrow(pool);
	const uint32_t slot = take_slot(c, false);

	cache_unclaim(c);
	return slot;
}

uint32_t lockfree_take_idle(lfpool_t *pool, struct cache_head *head)
{
	if (head)
		return cache_take_idle((struct cache *)head);

	struct cache *c = borrow(pool);
	const uint32_t slot = cache_take_idle(c);

	cache_unclaim(c);
	return slot;
}

static inline void put_through(lfpool_t *pool, struct cache_head *head, uint32_t slot, bool released)
{
	if (head) {
		put_slot((struct cache *)head, slot, released);
		return;
	}

	struct cache *c = borrow(pool);

	put_slot(c, slot, released);
	cache_unclaim(c);
}

void lockfree_put_free(lfpool_t *pool, struct cache_head *head, uint32_t slot)
{
	put_through(pool, head, slot, false);
}

/* A slot whose object a hook refused; or discarded: it comes after all that is built. */
static void put_refused(lfpool_t *pool, struct cache_head *head, uint32_t slot, bool discarded)
{
	struct core *core = core_of(pool);

	if (discarded) {
		cold_put(core->cold, slot);
		/* W1 (waiters.h), as in put_slot(). */
		owner_fence(core->asymmetric);
	} else {
		lockfree_put_free(pool, head, slot);
	}
	if (is_wanted(core))
		waiters_serve(pool, head);
}

bool lockfree_begin(lfpool_t *pool, struct cache_head *head, uint32_t slot, void **object_out)
{
	const unsigned begun = make_active(core_of(pool), slot, object_out);

	if (begun == BEGIN_OK)
		return true;
	*object_out = NULL;
	if (begun == BEGUN_TWICE)
		tally_shared(&core_of(pool)->unpushed, (uint64_t)-1);
	else
		put_refused(pool, head, slot, begun == BEGIN_DISCARDED);
	return begun == BEGIN_REFUSED;
}

/* ---- Acquire ---- */

/* Nothing was free. */
static COLD void *exhausted(lfpool_t *pool, struct cache_head *head)
{
	if (head)
		tally(&((struct cache *)head)->counts.exhausted);
	else
		tally_shared(&core_of(pool)->exhausted, 1);
	probe_exhausted(pool, pool->name);
	return pool->more ? resize_or_give_up(pool, head) : NULL;
}

/* An object in `slot`, which was taken free; SLOT_NONE: nothing was free.  No hook runs while a cache is borrowed: it may
 * call the pool and borrow another, and there are not many. */
static inline void *begin(lfpool_t *pool, struct cache_head *head, uint32_t slot)
{
	void *object;

	/* Repeats only for an object that was released twice in a race: that entry is then used up; or after one that was not good
	 * any more was destroyed. */
	while (likely(slot)) {
		if (lockfree_begin(pool, head, slot, &object))
			return object;
		slot = lockfree_take(pool, head);
	}
	return exhausted(pool, head);
}

/* The miss.  The hit has lowered the bottom of the hot magazine, and must not take what is there. */
void *lfpool_cache_acquire_slow(lfpool_cache_t *cache)
{
	struct cache_head *head = (struct cache_head *)cache;
	const struct core *core = head->pool->core;
	struct cache *c = (struct cache *)head;
	struct lfpool_magazine *hot = cache->hot;
	const bool closed = unlikely(!core) || hot == cache_closed(c);
	/* relaxed: our own last store (H2). */
	const uint64_t bottom = load_relaxed(&hot->bottom);
	uint32_t slot = SLOT_NONE;
	void *object;

	if (likely(!closed))
		slot = arena_slot(&core->arena, magazine_pop_end(hot, core->magazines.slots, bottom));
	else
		/* relaxed: nobody else looks at a closed magazine. */
		store_relaxed(&hot->bottom, bottom + 1);
	if (unlikely(!core)) {
		object = head->pool->backend->acquire(head->pool);
	} else {
		if (!slot)
			slot = take_slot(c, !closed);
		object = begin(head->pool, head, slot);
	}
	KEEP_FRAME();
	return object;
}

/* The hit has taken `object`, but its state is not just that of a free one. */
COLD void *lfpool_cache_acquire_odd(lfpool_cache_t *cache, void *object)
{
	struct cache_head *head = (struct cache_head *)cache;

	return begin(head->pool, head, (uint32_t)lfpool_slot_at(cache, object));
}

void *lockfree_acquire_one(struct cache_head *head)
{
	return begin(head->pool, head, take_slot((struct cache *)head, false));
}

void *lockfree_acquire(lfpool_t *pool)
{
	return begin(pool, NULL, lockfree_take(pool, NULL));
}

/* ---- Release ---- */

static inline void put_released(lfpool_t *pool, struct cache_head *head, uint32_t slot)
{
	struct core *core = core_of(pool);

	if (slot) {
		put_through(pool, head, slot, true);
	} else {
		/* It is in quarantine, where an acquire finds it: W1 (waiters.h), as in put_slot(). */
		tally_shared(&core->unpushed, 1);
		owner_fence(core->asymmetric);
	}
	if (is_wanted(core))
		waiters_serve(pool, head);
}

static lfpool_status_t release(lfpool_t *pool, struct cache_head *head, void *object)
{
	uint32_t slot;
	bool later;
	lfpool_status_t status = make_free(pool, object, &slot, &later);

	if (status == LFPOOL_OK && !later)
		put_released(pool, head, slot);
	return status;
}

/* The full magazine, and whatever is odd. */
lfpool_status_t lfpool_cache_release_slow(lfpool_cache_t *cache, void *object)
{
	struct cache_head *head = (struct cache_head *)cache;
	lfpool_t *pool = head->pool;

	if (!object)
		return LFPOOL_OK;

	lfpool_status_t status = likely(pool->core) ? release(pool, head, object) : pool->backend->release(pool, object);

	return likely(status == LFPOOL_OK) ? status : misuse_report(pool, object, status);
}

lfpool_status_t lockfree_release(lfpool_t *pool, void *object)
{
	return release(pool, NULL, object);
}

void lockfree_put(lfpool_t *pool, struct cache_head *head, uint32_t slot)
{
	put_released(pool, head, end_use(core_of(pool), slot, pool_object(pool, slot)));
}

/* ---- Caches ---- */

/* All there can be in a buffer are there; calls may be borrowing those that are not the callers'. */
static struct cache *claim_in_buffer(struct core *core)
{
	struct cache *c;

	/* relaxed, here and below: a number. */
	if (fetch_add_relaxed(&core->explicit_caches, 1) >= core->table.most - core->table.for_calls) {
		(void)fetch_add_relaxed(&core->explicit_caches, UINT32_MAX);
		return NULL;
	}
	/* Waits for a call to end only if each cache that is not explicit is in one. */
	while (!(c = cache_claim(core, CACHE_FOR_LONG, 0)))
		cpu_relax();
	return c;
}

struct cache_head *lockfree_cache_create(lfpool_t *pool)
{
	struct core *core = core_of(pool);
	struct cache *c = core->arena.in_buffer ? claim_in_buffer(core) : cache_claim(core, CACHE_FOR_LONG, 0);

	return c ? &c->head : NULL;
}

void lockfree_cache_destroy(struct cache_head *head)
{
	struct cache *c = (struct cache *)head;
	struct core *core = c->core;

	cache_flush(c);
	cache_unclaim(c);
	if (core->arena.in_buffer)
		(void)fetch_add_relaxed(&core->explicit_caches, UINT32_MAX);
}
