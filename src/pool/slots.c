/* SPDX-License-Identifier: MIT */
/*
 * slots.c - takes slots from the free lists for callers, and puts them back; see slots.h.
 *
 * Idea         An acquire takes a slot through a cache, and makes its object active.  A release ends the use of the
 *              object, and puts its slot back.  A call without a cache claims one while it takes or puts a slot.  A
 *              call for many objects needs one barrier, one load of top and two stores of bottom per magazine, instead
 *              of per object.  Such a call changes the states of neighbouring slots in rows of ROW slots.  (Slots that
 *              were never used are handed out in order, and calls for many objects keep that order.)
 * Invariants   U1  no hook is called during a step of a call for many objects, because a hook may use the same cache.
 * Mutex mode   Every call locks the pool's mutex and uses one cache, `shared`.  Explicit caches stay empty.  So no
 *              cache has thieves, and owners run without fences.  The cold store and the quarantine work without a
 *              cache, and are lock-free in mutex mode too.
 * Progress     Lock-free, except where borrow() waits.  Blocking in mutex mode.
 */
#include "pool/slots.h"

#include "core/cache.h"
#include "object/aside.h"
#include "object/debugging.h"
#include "object/quarantine.h"
#include "pool/pool.h"
#include "pool/threads.h"

#include <string.h>

/* ---- A cache, for as long as a call uses it ---- */

static struct cache *borrow(lfpool_t *pool)
{
	/* Waits only if other calls use all caches reserved for calls, and no cache can be added. */
	struct cache *c;

	while (!(c = cache_claim(&pool->core, CACHE_FOR_CALL, thread_hint()))) {
		if (arena_in_buffer(&pool->core.arena))
			cpu_relax();
		else
			os_yield();
	}
	return c;
}

static inline struct cache *enter(lfpool_t *pool, struct cache_head *cache)
{
	if (!EMBEDDED && unlikely(pool->locked)) {
		os_mutex_lock(&pool->mutex);
		return pool->shared;
	}
	return likely(cache) ? (struct cache *)cache : borrow(pool);
}

static inline void leave(lfpool_t *pool, const struct cache_head *cache, struct cache *c)
{
	if (unlikely(pool->keeps_none) && c != (const struct cache *)cache)
		cache_flush(c);
	if (!EMBEDDED && unlikely(pool->locked))
		os_mutex_unlock(&pool->mutex);
	else if (unlikely(!cache))
		cache_unclaim(c);
}

/* ---- Take ---- */

/* Takes a slot from the quarantine, after cache_take() has found no slot.  SLOT_NONE: at some moment no slot was free,
 * and the quarantine was empty. */
static COLD uint32_t take_quarantined(lfpool_t *pool, struct cache *c, bool cold)
{
	if (EMBEDDED)
		return SLOT_NONE;

	uint64_t seen, versions;
	uint32_t slot = quarantine_take(pool->quarantine, &versions);

	/* Repeats only after another thread put a slot into the quarantine, or took one. */
	while (!slot) {
		seen = versions;
		slot = cold ? cache_take(c, false) : cache_take_existing(c);
		if (!slot)
			slot = quarantine_take(pool->quarantine, &versions);
		if (!slot && versions == seen)
			break;
	}
	return slot;
}

/* The state of an acquire's search for a slot. */
struct search {
	uint64_t until;   /* slots with greater tickets were set aside by this call, or during it */
	uint64_t sets;    /* aside_sets() when the scan of slots that were set aside began        */
	uint32_t at;      /* the slot from which that scan continues                              */
	bool asides_done; /* the search has looked at all slots that were set aside               */
	bool cold;        /* takes cold slots too, until hooks.create refuses an object           */
};

/* The next slot of a search.  SLOT_NONE: at some moment no slot was free, except slots that this call or an overlapping
 * call has set aside (aside.h), and except cold slots if `cold` is false. */
static uint32_t search_on(lfpool_t *pool, struct cache_head *cache, struct search *s)
{
	/* The first round comes before the search among slots that were set aside, and the second round after it.
	 * There are more rounds only if another call sets a slot aside. */
	for (;;) {
		/* If new objects are expensive, existing objects come first, even objects that a hook has refused, but
		 * not objects in quarantine. */
		const bool cold = s->cold && (s->asides_done || !pool->core.existing_first);
		struct cache *c = enter(pool, cache);
		uint32_t slot = cold ? cache_take(c, false) : cache_take_existing(c);

		if (unlikely(!slot) && pool->quarantine && s->asides_done)
			slot = take_quarantined(pool, c, cold);
		leave(pool, cache, c);
		if (likely(slot))
			return slot;
		if (s->asides_done) {
			if (s->until < UINT64_MAX || !pool->aside || aside_sets(pool->aside) == s->sets)
				return SLOT_NONE;
			s->at = 1;
		}
		s->sets = s->at == 1 && pool->aside ? aside_sets(pool->aside) : s->sets;
		if ((slot = aside_take(pool->aside, s->until, &s->at)))
			return slot;
		s->asides_done = true;
	}
}

static inline struct search search_new(const lfpool_t *pool, uint64_t until)
{
	return (struct search){.until = until, .at = 1, .asides_done = !pool->aside, .cold = true};
}

uint32_t slots_take_in_mode(lfpool_t *pool, struct cache_head *cache)
{
	struct search search = search_new(pool, UINT64_MAX);

	return search_on(pool, cache, &search);
}

uint32_t slots_take_idle(lfpool_t *pool, struct cache_head *cache)
{
	struct cache *c = enter(pool, cache);
	uint32_t slot = cache_take_idle(c), at = 1;

	leave(pool, cache, c);
	if (unlikely(!slot) && pool->aside)
		slot = aside_take(pool->aside, UINT64_MAX, &at);
	return slot;
}

/* ---- Put ---- */

/* Puts the slot into the free lists.  If the pool `wants_built`, and the slot's object is not built, puts the slot into
 * the cold store instead.  `released`: the object was active. */
static inline void put(lfpool_t *pool, struct cache_head *cache, uint32_t slot, bool released)
{
	if (unlikely(pool->wants_built) && !lifecycle_is_built(pool->lifecycle, slot)) {
		if (released)
			tally_shared(&pool->core.unpushed, 1);
		cold_put(&pool->core.cold, slot);
	} else {
		struct cache *c = enter(pool, cache);

		/* Counted first, so that releases, which are pushes minus these, are never too many. */
		if (!released)
			tally(&c->counts.returned);
		cache_put(c, slot);
		leave(pool, cache, c);
	}
	slots_fence(pool);
}

void slots_put(lfpool_t *pool, struct cache_head *cache, uint32_t slot)
{
	put(pool, cache, slot, false);
}

void slots_put_in_mode(lfpool_t *pool, struct cache_head *cache, uint32_t slot)
{
	if (likely(slot)) {
		put(pool, cache, slot, true);
	} else {
		/* The slot is in quarantine, where an acquire finds it.  So this release pushed nothing. */
		tally_shared(&pool->core.unpushed, 1);
		slots_fence(pool);
	}
}

/* ---- Begin and end ---- */

/* A result of make_active(), in addition to the results of lifecycle_begin(): the object was already active, because it
 * was released twice in a race. */
enum { BEGUN_TWICE = BEGIN_DISCARDED + 1 };

/* Makes the slot's object active.  BEGIN_REFUSED: a hook refused the object, or malloc returned NULL; the slot must be
 * put back. */
static inline unsigned make_active(lfpool_t *pool, uint32_t slot, void **object_out)
{
	struct arena *arena = &pool->core.arena;
	void *object = arena_object(arena, slot);

	/* Was the object released twice in a race? */
	if (arena_is_active(arena, slot)) {
		(void)misuse_report(pool, object, LFPOOL_E_NOT_IN_USE);
		return BEGUN_TWICE;
	}
	if (!pool_in_place(pool) && !(object = heap_object_new(pool, slot)))
		return BEGIN_REFUSED;
	if (unlikely(pool->builds) && !lifecycle_build(pool->builds, slot, object))
		return BEGIN_REFUSED;
	*object_out = object;
	if (pool->zero && !pool->each_call)
		memset(object, 0, pool->object_size);
	/* In malloc mode lifecycle_begin() gets SLOT_NONE, because each object is new. */
	const enum begun begun = pool->each_call ? lifecycle_begin(pool->each_call,
								   pool_in_place(pool) ? slot : SLOT_NONE, object)
						 : BEGIN_OK;

	if (begun == BEGIN_OK)
		arena_activate(arena, slot);
	else if (!pool_in_place(pool))
		heap_object_free(pool, slot, object);
	return begun;
}

/* A hook refused the object of `slot`.  If the object is built, its slot is set aside; otherwise the slot becomes
 * cold. */
static void put_refused(lfpool_t *pool, uint32_t slot, struct search *s)
{
	if (lifecycle_is_built(pool->lifecycle, slot)) {
		aside_set(pool->aside, slot);
	} else {
		/* hooks.create would probably refuse other objects too. */
		s->cold = false;
		cold_put(&pool->core.cold, slot);
	}
	slots_fence(pool);
}

/* A hook refused the object of `slot`.  Returns another object that no hook refuses, or NULL.  The loop ends, because
 * it tries each object once (AS2). */
static COLD void *begin_another(lfpool_t *pool, struct cache_head *cache, uint32_t slot)
{
	struct search search = search_new(pool, pool->aside ? aside_tickets(pool->aside) : 0);
	unsigned begun = BEGIN_REFUSED;
	void *object;

	do {
		if (begun == BEGUN_TWICE)
			tally_shared(&pool->core.unpushed, (uint64_t)-1);
		else
			put_refused(pool, slot, &search);
		slot = search_on(pool, cache, &search);
		if (!slot)
			return NULL;
		begun = make_active(pool, slot, &object);
	} while (begun != BEGIN_OK);
	return object;
}

enum slot_begun slots_begin(lfpool_t *pool, struct cache_head *cache, uint32_t slot, void **object_out)
{
	const unsigned begun = make_active(pool, slot, object_out);

	if (likely(begun == BEGIN_OK))
		return SLOT_BEGUN;
	*object_out = NULL;
	if (begun == BEGUN_TWICE) {
		tally_shared(&pool->core.unpushed, (uint64_t)-1);
		return SLOT_USED_UP;
	}
	if (pool_in_place(pool))
		*object_out = begin_another(pool, cache, slot);
	else
		slots_put(pool, cache, slot);
	if (*object_out)
		return SLOT_BEGUN;
	return begun == BEGIN_DISCARDED ? SLOT_BAD : SLOT_REFUSED;
}

uint32_t slots_end_on_heap(lfpool_t *pool, uint32_t slot, void *object)
{
	if (pool->each_call)
		(void)lifecycle_end(pool->each_call, SLOT_NONE, object);
	if (!pool_in_place(pool))
		heap_object_free(pool, slot, object);
	return slot;
}

/* ---- Counts ---- */

size_t slots_used(const lfpool_t *pool)
{
	return census_used(&pool->core);
}

size_t slots_listed(const lfpool_t *pool)
{
	uint64_t pushes;

	return census_in_magazines(&pool->core, &pushes) + aside_count(pool->aside);
}

size_t slots_held_back(const lfpool_t *pool)
{
	const bool quarantines = !EMBEDDED && pool->quarantine;

	return aside_count(pool->aside) + (quarantines ? quarantine_count(pool->quarantine) : 0);
}

size_t slots_out(const lfpool_t *pool)
{
	const size_t capacity = cold_capacity(&pool->core.cold), untouched = census_untouched(&pool->core);
	uint64_t pushes;
	const size_t free_slots = census_in_magazines(&pool->core, &pushes) + untouched + slots_held_back(pool);

	return free_slots < capacity ? capacity - free_slots : 0;
}

/* ---- Caches ---- */

/* Claims an explicit cache.  A buffer has all its caches from the start, so some must remain for calls without a
 * cache. */
static struct cache *claim_in_buffer(struct core *core)
{
	struct cache *c;
	/* relaxed, here and below: only the number matters. */
	uint32_t count = load_relaxed(&core->explicit_caches);

	/* The count changes by CAS, because a refused call must not change it.  Repeats only after another thread
	 * changed the count. */
	do
		if (count >= core->table.most - core->table.for_calls)
			return NULL;
	while (!cas_weak_relaxed(&core->explicit_caches, &count, count + 1));
	/* The loop waits only while calls without a cache use all remaining caches. */
	while (!(c = cache_claim(core, CACHE_FOR_LONG, 0)))
		cpu_relax();
	return c;
}

struct cache_head *slots_cache_create(lfpool_t *pool)
{
	struct core *core = &pool->core;
	struct cache *c = arena_in_buffer(&core->arena) ? claim_in_buffer(core) : cache_claim(core, CACHE_FOR_LONG, 0);

	return c ? &c->head : NULL;
}

void slots_cache_destroy(struct cache_head *cache)
{
	struct cache *c = (struct cache *)cache;
	struct core *core = c->core;

	cache_flush(c);
	cache_unclaim(c);
	if (arena_in_buffer(&core->arena))
		(void)fetch_add_relaxed(&core->explicit_caches, UINT32_MAX);
}

void slots_cache_flush(struct cache_head *cache)
{
	cache_flush((struct cache *)cache);
}

/* ---- Many objects in one step: states ---- */

/* The number of states in a row; smaller for the small pools of the explorer and of embedded builds. */
#if defined(LFPOOL_EXPLORE) || defined(LFPOOL_EMBEDDED)
#define ROW 2
#else
#define ROW 8
#endif

/* Makes a free object of this pool active; false: it is already active. */
static inline bool activate_one(const struct lfpool_cache_t *face, void *object)
{
	_Atomic(uintptr_t) *const state = lfpool_state_at_(face, object);

	/* relaxed: as in arena_is_active(). */
	if (!likely(!load_relaxed(state)))
		return false;
	/* release, edge TELL: publishes the zeros that an acquire has written. */
	store_release(state, (uintptr_t)object);
	return true;
}

/* Does activate_one() for objects up to the first one that is already active; returns the number of objects before
 * it. */
static inline size_t activate(const struct lfpool_cache_t *shared, void *const *objects, size_t count)
{
	/* The stores cannot change a local copy, so the compiler loads its fields only once. */
	const struct lfpool_cache_t face = *shared;
	size_t done = 0;

	for (; count - done >= ROW; done += ROW)
#pragma GCC unroll 8
		for (size_t i = 0; i < ROW; i++)
			if (!activate_one(&face, objects[done + i]))
				return done + i;
	for (; done < count; done++)
		if (!activate_one(&face, objects[done]))
			break;
	return done;
}

/* Makes neighbouring objects free, in ascending or descending order (`step` is 1 or -1), beginning with the object that
 * has this state.  Stops at the first row with an object that is not active; returns the number of freed objects.  The
 * state of an active object is its address, so a match also proves that the object belongs to this state. */
static ALWAYS_INLINE size_t deactivate_rows(_Atomic(uintptr_t) *state, void *const *objects, size_t count,
					    ptrdiff_t step)
{
	size_t done = 0;

	for (; count - done >= ROW; done += ROW, state += step * ROW, objects += ROW) {
		uintptr_t differs = 0;

#pragma GCC unroll 8
		for (ptrdiff_t i = 0; i < ROW; i++)
			/* relaxed: as in arena_is_active(). */
			differs |= load_relaxed(&state[step * i]) ^ (uintptr_t)objects[i];
		if (differs)
			break;
#pragma GCC unroll 8
		for (ptrdiff_t i = 0; i < ROW; i++)
			/* relaxed: published by the store of bottom. */
			store_relaxed(&state[step * i], 0);
	}
	return done;
}

/* Makes objects free, in their order, up to the first pointer that is not an active object of this pool, or has a
 * handle; returns the number of freed objects. */
static inline size_t deactivate(const struct lfpool_cache_t *shared, void *const *objects, size_t count)
{
	/* A local copy, as in activate(). */
	const struct lfpool_cache_t face = *shared;
	size_t done = 0;

	while (done < count) {
		void *const *const at = objects + done;
		const uintptr_t granule = lfpool_granule_of_(&face, at[0]);
		const size_t left = count - done;
		size_t rows = 0;

		if (!likely(granule < face.granules))
			break;
		_Atomic(uintptr_t) *const state = &face.state[granule];

		if (left >= ROW) {
			const uintptr_t ahead = lfpool_granule_of_(&face, at[ROW - 1]) - granule;

			if (ahead == ROW - 1)
				rows = deactivate_rows(state, at, at_most(left, face.granules - granule), 1);
			else if (ahead == (uintptr_t)0 - (ROW - 1))
				rows = deactivate_rows(state, at, at_most(left, granule + 1), -1);
		}
		done += rows;
		if (rows)
			continue;
		/* relaxed: as in arena_is_active(). */
		if (!likely(load_relaxed(state) == (uintptr_t)at[0]))
			break;
		/* relaxed: published by the store of bottom. */
		store_relaxed(state, 0);
		done++;
	}
	return done;
}

/* ---- Acquire ---- */

/* For LFPOOL_ZERO: zeroes the objects before they are active, so that a walk meets only zeroed objects.  Objects that
 * are already active, because they were released twice in a race, have another holder and are skipped. */
static void zero(const lfpool_t *pool, void *const *objects, uint32_t count)
{
	const struct arena *arena = &pool->core.arena;

	for (uint32_t i = 0; i < count; i++)
		if (!arena_is_active(arena, arena_slot(arena, (uintptr_t)objects[i])))
			memset(objects[i], 0, pool->object_size);
}

size_t bulk_take(struct cache_head *head, void **objects_out, size_t wanted, uint32_t *taken_out)
{
	struct cache *c = (struct cache *)head;
	lfpool_t *pool = head->pool;
	struct core *core = &pool->core;
	uint64_t first;

	*taken_out = 0;
	if (!pool->plain)
		return 0;

	const uint32_t taken = magazine_pop_many(c->current, core->asymmetric, wanted, &first);
	size_t done = 0, end = taken;

	*taken_out = taken;
	if (!taken)
		return 0;
	magazine_read_many(c->current, core->magazines.slots, first, taken, objects_out);
	if (pool->zero)
		zero(pool, objects_out, taken);
	/* Moves objects that are already active to the end of the array: they have left the magazine, but the caller
	 * does not get them. */
	while ((done += activate(&core->arena.face, objects_out + done, end - done)) < end) {
		void *twice = objects_out[done];

		objects_out[done] = objects_out[--end];
		objects_out[end] = twice;
	}
	if (likely(done == taken))
		return done;
	tally_shared(&core->unpushed, (uint64_t)done - taken);
	/* hooks.misuse runs only after the step (U1). */
	for (size_t i = done; i < taken; i++)
		(void)misuse_report(pool, objects_out[i], LFPOOL_E_NOT_IN_USE);
	return done;
}

/* ---- Release ---- */

size_t bulk_put(struct cache_head *head, void *const *objects, size_t count)
{
	struct cache *c = (struct cache *)head;
	const lfpool_t *pool = head->pool;
	struct lfpool_magazine *m = c->current;
	const uint32_t slots = pool->core.magazines.slots;
	uint64_t first;

	if (!pool->plain || pool->check_races)
		return 0;

	const uint32_t room = magazine_room(m, slots, &first), most = count < room ? (uint32_t)count : room;
	const uint32_t done = (uint32_t)deactivate(&pool->core.arena.face, objects, most);

	magazine_place_many(m, slots, first, done, objects);
	magazine_push_placed(m, first, done);
	/* magazine_room() may have reset the magazine, so that fast paths can use it again. */
	if (unlikely(head->face.hot != m))
		cache_offer(c);
	return done;
}
