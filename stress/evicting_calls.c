/* SPDX-License-Identifier: MIT */
/*
 * evicting_calls.c - the other calls of the scenario `priority`, each past the ledger; see evicting.h.
 */
#include "evicting.h"
#include "faults.h"
#include "report.h"

#include <inttypes.h>

/* A call was refused, with an own object that was published: then it was evicted, or others have been there. */
static void expect_gone(struct actor *actor, const struct acquisition *a, const char *call)
{
	if ((evicting.own || a->holder == actor) && lfpool_priority_is_active(evicting.pool, a->name))
		violation("%s refused handle %" PRIx64 ", which is active", call, a->name);
}

/* ---- Pins ---- */

/* We have it pinned. */
static void use(struct actor *actor, struct acquisition *a)
{
	if (evicting.contents == WRITTEN_BY_HOLDER && a->holder != actor)
		return;
	/* acquire: what the last thread wrote, which may still have it pinned. */
	if (evicting.contents == WRITTEN_BY_ALL && atomic_exchange_explicit(&a->writing, 1, memory_order_acquire))
		return;
	contents_check(a, "while it was pinned");
	if (evicting.contents != WRITTEN_ONCE && worker_chance(actor->worker, 2))
		contents_write(actor, a);
	if (evicting.contents == WRITTEN_BY_ALL)
		/* release: what we wrote. */
		atomic_store_explicit(&a->writing, 0, memory_order_release);
}

void call_pin(struct actor *actor, struct acquisition *a)
{
	const enum fate fate = fate_judged(a);
	const lfpool_handle_t handle = atomic_load_explicit(&a->handle, memory_order_relaxed);
	const bool pretended = handle && fate_of(a) == LIVE && fault_strikes(actor->worker, FAULT_LOST_PIN);
	const unsigned char *object;

	if (!handle || actor->pinned_count == PINNED_MAX)
		return;
	pulse_beat(actor->worker->pulse, 1);
	object = pretended ? NULL : lfpool_priority_pin(evicting.pool, handle);
	if (!object && !pretended) {
		/* Beside a crowd it may be pinned too often. */
		if (evicting.own)
			expect_gone(actor, a, "pin");
		return;
	}
	atomic_fetch_add_explicit(&a->pins, 1, memory_order_relaxed);
	actor->pinned[actor->pinned_count++] = (struct pinned){a, pretended};
	if (pretended)
		return;
	if (fate != LIVE)
		violation("handle %" PRIx64 " is stale, and pin takes it", handle);
	else if (object != a->object)
		violation("handle %" PRIx64 " pins object %p, not %p", handle, (const void *)object, (void *)a->object);
	else
		use(actor, a);
	if (evicting.own && !lfpool_priority_is_active(evicting.pool, handle))
		violation("handle %" PRIx64 " is pinned, and not active", handle);
}

void call_unpin(struct actor *actor, uint32_t which)
{
	const struct pinned pinned = actor->pinned[which];
	struct acquisition *a = pinned.of;
	const lfpool_handle_t handle = atomic_load_explicit(&a->handle, memory_order_relaxed);
	lfpool_status_t status = LFPOOL_OK;

	actor->pinned[which] = actor->pinned[--actor->pinned_count];
	if (!pinned.pretended)
		use(actor, a);
	atomic_fetch_sub_explicit(&a->pins, 1, memory_order_relaxed);
	if (!pinned.pretended)
		status = lfpool_priority_unpin(evicting.pool, handle);
	if (status != LFPOOL_OK)
		violation("unpin of handle %" PRIx64 ", which is pinned: %s", handle, lfpool_status_string(status));
	if (!evicting.own || pins_of(a) || pinned.pretended)
		return;
	status = lfpool_priority_unpin(evicting.pool, handle);
	if (status != LFPOOL_E_STALE && status != LFPOOL_E_NOT_PINNED)
		violation("unpin of handle %" PRIx64 ", which is not pinned: %s", handle, lfpool_status_string(status));
}

/* ---- Update, release ---- */

void call_update(struct actor *actor, struct acquisition *a)
{
	const lfpool_handle_t handle = atomic_load_explicit(&a->handle, memory_order_relaxed);
	const uint64_t priority = draw_priority(actor);
	const enum fate fate = fate_judged(a);
	lfpool_status_t status = LFPOOL_OK;

	/* acquire: what the last one set. */
	if (!handle || (evicting.one_update && atomic_exchange_explicit(&a->updating, 1, memory_order_acquire)))
		return;
	priority_try(a, priority);
	/* release: see priority_is_last(). */
	atomic_store_explicit(&a->next, priority, memory_order_release);
	if (!fault_strikes(actor->worker, FAULT_LOST_UPDATE))
		status = lfpool_priority_update(evicting.pool, handle, priority);
	if (status == LFPOOL_OK && evicting.one_update)
		atomic_store_explicit(&a->settled, priority, memory_order_relaxed);
	/* release: what we set. */
	atomic_store_explicit(&a->updating, 0, memory_order_release);
	if (status == LFPOOL_OK ? fate != LIVE : status != LFPOOL_E_STALE)
		violation("update of handle %" PRIx64 ", which %s: %s", handle, fate == LIVE ? "was live" : "is stale",
			  lfpool_status_string(status));
	if (status != LFPOOL_OK && evicting.own)
		expect_gone(actor, a, "update");
	pulse_beat(actor->worker->pulse, 1);
}

void call_release(struct actor *actor, struct acquisition *a)
{
	const enum fate fate = fate_judged(a);
	const bool unknown = a->holder == actor && !is_shown(a);
	const lfpool_handle_t handle = unknown ? a->name : handle_given(a);
	lfpool_status_t status = LFPOOL_OK;

	/* The count does not know what is pinned after its release. */
	if (!handle || (evicting.demand.counted && pins_of(a)))
		return;
	if (unknown)
		contents_check(a, "while it was new");
	atomic_fetch_add_explicit(&a->releasing, 1, memory_order_relaxed);
	if (!fault_strikes(actor->worker, FAULT_LOST_OBJECT))
		status = lfpool_priority_release(evicting.pool, handle);
	if (status == LFPOOL_OK) {
		acquisition_end(a, RELEASED);
		demand_lower(&evicting.demand, 1);
		if (worker_chance(actor->worker, 4))
			expect_stale(actor, handle, true);
	} else {
		atomic_fetch_sub_explicit(&a->releasing, 1, memory_order_relaxed);
		if (evicting.own)
			expect_gone(actor, a, "release");
	}
	if (status == LFPOOL_OK ? fate != LIVE : unknown || status != LFPOOL_E_STALE)
		violation("release by handle %" PRIx64 ", which %s: %s", handle,
			  unknown        ? "is new"
			  : fate == LIVE ? "was live"
					 : "is stale",
			  lfpool_status_string(status));
	pulse_beat(actor->worker->pulse, 1);
}

/* ---- The least ---- */

void call_release_min(struct actor *actor, size_t count)
{
	const struct call outer = actor->call;
	const struct witness witness = witness_draw(actor);
	size_t released;

	actor->call = (struct call){.kind = CALL_RELEASE_MIN};
	released = lfpool_priority_release_min(evicting.pool, count);
	demand_lower(&evicting.demand, (uint32_t)released);
	if (released > count || released != actor->call.evictions)
		violation("release_min of %zu released %zu; on_evict was told of %zu", count, released, actor->call.evictions);
	if (released)
		witness_expect(&witness, actor->call.last, "release_min released one");
	if (released < count)
		witness_expect(&witness, (struct order){UINT64_MAX, UINT64_MAX}, "release_min found no more");
	actor->call = outer;
	pulse_beat(actor->worker->pulse, 1);
}

void call_peek_min(struct actor *actor)
{
	const struct witness witness = witness_draw(actor);
	uint64_t priority = 0;
	const lfpool_handle_t handle = lfpool_priority_peek_min(evicting.pool, &priority);
	const struct order order = {rank_of(priority), age_of(handle)};

	if (slot_of(handle) >= evicting.capacity)
		violation("peek_min names handle %" PRIx64, handle);
	witness_expect(&witness, handle ? order : (struct order){UINT64_MAX, UINT64_MAX}, "peek_min names one");
}

/* ---- Questions ---- */

void call_get(struct actor *actor, struct acquisition *a)
{
	const enum fate fate = fate_judged(a);
	const lfpool_handle_t handle = atomic_load_explicit(&a->handle, memory_order_relaxed);
	const bool settled = evicting.own && a->holder == actor;
	uint64_t priority;

	if (handle && fate != LIVE) {
		expect_stale(actor, handle, true);
	} else if (handle && lfpool_priority_get(evicting.pool, handle, &priority)) {
		if (settled ? priority != atomic_load_explicit(&a->settled, memory_order_relaxed)
			    : !priority_was_tried(a, priority))
			violation("handle %" PRIx64 " has priority %" PRIx64 ", which no call gave it", handle, priority);
	}
	if (fate == LIVE && settled && handle && lfpool_priority_look(evicting.pool, handle) != a->object)
		expect_gone(actor, a, "look");
}

struct walk {
	struct actor *actor;
	bool ended; /* early */
};

static bool visit(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct walk *walk = context;
	struct actor *actor = walk->actor;
	const size_t slot = slot_of(handle);
	struct acquisition *a = slot < evicting.capacity ? atomic_load_explicit(&evicting.slots[slot].last, memory_order_relaxed)
							 : NULL;

	if (!a || a->name != handle || a->object != object || actor->seen[slot] == handle) {
		violation("a walk visits object %p, handle %" PRIx64 ": %s", object, handle,
			  a && a->name == handle ? "again" : "no such acquisition");
		walk->ended = true;
		return false;
	}
	actor->seen[slot] = handle;
	atomic_fetch_add_explicit(&a->pins, 1, memory_order_relaxed);
	use(actor, a);
	if (!priority_was_tried(a, priority))
		violation("a walk finds priority %" PRIx64 ", which no call gave handle %" PRIx64, priority, handle);
	if (is_shown(a) && worker_chance(actor->worker, 16))
		call_release(actor, a);
	else if (is_shown(a) && worker_chance(actor->worker, 16))
		call_update(actor, a);
	atomic_fetch_sub_explicit(&a->pins, 1, memory_order_relaxed);
	walk->ended = worker_chance(actor->worker, 128);
	return !walk->ended;
}

void call_for_each(struct actor *actor)
{
	struct walk walk = {.actor = actor};
	const uint32_t held = actor->mine_count;

	for (size_t slot = 0; slot < evicting.capacity; slot++)
		actor->seen[slot] = 0;
	(void)lfpool_priority_for_each(evicting.pool, visit, &walk);
	/* What is active after it, and was before, was active all the time. */
	for (uint32_t i = 0; !walk.ended && i < held; i++) {
		const struct acquisition *a = actor->mine[i];

		if (actor->seen[slot_of(a->name)] != a->name && current.threads <= 16 &&
		    lfpool_priority_is_active(evicting.pool, a->name))
			violation("a walk did not visit handle %" PRIx64 ", which is active", a->name);
	}
	pulse_beat(actor->worker->pulse, 1);
}
