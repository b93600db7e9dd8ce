/* SPDX-License-Identifier: MIT */
/*
 * wait.c - lfpool/wait.h: the calls that wait (waits.c), continuations, and closing.  The queue itself is in waiters.h.
 */
#include "api/waits.h"
#include "base/widths.h"
#include "os/os.h"
#include "pool/pool.h"
#include "pool/threads.h"
#include "retire/retired.h"
#include "waiting/waiters.h"

#include "lfpool/wait.h"

/* ---- Calls that wait ---- */

/* Did another call come first? relaxed: one that comes at the same instant may be first or second.  The hook is
 * asked by every call that finds nothing, so that each can have its victim: what it releases goes to the call that
 * came first. */
static bool must_queue(const lfpool_t *pool, int64_t timeout_ns)
{
	return timeout_ns && !pool->hooks.exhausted && load_relaxed(pool->waiters.wanted);
}

/* One object, as lfpool_acquire(): from the fast path if possible, and the exhausted hook is called. */
static void *take_one(lfpool_t *pool, lfpool_cache_t *cache)
{
	return cache ? lfpool_cache_acquire_inline(cache) : lfpool_acquire(pool);
}

lfpool_status_t lfpool_acquire_bulk_wait(lfpool_t *pool, lfpool_cache_t *cache, void **objects_out, size_t count,
					 int64_t timeout_ns)
{
	struct cache_head *head = (struct cache_head *)cache;
	lfpool_status_t status = LFPOOL_E_EXHAUSTED;

	pool = head ? head->pool : pool;
	if (!objects_out || count > pool->core.cold.reserved)
		return LFPOOL_E_ARGUMENT;
	if (!count)
		return LFPOOL_OK;

	const bool queue = must_queue(pool, timeout_ns);

	if (count == 1 && !queue && (*objects_out = take_one(pool, cache)))
		return LFPOOL_OK;
	if (waiters_closed(&pool->waiters))
		return LFPOOL_E_CLOSED;
	if (!head)
		head = thread_cache(pool);
	/* The second time for one object without a wait: for the reason. */
	if (!queue && (count > 1 || !timeout_ns))
		status = waiters_take(pool, head, objects_out, count);
	if (status == LFPOOL_E_EXHAUSTED && timeout_ns)
		status = waiters_wait_for(pool, head, objects_out, count, os_deadline(timeout_ns));
	KEEP_FRAME();
	return status;
}

/* ---- Continuations ---- */

/* {ticket: 48, index + 1: 16} */
#define INDEX_BITS 16
_Static_assert(CELLS_MAX < 1 << INDEX_BITS, "a ticket names a cell");

/* Is it that of the cell that waits with this word, as far as it goes? */
static bool is_ticket_of(uint64_t word, lfpool_ticket_t ticket)
{
	return !((cell_ticket(word) ^ ticket >> INDEX_BITS) & LOW_BITS(CANCEL_TICKET_BITS));
}

lfpool_status_t lfpool_acquire_async(lfpool_t *pool, lfpool_continuation_t then, void *context, lfpool_ticket_t *ticket_out)
{
	struct waiters *d = &pool->waiters;
	/* Called at once from a continuation, it could nest without end: it queues, for who called that one. */
	const bool nested = waiters_is_serving(pool);
	void *object = NULL;

	if (ticket_out)
		*ticket_out = 0;
	if (!then)
		return LFPOOL_E_ARGUMENT;
	/* relaxed: a call that waits already comes first; one that comes at the same instant may be first or
	 * second.  (The hook: as in must_queue().) */
	if (pool->hooks.exhausted || !(nested || load_relaxed(d->wanted)))
		object = lfpool_acquire(pool);
	if (object && !nested) {
		waiters_continue(pool, then, context, object);
		return LFPOOL_OK;
	}

	const bool closed = waiters_closed(d);
	struct cell *cell = closed ? NULL : cell_claim(d);

	if (cell) {
		const uint64_t ticket = cells_tickets(d, 1);

		/* Before anybody can call it. */
		if (ticket_out)
			*ticket_out = ticket << INDEX_BITS | (cell->index + 1);
		cell_enlist(d, cell, ticket, then, context);
		cells_shown(d);
	}
	/* The hook's victim, if there is one: for the first in the queue. */
	(void)lfpool_release(pool, object);
	if (!cell)
		return closed ? LFPOOL_E_CLOSED : LFPOOL_E_NO_MEMORY;
	waiters_serve(pool, thread_cache(pool));
	return LFPOOL_OK;
}

bool lfpool_cancel(lfpool_t *pool, lfpool_ticket_t ticket)
{
	struct waiters *d = &pool->waiters;
	const uint64_t index = (ticket & ((1 << INDEX_BITS) - 1)) - 1;

	/* acquire, edge CELL. */
	if (index >= load_acquire(&d->cells))
		return false;

	struct cell *cell = cell_at(d, (uint32_t)index);
	/* acquire, edge QUEUE: `then`. */
	uint64_t word = load_acquire(&cell->word);

	/* relaxed: it belongs to the word.  Of a call that waits nobody has the ticket. */
	if (cell_phase(word) != WAITING || !is_ticket_of(word, ticket) || !load_relaxed(&cell->then))
		return false;
	/* relaxed: if it succeeds the cell is ours, unchanged. */
	if (!cas_relaxed(&cell->word, &word, CLAIMED))
		return false;
	cell_vacate(d, cell);
	return true;
}

/* ---- Closing ---- */

size_t lfpool_close(lfpool_t *pool, int64_t timeout_ns)
{
	struct waiters *d = &pool->waiters;
	struct cache_head *head = thread_cache(pool);
	const uint64_t deadline_ns = timeout_ns ? os_deadline(timeout_ns) : 0;
	size_t left;

	waiters_close(pool, head);
	resize_stay_closed(pool);
	/* Repeats only after a sleep. */
	while ((left = cold_capacity(&pool->core.cold)) && deadline_ns &&
	       (deadline_ns == UINT64_MAX || os_now_ns() < deadline_ns)) {
		/* relaxed: a word to sleep on. */
		const uint64_t seen = load_relaxed(&d->closed);

		/* Once it was empty no call says so again; objects that another thread adds too late leave soon. */
		waiters_doze(d, &d->closed, seen,
			     seen == CLOSED ? waiters_sleep_until(pool, deadline_ns) : waiters_soon(deadline_ns));
		(void)retired_poll(pool->retired, head);
	}
	return left;
}
