/* SPDX-License-Identifier: MIT */
/*
 * waiters.c - serves the calls that want objects; see waiters.h.
 */
#include "waiting/waiters.h"

#include "os/os.h"
#include "pool/slots.h"
#include "pool/threads.h"

/* ---- Serving ---- */

/* A hook or continuation that a server on this thread runs; thread_serving() is the innermost one. */
struct serving {
	const lfpool_t *pool;
	struct serving *outer;
	const struct cell *giving; /* the cell of a continuation whose object is not active yet */
};

#if EMBEDDED
/*
 * An embedded build has no thread-local variables.  So the pool counts the hooks and continuations that run, and no
 * thread serves while the count is not 0, which is more than W6 needs.  W1 still holds: a call adds demand or an
 * object, fences, and loads the count.  A server lowers the count, fences, and checks the demand and the objects.  So
 * either the call sees the count 0, or the last server sees the new demand or object.  docs/embedded.md describes the
 * cost.
 */
bool waiters_is_serving(const lfpool_t *pool)
{
	/* relaxed: see above.  A thread always sees its own additions, so servers never nest. */
	return load_relaxed(&pool->waiters.serving) != 0;
}

static void serving_begin(struct serving *here, lfpool_t *pool, const struct cell *giving)
{
	*here = (struct serving){.pool = pool, .giving = giving};
	/* relaxed: a thread that does not see the new count yet serves too, as it would in other builds. */
	(void)fetch_add_relaxed(&pool->waiters.serving, 1);
}

static void serving_end(const struct serving *here, lfpool_t *pool)
{
	(void)here;
	/* relaxed, and a fence: see above. */
	(void)fetch_add_relaxed(&pool->waiters.serving, -UINT32_C(1));
	full_fence();
}
#else
static const struct serving *serving_of(const lfpool_t *pool)
{
	const struct serving *s = thread_serving();

	while (s && s->pool != pool)
		s = s->outer;
	return s;
}

bool waiters_is_serving(const lfpool_t *pool)
{
	return serving_of(pool);
}

static void serving_begin(struct serving *here, const lfpool_t *pool, const struct cell *giving)
{
	*here = (struct serving){pool, thread_serving(), giving};
	/* The struct is complete before it becomes visible to a signal handler. */
	light_barrier();
	thread_serve(here);
}

static void serving_end(const struct serving *here, const lfpool_t *pool)
{
	(void)pool;
	thread_serve(here->outer);
}
#endif

/* Gives the slot to the cell whose word was `word`; false if the word has changed.  In a closed pool `slot` may be
 * SLOT_NONE: then the waiting call returns without an object, or the continuation is called with NULL. */
static bool give(lfpool_t *pool, struct cache_head *head, struct cell *cell, uint64_t word, uint32_t slot)
{
	const uint64_t given = cell_given(word, slot);
	/* relaxed, both: the word was read with acquire.  If the CAS succeeds, both fields belong to the call or
	 * continuation that gets the slot. */
	const lfpool_continuation_t then = load_relaxed(&cell->then);
	void *const context = load_relaxed(&cell->context);
	struct serving here;
	void *object = NULL;

	if (!then)
		cell_giving(&pool->waiters, cell, 1);

	/* release, edge QUEUE: publishes the slot, and the writes of its last holder. */
	const bool gave = cas_release(&cell->word, &word, given);

	if (gave && !then)
		cell_wake(&pool->waiters, cell, given);
	if (!then)
		cell_giving(&pool->waiters, cell, -UINT32_C(1));
	if (!gave || !then)
		return gave;
	/* If a hook forks, the child continues here, as the parent does.  slots_begin() puts a refused object back, and
	 * tries others. */
	serving_begin(&here, pool, cell);
	while (slot && slots_begin(pool, head, slot, &object) == SLOT_USED_UP)
		slot = slots_take(pool, head);
	here.giving = NULL;
	/* If another thread forks before this point, the child finds the continuation in the queue.  If that thread
	 * forks later, the child treats the continuation as begun. */
	cell_vacate(&pool->waiters, cell);
	then(context, pool, object);
	serving_end(&here, pool);
	return true;
}

/* Gives free objects to the demand.  True: demand is left, and no object is free. */
static bool serve(lfpool_t *pool, struct cache_head *head)
{
	struct waiters *d = &pool->waiters;
	uint32_t slot = SLOT_NONE;
	struct serving here;

	/* Repeats only after it gave a slot, or put back a slot that no call wanted, or another thread changed the
	 * demand. */
	for (;;) {
		const bool owes = cold_owes(&pool->core.cold);
		uint64_t word = 0;
		struct cell *cell = owes ? NULL : cells_oldest(d, &word);

		if (!owes && !cell) {
			if (!slot)
				return false;
			slots_put(pool, head, slot);
			slot = SLOT_NONE;
			continue;
		}
		if (!slot)
			slot = slots_take(pool, head);
		if (!slot)
			return true;
		if (owes) {
			/* If the shrink was cancelled meanwhile, the slot stays free, and becomes cold. */
			serving_begin(&here, pool, NULL);
			resize_pay(pool, slot);
			serving_end(&here, pool);
			slot = SLOT_NONE;
		} else if (give(pool, head, cell, word, slot)) {
			slot = SLOT_NONE;
		}
	}
}

/* Called in a closed pool.  Ends the oldest wait, without an object.  False: no call or continuation waits. */
static bool tell_closed(lfpool_t *pool, struct cache_head *head)
{
	uint64_t word;
	struct cell *cell = cells_oldest(&pool->waiters, &word);

	if (cell)
		(void)give(pool, head, cell, word, SLOT_NONE);
	return cell;
}

/* ---- Is the pool full? ---- */

void waiters_search(struct waiters *d, uint64_t ticket)
{
	/* relaxed: the CAS decides. */
	uint64_t full = load_relaxed(&d->full);

	/* `wanted` rises before `full` changes, so that `wanted` is never too low. */
	waiters_want(d, 1);
	/* relaxed: the fence below orders the CAS.  Repeats only after another thread changed `full`. */
	while (!cas_weak_relaxed(&d->full, &full, full_ticket(ticket)))
		;
	if (full != FULL_UNKNOWN)
		waiters_want(d, -UINT32_C(1));
	/* The fence is before the search.  So either the search sees an object that another call makes free, or that
	 * call sees the ticket (W13). */
	arena_heavy_fence(d->arena);
}

void waiters_found_nothing(struct waiters *d, uint64_t ticket)
{
	uint64_t full = full_ticket(ticket);

	/* release: publishes the search to the acquire in waiters_know_full().  The CAS fails if another thread has
	 * begun to search, or has made an object free. */
	(void)cas_release(&d->full, &full, FULL_KNOWN);
}

/* Records that an object is free (W13). */
static void not_full(struct waiters *d)
{
	/* relaxed, here and below: the call that made the object free has fenced. */
	uint64_t full = load_relaxed(&d->full);

	/* Repeats only after another thread changed `full`. */
	while (full != FULL_UNKNOWN && !cas_weak_relaxed(&d->full, &full, FULL_UNKNOWN))
		;
	if (full != FULL_UNKNOWN)
		waiters_want(d, -UINT32_C(1));
}

/* If the last object of a closed pool has left, wakes lfpool_close().  Every call that lowers the capacity of a closed
 * pool gets here: `wanted` of a closed pool is not 0 (O5, cold.h), so the call serves afterwards. */
static void tell_empty(lfpool_t *pool)
{
	_Atomic(uint64_t) *closed = &pool->waiters.closed;
	uint64_t found = CLOSED;

	/* Pairs with the fence in lfpool_close(), which sets `closed`, fences, and loads the capacity. */
	full_fence();
	/* relaxed, both: the word only wakes a call that sleeps on it. */
	if (unlikely(load_relaxed(closed) == CLOSED) && !cold_capacity(&pool->core.cold) &&
	    cas_relaxed(closed, &found, CLOSED_EMPTY))
		if (!arena_in_buffer(&pool->core.arena))
			os_wake(closed);
}

void waiters_serve(lfpool_t *pool, struct cache_head *head)
{
	size_t seen;

	not_full(&pool->waiters);
	if (waiters_is_serving(pool))
		return;
	/* Repeats only after it ended a wait, or grew the pool, or another thread changed the pool. */
	do {
		do {
			seen = cold_capacity(&pool->core.cold);
		} while (serve(pool, head) && resize_by_itself(pool, seen));
	} while (unlikely(waiters_closed(&pool->waiters)) && tell_closed(pool, head));
	tell_empty(pool);
}

void waiters_tell_closed(lfpool_t *pool)
{
	/* Repeats only after it ended a wait, or another thread changed a cell. */
	while (tell_closed(pool, NULL))
		;
}

void waiters_continue(lfpool_t *pool, lfpool_continuation_t then, void *context, void *object)
{
	struct serving here;

	serving_begin(&here, pool, NULL);
	then(context, pool, object);
	serving_end(&here, pool);
	/* Serves the demand of calls that the continuation made, because these calls did not serve (W6). */
	resize_serve_if_wanted(pool, NULL);
}

/* ---- Life ---- */

void waiters_open(struct waiters *d, const struct arena *arena)
{
	d->arena = arena;
	d->wanted = arena->wanted;
	/* relaxed: no other thread has the pool yet. */
	store_relaxed(&d->lot[0], (char *)d->first);
}

void waiters_close(struct waiters *d)
{
	uint64_t open = OPEN;

	/* relaxed: ordered by the fences of W7. */
	(void)cas_relaxed(&d->closed, &open, CLOSED);
}

void waiters_free(struct waiters *d)
{
	for (unsigned lot = 1; lot < CELL_LOT_COUNT; lot++) {
		/* relaxed: no other thread has the pool now. */
		char *cells = load_relaxed(&d->lot[lot]);

		if (!EMBEDDED && cells)
			os_unmap(cells, lot_bytes(lot));
	}
}

#if !EMBEDDED
/* In the child of a fork: the owner of a cell that is waiting or was given a slot. */
enum heir { NOBODY, THIS_THREAD, QUEUE };

static enum heir heir_of(const lfpool_t *pool, const struct cell *cell)
{
	const struct serving *s = serving_of(pool);

	/* relaxed, all: the child has one thread. */
	if (cell_phase(load_relaxed(&cell->word)) < WAITING)
		return NOBODY;
	/* In both cases below, THIS_THREAD means that this thread forked in a hook. */
	if (load_relaxed(&cell->then))
		return s && s->giving == cell ? THIS_THREAD : QUEUE;
	return load_relaxed(&cell->context) == this_thread() ? THIS_THREAD : NOBODY;
}

void waiters_forget_calls(lfpool_t *pool)
{
	struct waiters *d = &pool->waiters;
	/* relaxed, here and below: the child has one thread. */
	const uint32_t count = load_relaxed(&d->cells);
	uint32_t left = cold_owes(&pool->core.cold);

	/* The fork may have stopped a call that made an object free, before that call loaded `wanted`. */
	store_relaxed(&d->full, FULL_UNKNOWN);
	/* The fork may also have stopped calls while they claimed, vacated or showed a cell (cells.h). */
	store_relaxed(&d->vacant, tagged_next(load_relaxed(&d->vacant), 0));
	for (uint32_t index = count; index-- > 0;) {
		struct cell *cell = cell_at(d, index);
		const uint64_t word = load_relaxed(&cell->word);
		const enum heir heir = heir_of(pool, cell);

		cell->index = index;
		left += heir != NOBODY;
		/* A continuation that was given an object waits again, because in the parent a server has that object,
		 * and may have begun its use. */
		if (heir == QUEUE) {
			store_relaxed(&cell->word, cell_waiting(load_relaxed(&cell->ticket)));
			cell_show(d, cell, load_relaxed(&cell->ticket));
		}
		if (heir != NOBODY)
			continue;
		cell_unclaim(d, cell);
		/* The slot was given to a call that has not fetched it. */
		if (cell_phase(word) >= GIVEN && cell_slot(word))
			slots_put(pool, NULL, cell_slot(word));
	}
	store_relaxed(d->wanted, left);
}
#endif

size_t waiters_waiting(const struct waiters *d)
{
	/* acquire, edge CELL. */
	const uint32_t count = load_acquire(&d->cells);
	size_t waiting = 0;

	for (uint32_t index = 0; index < count; index++) {
		const struct cell *cell = cell_at(d, index);
		/* relaxed: a snapshot. */
		uint64_t word = load_relaxed(&cell->word);

		/* A call for several objects counts once, at its first cell that waits. */
		waiting += cell_phase(word) == WAITING && !cell_earlier(d, cell, &word);
	}
	return waiting;
}
