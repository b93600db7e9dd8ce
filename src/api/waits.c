/* SPDX-License-Identifier: MIT */
/*
 * waits.c - a call waits for one object, or for several at once.
 *
 * Idea         A call that wants n objects has n cells of the queue, with n tickets in a row.  It is given its objects one by
 *              one, each in its turn, like n calls that want one.
 * Invariants   W8  two calls do not wait for each other's objects.  Cells are enlisted one after the other, so of two calls that
 *                  want several each may be given some of what the other needs.  A call that has not all it wants looks
 *                  every millisecond whether one with an earlier ticket waits.  If so it gives back all that it was given,
 *                  and queues again in its old place: the earlier call is served first.
 *              W9  a call that queues holds nothing but what its cells were given.  (W1 to W7: waiters.h.)
 * Progress     Blocks, in the kernel, until the cells are served, or the time is over, or the pool is closed.  The call with
 *              the earliest ticket never gives back, so none starves.
 */
#include "api/waits.h"

#include "api/calls.h"
#include "base/probes.h"
#include "os/os.h"
#include "retire/retired.h"
#include "waiting/waiters.h"

void waiters_doze(const struct waiters *d, _Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns)
{
	if (d->arena->in_buffer)
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
	/* Repeats only for an entry that is used up, or after it grew, or another thread made it grow, or a batch was reclaimed. */
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

/* From given, or claimed, to claimed again, and not counted: what the cells were given is the caller's, and no child of a fork finds
 * it there. */
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

/* The slot that the cell was given before `until_ns`; SLOT_NONE: none, or the pool is closed; the cell may wait still. */
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
		const uint64_t now = pool->core.arena.in_buffer && deadline_ns == UINT64_MAX ? 0 : os_now_ns();

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
static bool wait_for_slots(lfpool_t *pool, struct cache_head *head, void **slots_out, size_t count, uint64_t deadline_ns)
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

lfpool_status_t waiters_wait_for(lfpool_t *pool, struct cache_head *head, void **objects_out, size_t count, uint64_t deadline_ns)
{
	enum outcome outcome = ONE_USED_UP;

	probe_wait_begin(pool, pool->name);
	/* Repeats only for an object that was released twice in a race, or was not good any more: that entry is used up. */
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
