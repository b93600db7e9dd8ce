/* SPDX-License-Identifier: MIT */
/*
 * demand.c - the queue of those who want objects, and how they are served; see demand.h.
 */
#include "demand.h"

#include "backing.h"
#include "magazines.h"
#include "os.h"
#include "pool.h"
#include "resize.h"

enum phase { VACANT, CLAIMED, WAITING, GIVEN, WOKEN };

#define TICKET_SHIFT 35
#define PHASE_SHIFT 32

static enum phase phase_of(uint64_t word)
{
	return (enum phase)(word >> PHASE_SHIFT & 7);
}

static uint64_t word_for(uint64_t ticket, enum phase phase, uint32_t slot)
{
	return ticket << TICKET_SHIFT | (uint64_t)phase << PHASE_SHIFT | slot;
}

/* Was the ticket of `a` given out before that of `b`?  They lie less than 2^28 apart. */
static bool came_before(uint64_t a, uint64_t b)
{
	return (int64_t)((a & ~UINT64_C(0) << TICKET_SHIFT) - (b & ~UINT64_C(0) << TICKET_SHIFT)) < 0;
}

/* ---- Cells ---- */

static struct cell *cell_at(const struct demand *d, uint32_t index)
{
	uint32_t place;
	const unsigned lot = lot_of(index, CELL_LOT, &place);
	/* relaxed: mapped before `cells` counted it, or by lot_ensure(). */
	char *cells = load_relaxed(&d->lot[lot]);

	plain_read(cells);
	return (struct cell *)(void *)cells + place;
}

static bool lot_ensure(struct demand *d, uint32_t index)
{
	uint32_t place;
	const unsigned lot = lot_of(index, CELL_LOT, &place);
	const size_t bytes = ((size_t)CELL_LOT << lot) * sizeof(struct cell);
	char *none = NULL;

	/* acquire, edge CELL. */
	if (load_acquire(&d->lot[lot]))
		return true;

	char *mapped = d->arena->in_buffer ? NULL : backing_map(d->arena->backing, bytes);

	if (!mapped)
		return false;
	plain_written(mapped);
	/* acq_rel, edge CELL: release our mapping, or acquire that of the one who was first. */
	if (!cas_acq_rel(&d->lot[lot], &none, mapped))
		os_unmap(mapped, bytes);
	return true;
}

static bool claim(struct cell *cell)
{
	uint64_t vacant = 0;

	/* relaxed look before the CAS, so that a search writes nothing.  acquire, edge QUEUE: the last user's fields. */
	return !load_relaxed(&cell->word) && cas_acquire(&cell->word, &vacant, word_for(0, CLAIMED, 0));
}

/* A cell for the caller, and its index; NULL when the system refuses memory, or all CELLS_MAX are taken. */
static struct cell *cell_claim(struct demand *d, uint32_t *index_out)
{
	/* acquire, edge CELL: the cells it counts. */
	const uint32_t count = load_acquire(&d->cells);

	for (uint32_t index = 0; index < CELLS_MAX; index++) {
		if (index >= count && !lot_ensure(d, index))
			return NULL;
		if (!claim(cell_at(d, index)))
			continue;
		/* relaxed: a number to begin with. */
		uint32_t counted = load_relaxed(&d->cells);

		/* release, edge CELL.  Goes round only when another thread raised it. */
		while (counted <= index && !cas_weak_release(&d->cells, &counted, index + 1))
			;
		*index_out = index;
		return cell_at(d, index);
	}
	return NULL;
}

static void want(struct demand *d, uint32_t count)
{
	/* relaxed: ordered by the fences of W1. */
	(void)fetch_add_relaxed(&d->wanted, count);
}

/* From claimed to waiting.  Afterwards the caller serves. */
static void enlist(struct demand *d, struct cell *cell, uint64_t ticket, lfpool_continuation_t then, void *context)
{
	/* relaxed, all: published with the word. */
	store_relaxed(&cell->then, then);
	store_relaxed(&cell->context, context);
	store_relaxed(&cell->ticket, ticket);
	want(d, 1);
	/* release, edge QUEUE: what the server needs. */
	store_release(&cell->word, word_for(ticket, WAITING, 0));
	/* W1: either a release sees the demand, or we see what it pushed. */
	arena_heavy_fence(d->arena);
}

/* From claimed, or given, to vacant. */
static void vacate(struct demand *d, struct cell *cell)
{
	/* release, edge QUEUE: our reading of the cell comes before its next user's writing. */
	store_release(&cell->word, 0);
	want(d, -UINT32_C(1));
}

static uint64_t next_ticket(struct demand *d)
{
	/* relaxed: a number. */
	return fetch_add_relaxed(&d->tickets, 1) + 1;
}

/* Wakes the call that was given `word`'s slot, and says that it has (W5).  In a buffer it does not sleep. */
static void wake(const struct demand *d, struct cell *cell, uint64_t word)
{
	if (!d->arena->in_buffer)
		os_wake(&cell->word);
	/* relaxed: if it fails, the call is awake. */
	(void)cas_relaxed(&cell->word, &word, word + (UINT64_C(1) << PHASE_SHIFT));
}

/* The waiting cell with the smallest ticket; NULL if none waits. */
static struct cell *oldest(const struct demand *d, uint64_t *word_out)
{
	/* acquire, edge CELL.  A cell that is not counted yet: its owner will serve after us. */
	const uint32_t count = load_acquire(&d->cells);
	struct cell *found = NULL;

	for (uint32_t index = 0; index < count; index++) {
		struct cell *cell = cell_at(d, index);
		/* acquire, edge QUEUE: `then`. */
		const uint64_t word = load_acquire(&cell->word);

		/* relaxed: if it is a continuation's, nobody sleeps there. */
		if (phase_of(word) == GIVEN && !load_relaxed(&cell->then))
			wake(d, cell, word);
		if (phase_of(word) == WAITING && (!found || came_before(word, *word_out))) {
			found = cell;
			*word_out = word;
		}
	}
	return found;
}

/* ---- Serving ---- */

/* Pools that this thread is serving, the innermost first. */
struct serving {
	const lfpool_t *pool;
	struct serving *outer;
};

/* The slot is ours: makes its object active and calls the continuation. */
static void continue_with(lfpool_t *pool, struct handle *handle, lfpool_continuation_t then, void *context, uint32_t slot)
{
	struct serving **innermost = thread_serving(), here = {pool, *innermost};
	void *object = NULL;

	/* What a hook refuses is put back, and not served from here. */
	*innermost = &here;
	(void)pool->backend->begin(pool, handle, slot, &object);
	then(context, pool, object);
	*innermost = here.outer;
}

/* Gives the slot to the cell whose word was `word`; false if that has changed. */
static bool give(lfpool_t *pool, struct handle *handle, struct cell *cell, uint64_t word, uint32_t slot)
{
	const uint64_t given = word + word_for(0, GIVEN - WAITING, slot);
	/* relaxed, both: the look at the word was an acquire.  They are the waiting cell's if the CAS succeeds. */
	const lfpool_continuation_t then = load_relaxed(&cell->then);
	void *const context = load_relaxed(&cell->context);

	/* release, edge QUEUE: the slot, and what its last holder did with it. */
	if (!cas_release(&cell->word, &word, given))
		return false;
	if (!then) {
		wake(&pool->demand, cell, given);
		return true;
	}
	vacate(&pool->demand, cell);
	continue_with(pool, handle, then, context, slot);
	return true;
}

void demand_serve(lfpool_t *pool, struct handle *handle)
{
	struct demand *d = &pool->demand;
	uint32_t slot = SLOT_NONE;
	bool paid = false;

	/* Goes round only after it gave, or put back what nobody wants, or after another thread changed what it saw. */
	for (;;) {
		/* relaxed: the CAS that pays decides. */
		uint32_t owed = load_relaxed(&d->owed);
		uint64_t word = 0;
		struct cell *cell = owed ? NULL : oldest(d, &word);

		if (!owed && !cell) {
			if (!slot)
				break;
			pool->backend->put_free(pool, handle, slot);
			slot = SLOT_NONE;
			continue;
		}
		if (!slot)
			slot = pool->backend->take(pool, handle);
		if (!slot)
			break;
		if (owed) {
			/* acquire: after the debt was added to `wanted`. */
			if (!cas_acquire(&d->owed, &owed, owed - 1))
				continue;
			want(d, -UINT32_C(1));
			resize_withdraw(pool, slot);
			slot = SLOT_NONE;
			paid = true;
		} else if (give(pool, handle, cell, word, slot)) {
			slot = SLOT_NONE;
		}
	}
	/* The debt kept the pool from growing. */
	if (paid)
		resize_for_waiters(pool, handle);
}

void demand_serve_after_release(lfpool_t *pool, struct handle *handle)
{
	for (const struct serving *s = *thread_serving(); s; s = s->outer)
		if (s->pool == pool)
			return;
	demand_serve(pool, handle);
}

/* ---- Waiting ---- */

/* Sleeps while *word is 0 (its lower half), or, in a buffer, only a moment. */
static void doze(const struct demand *d, _Atomic(uint64_t) *word, uint64_t deadline_ns)
{
	if (d->arena->in_buffer)
		cpu_relax();
	else
		os_sleep_on(word, deadline_ns);
}

/* Until it is given something, or the time is over: the slot, or SLOT_NONE. */
static uint32_t sleep_in(const struct demand *d, struct cell *cell, uint64_t deadline_ns)
{
	for (;;) {
		/* acquire, edge QUEUE: the slot's last holder. */
		uint64_t word = load_acquire(&cell->word);

		if (phase_of(word) >= GIVEN)
			return (uint32_t)word;
		/* Fails if a server was faster, or for ever waiting calls never. */
		if (deadline_ns != UINT64_MAX && os_now_ns() >= deadline_ns) {
			/* relaxed: it becomes ours again, unchanged. */
			if (cas_relaxed(&cell->word, &word, word_for(0, CLAIMED, 0)))
				return SLOT_NONE;
			continue;
		}
		doze(d, &cell->word, deadline_ns);
	}
}

/* No cell can be had: looks again and again, a millisecond apart. */
static COLD void *poll(lfpool_t *pool, struct handle *handle, uint64_t deadline_ns)
{
	_Atomic(uint64_t) nothing;
	void *object;

	/* relaxed: nobody else knows it. */
	store_relaxed(&nothing, 0);
	for (;;) {
		const uint32_t slot = pool->backend->take(pool, handle);
		/* In a buffer who waits for ever need not know the time. */
		const uint64_t now =
			pool->arena->in_buffer && deadline_ns == UINT64_MAX ? 0 : os_now_ns();

		if (slot && pool->backend->begin(pool, handle, slot, &object))
			return object;
		if (now >= deadline_ns)
			return NULL;
		doze(&pool->demand, &nothing, deadline_ns - now < 1000000 ? deadline_ns : now + 1000000);
	}
}

void *demand_wait(lfpool_t *pool, struct handle *handle, uint64_t deadline_ns)
{
	struct demand *d = &pool->demand;
	void *object = NULL;
	uint32_t slot, index;

	/* Goes round again only for an object that was released twice in a race: that one is used up. */
	do {
		struct cell *cell = cell_claim(d, &index);

		if (!cell)
			return poll(pool, handle, deadline_ns);
		enlist(d, cell, next_ticket(d), NULL, NULL);
		resize_for_waiters(pool, handle);
		slot = sleep_in(d, cell, deadline_ns);
		vacate(d, cell);
		/* The time is over: a last look, so that NULL means what it always means. */
		if (!slot)
			slot = pool->backend->take(pool, handle);
	} while (slot && !pool->backend->begin(pool, handle, slot, &object));
	return object;
}

/* ---- Continuations ---- */

/* {ticket: 48, index + 1: 16} */
#define INDEX_BITS 16
_Static_assert(CELLS_MAX < 1 << INDEX_BITS, "a ticket names a cell");

lfpool_status_t lfpool_acquire_async(lfpool_t *pool, lfpool_continuation_t then, void *context,
				     lfpool_ticket_t *ticket_out)
{
	struct demand *d = &pool->demand;
	uint32_t index;

	if (ticket_out)
		*ticket_out = 0;
	if (!then)
		return LFPOOL_E_ARGUMENT;
	/* relaxed: who waits already comes first; whoever comes at the same instant may be first or second.  (The hook: as
	 * must_queue() in wait.c.) */
	if (pool->hooks.exhausted || !load_relaxed(&d->wanted)) {
		void *object = lfpool_acquire(pool);

		if (object) {
			then(context, pool, object);
			return LFPOOL_OK;
		}
	}

	struct cell *cell = cell_claim(d, &index);

	if (!cell)
		return LFPOOL_E_NO_MEMORY;

	const uint64_t ticket = next_ticket(d);

	/* Before anybody can call it. */
	if (ticket_out)
		*ticket_out = ticket << INDEX_BITS | (index + 1);
	enlist(d, cell, ticket, then, context);
	resize_for_waiters(pool, thread_handle(pool));
	return LFPOOL_OK;
}

bool lfpool_cancel(lfpool_t *pool, lfpool_ticket_t ticket)
{
	struct demand *d = &pool->demand;
	const uint64_t index = (ticket & ((1 << INDEX_BITS) - 1)) - 1;

	/* acquire, edge CELL. */
	if (index >= load_acquire(&d->cells))
		return false;

	struct cell *cell = cell_at(d, (uint32_t)index);
	/* acquire, edge QUEUE: the ticket that belongs to the word. */
	uint64_t word = load_acquire(&cell->word);

	/* relaxed, both: see above; if it succeeds the cell is ours, unchanged.  (The ticket is compared in full before, and
	 * its last 30 bits are by the CAS.) */
	if (phase_of(word) != WAITING || load_relaxed(&cell->ticket) << INDEX_BITS >> INDEX_BITS != ticket >> INDEX_BITS ||
	    !cas_relaxed(&cell->word, &word, word_for(0, CLAIMED, 0)))
		return false;
	vacate(d, cell);
	return true;
}

/* ---- What a shrink is owed ---- */

void demand_owe_no_more(lfpool_t *pool)
{
	struct demand *d = &pool->demand;
	uint32_t owed, capacity;

	/* Who adds to the debt, and who lowers the capacity, each fences and looks at the other's word. */
	full_fence();
	/* relaxed: a number. */
	owed = load_relaxed(&d->owed);
	/* Goes round only when another thread changed it. */
	while (owed > (capacity = (uint32_t)cold_capacity(&pool->cold)))
		if (cas_acquire(&d->owed, &owed, capacity)) {
			want(d, capacity - owed);
			return;
		}
}

void demand_owe(lfpool_t *pool, size_t count)
{
	struct demand *d = &pool->demand;
	const size_t capacity = cold_capacity(&pool->cold);
	const uint32_t more = (uint32_t)(count < capacity ? count : capacity);
	/* relaxed: a number. */
	uint32_t owed = load_relaxed(&d->owed);

	/* Before anybody can pay, so that `wanted` is never too low. */
	want(d, more);
	/* release: `wanted`.  Goes round only when another thread changed it. */
	while (!cas_weak_release(&d->owed, &owed, owed + more))
		;
	demand_owe_no_more(pool);
	/* W1. */
	arena_heavy_fence(d->arena);
}

uint32_t demand_forgive(struct demand *d, size_t count)
{
	/* acquire, on failure too: after the debt was added to `wanted`. */
	uint32_t owed = load_acquire(&d->owed), less;

	do {
		less = count < owed ? (uint32_t)count : owed;
		if (!less)
			return 0;
		/* Goes round only when another thread changed it. */
	} while (!cas_weak_acq_rel(&d->owed, &owed, owed - less));
	want(d, -less);
	return less;
}

/* ---- Life ---- */

void demand_open(struct demand *d, const struct arena *arena)
{
	d->arena = arena;
	/* relaxed: the pool is not yet anybody else's. */
	store_relaxed(&d->lot[0], (char *)d->first);
}

void demand_close(lfpool_t *pool)
{
	struct demand *d = &pool->demand;
	struct cell *cell;
	uint64_t word;

	/* Oldest first. */
	while ((cell = oldest(d, &word))) {
		/* relaxed, both: the pool is nobody else's any more. */
		const lfpool_continuation_t then = load_relaxed(&cell->then);
		void *const context = load_relaxed(&cell->context);

		vacate(d, cell);
		if (then)
			then(context, pool, NULL);
	}
	for (unsigned lot = 1; lot < CELL_LOT_COUNT; lot++) {
		/* relaxed: the pool is nobody else's any more. */
		char *cells = load_relaxed(&d->lot[lot]);

		if (cells)
			os_unmap(cells, ((size_t)CELL_LOT << lot) * sizeof(struct cell));
	}
	/* The last check of the pool counts who waits. */
	store_relaxed(&d->cells, 0);
}

void demand_forget_calls(lfpool_t *pool)
{
	struct demand *d = &pool->demand;
	/* relaxed, here and below: the child has one thread. */
	const uint32_t count = load_relaxed(&d->cells);
	uint32_t left = load_relaxed(&d->owed);

	for (uint32_t index = 0; index < count; index++) {
		struct cell *cell = cell_at(d, index);
		const uint64_t word = load_relaxed(&cell->word);

		if (phase_of(word) == WAITING && load_relaxed(&cell->then)) {
			left++;
			continue;
		}
		store_relaxed(&cell->word, 0);
		/* Given, and not fetched. */
		if (phase_of(word) >= GIVEN)
			pool->backend->put_free(pool, NULL, (uint32_t)word);
	}
	store_relaxed(&d->wanted, left);
}

size_t demand_waiting(const struct demand *d)
{
	/* acquire, edge CELL. */
	const uint32_t count = load_acquire(&d->cells);
	size_t waiting = 0;

	for (uint32_t index = 0; index < count; index++)
		/* relaxed: a snapshot. */
		waiting += phase_of(load_relaxed(&cell_at(d, index)->word)) == WAITING;
	return waiting;
}
