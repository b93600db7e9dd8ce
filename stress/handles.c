/* SPDX-License-Identifier: MIT */
/*
 * handles.c - scenario: every object has a handle, which others resolve, and release by, at any time.
 *
 * Known for certain: the handle of an object that one holds resolves to it.  A handle whose object was released before
 * (by the thread itself, or by one that then laid the handle among the dead) resolves to nothing, whichever thread has
 * the slot now.  A handle laid among the offered, by which every thread may release, releases exactly once: in the end
 * as many such releases have succeeded as were offered, and the others were refused.  An object that is being released
 * by another thread is neither held nor free for a moment: there is one more for each.
 */
#include "round.h"

#include "lfpool/handle.h"

#include <string.h>

#define HOLD_MAX 16
#define PLACES 16

static struct {
	_Atomic(lfpool_handle_t) dead[PLACES], offered[PLACES];
	_Atomic(size_t) offers, released;
} handles;

static void handles_plan(void)
{
	memset(&handles, 0, sizeof(handles));
	current.capacity = (size_t)current.threads * (HOLD_MAX + 1);
	if (random_below(&current.random, 4) == 0)
		current.capacity += 1 + random_below(&current.random, 4000);
}

static _Atomic(lfpool_handle_t) *place(struct worker *worker, _Atomic(lfpool_handle_t) *places)
{
	return &places[draw(worker, PLACES)];
}

static void expect_dead(lfpool_handle_t handle)
{
	const void *object = lfpool_resolve(current.pool, handle);

	expect(!object, "handle %llx of an object that was released resolves to %p", (unsigned long long)handle,
	       object);
}

static lfpool_handle_t handle_of(const struct held *held)
{
	const lfpool_handle_t handle = lfpool_handle_of(current.pool, held->object);

	if (!handle || lfpool_resolve(current.pool, handle) != held->object)
		violation("handle %llx of held object %p resolves to %p", (unsigned long long)handle,
			  (void *)held->object, lfpool_resolve(current.pool, handle));
	return handle;
}

/* Counts what became of a release that others may have tried as well. */
static void judge(lfpool_handle_t handle, lfpool_status_t status)
{
	if (status == LFPOOL_OK)
		count_up(&handles.released);
	else if (status == LFPOOL_E_STALE)
		count_up(&current.provoked);
	else
		violation("a release by handle %llx was refused as \"%s\"", (unsigned long long)handle,
			  lfpool_status_string(status));
}

/* Every thread may release it now, and we do. */
static void release_offered(struct worker *worker, struct held *held, lfpool_handle_t handle)
{
	(void)ledger_leave(held);
	count_up(&handles.offers);
	/* release: what we wrote to the object, the ledger's mark above all, before another thread releases it. */
	atomic_store_explicit(place(worker, handles.offered), handle, memory_order_release);
	judge(handle, lfpool_release_handle(current.pool, handle));
	held->object = NULL;
	demand_lower(&current.demand, 1);
}

static void release(struct worker *worker, struct held *held)
{
	const lfpool_handle_t handle = handle_of(held);

	/* The history wants to know which thread released what; faults are committed by the usual calls. */
	if (worker->log || options.fault != FAULT_NONE || chance(worker, 2))
		worker_release(worker, held);
	else
		release_offered(worker, held, handle);
	expect_dead(handle);
	if (chance(worker, 4))
		/* release: that it is. */
		atomic_store_explicit(place(worker, handles.dead), handle, memory_order_release);
}

/* What others have laid out. */
static void look(struct worker *worker)
{
	/* acquire, both: see release() and release_offered(). */
	const lfpool_handle_t dead = atomic_load_explicit(place(worker, handles.dead), memory_order_acquire);
	const lfpool_handle_t offered = atomic_load_explicit(place(worker, handles.offered), memory_order_acquire);
	const void *object;

	if (dead)
		expect_dead(dead);
	if (!offered)
		return;
	object = lfpool_resolve(current.pool, offered);
	if (object && !lfpool_owns(current.pool, object))
		violation("handle %llx resolves to %p", (unsigned long long)offered, object);
	judge(offered, lfpool_release_handle(current.pool, offered));
	expect_dead(offered);
}

static void handles_step(struct worker *worker)
{
	lfpool_handle_t handle[HOLD_MAX];
	const size_t wanted = 1 + draw(worker, HOLD_MAX);

	while (worker->count < wanted && worker_take(worker))
		handle[worker->count - 1] = handle_of(&worker->hands[worker->count - 1]);
	look(worker);
	for (size_t i = 0; i < worker->count; i++)
		if (handle_of(&worker->hands[i]) != handle[i])
			violation("the handle of held object %p has changed", (void *)worker->hands[i].object);
	while (worker->count)
		release(worker, &worker->hands[--worker->count]);
}

static void handles_finish(void)
{
	/* relaxed, both: the threads have stopped. */
	const size_t offers = load_relaxed(&handles.offers);
	const size_t released = load_relaxed(&handles.released);

	expect(offers == released, "of the handles of %zu objects %zu were released by", offers, released);
}

SCENARIO(handles, "handles",
	 "handles are resolved and released by from everywhere: stale ones name nothing, each releases once",
	 .needs_refusals = true, .hands = HOLD_MAX, .plan = handles_plan, .step = handles_step,
	 .finish = handles_finish);
