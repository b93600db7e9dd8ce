/* SPDX-License-Identifier: MIT */
/*
 * evicting_calls.c - the calls of the scenario `priority`, each past the ledger; see evicting.h.
 */
#include "evicting.h"
#include "faults.h"

#include <inttypes.h>
#include <sched.h>

static uint64_t draw_priority(struct worker *worker)
{
	return evicting.span ? draw(worker, evicting.span) : random_next(&worker->random);
}

/* ---- Witnesses ---- */

struct witness {
	struct acquisition *of; /* NULL: not known */
	struct order order;
};

/* Comes after all. */
static const struct order nothing = {UINT64_MAX, UINT64_MAX};

/* An own object that goes before most others of ours. */
static struct witness witness_draw(struct actor *actor)
{
	struct witness witness = {NULL, {0, 0}};

	for (unsigned tries = 0; evicting.own && tries < 8; tries++) {
		struct acquisition *a = remembered(actor, actor->worker);
		struct order order;

		if (!a || fate_of(a) != LIVE || pins_of(a) || !load_relaxed(&a->published))
			continue;
		order = order_of(load_relaxed(&a->settled), a->name);
		if (!witness.of || order_before(order, witness.order))
			witness = (struct witness){a, order};
	}
	return witness;
}

/* What came last in the order of all that was taken or named, did it go before the witness? */
static void witness_expect(const struct witness *witness, struct order last, const char *what)
{
	if (witness->of && order_before(witness->order, last) && lfpool_priority_is_active(evicting.pool, witness->of->name))
		violation("%s (rank %" PRIx64 ", acquire %" PRIu64 ") though one of rank %" PRIx64 " (acquire %" PRIu64
			  ") could be evicted all the time",
			  what, last.rank, last.age, witness->order.rank, witness->order.age);
}

/* What a call by this handle said, its acquisition having come so far before it: if it was refused, with an own object that was
 * published, then it was evicted, or others have been there. */
static void judge(struct actor *actor, const struct acquisition *a, lfpool_handle_t handle, const char *call, enum fate fate,
		  lfpool_status_t status)
{
	if (status == LFPOOL_OK ? fate != LIVE : status != LFPOOL_E_STALE)
		violation("%s of handle %" PRIx64 ", which %s: %s", call, handle, fate == LIVE ? "was live" : "is stale",
			  lfpool_status_string(status));
	if (status != LFPOOL_OK && evicting.own && lfpool_priority_is_active(evicting.pool, handle))
		violation("%s refused handle %" PRIx64 ", which is active", call, a->name);
	pulse_beat(actor->worker->pulse, 1);
}

/* ---- Publish ---- */

/* Ours, and no other thread knows it?  Then it has ended only if we have released it. */
static bool unknown(const struct actor *actor, const struct acquisition *a)
{
	return a->holder == actor && !load_relaxed(&a->handle) && fate_of(a) == LIVE;
}

/* From here on others may come across it. */
static void show(struct acquisition *a)
{
	/* release: not before it was published; or, if it is new, what was written to it. */
	atomic_store_explicit(&a->handle, a->name, memory_order_release);
}

void call_publish(struct actor *actor, struct acquisition *a)
{
	const bool first = unknown(actor, a);
	const lfpool_handle_t handle = first ? a->name : handle_given(a);
	lfpool_status_t status;

	if (!handle)
		return;
	status = lfpool_priority_publish(evicting.pool, handle);
	if (status == LFPOOL_OK ? add_relaxed(&a->published, 1) != 0 : first || status != LFPOOL_E_STALE)
		violation("publish of handle %" PRIx64 ": %s", handle, lfpool_status_string(status));
	if (first)
		show(a);
}

/* ---- Acquire ---- */

/* It was not evicted, says this fault: another object was. */
static void evict_wrongly(struct actor *actor)
{
	struct acquisition *a = remembered(actor, actor->worker);
	lfpool_evicted_t evicted = {.pool = evicting.pool};

	if (!a || fate_of(a) != LIVE || pins_of(a) || !fault_strikes(actor->worker, FAULT_WRONG_VICTIM) ||
	    !lfpool_priority_pin(evicting.pool, a->name))
		return;
	if (lfpool_priority_get(evicting.pool, a->name, &evicted.priority) &&
	    lfpool_priority_release(evicting.pool, a->name) == LFPOOL_OK) {
		evicted.object = a->object;
		evicted.owner = a;
		evicted.handle = a->name;
		evicting_on_evict(NULL, &evicted);
		/* The pool does not know of it, and must not be found out by that alone. */
		actor->evicted--;
	}
	(void)lfpool_priority_unpin(evicting.pool, a->name);
}

static void *acquire_raw(struct actor *actor, uint64_t priority, struct acquisition *a, lfpool_handle_t *handle_out)
{
	*handle_out = 0;
	if (fault_instead_of_acquire(actor->worker, evicting.decoy)) {
		*handle_out = evicting.decoy->name;
		return evicting.decoy->object;
	}
	if (fault_null(actor->worker, 0))
		return NULL;
	evict_wrongly(actor);
	return lfpool_priority_acquire(evicting.pool, priority, a, handle_out);
}

/* Was it right to evict, or to refuse? */
static void expect_full(uint64_t reading, const char *what)
{
	if (current.demand.counted && !demand_null_allowed(&current.demand, reading))
		violation("%s though at no moment of the call more than %zu objects were held or wanted", what, current.capacity);
}

static void refused(struct actor *actor, const struct witness *witness, lfpool_handle_t handle, uint64_t reading)
{
	actor->refused++;
	if (handle || actor->call.evictions)
		violation("NULL, with handle %" PRIx64 " and %zu evictions", handle, actor->call.evictions);
	expect_full(reading, "NULL");
	/* A newcomer comes after all, or before all, of equal rank. */
	witness_expect(witness, (struct order){actor->call.rank, evicting.evict_equal ? UINT64_MAX : 0}, "NULL");
	demand_lower(&current.demand, 1);
	/* With few processors the holders need this one. */
	(void)sched_yield();
}

/* Asks the pool, and judges the answer; false: there is no object that may be touched. */
static bool acquire(struct actor *actor, struct acquisition *a, uint64_t priority)
{
	const struct call outer = actor->call;
	const struct witness witness = witness_draw(actor);
	const uint64_t reading = demand_raise(&current.demand, 1);
	lfpool_handle_t handle;
	bool granted = false;
	void *object;

	actor->call = (struct call){.kind = CALL_ACQUIRE, .rank = rank_of(priority)};
	object = acquire_raw(actor, priority, a, &handle);
	pulse_beat(actor->worker->pulse, 1);
	if (!object) {
		refused(actor, &witness, handle, reading);
	} else if (acquisition_granted(actor, a, object, handle)) {
		granted = true;
		actor->acquired++;
		if (actor->call.evictions) {
			expect_full(reading, "an eviction");
			witness_expect(&witness, actor->call.last, "an eviction");
			demand_lower(&current.demand, 1);
		}
	}
	actor->call = outer;
	return granted;
}

/* In the place of another one, which is released, or only forgotten: others come across it, or it is evicted. */
static void remember(struct actor *actor, struct acquisition *a)
{
	struct acquisition *other = exchange_relaxed(&actor->mine[draw(actor->worker, evicting.hold)], a);

	if (other && chance(actor->worker, 2))
		call_release(actor, other);
}

void call_acquire(struct actor *actor)
{
	struct worker *worker = actor->worker;
	const uint64_t priority = draw_priority(worker);
	struct acquisition *a = acquisition_begin(actor, priority);

	if (!a) {
		meeting_call();
		return;
	}
	if (!acquire(actor, a, priority)) {
		acquisition_drop(actor, a);
		return;
	}
	if (!evicting.own && evicting.judged && chance(worker, 4))
		show(a);
	if (chance(worker, 16)) {
		call_release(actor, a);
		return;
	}
	if (!chance(worker, 8))
		call_publish(actor, a);
	remember(actor, a);
}

/* ---- Pins ---- */

/* We have it pinned. */
static void use(struct actor *actor, struct acquisition *a)
{
	/* acquire: what the last thread wrote, which may still have it pinned. */
	if (evicting.all_write && atomic_exchange_explicit(&a->writing, 1, memory_order_acquire))
		return;
	contents_check(a, "while it was pinned");
	if (!evicting.all_write)
		return;
	if (chance(actor->worker, 2))
		contents_write(actor, a);
	/* release: what we wrote. */
	atomic_store_explicit(&a->writing, 0, memory_order_release);
}

void call_pin(struct actor *actor, struct acquisition *a)
{
	const enum fate fate = fate_judged(a);
	const lfpool_handle_t handle = load_relaxed(&a->handle);
	const unsigned char *object;

	if (!handle || actor->pinned_count == PINNED_MAX)
		return;
	/* It is pinned for good, says this fault. */
	if (fate_of(a) == LIVE && fault_strikes(actor->worker, FAULT_LOST_PIN)) {
		add_relaxed(&a->pins, 1);
		return;
	}
	object = lfpool_priority_pin(evicting.pool, handle);
	/* Beside a crowd it may be pinned too often. */
	judge(actor, a, handle, "pin", fate, object ? LFPOOL_OK : LFPOOL_E_STALE);
	if (!object)
		return;
	add_relaxed(&a->pins, 1);
	actor->pinned[actor->pinned_count++] = a;
	if (object != a->object)
		violation("handle %" PRIx64 " pins object %p, not %p", handle, (const void *)object, (void *)a->object);
	else
		use(actor, a);
}

void call_unpin(struct actor *actor, uint32_t which)
{
	struct acquisition *a = actor->pinned[which];
	const lfpool_handle_t handle = load_relaxed(&a->handle);
	lfpool_status_t status;

	actor->pinned[which] = actor->pinned[--actor->pinned_count];
	use(actor, a);
	subtract_relaxed(&a->pins, 1);
	status = lfpool_priority_unpin(evicting.pool, handle);
	expect(status == LFPOOL_OK, "unpin of handle %" PRIx64 ", which is pinned: %s", handle, lfpool_status_string(status));
}

/* ---- Update, release ---- */

void call_update(struct actor *actor, struct acquisition *a)
{
	const lfpool_handle_t handle = load_relaxed(&a->handle);
	const uint64_t priority = draw_priority(actor->worker);
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
		store_relaxed(&a->settled, priority);
	/* release: what we set. */
	atomic_store_explicit(&a->updating, 0, memory_order_release);
	judge(actor, a, handle, "update", fate, status);
}

void call_release(struct actor *actor, struct acquisition *a)
{
	const enum fate fate = fate_judged(a);
	const bool new = unknown(actor, a);
	const lfpool_handle_t handle = new ? a->name : handle_given(a);
	lfpool_status_t status = LFPOOL_OK;

	/* The count does not know what is pinned after its release. */
	if (!handle || (current.demand.counted && pins_of(a)))
		return;
	if (new)
		contents_check(a, "while it was new");
	add_relaxed(&a->releasing, 1);
	if (!fault_strikes(actor->worker, FAULT_LOST_OBJECT))
		status = lfpool_priority_release(evicting.pool, handle);
	if (status == LFPOOL_OK) {
		acquisition_end(a, RELEASED);
		demand_lower(&current.demand, 1);
		if (chance(actor->worker, 4))
			expect_stale(actor, handle, true);
	} else {
		subtract_relaxed(&a->releasing, 1);
		expect(!new, "release by handle %" PRIx64 ", which is new: %s", handle, lfpool_status_string(status));
	}
	judge(actor, a, handle, "release", fate, status);
}

/* ---- The least ---- */

size_t call_release_min(struct actor *actor, size_t count)
{
	const struct call outer = actor->call;
	const struct witness witness = witness_draw(actor);
	size_t released;

	actor->call = (struct call){.kind = CALL_RELEASE_MIN};
	released = lfpool_priority_release_min(evicting.pool, count);
	demand_lower(&current.demand, (uint32_t)released);
	if (released > count || released != actor->call.evictions)
		violation("release_min of %zu released %zu; on_evict was told of %zu", count, released, actor->call.evictions);
	if (released)
		witness_expect(&witness, actor->call.last, "release_min released one");
	if (released < count)
		witness_expect(&witness, nothing, "release_min found no more");
	actor->call = outer;
	pulse_beat(actor->worker->pulse, 1);
	return released;
}

void call_peek_min(struct actor *actor)
{
	const struct witness witness = witness_draw(actor);
	uint64_t priority = 0;
	const lfpool_handle_t handle = lfpool_priority_peek_min(evicting.pool, &priority);

	expect(slot_of(handle) < current.capacity, "peek_min names handle %" PRIx64, handle);
	witness_expect(&witness, handle ? order_of(priority, handle) : nothing, "peek_min names one");
}

/* ---- Questions ---- */

void call_get(struct actor *actor, struct acquisition *a)
{
	const enum fate fate = fate_judged(a);
	const lfpool_handle_t handle = load_relaxed(&a->handle);
	const bool settled = evicting.own && a->holder == actor;
	uint64_t priority;

	if (handle && fate != LIVE) {
		expect_stale(actor, handle, true);
	} else if (handle && lfpool_priority_get(evicting.pool, handle, &priority)) {
		if (settled ? priority != load_relaxed(&a->settled) : !priority_was_tried(a, priority))
			violation("handle %" PRIx64 " has priority %" PRIx64 ", which no call gave it", handle, priority);
	}
	if (fate == LIVE && settled && handle && lfpool_priority_look(evicting.pool, handle) != a->object)
		judge(actor, a, handle, "look", LIVE, LFPOOL_E_STALE);
}

struct walk {
	size_t visits;
	bool ended; /* early: at rest it does not, and nothing is changed */
};

static bool visit(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct actor *actor = actor_of(here);
	const size_t slot = slot_of(handle);
	struct acquisition *a = slot < current.capacity ? load_relaxed(&evicting.slots[slot].last) : NULL;
	struct walk *walk = context;

	if (!a || a->name != handle || a->object != object || actor->seen[slot] == handle) {
		violation("a walk visits object %p, handle %" PRIx64 ": %s", object, handle,
			  a && a->name == handle ? "again" : "no such acquisition");
		walk->ended = true;
		return false;
	}
	actor->seen[slot] = handle;
	walk->visits++;
	expect(priority_was_tried(a, priority), "a walk finds priority %" PRIx64 ", which no call gave handle %" PRIx64, priority,
	       handle);
	if (evicting.at_rest) {
		expect(fate_of(a) == LIVE, "a walk at rest visits handle %" PRIx64 ", which is not active", handle);
		return true;
	}
	add_relaxed(&a->pins, 1);
	use(actor, a);
	if (load_relaxed(&a->handle) && chance(actor->worker, 16))
		call_release(actor, a);
	else if (load_relaxed(&a->handle) && chance(actor->worker, 16))
		call_update(actor, a);
	subtract_relaxed(&a->pins, 1);
	walk->ended = chance(actor->worker, 128);
	return !walk->ended;
}

size_t call_for_each(struct actor *actor)
{
	bool before[MINE_MAX] = {false};
	struct walk walk = {0, false};
	size_t visited;

	for (size_t slot = 0; slot < current.capacity; slot++)
		actor->seen[slot] = 0;
	for (uint32_t i = 0; i < evicting.hold; i++)
		before[i] = actor->mine[i] && load_relaxed(&actor->mine[i]->published);
	visited = lfpool_priority_for_each(evicting.pool, visit, &walk);
	expect(visited == walk.visits, "a walk of %zu visits says that it made %zu", walk.visits, visited);
	/* What is active after it, and was before, was active all the time. */
	for (uint32_t i = 0; !walk.ended && i < evicting.hold; i++) {
		const struct acquisition *a = actor->mine[i];

		if (before[i] && actor->seen[slot_of(a->name)] != a->name && current.threads <= 16 &&
		    lfpool_priority_is_active(evicting.pool, a->name))
			violation("a walk did not visit handle %" PRIx64 ", which is active", a->name);
	}
	pulse_beat(actor->worker->pulse, 1);
	return visited;
}
