/* SPDX-License-Identifier: MIT */
/*
 * handles.c - scenario: every object has a handle, which others resolve, and release by, at any time.
 *
 * Known for certain: the handle of an object that one holds resolves to it.  A handle whose object was released before
 * (by the thread itself, or by one that then laid the handle among the dead) resolves to nothing, whichever thread has the
 * slot now.  A handle laid among the offered, by which every thread may release, releases exactly once: in the end as many
 * such releases have succeeded as were offered, and the others were refused.
 * An object that is being released by another thread is neither held nor free for a moment: there is one more for each.
 */
#include "report.h"
#include "round.h"
#include "scenario.h"

#define HOLD_MAX 16
#define PLACES 16

struct handles {
	_Atomic(lfpool_handle_t) dead[PLACES], offered[PLACES];
	_Atomic(size_t) offers, released;
};

static void handles_plan(struct round *round)
{
	round->shared = round_memory(1, sizeof(struct handles));
	round->capacity = (size_t)round->cell->threads * (HOLD_MAX + 1);
	if (random_below(&round->random, 4) == 0)
		round->capacity += 1 + random_below(&round->random, 4000);
}

static _Atomic(lfpool_handle_t) *place(struct worker *worker, _Atomic(lfpool_handle_t) *places)
{
	return &places[random_below(&worker->random, PLACES)];
}

static void expect_dead(struct worker *worker, lfpool_handle_t handle)
{
	const void *object = lfpool_resolve(worker->round->pool, handle);

	if (object)
		violation(worker->round, "handle %llx of an object that was released resolves to %p",
			  (unsigned long long)handle, object);
}

static lfpool_handle_t handle_of(struct worker *worker, const struct held *held)
{
	struct round *round = worker->round;
	const lfpool_handle_t handle = lfpool_handle_of(round->pool, held->object);

	if (!handle || lfpool_resolve(round->pool, handle) != held->object)
		violation(round, "handle %llx of held object %p resolves to %p", (unsigned long long)handle,
			  (void *)held->object, lfpool_resolve(round->pool, handle));
	return handle;
}

/* Counts what became of a release that others may have tried as well. */
static void judge(struct worker *worker, lfpool_handle_t handle, lfpool_status_t status)
{
	struct round *round = worker->round;
	struct handles *handles = round->shared;

	/* relaxed, both: read when all threads have stopped. */
	if (status == LFPOOL_OK)
		atomic_fetch_add_explicit(&handles->released, 1, memory_order_relaxed);
	else if (status == LFPOOL_E_STALE)
		atomic_fetch_add_explicit(&round->provoked, 1, memory_order_relaxed);
	else
		violation(round, "a release by handle %llx was refused as \"%s\"", (unsigned long long)handle,
			  lfpool_status_string(status));
}

/* Every thread may release it now, and we do. */
static void release_offered(struct worker *worker, struct held *held, lfpool_handle_t handle)
{
	struct handles *handles = worker->round->shared;

	(void)ledger_leave(&worker->round->ledger, held);
	/* relaxed: read when all threads have stopped. */
	atomic_fetch_add_explicit(&handles->offers, 1, memory_order_relaxed);
	/* release: what we wrote to the object, the ledger's mark above all, before another thread releases it. */
	atomic_store_explicit(place(worker, handles->offered), handle, memory_order_release);
	judge(worker, handle, lfpool_release_handle(worker->round->pool, handle));
	held->object = NULL;
	demand_lower(&worker->round->demand, 1);
}

static void release(struct worker *worker, struct held *held)
{
	struct handles *handles = worker->round->shared;
	const lfpool_handle_t handle = handle_of(worker, held);

	/* The history wants to know which thread released what; faults are committed by the usual calls. */
	if (worker->log || worker->round->cell->options->fault != FAULT_NONE || worker_chance(worker, 2))
		worker_release(worker, held);
	else
		release_offered(worker, held, handle);
	expect_dead(worker, handle);
	if (worker_chance(worker, 4))
		/* release: that it is. */
		atomic_store_explicit(place(worker, handles->dead), handle, memory_order_release);
}

/* What others have laid out. */
static void look(struct worker *worker)
{
	struct handles *handles = worker->round->shared;
	/* acquire, both: see release() and release_offered(). */
	const lfpool_handle_t dead = atomic_load_explicit(place(worker, handles->dead), memory_order_acquire);
	const lfpool_handle_t offered = atomic_load_explicit(place(worker, handles->offered), memory_order_acquire);
	struct round *round = worker->round;
	const void *object;

	if (dead)
		expect_dead(worker, dead);
	if (!offered)
		return;
	object = lfpool_resolve(round->pool, offered);
	if (object && !lfpool_owns(round->pool, object))
		violation(round, "handle %llx resolves to %p", (unsigned long long)offered, object);
	judge(worker, offered, lfpool_release_handle(round->pool, offered));
	expect_dead(worker, offered);
}

static void handles_work(struct worker *worker)
{
	struct held held[HOLD_MAX];
	lfpool_handle_t handle[HOLD_MAX];

	while (worker_goes_on(worker, 32)) {
		const size_t wanted = 1 + random_below(&worker->random, HOLD_MAX);
		size_t got = 0;

		while (got < wanted && worker_acquire(worker, &held[got])) {
			handle[got] = handle_of(worker, &held[got]);
			got++;
		}
		look(worker);
		for (size_t i = 0; i < got; i++)
			if (handle_of(worker, &held[i]) != handle[i])
				violation(worker->round, "the handle of held object %p has changed", (void *)held[i].object);
		while (got > 0)
			release(worker, &held[--got]);
	}
}

static void handles_finish(struct round *round)
{
	struct handles *handles = round->shared;
	/* relaxed, both: the threads have stopped. */
	const size_t offers = atomic_load_explicit(&handles->offers, memory_order_relaxed);
	const size_t released = atomic_load_explicit(&handles->released, memory_order_relaxed);

	if (offers != released)
		violation(round, "of the handles of %zu objects %zu were released by", offers, released);
	free(handles);
}

const struct scenario scenario_handles = {
	.name = "handles",
	.description = "handles are resolved and released by from everywhere: stale ones name nothing, each releases once",
	.needs_refusals = true,
	.plan = handles_plan,
	.work = handles_work,
	.finish = handles_finish,
};
