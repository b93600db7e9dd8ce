/* SPDX-License-Identifier: MIT */
/*
 * evicting_acquire.c - acquire and publish of the scenario `priority`, past the ledger; see evicting.h.
 */
#include "evicting.h"
#include "faults.h"
#include "report.h"

#include <inttypes.h>
#include <sched.h>

/* From here on others may come across it. */
static void show(struct actor *actor, struct acquisition *a)
{
	/* release: not before it was published; or, if it is new, what was written to it.  relaxed, here and wherever
	 * nothing else is said: see evicting.h, Orders. */
	atomic_store_explicit(&a->handle, a->name, memory_order_release);
	atomic_store_explicit(&evicting.board[random_below(&actor->worker->random, BOARD_PLACES)], a, memory_order_relaxed);
}

uint64_t draw_priority(struct actor *actor)
{
	const uint32_t span = evicting.span;
	struct random *random = &actor->worker->random;

	return span ? random_below(random, span) : random_next(random);
}

/* ---- Witnesses ---- */

struct witness witness_draw(struct actor *actor)
{
	struct witness witness = {NULL, {0, 0}};

	for (unsigned tries = 0; evicting.own && actor->mine_count && tries < 8; tries++) {
		struct acquisition *a = actor->mine[random_below(&actor->worker->random, actor->mine_count)];
		const uint64_t priority = atomic_load_explicit(&a->settled, memory_order_relaxed);
		const struct order order = {rank_of(priority), age_of(a->name)};

		if (fate_of(a) == LIVE && !pins_of(a) && (!witness.of || order_before(order, witness.order)))
			witness = (struct witness){a, order};
	}
	return witness;
}

void witness_expect(const struct witness *witness, struct order last, const char *what)
{
	if (witness->of && order_before(witness->order, last) && lfpool_priority_is_active(evicting.pool, witness->of->name))
		violation("%s (rank %" PRIx64 ", acquire %" PRIu64 ") though one of rank %" PRIx64 " (acquire %" PRIu64
			  ") could be evicted all the time",
			  what, last.rank, last.age, witness->order.rank, witness->order.age);
}

/* ---- Acquire ---- */

/* It was not evicted, says this fault: another object was. */
static void evict_wrongly(struct actor *actor)
{
	struct acquisition *a = actor->mine_count ? actor->mine[0] : NULL;
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
	if (fault_instead_of_acquire(actor->worker)) {
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
	if (evicting.demand.counted && !demand_null_allowed(&evicting.demand, reading))
		violation("%s though at no moment of the call more than %zu objects were held or wanted", what,
			  evicting.capacity);
}

static void refused(struct actor *actor, const struct witness *witness, lfpool_handle_t handle, uint64_t reading)
{
	actor->refused++;
	if (handle || actor->call.evictions)
		violation("NULL, with handle %" PRIx64 " and %zu evictions", handle, actor->call.evictions);
	expect_full(reading, "NULL");
	/* A newcomer comes after all, or before all, of equal rank. */
	witness_expect(witness, (struct order){actor->call.rank, evicting.evict_equal ? UINT64_MAX : 0}, "NULL");
	demand_lower(&evicting.demand, 1);
	/* With few processors the holders need this one. */
	(void)sched_yield();
}

/* Until it is published its handle serves for that and for release only. */
static void expect_new(const struct acquisition *a)
{
	lfpool_priority_t *pool = evicting.pool;
	uint64_t priority;

	if (lfpool_priority_pin(pool, a->name) || lfpool_priority_is_active(pool, a->name) ||
	    lfpool_priority_look(pool, a->name) || lfpool_priority_get(pool, a->name, &priority) ||
	    lfpool_priority_update(pool, a->name, 0) != LFPOOL_E_STALE || lfpool_priority_unpin(pool, a->name) != LFPOOL_E_STALE)
		violation("handle %" PRIx64 " is new, and serves for more than publish and release", a->name);
}

void call_acquire(struct actor *actor)
{
	const uint64_t priority = draw_priority(actor);
	struct acquisition *a = acquisition_begin(actor, priority);
	const struct call outer = actor->call;
	const struct witness witness = witness_draw(actor);
	lfpool_handle_t handle;
	bool granted = false;

	if (!a) {
		meeting_call(&evicting.meeting);
		return;
	}
	actor->call = (struct call){.kind = CALL_ACQUIRE, .rank = rank_of(priority)};

	const uint64_t reading = demand_raise(&evicting.demand, 1);
	void *object = acquire_raw(actor, priority, a, &handle);

	pulse_beat(actor->worker->pulse, 1);
	if (!object) {
		refused(actor, &witness, handle, reading);
	} else if (acquisition_granted(actor, a, object, handle)) {
		granted = true;
		actor->acquired++;
		if (actor->call.evictions) {
			expect_full(reading, "an eviction");
			witness_expect(&witness, actor->call.last, "an eviction");
			demand_lower(&evicting.demand, 1);
		}
	}
	actor->call = outer;
	if (!granted) {
		acquisition_drop(actor, a);
		return;
	}
	if (worker_chance(actor->worker, 4))
		expect_new(a);
	if (!evicting.own && evicting.judged && worker_chance(actor->worker, 4))
		show(actor, a);
	if (worker_chance(actor->worker, 16))
		call_release(actor, a);
	else if (!actor->fresh && worker_chance(actor->worker, 8))
		actor->fresh = a;
	else
		call_publish(actor, a);
}

/* ---- Publish ---- */

/* It is ours and published: remember it, and another one less if need be. */
static void keep(struct actor *actor, struct acquisition *a)
{
	struct worker *worker = actor->worker;
	uint32_t at = actor->mine_count;

	if (at < evicting.hold) {
		actor->mine_count++;
	} else {
		at = random_below(&worker->random, at);
		/* What is only forgotten stays active: others come across it, or it is evicted. */
		if (worker_chance(worker, 2))
			call_release(actor, actor->mine[at]);
	}
	actor->mine[at] = a;
}

static void publish(struct acquisition *a, lfpool_handle_t handle, bool may_fail)
{
	const lfpool_status_t status = lfpool_priority_publish(evicting.pool, handle);

	if (status == LFPOOL_OK ? atomic_fetch_add_explicit(&a->published, 1, memory_order_relaxed) != 0
				: !may_fail || status != LFPOOL_E_STALE)
		violation("publish of handle %" PRIx64 ": %s", handle, lfpool_status_string(status));
}

void call_publish(struct actor *actor, struct acquisition *a)
{
	const bool shown = is_shown(a);

	publish(a, a->name, shown);
	if (!shown)
		show(actor, a);
	keep(actor, a);
}

void call_publish_again(struct acquisition *a)
{
	const lfpool_handle_t handle = handle_given(a);

	if (handle)
		publish(a, handle, true);
}
