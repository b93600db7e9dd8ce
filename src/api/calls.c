/* SPDX-License-Identifier: MIT */
/*
 * calls.c - the slow paths of acquire and release (lfpool/inline.h has the fast paths), and the calls that use the
 * calling thread's cache (threads.h).
 *
 * Acquire      An acquire takes a slot and makes its object active.  While no slot is free, the call reclaims retired
 *              objects, or else grows the pool, or else asks hooks.exhausted, and waits if the hook asks for a wait.
 * Release      A release makes the slot free, ends the use of its object, puts the slot back, and serves calls that
 *              wait for objects.
 * Progress     Lock-free, except for the hooks, and for waits that hooks.exhausted asks for.
 */
#include "api/api.h"

#include "base/probes.h"
#include "os/os.h"
#include "pool/slots.h"
#include "pool/threads.h"
#include "retire/retired.h"
#include "waiting/waiters.h"

#include "lfpool/inline.h"

/* ---- Acquire ---- */

/* The steps of an acquire that follow when no slot is free, as far as the config asks for them.  A wait ends no later
 * than the deadline.  NULL: no object became free, or hooks refused the free objects. */
static COLD void *replenish(lfpool_t *pool, struct cache_head *head, uint64_t deadline_ns)
{
	uint32_t attempt = 0;
	void *object = NULL;

	/* Repeats only after SLOT_USED_UP, after a batch was reclaimed or the pool grew, or if the hook asked for
	 * another attempt. */
	for (;;) {
		const size_t seen = cold_capacity(&pool->core.cold);
		const uint32_t slot = slots_take(pool, head);
		int64_t wait_ns = 0;

		if (slot && waiters_begin(pool, head, slot, &object))
			return object;
		/* Reclaiming is tried first, so that the pool grows only if it must. */
		if (slot || retired_poll(pool->retired, head))
			continue;
		if (resize_by_itself(pool, seen)) {
			resize_serve_if_wanted(pool, head);
			continue;
		}
		if (waiters_closed(&pool->waiters) || !pool->hooks.exhausted ||
		    !pool->hooks.exhausted(pool->hooks.context, pool, attempt++, &wait_ns))
			return NULL;
		if (!wait_ns)
			continue;

		const uint64_t until_ns = deadline_ns ? os_deadline(wait_ns) : 0;

		if (until_ns && (object = waiters_wait(pool, head, until_ns < deadline_ns ? until_ns : deadline_ns)))
			return object;
		/* At the deadline the call ends as it would without the hook. */
		if (deadline_ns != UINT64_MAX && until_ns >= deadline_ns)
			return NULL;
	}
}

void pool_exhausted(lfpool_t *pool, struct cache_head *head)
{
	slots_exhausted(pool, head);
	probe_exhausted(pool, pool->name);
}

static COLD void *exhausted(lfpool_t *pool, struct cache_head *head, uint64_t deadline_ns)
{
	pool_exhausted(pool, head);
	return pool->more ? replenish(pool, head, deadline_ns) : NULL;
}

/* Makes the object in `slot` active; the caller has taken the slot.  SLOT_NONE: the caller found no free slot. */
static inline void *begin_one(lfpool_t *pool, struct cache_head *head, uint32_t slot, uint64_t deadline_ns)
{
	void *object;

	/* Repeats only for an object that was released twice in a race (SLOT_USED_UP). */
	while (likely(slot) && !waiters_begin(pool, head, slot, &object))
		slot = slots_take(pool, head);
	return likely(slot) ? object : exhausted(pool, head, deadline_ns);
}

/* If `object` is NULL, the fast path has lowered the magazine's `bottom`, and found at most one object there.
 * Otherwise the fast path has taken `object`, and found that its state is not 0. */
NOINLINE void *lfpool_cache_acquire_slow_(lfpool_cache_t *cache, void *object)
{
	struct cache_head *head = (struct cache_head *)cache;
	const uint32_t slot = likely(!object) ? slots_take_after_hit(head->pool, head)
					      : arena_slot(&head->pool->core.arena, (uintptr_t)object);

	object = begin_one(head->pool, head, slot, UINT64_MAX);
	KEEP_FRAME();
	return object;
}

void *pool_acquire(lfpool_t *pool, struct cache_head *head, uint64_t deadline_ns)
{
	return begin_one(pool, head, slots_take(pool, head), deadline_ns);
}

/* ---- Release ---- */

static inline lfpool_status_t release(lfpool_t *pool, struct cache_head *head, void *object)
{
	uint32_t slot;
	const lfpool_status_t status = pool_locate(pool, object, &slot);

	if (unlikely(status != LFPOOL_OK))
		return misuse_report(pool, object, status);

	const enum leave leave = arena_leave_active(&pool->core.arena, slot, pool->check_races, GENERATION_RELEASED);

	if (unlikely(leave == LEAVE_REFUSED))
		return misuse_report(pool, object, LFPOOL_E_NOT_IN_USE);
	/* After LEAVE_LATER the last unpin puts the object back. */
	if (likely(leave == LEAVE_NOW))
		waiters_put(pool, head, slot, object);
	return LFPOOL_OK;
}

/* If `object` is NULL, the fast path has pushed an object and then found demand, or the program releases NULL.
 * Otherwise the fast path has changed nothing: the magazine is full, or the object or its state needs the checks of
 * this function. */
NOINLINE lfpool_status_t lfpool_cache_release_slow_(lfpool_cache_t *cache, void *object)
{
	struct cache_head *head = (struct cache_head *)cache;
	lfpool_status_t status = LFPOOL_OK;

	if (likely(object))
		status = release(head->pool, head, object);
	/* relaxed: the fast path has fenced.  A release of NULL needs no fence, because it pushed nothing. */
	else if (load_relaxed(head->pool->waiters.wanted))
		waiters_serve(head->pool, head);
	KEEP_FRAME();
	return status;
}

/* Can the pointer be an object of this pool? */
static bool may_own(const lfpool_t *pool, const void *object)
{
	return pool_in_place(pool) ? arena_spans(&pool->core.arena, object) : lfpool_owns(pool, object);
}

NOINLINE lfpool_status_t lfpool_cache_release_if_owned_slow_(lfpool_cache_t *cache, void *object)
{
	const lfpool_t *pool = ((const struct cache_head *)cache)->pool;

	return !object || may_own(pool, object) ? lfpool_cache_release_slow_(cache, object) : LFPOOL_E_FOREIGN;
}

/* ---- Many ---- */

/* The deadline for a wait that hooks.exhausted asks for, in a call that already has `done` objects.  A call that has
 * objects must not wait, because two such calls might wait for each other's objects. */
static inline uint64_t bulk_deadline(size_t done)
{
	return done ? 0 : UINT64_MAX;
}

size_t lfpool_cache_acquire_bulk(lfpool_cache_t *cache, void **objects_out, size_t count)
{
	struct cache_head *head = (struct cache_head *)cache;
	size_t done = 0;

	/* Each round takes an object, or is the last. */
	while (done < count) {
		uint32_t taken;

		done += bulk_take(head, objects_out + done, count - done, &taken);
		if (taken)
			continue;
		/* Either the magazine is empty, and the slow path replaces it, or every acquire of this pool needs the
		 * slow path. */
		objects_out[done] = pool_acquire(head->pool, head, bulk_deadline(done));
		if (!objects_out[done])
			break;
		done++;
	}
	KEEP_FRAME();
	return done;
}

size_t lfpool_cache_release_bulk(lfpool_cache_t *cache, void *const *objects, size_t count)
{
	struct cache_head *head = (struct cache_head *)cache;
	size_t seen = 0, released = 0;

	while (seen < count) {
		const size_t run = bulk_put(head, objects + seen, count - seen);

		seen += run;
		released += run;
		if (likely(seen == count))
			break;
		/* The magazine is full, or the next object needs the slow path. */
		if (objects[seen])
			released += release(head->pool, head, objects[seen]) == LFPOOL_OK;
		seen++;
	}
	slots_fence(head->pool);
	waiters_look(head->pool, head);
	KEEP_FRAME();
	return released;
}

/* ---- Through the calling thread's cache ---- */

/* NOINLINE, so that the fast path in its callers has no stack frame. */
NOINLINE void *lfpool_acquire_slow_(lfpool_t *pool)
{
	struct cache_head *head = thread_cache_remembered(pool);

	return head ? lfpool_cache_acquire_inline_(&head->face) : pool_acquire(pool, NULL, UINT64_MAX);
}

NOINLINE lfpool_status_t lfpool_release_slow_(lfpool_t *pool, void *object, bool if_owned)
{
	if (if_owned && object && !may_own(pool, object))
		return LFPOOL_E_FOREIGN;

	struct cache_head *head = thread_cache_remembered(pool);

	if (head)
		return lfpool_cache_release_inline_(&head->face, object);
	return object ? release(pool, NULL, object) : LFPOOL_OK;
}

void *lfpool_acquire(lfpool_t *pool)
{
	lfpool_cache_t *cache;

	if (likely(thread_find(pool, &cache)))
		return lfpool_cache_acquire_inline_(cache);

	void *object = lfpool_acquire_slow_(pool);

	KEEP_FRAME();
	return object;
}

lfpool_status_t lfpool_release(lfpool_t *pool, void *object)
{
	lfpool_cache_t *cache;

	if (likely(thread_find(pool, &cache)))
		return lfpool_cache_release_inline_(cache, object);

	lfpool_status_t status = lfpool_release_slow_(pool, object, false);

	KEEP_FRAME();
	return status;
}

lfpool_status_t lfpool_release_if_owned(lfpool_t *pool, void *object)
{
	return !object || may_own(pool, object) ? lfpool_release(pool, object) : LFPOOL_E_FOREIGN;
}

size_t lfpool_acquire_bulk(lfpool_t *pool, void **objects_out, size_t count)
{
	struct cache_head *head = thread_cache(pool);
	size_t done = 0;

	if (head)
		return lfpool_cache_acquire_bulk(&head->face, objects_out, count);
	while (done < count && (objects_out[done] = pool_acquire(pool, NULL, bulk_deadline(done))))
		done++;
	return done;
}

size_t lfpool_release_bulk(lfpool_t *pool, void *const *objects, size_t count)
{
	struct cache_head *head = thread_cache(pool);
	size_t done = 0;

	if (head)
		return lfpool_cache_release_bulk(&head->face, objects, count);
	for (size_t i = 0; i < count; i++)
		done += objects[i] && release(pool, NULL, objects[i]) == LFPOOL_OK;
	return done;
}

/* ---- Explicit caches ---- */

lfpool_cache_t *lfpool_cache_create(lfpool_t *pool)
{
	struct cache_head *head = slots_cache_create(pool);

	return head ? &head->face : NULL;
}

void lfpool_cache_destroy(lfpool_cache_t *cache)
{
	struct cache_head *head = (struct cache_head *)cache;

	if (head)
		slots_cache_destroy(head);
}

void lfpool_cache_flush(lfpool_t *pool, lfpool_cache_t *cache)
{
	struct cache_head *head = cache ? (struct cache_head *)cache : thread_cache_if_any(pool);

	if (head)
		slots_cache_flush(head);
}

/* Functions that programs can link to.  Each has the code of the inline function of the same name in
 * lfpool/inline.h. */
void *lfpool_cache_acquire(lfpool_cache_t *cache)
{
	return lfpool_cache_acquire_inline_(cache);
}

lfpool_status_t lfpool_cache_release(lfpool_cache_t *cache, void *object)
{
	return lfpool_cache_release_inline_(cache, object);
}

lfpool_status_t lfpool_cache_release_if_owned(lfpool_cache_t *cache, void *object)
{
	/* An embedded build prefers small code. */
	return EMBEDDED ? lfpool_cache_release_if_owned_slow_(cache, object)
			: lfpool_cache_release_if_owned_inline_(cache, object);
}
