/* SPDX-License-Identifier: MIT */
/*
 * evicting_ledger.c - the ledger of acquisitions, and what on_evict is held against; see evicting.h.
 */
#include "evicting.h"
#include "faults.h"
#include "report.h"

#include <inttypes.h>

static _Thread_local struct actor *acting;

void actor_enter(struct actor *actor)
{
	acting = actor;
}

/* ---- Records ---- */

struct acquisition *acquisition_begin(struct actor *actor, uint64_t priority)
{
	struct acquisition *a;

	if (!actor->unused_count)
		return NULL;
	a = &actor->records[actor->unused[--actor->unused_count]];
	/* relaxed, here and wherever nothing else is said: see Orders. */
	atomic_store_explicit(&a->next, priority, memory_order_relaxed);
	atomic_store_explicit(&a->settled, priority, memory_order_relaxed);
	priority_try(a, priority);
	return a;
}

void acquisition_drop(struct actor *actor, struct acquisition *a)
{
	a->object = NULL;
	a->name = 0;
	/* relaxed, all: others may still come across it, on the board. */
	atomic_store_explicit(&a->handle, 0, memory_order_relaxed);
	atomic_store_explicit(&a->fate, LIVE, memory_order_relaxed);
	atomic_store_explicit(&a->published, 0, memory_order_relaxed);
	atomic_store_explicit(&a->releasing, 0, memory_order_relaxed);
	atomic_store_explicit(&a->tried, 0, memory_order_relaxed);
	actor->unused[actor->unused_count++] = (uint32_t)(a - actor->records);
}

void acquisition_end(struct acquisition *a, enum fate fate)
{
	static const char *const fates[] = {"is live", "was evicted", "was released"};
	unsigned found = LIVE;

	/* release: from here on no thread must get at it. */
	if (!atomic_compare_exchange_strong_explicit(&a->fate, &found, (unsigned)fate, memory_order_release,
						     memory_order_relaxed))
		violation("what had handle %" PRIx64 " %s, and before it %s", a->name, fates[fate], fates[found]);
}

void acquisitions_reclaim(struct actor *actor)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < actor->mine_count; i++)
		if (fate_of(actor->mine[i]) == LIVE)
			actor->mine[kept++] = actor->mine[i];
	actor->mine_count = kept;
	/* Others may have published it. */
	if (actor->fresh && fate_of(actor->fresh) != LIVE)
		actor->fresh = NULL;
	for (uint32_t i = 0; i < evicting.records; i++) {
		struct acquisition *a = &actor->records[i];
		struct slot *slot = &evicting.slots[slot_of(a->name)];

		if (!a->name || fate_of(a) == LIVE || pins_of(a))
			continue;
		if (atomic_load_explicit(&slot->last, memory_order_relaxed) == a)
			atomic_store_explicit(&slot->last, NULL, memory_order_relaxed);
		actor->dead[random_below(&actor->worker->random, DEAD_MAX)] = a->name;
		acquisition_drop(actor, a);
	}
}

/* ---- Priorities ---- */

static uint64_t bit_of(uint64_t priority)
{
	return UINT64_C(1) << (priority * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

void priority_try(struct acquisition *a, uint64_t priority)
{
	(void)atomic_fetch_or_explicit(&a->tried, bit_of(priority), memory_order_relaxed);
}

bool priority_was_tried(const struct acquisition *a, uint64_t priority)
{
	return atomic_load_explicit(&a->tried, memory_order_relaxed) & bit_of(priority);
}

bool priority_is_last(const struct acquisition *a, uint64_t priority)
{
	/* acquire, and in this order: if a later update stands there, which was refused, then what the one before has set
	 * stands in `settled`. */
	const uint64_t next = atomic_load_explicit(&a->next, memory_order_acquire);
	const uint64_t settled = atomic_load_explicit(&a->settled, memory_order_relaxed);

	return evicting.one_update ? priority == next || priority == settled : priority_was_tried(a, priority);
}

/* ---- Contents ---- */

void contents_check(const struct acquisition *a, const char *when)
{
	const uint64_t stamp = evicting.slots[slot_of(a->name)].stamp;
	const size_t size = current.config.object_size;

	if (stamp_differs_at(a->object, 0, size, stamp) != size)
		violation("object %p damaged %s: it begins with 0x%02x, and is not all over of stamp %" PRIx64, (void *)a->object,
			  when, a->object[0], stamp);
}

void contents_write(struct actor *actor, struct acquisition *a)
{
	const size_t size = current.config.object_size;
	const uint64_t stamp = (uint64_t)(actor->worker->index + 1) << 48 | ++actor->stamps;

	stamp_write(a->object, 0, size, stamp);
	evicting.slots[slot_of(a->name)].stamp = stamp;
	if (fault_strikes(actor->worker, FAULT_TORN_PAYLOAD))
		a->object[random_next(&actor->worker->faults) % size] ^= 0x40;
}

/* ---- Grants ---- */

/* Is there such an object, and has no other thread got it? */
static bool is_free(struct slot *slot, const void *object)
{
	const struct acquisition *last = atomic_load_explicit(&slot->last, memory_order_relaxed);
	uintptr_t known = 0;

	if (!atomic_compare_exchange_strong_explicit(&slot->object, &known, (uintptr_t)object, memory_order_relaxed,
						     memory_order_relaxed) &&
	    known != (uintptr_t)object) {
		violation("object %p was at %p before", object, (void *)known);
		return false;
	}
	if (last && (pins_of(last) || (fate_of(last) == LIVE && !atomic_load_explicit(&last->releasing, memory_order_relaxed)))) {
		violation("object %p granted twice: by handle %" PRIx64 " it is held already, pinned by %u", object, last->name,
			  pins_of(last));
		return false;
	}
	return true;
}

bool acquisition_granted(struct actor *actor, struct acquisition *a, void *object, lfpool_handle_t handle)
{
	const size_t alignment = current.config.object_alignment;
	struct slot *slot = &evicting.slots[slot_of(handle)];

	if (slot_of(handle) >= evicting.capacity || (uintptr_t)object % (alignment ? alignment : _Alignof(max_align_t)) != 0) {
		violation("object %p, handle %" PRIx64 ": there is no such object of %zu aligned to %zu", object, handle,
			  evicting.capacity, alignment);
		return false;
	}
	if (!is_free(slot, object))
		return false;
	if (age_of(handle) <= actor->age)
		violation("acquire number %" PRIu64 " after number %" PRIu64, age_of(handle), actor->age);
	actor->age = age_of(handle);
	a->object = object;
	a->name = handle;
	contents_check(a, "while it was free");
	contents_write(actor, a);
	atomic_store_explicit(&slot->last, a, memory_order_relaxed);
	return true;
}

/* ---- Stale handles ---- */

void expect_stale(struct actor *actor, lfpool_handle_t handle, bool pinned)
{
	lfpool_priority_t *pool = evicting.pool;
	uint64_t priority;
	const char *found = NULL;

	if (lfpool_priority_pin(pool, handle) || fault_strikes(actor->worker, FAULT_STALE_HANDLE))
		found = "pin";
	else if (lfpool_priority_is_active(pool, handle) || lfpool_priority_look(pool, handle) ||
		 lfpool_priority_get(pool, handle, &priority))
		found = "a question";
	else if (lfpool_priority_update(pool, handle, 0) != LFPOOL_E_STALE)
		found = "update";
	else if (lfpool_priority_publish(pool, handle) != LFPOOL_E_STALE)
		found = "publish";
	else if (lfpool_priority_release(pool, handle) != LFPOOL_E_STALE)
		found = "release";
	/* Else it would undo another thread's. */
	else if (!pinned && lfpool_priority_unpin(pool, handle) != LFPOOL_E_STALE)
		found = "unpin";
	if (found)
		violation("handle %" PRIx64 " is stale, and %s takes it", handle, found);
}

/* ---- Evictions ---- */

/* Is it the owner of an acquisition that was published? */
static bool knows(const lfpool_evicted_t *evicted)
{
	const struct acquisition *a = evicted->owner;
	const size_t all = evicting.records * (current.threads + (size_t)1);

	return evicted->pool == evicting.pool && (uintptr_t)a >= (uintptr_t)evicting.acquisitions &&
	       (uintptr_t)a < (uintptr_t)(evicting.acquisitions + all) && a->name == evicted->handle &&
	       a->object == evicted->object;
}

/* By the call that this thread is in? */
static void expect_call(struct actor *actor, const lfpool_evicted_t *evicted)
{
	const struct order order = {rank_of(evicted->priority), age_of(evicted->handle)};
	struct call *call = &actor->call;

	if (call->kind == CALL_NONE)
		violation("an eviction by a call that evicts nothing");
	if (call->kind == CALL_ACQUIRE && call->evictions)
		violation("one acquire evicts two objects");
	if (call->kind == CALL_ACQUIRE && (evicting.evict_equal ? call->rank < order.rank : call->rank <= order.rank))
		violation("a newcomer of rank %" PRIx64 " evicts an object of rank %" PRIx64, call->rank, order.rank);
	if (!call->evictions || order_before(call->last, order))
		call->last = order;
	if (call->taken && call->evictions < evicting.capacity)
		call->taken[call->evictions] = evicted->owner;
	call->evictions++;
}

void evicting_on_evict(void *context, const lfpool_evicted_t *evicted)
{
	(void)context;
	struct actor *actor = acting;
	struct worker *worker = actor->worker;
	struct acquisition *a = evicted->owner;

	if (!knows(evicted)) {
		violation("on_evict is told of handle %" PRIx64 ", object %p, owner %p: no such acquisition", evicted->handle,
			  evicted->object, evicted->owner);
		return;
	}
	if (pins_of(a))
		violation("handle %" PRIx64 " is pinned by %u, and evicted", a->name, pins_of(a));
	acquisition_end(a, EVICTED);
	if (fault_strikes(worker, FAULT_EVICTED_TWICE))
		acquisition_end(a, EVICTED);
	if (!priority_is_last(a, evicted->priority))
		violation("on_evict is told of priority %" PRIx64 "; the last was %" PRIx64, evicted->priority,
			  atomic_load_explicit(&a->settled, memory_order_relaxed));
	contents_check(a, "when it was evicted");
	actor->evicted++;
	expect_call(actor, evicted);
	if (worker_chance(worker, 8))
		contents_write(actor, a);
	if (worker_chance(worker, 4))
		expect_stale(actor, a->name, false);
	/* The hook may call the pool. */
	if (evicting.at_rest)
		return;
	if (worker_chance(worker, 128))
		call_acquire(actor);
	else if (worker_chance(worker, 128))
		call_release_min(actor, 1);
}
