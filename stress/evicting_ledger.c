/* SPDX-License-Identifier: MIT */
/*
 * evicting_ledger.c - the ledger of acquisitions, and what on_evict is held against; see evicting.h.
 */
#include "evicting.h"
#include "faults.h"

#include <inttypes.h>

/* ---- Records ---- */

struct acquisition *acquisition_begin(struct actor *actor, uint64_t priority)
{
	struct acquisition *a;

	if (!actor->unused_count)
		return NULL;
	a = actor->unused[--actor->unused_count];
	store_relaxed(&a->next, priority);
	store_relaxed(&a->settled, priority);
	priority_try(a, priority);
	return a;
}

void acquisition_drop(struct actor *actor, struct acquisition *a)
{
	a->object = NULL;
	a->name = 0;
	/* Others may still come across it. */
	store_relaxed(&a->handle, 0);
	store_relaxed(&a->fate, LIVE);
	store_relaxed(&a->published, 0);
	store_relaxed(&a->releasing, 0);
	store_relaxed(&a->tried, 0);
	actor->unused[actor->unused_count++] = a;
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
	for (uint32_t i = 0; i < evicting.hold; i++) {
		const struct acquisition *a = load_relaxed(&actor->mine[i]);

		if (a && fate_of(a) != LIVE)
			store_relaxed(&actor->mine[i], NULL);
	}
	for (uint32_t i = 0; i < RECORDS; i++) {
		struct acquisition *a = &actor->records[i];
		struct slot *slot = &evicting.slots[slot_of(a->name)];

		if (!a->name || fate_of(a) == LIVE || pins_of(a))
			continue;
		if (load_relaxed(&slot->last) == a)
			store_relaxed(&slot->last, NULL);
		actor->dead[draw(actor->worker, DEAD_MAX)] = a->name;
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
	return load_relaxed(&a->tried) & bit_of(priority);
}

bool priority_is_last(const struct acquisition *a, uint64_t priority)
{
	/* acquire, and in this order: if a later update stands there, which was refused, then what the one before has set
	 * stands in `settled`. */
	const uint64_t next = atomic_load_explicit(&a->next, memory_order_acquire);
	const uint64_t settled = load_relaxed(&a->settled);

	return evicting.one_update ? priority == next || priority == settled : priority_was_tried(a, priority);
}

/* ---- Contents ---- */

void contents_check(const struct acquisition *a, const char *when)
{
	(void)ledger_stamped(a->object, evicting.slots[slot_of(a->name)].stamp, when);
}

void contents_write(struct actor *actor, struct acquisition *a)
{
	const size_t size = current.config.object_size;
	const uint64_t stamp = ledger_token(actor->worker->index, ++actor->worker->sequence);

	stamp_write(a->object, size, stamp);
	evicting.slots[slot_of(a->name)].stamp = stamp;
	fault_tear(actor->worker, a->object, size);
}

/* ---- Grants ---- */

/* Is there such an object, and has no other thread got it? */
static bool is_free(struct slot *slot, const void *object)
{
	const struct acquisition *last = load_relaxed(&slot->last);
	uintptr_t known = 0;

	if (!compare_exchange_relaxed(&slot->object, &known, (uintptr_t)object) && known != (uintptr_t)object) {
		violation("object %p was at %p before", object, (void *)known);
		return false;
	}
	if (last && (pins_of(last) || (fate_of(last) == LIVE && !load_relaxed(&last->releasing)))) {
		violation("object %p granted twice: by handle %" PRIx64 " it is held already, pinned by %u", object, last->name,
			  pins_of(last));
		return false;
	}
	return true;
}

bool acquisition_granted(struct actor *actor, struct acquisition *a, void *object, lfpool_handle_t handle)
{
	struct slot *slot = &evicting.slots[slot_of(handle)];

	if (slot_of(handle) >= current.capacity || (uintptr_t)object % current.ledger.alignment != 0) {
		violation("object %p, handle %" PRIx64 ": there is no such object of %zu aligned to %zu", object, handle,
			  current.capacity, current.ledger.alignment);
		return false;
	}
	if (!is_free(slot, object))
		return false;
	expect(age_of(handle) > actor->age, "acquire number %" PRIu64 " after number %" PRIu64, age_of(handle), actor->age);
	actor->age = age_of(handle);
	a->object = object;
	a->name = handle;
	contents_check(a, "while it was free");
	contents_write(actor, a);
	store_relaxed(&slot->last, a);
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
	expect(!found, "handle %" PRIx64 " is stale, and %s takes it", handle, found);
}

/* ---- Evictions ---- */

/* Is it the owner of an acquisition that was published? */
static bool knows(const lfpool_evicted_t *evicted)
{
	const struct acquisition *a = evicted->owner;
	const uintptr_t first = (uintptr_t)evicting.actors, end = (uintptr_t)(evicting.actors + current.threads + 1);

	return evicted->pool == evicting.pool && (uintptr_t)a >= first && (uintptr_t)a < end && a->name == evicted->handle &&
	       a->object == evicted->object;
}

/* By the call that this thread is in? */
static void expect_call(struct call *call, const lfpool_evicted_t *evicted)
{
	const struct order order = order_of(evicted->priority, evicted->handle);

	expect(call->kind != CALL_NONE, "an eviction by a call that evicts nothing");
	if (call->kind == CALL_ACQUIRE && call->evictions)
		violation("one acquire evicts two objects");
	if (call->kind == CALL_ACQUIRE && (evicting.evict_equal ? call->rank < order.rank : call->rank <= order.rank))
		violation("a newcomer of rank %" PRIx64 " evicts an object of rank %" PRIx64, call->rank, order.rank);
	if (!call->evictions || order_before(call->last, order))
		call->last = order;
	else if (evicting.at_rest)
		violation("release_min released one of rank %" PRIx64 " after one of rank %" PRIx64, order.rank, call->last.rank);
	call->evictions++;
}

void evicting_on_evict(void *context, const lfpool_evicted_t *evicted)
{
	struct worker *worker = here;
	struct actor *actor = actor_of(worker);
	struct acquisition *a = evicted->owner;

	(void)context;
	if (!knows(evicted)) {
		violation("on_evict is told of handle %" PRIx64 ", object %p, owner %p: no such acquisition", evicted->handle,
			  evicted->object, evicted->owner);
		return;
	}
	expect(!pins_of(a), "handle %" PRIx64 " is pinned by %u, and evicted", a->name, pins_of(a));
	acquisition_end(a, EVICTED);
	if (fault_strikes(worker, FAULT_EVICTED_TWICE))
		acquisition_end(a, EVICTED);
	expect(priority_is_last(a, evicted->priority), "on_evict is told of priority %" PRIx64 "; the last was %" PRIx64,
	       evicted->priority, load_relaxed(&a->settled));
	contents_check(a, "when it was evicted");
	actor->evicted++;
	expect_call(&actor->call, evicted);
	if (chance(worker, 8))
		contents_write(actor, a);
	if (chance(worker, 4))
		expect_stale(actor, a->name, false);
	/* The hook may call the pool. */
	if (evicting.at_rest)
		return;
	if (chance(worker, 128))
		call_acquire(actor);
	else if (chance(worker, 128))
		(void)call_release_min(actor, 1);
}
