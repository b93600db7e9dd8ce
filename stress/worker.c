/* SPDX-License-Identifier: MIT */
/* worker.c - the workers' calls, by any route, past the oracle. */
/* Both kinds of calls with explicit caches: the inlined functions and the library's, each under its own name. */
#define LFPOOL_INLINE_KEEP_NAMES_

#include "worker.h"
#include "faults.h"
#include "history.h"
#include "round.h"

#include "lfpool/inline.h"
#include "lfpool/wait.h"

#include <sched.h>

struct pulse pulses[PULSES];
_Thread_local struct worker *here;

struct sums pulse_sums(void)
{
	struct sums sums = {0, 0};

	for (size_t i = 0; i < PULSES; i++) {
		/* relaxed, both: see struct pulse. */
		sums.operations += load_relaxed(&pulses[i].operations);
		sums.acquires += load_relaxed(&pulses[i].acquires);
	}
	return sums;
}

void worker_init(struct worker *worker, unsigned index)
{
	uint64_t seed = current.seed;

	*worker = (struct worker){
		.index = index,
		.random = random_for(seed, index),
		.faults = random_for(~seed, index),
		.pulse = &pulses[index],
		.log = history_log_of(index),
	};
	/* relaxed: see struct pulse. */
	store_relaxed(&worker->pulse->step, NULL);
}

void worker_enter(struct worker *worker)
{
	here = worker;
	worker_step("begins");
	report_crashes_of(worker);
}

bool worker_goes_on(struct worker *worker, unsigned every)
{
	if (!worker->over && worker->ticks++ % every == 0) {
		worker->over = now_ns() >= current.end_ns;
		if (current.trims && chance(worker, 16))
			elastic_trim(worker);
		if (current.refusals && chance(worker, 2))
			refusals_next(true, 1 + draw(worker, 4));
	}
	return !worker->over && !round_full() && !cell_failed();
}

/* ---- Routes ---- */

static lfpool_cache_t *cache_of(struct worker *worker)
{
	if (!worker->cache) {
		worker->cache = doing(lfpool_cache_create)(current.pool);
		if (!worker->cache && !current.refusals)
			say_no_memory("a cache");
	}
	return worker->cache;
}

static enum route draw_route(struct worker *worker)
{
	const enum route route = current.routes[draw(worker, current.route_count)];

	/* If the cache is refused, use another route. */
	return (route == ROUTE_INLINE || route == ROUTE_CACHE) && !cache_of(worker) ? ROUTE_THREAD : route;
}

void worker_drop_cache(struct worker *worker)
{
	doing(lfpool_cache_destroy)(worker->cache);
	worker->cache = NULL;
}

/* By call: these routes can wait. */
static void *wait_raw(struct worker *worker, enum route route, int64_t timeout_ns)
{
	if (route == ROUTE_INLINE || route == ROUTE_CACHE)
		return doing(lfpool_cache_acquire_wait)(cache_of(worker), timeout_ns);
	return doing(lfpool_acquire_wait)(current.pool, timeout_ns);
}

static void *acquire_raw(struct worker *worker, enum route route)
{
	void *object = NULL;

	switch (route) {
	case ROUTE_INLINE: return doing(lfpool_cache_acquire_inline_)(cache_of(worker));
	case ROUTE_CACHE: return doing(lfpool_cache_acquire)(cache_of(worker));
	case ROUTE_BULK: return doing(lfpool_acquire_bulk)(current.pool, &object, 1) == 1 ? object : NULL;
	default: return doing(lfpool_acquire)(current.pool);
	}
}

lfpool_status_t worker_release_raw(struct worker *worker, void *object, lfpool_status_t expected)
{
	const enum route route = draw_route(worker);

	if (worker->before_release)
		worker->before_release(worker);
	switch (route) {
	case ROUTE_INLINE: return doing(lfpool_cache_release_inline_)(cache_of(worker), object);
	case ROUTE_CACHE: return doing(lfpool_cache_release)(cache_of(worker), object);
	case ROUTE_BULK: return doing(lfpool_release_bulk)(current.pool, &object, 1) == 1 ? LFPOOL_OK : expected;
	default: return doing(lfpool_release)(current.pool, object);
	}
}

/* ---- Acquire ---- */

/* The answer was not everything that was wanted: was that right? */
static void check_null(uint64_t reading)
{
	if (current.demand.unjudged) {
		/* Any answer will do. */
	} else if (!current.demand.counted) {
		violation("NULL though the capacity of %zu suffices for all threads", current.capacity);
	} else if (!demand_null_allowed(&current.demand, reading)) {
		violation("NULL though at no moment of the call more than %zu objects were held or wanted",
			  current.capacity);
	}
	/* On few processors the holders need this thread's processor. */
	(void)sched_yield();
}

static void log_null(struct worker *worker, uint64_t begin, uint64_t end)
{
	if (!current.nulls_unlogged || worker == &current.keeper)
		history_null(worker->log, begin, end);
}

static bool mark(struct worker *worker, void *object, struct hold hold, struct held *held_out)
{
	uint64_t token = ledger_token(worker->index, ++worker->sequence);

	if (!ledger_take(object, token, held_out))
		return false;
	held_out->hold = hold;
	return true;
}

/* One acquire, by any route, or by none if a fault strikes; logged. timeout_ns: NULL: does not wait. */
static void *acquire_logged(struct worker *worker, uint64_t reading, const int64_t *timeout_ns, struct hold *hold_out)
{
	enum route route = draw_route(worker);
	uint64_t begin = history_begin(worker->log), end;
	void *object = fault_instead_of_acquire(worker, current.decoy.object);

	if (!object && !fault_null(worker, reading)) {
		object = timeout_ns ? wait_raw(worker, route, *timeout_ns) : acquire_raw(worker, route);
		pulse_add(&worker->pulse->acquires, object != NULL);
	}
	end = history_end(worker->log);
	if (object)
		*hold_out = history_acquired(worker->log, begin, end, object);
	else
		log_null(worker, begin, end);
	return object;
}

/* The outcome of one acquire, whose wish is counted. */
static bool acquired(struct worker *worker, void *object, struct hold hold, struct held *held_out)
{
	held_out->object = NULL;
	pulse_beat(worker->pulse, 1);
	if (!object || !mark(worker, object, hold, held_out)) {
		demand_lower(&current.demand, 1);
		return false;
	}
	fault_tear(worker, held_out->object, current.config.object_size);
	return true;
}

bool worker_acquire(struct worker *worker, struct held *held_out)
{
	uint64_t reading = demand_raise(&current.demand, 1);
	struct hold hold = {0, 0};
	void *object = acquire_logged(worker, reading, NULL, &hold);

	if (!object)
		check_null(reading);
	return acquired(worker, object, hold, held_out);
}

bool worker_acquire_wait(struct worker *worker, int64_t timeout_ns, struct held *held_out)
{
	const bool for_ever = timeout_ns < 0;
	/* With faults that lose objects no call waits without a timeout. */
	const int64_t timeout = for_ever && faults_wanted(worker) ? 1000000000 : timeout_ns;
	/* A waiting call serves others as well, and may hold an object for them in addition to its own. */
	const uint32_t extra = timeout != 0;
	uint64_t reading = demand_raise(&current.demand, 1 + extra), start = now_ns();
	struct hold hold = {0, 0};
	void *object = acquire_logged(worker, reading, &timeout, &hold);

	if (!object) {
		if (!for_ever && timeout && fault_strikes_often(worker, FAULT_LATE_WAIT, 1))
			sleep_ns(FAULT_LATE_NS);
		const uint64_t waited = now_ns() - start;

		if (for_ever)
			violation("a wait without a timeout returned NULL");
		else if (waited < (uint64_t)timeout_ns)
			violation("NULL after %llu of %lld ns", (unsigned long long)waited, (long long)timeout_ns);
		else if (timeout_ns)
			accounts_late(worker, waited - (uint64_t)timeout_ns, timeout_ns);
		check_null(reading);
	}
	demand_lower(&current.demand, extra);
	return acquired(worker, object, hold, held_out);
}

lfpool_status_t worker_ask(lfpool_continuation_t then, void *context, lfpool_ticket_t *ticket_out)
{
	lfpool_status_t status;

	/* One wish for the object, one for an object that this call may hold for others. */
	(void)demand_raise(&current.demand, 2);
	status = doing(lfpool_acquire_async)(current.pool, then, context, ticket_out);
	demand_lower(&current.demand, 1);
	return status;
}

bool worker_receive(struct worker *worker, void *object, uint64_t begin, struct held *held_out)
{
	pulse_add(&worker->pulse->acquires, 1);
	return acquired(worker, object, history_acquired(worker->log, begin, history_end(worker->log), object),
			held_out);
}

static size_t acquire_bulk(struct worker *worker, struct held *held_out, size_t count)
{
	void *objects[BULK_MAX];
	size_t wanted = count < BULK_MAX ? count : BULK_MAX, taken = 0;
	uint64_t reading = demand_raise(&current.demand, (uint32_t)wanted);
	uint64_t begin = history_begin(worker->log);
	size_t got = doing(lfpool_acquire_bulk)(current.pool, objects, wanted);
	uint64_t end = history_end(worker->log);

	pulse_beat(worker->pulse, got + 1);
	pulse_add(&worker->pulse->acquires, got);
	if (got > wanted) {
		violation("lfpool_acquire_bulk() gave %zu of %zu objects", got, wanted);
		return 0;
	}
	if (got < wanted) {
		log_null(worker, begin, end);
		check_null(reading);
	}
	for (size_t i = 0; i < got; i++)
		taken += mark(worker, objects[i], history_acquired(worker->log, begin, end, objects[i]),
			      &held_out[taken]);
	demand_lower(&current.demand, (uint32_t)(wanted - taken));
	return taken;
}

/* Faults are committed one object at a time. */
static bool draw_bulk(struct worker *worker)
{
	return draw_route(worker) == ROUTE_BULK && !faults_wanted(worker);
}

bool worker_take(struct worker *worker)
{
	struct held held;

	if (!worker_acquire(worker, &held))
		return false;
	/* In the meantime a continuation may have added an object. */
	worker->hands[worker->count++] = held;
	return true;
}

void worker_hold(struct worker *worker, size_t wanted)
{
	const bool bulk = draw_bulk(worker);
	size_t more = 1;

	while (worker->count < wanted && more) {
		if (!bulk) {
			more = worker_take(worker);
			continue;
		}
		more = acquire_bulk(worker, worker->hands + worker->count, wanted - worker->count);
		worker->count += more;
	}
	accounts_hold(worker->count);
}

/* ---- Release ---- */

/* One release by any route, or by none if the object is to be lost; logged if it succeeds. */
static lfpool_status_t release_logged(struct worker *worker, const struct held *held, bool drop)
{
	uint64_t begin = history_begin(worker->log), end;
	lfpool_status_t status = LFPOOL_OK;

	if (!drop)
		status = worker_release_raw(worker, held->object, LFPOOL_E_NOT_IN_USE);
	end = history_end(worker->log);
	if (status == LFPOOL_OK)
		history_released(worker->log, begin, end, held->object, held->hold);
	return status;
}

lfpool_status_t worker_release_raced(struct worker *worker, const struct held *held)
{
	return fault_decoy(worker, held->object) ? LFPOOL_E_NOT_IN_USE : release_logged(worker, held, false);
}

void worker_release(struct worker *worker, struct held *held)
{
	void *object = held->object;
	lfpool_status_t status;

	(void)ledger_leave(held);
	status = release_logged(worker, held, fault_instead_of_release(worker, object));
	expect(status == LFPOOL_OK, "release of held object %p refused: %s", object, lfpool_status_string(status));
	held->object = NULL;
	demand_lower(&current.demand, 1);
	pulse_beat(worker->pulse, 1);
}

static void release_bulk(struct worker *worker, struct held *held, size_t count)
{
	void *objects[BULK_MAX];

	for (size_t i = 0; i < count; i++) {
		objects[i] = held[i].object;
		(void)ledger_leave(&held[i]);
		held[i].object = NULL;
	}

	uint64_t begin = history_begin(worker->log);
	size_t released = doing(lfpool_release_bulk)(current.pool, objects, count);
	uint64_t end = history_end(worker->log);

	/* After a partial refusal the refused ones are unknown. */
	for (size_t i = 0; i < count && released == count; i++)
		history_released(worker->log, begin, end, objects[i], held[i].hold);
	expect(released == count, "lfpool_release_bulk() released %zu of %zu held objects", released, count);
	demand_lower(&current.demand, (uint32_t)count);
	pulse_beat(worker->pulse, count);
}

void worker_keep(struct worker *worker, size_t kept)
{
	const bool bulk = draw_bulk(worker);

	accounts_hold(worker->count);
	/* Releases the objects in their order in the hands. */
	for (size_t at = kept; at < worker->count;) {
		const size_t left = worker->count - at, step = !bulk ? 1 : left < BULK_MAX ? left : BULK_MAX;

		if (bulk)
			release_bulk(worker, worker->hands + at, step);
		else
			worker_release(worker, worker->hands + at);
		at += step;
	}
	if (worker->count > kept)
		worker->count = kept;
}

void worker_adjust(struct worker *worker, size_t wanted)
{
	if (worker->count < wanted)
		worker_hold(worker, wanted);
	else
		worker_keep(worker, wanted);
}

void worker_release_any(struct worker *worker)
{
	if (!worker->count)
		return;

	const size_t any = draw(worker, (uint32_t)worker->count);
	struct held held = worker->hands[any];

	worker->hands[any] = worker->hands[--worker->count];
	worker_release(worker, &held);
}

/* ---- Held objects ---- */

void worker_take_over(struct worker *worker, struct held *held)
{
	(void)ledger_take_over(held, ledger_token(worker->index, ++worker->sequence));
}

void worker_rescan(const struct held *held, size_t count)
{
	bool sound = true;

	accounts_hold(count);
	for (size_t i = 0; i < count && sound; i++) {
		sound = ledger_check(&held[i], "while it was held");
		if (sound &&
		    !(lfpool_owns(current.pool, held[i].object) && lfpool_in_use(current.pool, held[i].object))) {
			violation("object %p is held, but lfpool_in_use() returns false", (void *)held[i].object);
			sound = false;
		}
	}

	size_t active = lfpool_active_count(current.pool);
	expect(active <= current.most, "lfpool_active_count() returns %zu of %zu", active, current.most);
}

void worker_look(const struct worker *worker)
{
	worker_rescan(worker->hands, worker->count);
}
