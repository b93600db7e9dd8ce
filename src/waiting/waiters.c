/* SPDX-License-Identifier: MIT */
/*
 * waiters.c - serves the calls that want objects; see waiters.h.
 */
#include "waiting/waiters.h"

#include "base/probes.h"
#include "os/os.h"
#include "pool/slots.h"
#include "pool/threads.h"

/* ---- Serving ---- */

/* A hook or a continuation that a call of this thread runs while it serves: the innermost one is
 * thread_serving().  That call looks again when it returns. */
struct serving {
	const lfpool_t *pool;
	struct serving *outer;
	const struct cell *giving; /* a continuation's, which has been given an object that is not active yet */
};

#if EMBEDDED
/*
 * An embedded build has no thread-local variables, so the pool counts the hooks and continuations that run.  While
 * the count is not 0, no thread serves.  That is more than W6 needs, and W1 still holds: a call adds demand or an
 * object, fences, and looks at the count.  A server lowers the count, fences, and looks at the demand and the
 * objects.  So either the call sees that no server is left, or the last server sees the new demand or object.
 * docs/embedded.md describes the price.
 */
bool waiters_is_serving(const lfpool_t *pool)
{
	/* relaxed: see above.  A thread always sees its own additions, so nothing nests. */
	return load_relaxed(&pool->waiters.serving) != 0;
}

static void serving_begin(struct serving *here, lfpool_t *pool, const struct cell *giving)
{
	*here = (struct serving){.pool = pool, .giving = giving};
	/* relaxed: a thread that does not see it yet serves as well, which is what other builds do. */
	(void)fetch_add_relaxed(&pool->waiters.serving, 1);
}

static void serving_end(const struct serving *here, lfpool_t *pool)
{
	(void)here;
	/* relaxed, and a fence: see above.  The caller looks again. */
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
	/* For a signal handler, which looks as well: complete before it is shown. */
	light_barrier();
	thread_serve(here);
}

static void serving_end(const struct serving *here, const lfpool_t *pool)
{
	(void)pool;
	thread_serve(here->outer);
}
#endif

/* Gives the slot to the cell whose word was `word`; false if that has changed.  SLOT_NONE, of a closed pool: the call
 * returns without an object, the continuation is called with NULL. */
static bool give(lfpool_t *pool, struct cache_head *head, struct cell *cell, uint64_t word, uint32_t slot)
{
	const uint64_t given = cell_given(word, slot);
	/* relaxed, both: the look at the word was an acquire.  They are the waiting cell's if the CAS succeeds. */
	const lfpool_continuation_t then = load_relaxed(&cell->then);
	void *const context = load_relaxed(&cell->context);
	struct serving here;
	void *object = NULL;

	if (!then)
		cell_giving(&pool->waiters, cell, 1);

	/* release, edge QUEUE: the slot, and what its last holder did with it. */
	const bool gave = cas_release(&cell->word, &word, given);

	if (gave && !then)
		cell_wake(&pool->waiters, cell, given);
	if (!then)
		cell_giving(&pool->waiters, cell, -UINT32_C(1));
	if (!gave || !then)
		return gave;
	/* A fork in a hook: the child goes on here.  What a hook refuses is put back; an entry that is used up, or an
	 * object that was not good any more, is replaced. */
	serving_begin(&here, pool, cell);
	while (slot && slots_begin(pool, head, slot, &object) == SLOT_USED_UP)
		slot = slots_take(pool, head);
	here.giving = NULL;
	/* From here on the continuation runs.  A child of another thread's fork finds it in its place until then, and
	 * never afterwards: there the call is one that the fork interrupted, like any other.  (A continuation that has
	 * not executed its first instruction cannot be told from one that is about to.) */
	cell_vacate(&pool->waiters, cell);
	then(context, pool, object);
	serving_end(&here, pool);
	return true;
}

/* True if a call still wants something, and nothing is free. */
static bool serve(lfpool_t *pool, struct cache_head *head)
{
	struct waiters *d = &pool->waiters;
	uint32_t slot = SLOT_NONE;
	struct serving here;

	/* Repeats only after it gave, or put back what nobody wants, or after another thread changed what it saw. */
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
			/* If nothing is owed any more, the slot stays free, and cold. */
			serving_begin(&here, pool, NULL);
			resize_pay(pool, slot);
			serving_end(&here, pool);
			slot = SLOT_NONE;
		} else if (give(pool, head, cell, word, slot)) {
			slot = SLOT_NONE;
		}
	}
}

/* The pool is closed: gives nothing to the oldest that waits; false if none does. */
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

	/* Before, so that `wanted` is never too low. */
	waiters_want(d, 1);
	/* relaxed: the fence orders it.  Repeats only after another thread changed it. */
	while (!cas_weak_relaxed(&d->full, &full, full_ticket(ticket)))
		;
	if (full != FULL_UNKNOWN)
		waiters_want(d, -UINT32_C(1));
	/* W13. */
	arena_heavy_fence(d->arena);
}

void waiters_found_nothing(struct waiters *d, uint64_t ticket)
{
	uint64_t full = full_ticket(ticket);

	/* release: the search, for the acquire in waiters_know_full().  It fails if another thread searches, or has
	 * made something free. */
	(void)cas_release(&d->full, &full, FULL_KNOWN);
}

/* Something is free, W13. */
static void not_full(struct waiters *d)
{
	/* relaxed, here and below: after the fence of the call that made it free. */
	uint64_t full = load_relaxed(&d->full);

	/* Repeats only after another thread changed it. */
	while (full != FULL_UNKNOWN && !cas_weak_relaxed(&d->full, &full, FULL_UNKNOWN))
		;
	if (full != FULL_UNKNOWN)
		waiters_want(d, -UINT32_C(1));
}

void waiters_serve(lfpool_t *pool, struct cache_head *head)
{
	size_t seen;

	not_full(&pool->waiters);
	if (waiters_is_serving(pool))
		return;
	/* Repeats only after it told a call, or grew, or another thread changed the pool. */
	do {
		do {
			seen = cold_capacity(&pool->core.cold);
		} while (serve(pool, head) && resize_by_itself(pool, seen));
	} while (unlikely(waiters_closed(&pool->waiters)) && tell_closed(pool, head));
}

void waiters_tell_closed(lfpool_t *pool)
{
	/* Repeats only after it told one, or another thread changed a cell. */
	while (tell_closed(pool, NULL))
		;
}

void waiters_continue(lfpool_t *pool, lfpool_continuation_t then, void *context, void *object)
{
	struct serving here;

	serving_begin(&here, pool, NULL);
	then(context, pool, object);
	serving_end(&here, pool);
	/* What it would have served. */
	resize_serve_if_wanted(pool, NULL);
}

/* ---- Life ---- */

void waiters_open(struct waiters *d, const struct arena *arena)
{
	d->arena = arena;
	d->wanted = arena->wanted;
	/* relaxed: the pool is not yet anybody else's. */
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
		/* relaxed: the pool is nobody else's any more. */
		char *cells = load_relaxed(&d->lot[lot]);

		if (!EMBEDDED && cells)
			os_unmap(cells, lot_bytes(lot));
	}
}

#if !EMBEDDED
/* In the child of a fork: whose is a cell that is waiting or was given something? */
enum heir { NOBODY, THIS_THREAD, QUEUE };

static enum heir heir_of(const lfpool_t *pool, const struct cell *cell)
{
	const struct serving *s = serving_of(pool);

	/* relaxed, all: the child has one thread. */
	if (cell_phase(load_relaxed(&cell->word)) < WAITING)
		return NOBODY;
	/* The fork was in a hook, either way. */
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

	/* A call that made something free may have been stopped before it looked at `wanted`. */
	store_relaxed(&d->full, FULL_UNKNOWN);
	/* Those who took or gave back a cell, or showed one, may have stood in the midst of it. */
	store_relaxed(&d->vacant, tagged_next(load_relaxed(&d->vacant), 0));
	for (uint32_t index = count; index-- > 0;) {
		struct cell *cell = cell_at(d, index);
		const uint64_t word = load_relaxed(&cell->word);
		const enum heir heir = heir_of(pool, cell);

		cell->index = index;
		left += heir != NOBODY;
		/* Of a continuation that was given an object the server has that in its hands, and may have begun
		 * with it. */
		if (heir == QUEUE) {
			store_relaxed(&cell->word, cell_waiting(load_relaxed(&cell->ticket)));
			cell_show(d, cell, load_relaxed(&cell->ticket));
		}
		if (heir != NOBODY)
			continue;
		cell_unclaim(d, cell);
		/* Given, and not fetched. */
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
