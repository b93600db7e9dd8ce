/* SPDX-License-Identifier: MIT */
/*
 * wait.c - lfpool/wait.h: calls that wait for one object or for several at once, continuations, and closing.  The queue
 * is in cells.h, and its servers in waiters.h.
 *
 * Idea         A call that wants n objects has n cells of the queue, with n consecutive tickets.  Servers give it the
 *              objects one by one, in the order of its cells (W14), just as they serve n calls for one object each.  A
 *              slot stays in its cell until every cell of the call has one, or the call ends.
 * Invariants   W8  no two calls keep waiting for each other's objects.  Two calls that want several objects may enlist
 *                  their cells alternately, so each may be given objects that the other needs.  Therefore a call that
 *                  has some of its objects checks every millisecond whether a call with an earlier ticket waits.  If
 *                  one does, the later call gives all its objects back, and the earlier call is served first.  The
 *                  cells of the later call stay in the queue, with their tickets.
 *              W9  a call in the queue holds only the slots in its cells.  (W1 to W7, W14: waiters.h, cells.h.)
 *              W15 a waiting call keeps its ticket until the call ends.  If the call cannot use an object that it was
 *                  given, it queues again in its old place before it puts any slot back.
 * Progress     Blocks, in the kernel, until the cells are served, or the time is over, or the pool is closed.  The call
 *              with the earliest ticket never gives objects back, so no call starves.  A call that was given no object
 *              yet sleeps; a call with some objects checks every millisecond (W8).
 */
#include "api/api.h"

#include "base/probes.h"
#include "base/widths.h"
#include "os/os.h"
#include "pool/pool.h"
#include "pool/threads.h"
#include "retire/retired.h"
#include "waiting/waiters.h"

#include "lfpool/wait.h"

/* ---- Calls that wait ---- */

/* Must the call queue, because another call already waits?  Never in a pool with hooks.exhausted: there each call that
 * finds no object asks the hook, and if the hook releases an object, the first call in the queue gets that object. */
static bool must_queue(const lfpool_t *pool, int64_t timeout_ns)
{
	return timeout_ns && !pool->hooks.exhausted && waiters_any(&pool->waiters);
}

/* Takes one object, like lfpool_acquire().  A wait that hooks.exhausted asks for ends no later than the deadline. */
static void *take_one(lfpool_t *pool, lfpool_cache_t *cache, uint64_t deadline_ns)
{
	if (pool->hooks.exhausted)
		return pool_acquire(pool, cache ? (struct cache_head *)cache : thread_cache(pool), deadline_ns);
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
	/* Before the first attempt, reads the clock only for a hook that may wait. */
	uint64_t deadline_ns = timeout_ns && pool->hooks.exhausted ? os_deadline(timeout_ns) : 0;

	if (count == 1 && !queue && (*objects_out = take_one(pool, cache, deadline_ns)))
		return LFPOOL_OK;
	if (waiters_closed(&pool->waiters))
		return LFPOOL_E_CLOSED;
	if (timeout_ns && !deadline_ns)
		deadline_ns = os_deadline(timeout_ns);
	if (!head)
		head = thread_cache(pool);
	/* For one object without a wait this is the second attempt, which finds the reason for the failure. */
	if (!queue && (count > 1 || !timeout_ns))
		status = waiters_take(pool, head, objects_out, count);
	if (queue)
		pool_exhausted(pool, head);
	if (status == LFPOOL_E_EXHAUSTED && timeout_ns)
		status = waiters_wait_for(pool, head, objects_out, count, deadline_ns);
	KEEP_FRAME();
	return status;
}

/* ---- Continuations ---- */

/* A public ticket is {ticket:48, index of the cell + 1:16}. */
#define INDEX_BITS 16
_Static_assert(CELLS_MAX < 1 << INDEX_BITS, "a ticket names a cell");

/* Does the public ticket belong to the cell that has this word?  Compares the ticket bits that are in the word and in
 * the public ticket. */
static bool is_ticket_of(uint64_t word, lfpool_ticket_t ticket)
{
	return !((cell_ticket(word) ^ ticket >> INDEX_BITS) & LOW_BITS(CANCEL_TICKET_BITS));
}

lfpool_status_t lfpool_acquire_async(lfpool_t *pool, lfpool_continuation_t then, void *context,
				     lfpool_ticket_t *ticket_out)
{
	struct waiters *d = &pool->waiters;
	/* If one continuation called another directly, calls could nest without end.  So a nested call queues, and the
	 * outer server serves it. */
	const bool nested = waiters_is_serving(pool);
	void *object = NULL;

	if (ticket_out)
		*ticket_out = 0;
	if (!then)
		return LFPOOL_E_ARGUMENT;
	/* A call that already waits is served first, except in a pool with hooks.exhausted (must_queue()). */
	if (pool->hooks.exhausted || !(nested || waiters_any(d)))
		object = take_one(pool, NULL, 0);
	else
		pool_exhausted(pool, thread_cache(pool));
	if (object && !nested) {
		waiters_continue(pool, then, context, object);
		return LFPOOL_OK;
	}

	const bool closed = waiters_closed(d);
	struct cell *cell = closed ? NULL : cell_claim(d);

	if (cell) {
		const uint64_t ticket = cells_tickets(d, 1);

		/* The ticket is stored before a server can call `then`. */
		if (ticket_out)
			*ticket_out = ticket << INDEX_BITS | (cell->index + 1);
		cell_enlist(d, cell, ticket, then, context);
		cells_shown(d);
	}
	/* If a nested call took an object, the first in the queue gets that object. */
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
	/* acquire, edge QUEUE: makes `then` visible. */
	uint64_t word = load_acquire(&cell->word);

	/* relaxed: the load of the word made `then` visible.  A cell without `then` belongs to a waiting call, which
	 * has no public ticket. */
	if (cell_phase(word) != WAITING || !is_ticket_of(word, ticket) || !load_relaxed(&cell->then))
		return false;
	/* relaxed: after success the cell is ours, and unchanged. */
	if (!cas_relaxed(&cell->word, &word, CLAIMED))
		return false;
	cell_vacate(d, cell);
	return true;
}

/* ---- Closing ---- */

/* Sleeps while the lower halves of *word and `seen` are equal, at most until `deadline_ns`, and at most `most_ms`
 * milliseconds (0: no limit).  In a pool in a buffer it only pauses the processor for a moment. */
static void waiters_doze(const struct waiters *d, _Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns,
			 uint64_t most_ms)
{
	if (arena_in_buffer(d->arena)) {
		cpu_relax();
		return;
	}
	/* The clock is read only if `most_ms` limits the sleep. */
	if (most_ms) {
		const uint64_t now = os_now_ns(), pause_ns = most_ms * 1000000;

		if (deadline_ns > now && deadline_ns - now > pause_ns)
			deadline_ns = now + pause_ns;
	}
	os_sleep_on(word, seen, deadline_ns);
}

size_t lfpool_close(lfpool_t *pool, int64_t timeout_ns)
{
	struct waiters *d = &pool->waiters;
	struct cache_head *head = thread_cache(pool);
	const uint64_t deadline_ns = timeout_ns ? os_deadline(timeout_ns) : 0;
	size_t left;

	resize_close(pool, head);
	/* Repeats only after a sleep. */
	while ((left = cold_capacity(&pool->core.cold)) && deadline_ns &&
	       (deadline_ns == UINT64_MAX || os_now_ns() < deadline_ns)) {
		/* relaxed: the value is only compared when the call goes to sleep. */
		const uint64_t seen = load_relaxed(&d->closed);

		/* CLOSED_EMPTY is announced once.  If another call adds objects after that, they leave the pool soon,
		 * but without a wake-up.  So from then on this loop polls. */
		waiters_doze(d, &d->closed, seen, deadline_ns, seen != CLOSED || retired_asks(pool->retired));
		(void)retired_poll(pool->retired, head);
	}
	return left;
}

/* ---- How a call waits ---- */

/* If the scheme has to be asked whether retired objects can be reclaimed, the n-th call in the queue asks it every n
 * milliseconds, and at least every ASK_PAUSE_MAX_MS milliseconds.  So most calls of a long queue ask seldom, and if one
 * thread stops, others still ask. */
#define ASK_PAUSE_MAX_MS 16

/* The number of milliseconds that a call with this ticket may sleep while it has no slot.  0: until its deadline. */
static uint64_t ask_after_ms(const lfpool_t *pool, uint64_t ticket)
{
	uint64_t word, before = 0;

	if (!retired_asks(pool->retired))
		return 0;
	/* The tickets in between count even if their calls have returned. */
	if (cells_oldest(&pool->waiters, &word) && cell_ticket(word) < ticket)
		before = ticket - cell_ticket(word);
	return before < ASK_PAUSE_MAX_MS ? before + 1 : ASK_PAUSE_MAX_MS;
}

/* ---- Slots, stored where their objects will be ---- */

static void *slot_put(uint32_t slot)
{
	return (void *)(uintptr_t)slot;
}

static uint32_t slot_get(const void *place)
{
	return (uint32_t)(uintptr_t)place;
}

/* Puts slots back; the caller must serve afterwards. */
static void put_slots_back(lfpool_t *pool, struct cache_head *head, void *const *slots, size_t count)
{
	for (size_t i = 0; i < count; i++)
		slots_put(pool, head, slot_get(slots[i]));
}

static void give_slots_back(lfpool_t *pool, struct cache_head *head, void *const *slots, size_t count)
{
	put_slots_back(pool, head, slots, count);
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

/* Like take_all().  If too few slots are free, the call grows the pool, or else reclaims retired objects. */
static bool take_or_make(lfpool_t *pool, struct cache_head *head, void **slots_out, size_t count)
{
	/* Repeats only after this or another thread has grown the pool, or after a batch was reclaimed. */
	for (;;) {
		const size_t seen = cold_capacity(&pool->core.cold);

		if (take_all(pool, head, slots_out, count))
			return true;
		if (resize_by_itself(pool, seen))
			resize_serve_if_wanted(pool, head);
		else if (!retired_poll(pool->retired, head))
			return false;
	}
}

/* Ends the use of an object that was not returned to the user.  Returns the slot to put back, as slots_end() does. */
static uint32_t unbegin(lfpool_t *pool, void *object)
{
	uint32_t slot;

	/* Another thread may have found the object by a walk, and released or pinned it. */
	if (pool_locate(pool, object, &slot) != LFPOOL_OK ||
	    arena_leave_active(&pool->core.arena, slot, pool->check_races, GENERATION_RELEASED) != LEAVE_NOW)
		return SLOT_NONE;
	return slots_end(pool, slot, object);
}

/* AGAIN: after SLOT_USED_UP or SLOT_BAD the call may try again. */
enum outcome { ALL_BEGUN, ONE_REFUSED, AGAIN };

/* Makes the objects of `count` slots active, and replaces each slot in the array by its object.  If an object cannot be
 * made active, no object is active afterwards, and the first *left_out entries are the slots that the caller must put
 * back. */
static enum outcome begin_all(lfpool_t *pool, struct cache_head *head, void **slots, size_t count, size_t *left_out)
{
	*left_out = 0;
	for (size_t i = 0; i < count; i++) {
		void *object;
		const enum slot_begun begun = slots_begin(pool, head, slot_get(slots[i]), &object);

		if (begun == SLOT_BEGUN) {
			slots[i] = object;
			/* Slots may have been put back, because a hook refused other objects before this one. */
			if (pool->each_call)
				waiters_look(pool, head);
			continue;
		}
		for (size_t k = 0; k < count; k++) {
			const uint32_t slot = k < i ? unbegin(pool, slots[k]) : k > i ? slot_get(slots[k]) : SLOT_NONE;

			if (slot)
				slots[(*left_out)++] = slot_put(slot);
		}
		return begun == SLOT_REFUSED ? ONE_REFUSED : AGAIN;
	}
	return ALL_BEGUN;
}

lfpool_status_t waiters_take(lfpool_t *pool, struct cache_head *head, void **objects_out, size_t count)
{
	enum outcome outcome = AGAIN;
	/* For one object the caller has already made an attempt, and counted its failure. */
	bool counted = count == 1;
	size_t left;

	/* Repeats only after SLOT_USED_UP, or after an object was destroyed (SLOT_BAD). */
	while (outcome == AGAIN) {
		if (!take_all(pool, head, objects_out, count)) {
			if (!counted)
				pool_exhausted(pool, head);
			counted = true;
			if (!take_or_make(pool, head, objects_out, count))
				return LFPOOL_E_EXHAUSTED;
		}
		outcome = begin_all(pool, head, objects_out, count, &left);
		if (outcome != ALL_BEGUN) {
			put_slots_back(pool, head, objects_out, left);
			resize_serve_if_wanted(pool, head);
		}
	}
	return outcome == ALL_BEGUN ? LFPOOL_OK : LFPOOL_E_REFUSED;
}

/* ---- Cells ---- */

struct call {
	lfpool_t *pool;
	struct cache_head *head;
	void **objects; /* first slots, then their active objects      */
	size_t count;
	size_t left; /* slots in `objects` that are to be put back  */
	uint64_t deadline_ns;
	uint64_t ticket;    /* of the call's first cell; 0: not drawn yet */
	struct cell *first; /* the call's first cell; `next` leads on     */
};

/* Claims `count` cells, and stores in each the index of the next.  NULL: it could not claim all of them. */
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
		if (first)
			/* relaxed: published when `first` is enlisted. */
			store_relaxed(&first->before, cell->index + 1);
		first = cell;
	}
	return first;
}

/* Enlists the cells, in the order of their tickets (W14).  Then puts back the slots that the call still has, and
 * serves. */
static void enlist_all(struct call *call)
{
	struct waiters *d = &call->pool->waiters;
	struct cell *cell = call->first;

	if (!call->ticket)
		call->ticket = cells_tickets(d, (uint32_t)call->count);
	for (size_t i = 0; i < call->count; i++, cell = cell_at(d, cell->next))
		cell_enlist(d, cell, call->ticket + i, NULL, this_thread());
	cells_shown(d);
	put_slots_back(call->pool, call->head, call->objects, call->left);
	waiters_serve(call->pool, call->head);
}

/* Takes the cell out of the queue.  Returns the slot that the cell was given, or SLOT_NONE. */
static uint32_t leave_queue(struct cell *cell)
{
	/* acquire, edge QUEUE: the writes of the slot's last holder. */
	uint64_t word = load_acquire(&cell->word);

	/* relaxed: if the CAS succeeds, the cell is ours again, and unchanged.  Repeats only if a server was faster. */
	while (cell_phase(word) == WAITING && !cas_relaxed(&cell->word, &word, CLAIMED))
		word = load_acquire(&cell->word);
	return cell_phase(word) >= GIVEN ? cell_slot(word) : SLOT_NONE;
}

/* Takes all cells of the call out of the queue.  Returns the number of slots that the cells were given. */
static size_t leave_all(struct call *call)
{
	struct waiters *d = &call->pool->waiters;
	struct cell *cell = call->first, *next;
	size_t given = 0;

	for (size_t i = 0; i < call->count; i++, cell = cell_at(d, cell->next)) {
		const uint32_t slot = leave_queue(cell);

		if (slot)
			call->objects[given++] = slot_put(slot);
	}
	cell = call->first;
	for (size_t i = 0; i < call->count; i++, cell = next) {
		next = cell_at(d, cell->next);
		cell_vacate(d, cell);
	}
	return given;
}

/* W8: puts back the slots in the call's cells.  These cells wait again, with the same tickets.  False: no cell had a
 * slot. */
static bool step_back(struct call *call)
{
	struct waiters *d = &call->pool->waiters;
	struct cell *cell = call->first;
	size_t given = 0;

	for (size_t i = 0; i < call->count; i++, cell = cell_at(d, cell->next)) {
		/* acquire, edge QUEUE: the writes of the slot's last holder. */
		const uint64_t word = load_acquire(&cell->word);

		if (cell_phase(word) < GIVEN || !cell_slot(word))
			continue;
		call->objects[given++] = slot_put(cell_slot(word));
		/* release, edge QUEUE: as in cell_enlist(). */
		store_release(&cell->word, cell_waiting(call->ticket + i));
		cell_show(d, cell, call->ticket + i);
	}
	if (!given)
		return false;
	cells_shown(d);
	put_slots_back(call->pool, call->head, call->objects, given);
	waiters_serve(call->pool, call->head);
	return true;
}

/* ---- Waiting ---- */

static bool is_over(uint64_t deadline_ns)
{
	return deadline_ns != UINT64_MAX && os_now_ns() >= deadline_ns;
}

/* The word of one of the call's cells. */
static uint64_t look_at(const struct call *call, struct cell *cell)
{
	/* relaxed: leave_queue() acquires. */
	uint64_t word = load_relaxed(&cell->word);

	/* In a hook or continuation the call serves itself, because the server that runs the function gives nothing
	 * until the function returns (W6). */
	if (cell_phase(word) < GIVEN && unlikely(waiters_is_serving(call->pool))) {
		const uint32_t slot = slots_take(call->pool, call->head);

		/* relaxed: the cell is ours.  On failure another thread has given it a slot. */
		if (slot && !cas_relaxed(&cell->word, &word, cell_given(word, slot)))
			slots_put(call->pool, call->head, slot);
		word = load_relaxed(&cell->word);
	}
	return word;
}

/* Waits without cells, because too few could be claimed.  Tries once per millisecond to take the objects. */
static COLD bool poll(const struct call *call)
{
	const struct waiters *d = &call->pool->waiters;
	_Atomic(uint64_t) nothing;

	/* relaxed: no other thread knows this word. */
	store_relaxed(&nothing, 0);
	for (;;) {
		(void)retired_poll(call->pool->retired, call->head);
		if (take_or_make(call->pool, call->head, call->objects, call->count))
			return true;
		if (is_over(call->deadline_ns) || waiters_closed(d))
			return false;
		waiters_doze(d, &nothing, 0, call->deadline_ns, 1);
	}
}

static bool older_waits(const struct waiters *d, uint64_t ticket)
{
	uint64_t word;

	return cells_oldest(d, &word) && cell_ticket(word) < ticket;
}

/* Returns when all cells were served, or the time is over, or the pool is closed. */
static void wait_in_queue(struct call *call)
{
	lfpool_t *pool = call->pool;
	const struct waiters *d = &pool->waiters;
	struct cell *cell = call->first;
	size_t given = 0; /* cells before `cell`, which all have a slot */
	bool holds = false;

	/* Repeats only after a sleep, or after a cell was served. */
	for (;;) {
		const uint64_t word = look_at(call, cell);

		if (cell_phase(word) >= GIVEN) {
			if (++given == call->count)
				return;
			cell = cell_at(d, cell->next);
			continue;
		}
		if (waiters_closed(d) || is_over(call->deadline_ns))
			return;
		/* After this call has stepped back, W14 does not hold for its cells, so the call keeps checking every
		 * millisecond. */
		holds = holds || given > 0;
		if (holds && older_waits(d, call->ticket) && step_back(call)) {
			cell = call->first;
			given = 0;
			continue;
		}
		waiters_doze(d, &cell->word, word, call->deadline_ns, holds ? 1 : ask_after_ms(pool, call->ticket));
		(void)retired_poll(pool->retired, call->head);
	}
}

/* Gets all slots.  False: the time is over, or the pool is closed; the call holds no slot. */
static bool wait_for_slots(struct call *call)
{
	struct waiters *d = &call->pool->waiters;
	size_t given;

	call->first = call->count > CELLS_MAX ? NULL : claim_all(d, call->count);
	if (!call->first) {
		give_slots_back(call->pool, call->head, call->objects, call->left);
		return poll(call);
	}
	enlist_all(call);
	wait_in_queue(call);
	given = leave_all(call);
	if (given == call->count)
		return true;
	give_slots_back(call->pool, call->head, call->objects, given);
	/* Makes a last attempt, so that a failure means that too few objects were free. */
	return take_all(call->pool, call->head, call->objects, call->count);
}

/* Counts a wait that has ended.  A call on a pool in a buffer does not read the clock, and its `began_ns` is 0. */
static void count_wait(lfpool_t *pool, uint64_t began_ns, bool timed_out)
{
	if (EMBEDDED)
		return;

	const uint64_t took_ns = began_ns ? os_now_ns() - began_ns : 0;
	uint64_t longest_ns = tally_read(&pool->waited.longest_ns);

	tally_shared(&pool->waited.calls, 1);
	tally_shared(&pool->waited.timeouts, timed_out);
	tally_shared(&pool->waited.ns, took_ns);
	/* Repeats only after another call raised the maximum. */
	while (longest_ns < took_ns && !tally_cas(&pool->waited.longest_ns, &longest_ns, took_ns))
		;
}

lfpool_status_t waiters_wait_for(lfpool_t *pool, struct cache_head *head, void **objects_out, size_t count,
				 uint64_t deadline_ns)
{
	struct call call = {
		.pool = pool, .head = head, .objects = objects_out, .count = count, .deadline_ns = deadline_ns};
	const uint64_t began_ns = arena_in_buffer(&pool->core.arena) ? 0 : os_now_ns();
	enum outcome outcome = AGAIN;

	probe_wait_begin(pool, pool->name);
	/* W15.  Repeats only after SLOT_USED_UP or SLOT_BAD. */
	while (outcome == AGAIN && wait_for_slots(&call))
		outcome = begin_all(pool, head, objects_out, count, &call.left);
	if (outcome == ONE_REFUSED) {
		put_slots_back(pool, head, objects_out, call.left);
		resize_serve_if_wanted(pool, head);
	}
	const bool closed = outcome == AGAIN && waiters_closed(&pool->waiters);

	count_wait(pool, began_ns, outcome == AGAIN && !closed);
	probe_wait_end(pool, pool->name, outcome == ALL_BEGUN ? *objects_out : NULL);
	if (outcome != AGAIN)
		return outcome == ALL_BEGUN ? LFPOOL_OK : LFPOOL_E_REFUSED;
	return closed ? LFPOOL_E_CLOSED : LFPOOL_E_EXHAUSTED;
}

void *waiters_wait(lfpool_t *pool, struct cache_head *head, uint64_t deadline_ns)
{
	void *object;

	return waiters_wait_for(pool, head, &object, 1, deadline_ns) == LFPOOL_OK ? object : NULL;
}
