/* SPDX-License-Identifier: MIT */
/*
 * handles.c - scenario: every object has a handle, by which any thread may resolve or release it at any time.
 *
 * Certain facts:
 *  - The handle of a held object resolves to it.
 *  - A handle whose object was released before resolves to nothing, whichever thread has the slot now.  A thread knows
 *    this of its own releases, and of handles that other threads published as dead.
 *  - A handle that is offered to all threads releases exactly once: at the end the successful releases of this kind
 *    equal the offered handles.
 *
 * An object that another thread is just releasing is neither held nor free, so there is one more object per thread.
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
	const void *object = doing(lfpool_resolve)(current.pool, handle);

	expect(!object, "handle %llx of a released object resolves to %p", (unsigned long long)handle, object);
}

static lfpool_handle_t handle_of(const struct held *held)
{
	const lfpool_handle_t handle = doing(lfpool_handle_of)(current.pool, held->object);

	if (!handle || doing(lfpool_resolve)(current.pool, handle) != held->object)
		violation("handle %llx of held object %p resolves to %p", (unsigned long long)handle,
			  (void *)held->object, lfpool_resolve(current.pool, handle));
	return handle;
}

/* Counts the outcome of a release that other threads may have tried as well. */
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

/* Any thread may release the object from now on, and this thread does. */
static void release_offered(struct worker *worker, struct held *held, lfpool_handle_t handle)
{
	(void)ledger_leave(held);
	count_up(&handles.offers);
	/* release: our writes to the object, above all the ledger's mark, come before another thread's release. */
	atomic_store_explicit(place(worker, handles.offered), handle, memory_order_release);
	judge(handle, doing(lfpool_release_handle)(current.pool, handle));
	held->object = NULL;
	demand_lower(&current.demand, 1);
}

static void release(struct worker *worker, struct held *held)
{
	const lfpool_handle_t handle = handle_of(held);

	/* The history must know which thread released the object; only the usual calls commit faults. */
	if (worker->log || options.fault != FAULT_NONE || chance(worker, 2))
		worker_release(worker, held);
	else
		release_offered(worker, held, handle);
	expect_dead(handle);
	if (chance(worker, 4))
		/* release: publishes that the handle is dead. */
		atomic_store_explicit(place(worker, handles.dead), handle, memory_order_release);
}

/* Tries handles that other threads published. */
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
	object = doing(lfpool_resolve)(current.pool, offered);
	if (object && !lfpool_owns(current.pool, object))
		violation("handle %llx resolves to %p", (unsigned long long)offered, object);
	judge(offered, doing(lfpool_release_handle)(current.pool, offered));
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

	expect(offers == released, "%zu handles were offered, but %zu releases by them succeeded", offers, released);
}

SCENARIO(handles, "handles",
	 "all threads resolve and release by handles: stale ones resolve to nothing, each releases once",
	 .needs_refusals = true, .hands = HOLD_MAX, .plan = handles_plan, .step = handles_step,
	 .finish = handles_finish);
