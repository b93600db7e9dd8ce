/* SPDX-License-Identifier: MIT */
/*
 * wait.c - lfpool/wait.h: calls that wait for one object or for several at once, continuations, and closing.  The queue
 * itself is in waiters.h.
 *
 * Idea         A call that wants n objects has n cells of the queue, with n tickets in a row.  It is given its objects
 *              one by one, like n calls that want one object each.
 * Invariants   W8  two calls do not wait for each other's objects.  Cells are enlisted one after the other, so of two
 *                  calls that want several each may be given objects that the other needs.  A call with some of its
 *                  objects looks every millisecond whether a call with an earlier ticket waits.  If so it gives back
 *                  all that it was given, and queues again in its old place: the earlier call is served first.
 *              W9  a call that queues holds only what its cells were given.  (W1 to W7: waiters.h.)
 * Progress     Blocks, in the kernel, until the cells are served, or the time is over, or the pool is closed.  The call
 *              with the earliest ticket never gives back, so no call starves.
 */
#include "api/calls.h"

#include "base/probes.h"
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
	return timeout_ns && !pool->hooks.exhausted && waiters_any(&pool->waiters);
}

/* One object, as lfpool_acquire(): from the fast path if possible, and the exhausted hook is called. */
static void *take_one(lfpool_t *pool, lfpool_cache_t *cache)
{
	return cache ? lfpool_cache_acquire_inline_(cache) : lfpool_acquire(pool);
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

lfpool_status_t lfpool_acquire_async(lfpool_t *pool, lfpool_continuation_t then, void *context,
				     lfpool_ticket_t *ticket_out)
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
	if (pool->hooks.exhausted || !(nested || waiters_any(d)))
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

/* ---- How a call waits ---- */

void waiters_doze(const struct waiters *d, _Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns)
{
	if (arena_in_buffer(d->arena))
		cpu_relax();
	else
		os_sleep_on(word, seen, deadline_ns);
}

uint64_t waiters_soon(uint64_t deadline_ns)
{
	const uint64_t now = os_now_ns();

	return deadline_ns < now || deadline_ns - now < 1000000 ? deadline_ns : now + 1000000;
}

uint64_t waiters_sleep_until(const lfpool_t *pool, uint64_t deadline_ns)
{
	return retired_asks(pool->retired) ? waiters_soon(deadline_ns) : deadline_ns;
}

/* ---- Slots, in the places of the objects that they are for ---- */

static void *slot_put(uint32_t slot)
{
	return (void *)(uintptr_t)slot;
}

static uint32_t slot_get(const void *place)
{
	return (uint32_t)(uintptr_t)place;
}

/* The caller serves afterwards. */
static void put_back(lfpool_t *pool, struct cache_head *head, void *const *slots, size_t count)
{
	for (size_t i = 0; i < count; i++)
		slots_put(pool, head, slot_get(slots[i]));
}

static void give_slots_back(lfpool_t *pool, struct cache_head *head, void *const *slots, size_t count)
{
	put_back(pool, head, slots, count);
	if (count)
		resize_serve_if_wanted(pool, head);
}

/* Takes `count` free slots, or none. */
static bool take_all(lfpool_t *pool, struct cache_head *head, void **slots_out, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint32_t slot = slots_take(pool, head);

		if (!slot) {
			give_slots_back(pool, head, slots_out, i);
			return false;
		}
		slots_out[i] = slot_put(slot);
	}
	return true;
}

enum outcome { ALL_BEGUN, ONE_REFUSED, ONE_USED_UP };

/* Makes the objects of `count` slots active, in place; or none, and all slots are back. */
static enum outcome begin_all(lfpool_t *pool, struct cache_head *head, void **slots, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		void *object;
		const bool decided = waiters_begin(pool, head, slot_get(slots[i]), &object);

		if (decided && object) {
			slots[i] = object;
			continue;
		}
		give_slots_back(pool, head, slots + i + 1, count - i - 1);
		while (i > 0)
			(void)pool_release(pool, head, slots[--i]);
		return decided ? ONE_REFUSED : ONE_USED_UP;
	}
	return ALL_BEGUN;
}

lfpool_status_t waiters_take(lfpool_t *pool, struct cache_head *head, void **objects_out, size_t count)
{
	/* Repeats only for an entry that is used up, or after it grew, or another thread made it grow, or a batch was
	 * reclaimed. */
	for (;;) {
		const size_t seen = cold_capacity(&pool->core.cold);

		if (take_all(pool, head, objects_out, count)) {
			const enum outcome outcome = begin_all(pool, head, objects_out, count);

			if (outcome != ONE_USED_UP)
				return outcome == ALL_BEGUN ? LFPOOL_OK : LFPOOL_E_REFUSED;
		} else if (resize_by_itself(pool, seen)) {
			resize_serve_if_wanted(pool, head);
		} else if (!retired_poll(pool->retired, head)) {
			return LFPOOL_E_EXHAUSTED;
		}
	}
}

/* ---- Cells ---- */

/* `count` cells for the caller, each with the index of the next; NULL: they cannot all be had. */
static struct cell *claim_all(struct waiters *d, size_t count)
{
	struct cell *first = NULL;

	for (size_t i = 0; i < count; i++) {
		struct cell *cell = cell_claim(d);

		if (!cell) {
			for (; i; i--) {
				cell = cell_at(d, first->next);
				cell_unclaim(d, first);
				first = cell;
			}
			return NULL;
		}
		cell->next = first ? first->index : 0;
		first = cell;
	}
	return first;
}

static void enlist_all(lfpool_t *pool, struct cache_head *head, struct cell *cell, uint64_t ticket, size_t count)
{
	struct waiters *d = &pool->waiters;

	for (size_t i = 0; i < count; i++, cell = cell_at(d, cell->next))
		cell_enlist(d, cell, ticket + i, NULL, this_thread());
	cells_shown(d);
	waiters_serve(pool, head);
}

/* Leaves the queue: what was given by then, or SLOT_NONE. */
static uint32_t leave(struct cell *cell)
{
	/* acquire, edge QUEUE: the slot's last holder. */
	uint64_t word = load_acquire(&cell->word);

	/* relaxed: it becomes ours again, unchanged.  Repeats only if a server was faster. */
	while (cell_phase(word) == WAITING && !cas_relaxed(&cell->word, &word, CLAIMED))
		word = load_acquire(&cell->word);
	return cell_phase(word) >= GIVEN ? cell_slot(word) : SLOT_NONE;
}

/* All `count` cells, or all from `cell` on, leave; returns how many slots they had. */
static size_t leave_all(const struct waiters *d, struct cell *cell, void **slots_out, size_t count)
{
	size_t given = 0;

	for (size_t i = 0; i < count; i++, cell = cell_at(d, cell->next)) {
		const uint32_t slot = leave(cell);

		if (slot)
			slots_out[given++] = slot_put(slot);
	}
	return given;
}

/* From given, or claimed, to claimed again, and not counted: what the cells were given is the caller's, and no child of
 * a fork finds it there. */
static void unlist_all(struct waiters *d, struct cell *cell, size_t count)
{
	for (size_t i = 0; i < count; i++, cell = cell_at(d, cell->next))
		/* release, edge QUEUE: as in cell_vacate(). */
		store_release(&cell->word, CLAIMED);
	waiters_want(d, -(uint32_t)count);
}

static void vacate_all(struct waiters *d, struct cell *cell, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct cell *next = cell_at(d, cell->next);

		cell_vacate(d, cell);
		cell = next;
	}
}

/* ---- Waiting ---- */

/* The slot that the cell was given before `until_ns`; SLOT_NONE: none, or the pool is closed; the cell may wait still.
 * */
static uint32_t fetch(lfpool_t *pool, struct cache_head *head, struct cell *cell, uint64_t until_ns)
{
	const struct waiters *d = &pool->waiters;

	for (;;) {
		/* No waiter is given an object until the continuation has returned (W6): so take one. */
		const bool nested = waiters_is_serving(pool);
		const uint32_t slot = nested ? slots_take(pool, head) : SLOT_NONE;
		/* acquire, edge QUEUE: the slot's last holder. */
		const uint64_t word = load_acquire(&cell->word);

		if (slot) {
			const uint32_t given = leave(cell);

			if (given)
				slots_put(pool, head, slot);
			return given ? given : slot;
		}
		if (cell_phase(word) >= GIVEN)
			return cell_slot(word);
		if ((until_ns != UINT64_MAX && os_now_ns() >= until_ns) || (nested && waiters_closed(d)))
			return SLOT_NONE;
		waiters_doze(d, &cell->word, word, waiters_sleep_until(pool, until_ns));
		(void)retired_poll(pool->retired, head);
	}
}

/* No cells can be had: looks again and again, a millisecond apart. */
static COLD bool poll(lfpool_t *pool, struct cache_head *head, void **slots_out, size_t count, uint64_t deadline_ns)
{
	_Atomic(uint64_t) nothing;

	/* relaxed: nobody else knows it. */
	store_relaxed(&nothing, 0);
	for (;;) {
		(void)retired_poll(pool->retired, head);
		if (take_all(pool, head, slots_out, count))
			return true;

		/* In a buffer a call that waits for ever need not know the time. */
		const uint64_t now = arena_in_buffer(&pool->core.arena) && deadline_ns == UINT64_MAX ? 0 : os_now_ns();

		if (now >= deadline_ns || waiters_closed(&pool->waiters))
			return false;
		waiters_doze(&pool->waiters, &nothing, 0, deadline_ns - now < 1000000 ? deadline_ns : now + 1000000);
	}
}

/* Has a call that came before this ticket not got all that it wants? */
static bool older_waits(const struct waiters *d, uint64_t ticket)
{
	uint64_t word;

	return cells_oldest(d, &word) && cell_ticket(word) < ticket;
}

/* `count` slots; false: the time is over, or the pool is closed, and none is held. */
static bool wait_for_slots(lfpool_t *pool, struct cache_head *head, void **slots_out, size_t count,
			   uint64_t deadline_ns)
{
	struct waiters *d = &pool->waiters;
	struct cell *const first = count > CELLS_MAX ? NULL : claim_all(d, count), *cell = first;
	size_t given = 0;

	if (!first)
		return poll(pool, head, slots_out, count, deadline_ns);

	const uint64_t ticket = cells_tickets(d, (uint32_t)count);

	enlist_all(pool, head, first, ticket, count);
	/* Repeats only when it was given one, or after a sleep. */
	while (given < count) {
		const uint32_t slot = fetch(pool, head, cell, count > 1 ? waiters_soon(deadline_ns) : deadline_ns);

		if (slot) {
			slots_out[given++] = slot_put(slot);
			cell = cell_at(d, cell->next);
		} else if (waiters_closed(d) || os_now_ns() >= deadline_ns) {
			break;
		} else if (older_waits(d, ticket)) {
			/* W8 */
			given += leave_all(d, cell, slots_out + given, count - given);
			unlist_all(d, first, count);
			put_back(pool, head, slots_out, given);
			enlist_all(pool, head, cell = first, ticket, count);
			given = 0;
		}
	}
	given += leave_all(d, cell, slots_out + given, count - given);
	vacate_all(d, first, count);
	if (given == count)
		return true;
	give_slots_back(pool, head, slots_out, given);
	/* A last look, so that none means what it always means. */
	return take_all(pool, head, slots_out, count);
}

lfpool_status_t waiters_wait_for(lfpool_t *pool, struct cache_head *head, void **objects_out, size_t count,
				 uint64_t deadline_ns)
{
	enum outcome outcome = ONE_USED_UP;

	probe_wait_begin(pool, pool->name);
	/* Repeats only for an object that was released twice in a race, or was not good any more: that entry is used
	 * up. */
	while (outcome == ONE_USED_UP && wait_for_slots(pool, head, objects_out, count, deadline_ns))
		outcome = begin_all(pool, head, objects_out, count);
	probe_wait_end(pool, pool->name, outcome == ALL_BEGUN ? *objects_out : NULL);
	if (outcome != ONE_USED_UP)
		return outcome == ALL_BEGUN ? LFPOOL_OK : LFPOOL_E_REFUSED;
	return waiters_closed(&pool->waiters) ? LFPOOL_E_CLOSED : LFPOOL_E_EXHAUSTED;
}

void *waiters_wait(lfpool_t *pool, struct cache_head *head, uint64_t deadline_ns)
{
	void *object;

	return waiters_wait_for(pool, head, &object, 1, deadline_ns) == LFPOOL_OK ? object : NULL;
}
