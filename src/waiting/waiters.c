/* SPDX-License-Identifier: MIT */
/*
 * waiters.c - those who want objects are served; what a shrink is owed; see waiters.h.
 */
#include "waiting/waiters.h"

#include "base/probes.h"
#include "os/os.h"
#include "pool/pool.h"
#include "pool/threads.h"
#include "retire/retired.h"
#include "waiting/resizing.h"

/* ---- Serving ---- */

/* A hook or a continuation that a call of this thread's runs while it serves: the innermost one is thread_serving().  That call looks
 * again when it returns. */
struct serving {
	const lfpool_t *pool;
	struct serving *outer;
	const struct cell *giving; /* a continuation's, which has been given an object that is not active yet */
};

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

static void serving_end(const struct serving *here)
{
	thread_serve(here->outer);
}

/* Gives the slot to the cell whose word was `word`; false if that has changed. */
static bool give(lfpool_t *pool, struct cache_head *head, struct cell *cell, uint64_t word, uint32_t slot)
{
	const uint64_t given = cell_given(word, slot);
	/* relaxed, both: the look at the word was an acquire.  They are the waiting cell's if the CAS succeeds. */
	const lfpool_continuation_t then = load_relaxed(&cell->then);
	void *const context = load_relaxed(&cell->context);
	struct serving here;
	void *object = NULL;

	/* release, edge QUEUE: the slot, and what its last holder did with it. */
	if (!cas_release(&cell->word, &word, given))
		return false;
	if (!then) {
		cell_wake(&pool->waiters, cell, given);
		return true;
	}
	/* A fork in a hook: the child goes on here.  What a hook refuses is put back; an entry that is used up, or an object that was
	 * not good any more, is replaced. */
	serving_begin(&here, pool, cell);
	while (slot && !pool->backend->begin(pool, head, slot, &object))
		slot = pool->backend->take(pool, head);
	here.giving = NULL;
	/* Until here the child of another thread's fork finds the continuation in its place. */
	cell_vacate(&pool->waiters, cell);
	then(context, pool, object);
	serving_end(&here);
	return true;
}

/* From *owed, which is what was found if it fails. */
static bool debt_change(struct waiters *d, uint64_t *owed, uint64_t to)
{
	uint64_t found = *owed;

	/* acquire: after the debt was added to `wanted`; on failure too.  release: for who pays next. */
	if (!cas_acq_rel(&d->owed, &found, to)) {
		*owed = found;
		return false;
	}
	if (found && !to)
		waiters_want(d, -UINT32_C(1));
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
		/* relaxed: the CAS that pays decides. */
		uint64_t owed = load_relaxed(&d->owed), word = 0;
		struct cell *cell = owed ? NULL : cells_oldest(d, &word);

		if (!owed && !cell) {
			if (!slot)
				return false;
			pool->backend->put_free(pool, head, slot);
			slot = SLOT_NONE;
			continue;
		}
		if (!slot)
			slot = pool->backend->take(pool, head);
		if (!slot)
			return true;
		if (owed) {
			if (!debt_change(d, &owed, owed - 1))
				continue;
			serving_begin(&here, pool, NULL);
			resize_withdraw(pool, slot);
			serving_end(&here);
			slot = SLOT_NONE;
		} else if (give(pool, head, cell, word, slot)) {
			slot = SLOT_NONE;
		}
	}
}

void waiters_serve(lfpool_t *pool, struct cache_head *head)
{
	size_t seen;

	if (waiters_is_serving(pool))
		return;
	/* Repeats only after it grew, or another thread changed the pool. */
	do {
		seen = cold_capacity(&pool->cold);
	} while (serve(pool, head) && resize_by_itself(pool, seen));
}

void waiters_continue(lfpool_t *pool, lfpool_continuation_t then, void *context, void *object)
{
	struct serving here;

	serving_begin(&here, pool, NULL);
	then(context, pool, object);
	serving_end(&here);
	/* What it would have served. */
	resize_serve_if_wanted(pool, NULL);
}

/* ---- Waiting ---- */

/* The same in the child of its fork. */
static void *this_thread(void)
{
	return (void *)(uintptr_t)pthread_self();
}

/* Sleeps while *word is `seen` (its lower half), or, in a buffer, only a moment. */
static void doze(const struct waiters *d, _Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns)
{
	if (d->arena->in_buffer)
		cpu_relax();
	else
		os_sleep_on(word, seen, deadline_ns);
}

/* A millisecond from now, or the deadline. */
static uint64_t soon(uint64_t deadline_ns)
{
	const uint64_t now = os_now_ns();

	return deadline_ns < now || deadline_ns - now < 1000000 ? deadline_ns : now + 1000000;
}

/* Until it is given something, or the time is over: the slot, or SLOT_NONE. */
static uint32_t sleep_in(lfpool_t *pool, struct cache_head *head, struct cell *cell, uint64_t deadline_ns)
{
	const struct waiters *d = &pool->waiters;
	/* What is free goes to nobody before this call has returned (W6), so it takes that itself. */
	const bool nested = waiters_is_serving(pool);

	for (;;) {
		const uint32_t slot = nested ? pool->backend->take(pool, head) : SLOT_NONE;
		/* acquire, edge QUEUE: the slot's last holder. */
		uint64_t word = load_acquire(&cell->word);

		if (cell_phase(word) >= GIVEN) {
			if (slot)
				pool->backend->put_free(pool, head, slot);
			return cell_slot(word);
		}
		/* Fails if a server was faster, or for ever waiting calls never. */
		if (slot || (deadline_ns != UINT64_MAX && os_now_ns() >= deadline_ns)) {
			/* relaxed: it becomes ours again, unchanged. */
			if (cas_relaxed(&cell->word, &word, CLAIMED))
				return slot;
			if (slot)
				pool->backend->put_free(pool, head, slot);
			continue;
		}
		/* Nobody else may be there to ask the scheme. */
		doze(d, &cell->word, word, retired_asks(pool->retired) ? soon(deadline_ns) : deadline_ns);
		(void)retired_poll(pool->retired, head);
	}
}

/* No cell can be had: looks again and again, a millisecond apart. */
static COLD void *poll(lfpool_t *pool, struct cache_head *head, uint64_t deadline_ns)
{
	_Atomic(uint64_t) nothing;
	void *object;

	/* relaxed: nobody else knows it. */
	store_relaxed(&nothing, 0);
	for (;;) {
		(void)retired_poll(pool->retired, head);

		const uint32_t slot = pool->backend->take(pool, head);
		/* In a buffer who waits for ever need not know the time. */
		const uint64_t now = pool->arena->in_buffer && deadline_ns == UINT64_MAX ? 0 : os_now_ns();

		if (slot && pool->backend->begin(pool, head, slot, &object))
			return object;
		if (now >= deadline_ns)
			return NULL;
		doze(&pool->waiters, &nothing, 0, deadline_ns - now < 1000000 ? deadline_ns : now + 1000000);
	}
}

void *waiters_wait(lfpool_t *pool, struct cache_head *head, uint64_t deadline_ns)
{
	struct waiters *d = &pool->waiters;
	void *object = NULL;
	uint32_t slot, index;

	probe_wait_begin(pool, pool->name);
	/* Repeats only for an object that was released twice in a race: that one is used up. */
	do {
		struct cell *cell = cell_claim(d, &index);

		if (!cell) {
			object = poll(pool, head, deadline_ns);
			break;
		}
		cell_enlist(d, cell, cells_ticket(d), NULL, this_thread());
		waiters_serve(pool, head);
		slot = sleep_in(pool, head, cell, deadline_ns);
		cell_vacate(d, cell);
		/* The time is over: a last look, so that NULL means what it always means. */
		if (!slot)
			slot = pool->backend->take(pool, head);
	} while (slot && !pool->backend->begin(pool, head, slot, &object));
	probe_wait_end(pool, pool->name, object);
	return object;
}

/* ---- What a shrink is owed ---- */

void debt_limit(lfpool_t *pool)
{
	struct waiters *d = &pool->waiters;
	uint64_t owed, capacity;

	/* Who adds to the debt, and who lowers the capacity, each fences and looks at the other's word. */
	full_fence();
	/* relaxed: a number. */
	owed = load_relaxed(&d->owed);
	/* Repeats only when another thread changed it. */
	while (owed > (capacity = cold_capacity(&pool->cold)) && !debt_change(d, &owed, capacity))
		;
}

void debt_add(lfpool_t *pool, size_t count)
{
	struct waiters *d = &pool->waiters;
	/* relaxed: a number. */
	uint64_t owed = load_relaxed(&d->owed), capacity, all;

	/* Before anybody can pay, so that `wanted` is never too low; and once for all that is owed. */
	waiters_want(d, 1);
	/* Repeats only when another thread changed it. */
	do {
		capacity = cold_capacity(&pool->cold);
		all = count < capacity ? owed + count : capacity;
		all = all < capacity ? all : capacity;
		/* `wanted` goes with it. */
	} while (!debt_change(d, &owed, all));
	if (owed || !all)
		waiters_want(d, -UINT32_C(1));
	debt_limit(pool);
	/* W1. */
	arena_heavy_fence(d->arena);
}

size_t debt_forgive(struct waiters *d, size_t count)
{
	/* relaxed: the CAS decides. */
	uint64_t owed = load_relaxed(&d->owed), less;

	/* Repeats only when another thread changed it. */
	do {
		less = count < owed ? count : owed;
	} while (less && !debt_change(d, &owed, owed - less));
	return (size_t)less;
}

/* ---- Life ---- */

void waiters_open(struct waiters *d, const struct arena *arena)
{
	d->arena = arena;
	d->wanted = arena->wanted;
	/* relaxed: the pool is not yet anybody else's. */
	store_relaxed(&d->lot[0], (char *)d->first);
}

void waiters_close(lfpool_t *pool)
{
	struct waiters *d = &pool->waiters;
	struct cell *cell;
	uint64_t word;

	/* Those that are called may not queue again: it would never end. */
	d->closed = true;
	/* Oldest first. */
	while ((cell = cells_oldest(d, &word))) {
		/* relaxed, both: the pool is nobody else's any more. */
		const lfpool_continuation_t then = load_relaxed(&cell->then);
		void *const context = load_relaxed(&cell->context);

		cell_vacate(d, cell);
		if (then)
			then(context, pool, NULL);
	}
}

void waiters_free(struct waiters *d)
{
	for (unsigned lot = 1; lot < CELL_LOT_COUNT; lot++) {
		/* relaxed: the pool is nobody else's any more. */
		char *cells = load_relaxed(&d->lot[lot]);

		if (cells)
			os_unmap(cells, ((size_t)CELL_LOT << lot) * sizeof(struct cell));
	}
}

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
	uint32_t left = load_relaxed(&d->owed) != 0;

	for (uint32_t index = 0; index < count; index++) {
		struct cell *cell = cell_at(d, index);
		const uint64_t word = load_relaxed(&cell->word);
		const enum heir heir = heir_of(pool, cell);

		left += heir != NOBODY;
		/* Of a continuation that was given an object the server has that in its hands, and may have begun with it. */
		if (heir == QUEUE)
			store_relaxed(&cell->word, cell_waiting(load_relaxed(&cell->ticket)));
		if (heir != NOBODY)
			continue;
		store_relaxed(&cell->word, 0);
		/* Given, and not fetched. */
		if (cell_phase(word) >= GIVEN)
			pool->backend->put_free(pool, NULL, cell_slot(word));
	}
	store_relaxed(d->wanted, left);
}

size_t waiters_waiting(const struct waiters *d)
{
	/* acquire, edge CELL. */
	const uint32_t count = load_acquire(&d->cells);
	size_t waiting = 0;

	for (uint32_t index = 0; index < count; index++)
		/* relaxed: a snapshot. */
		waiting += cell_phase(load_relaxed(&cell_at(d, index)->word)) == WAITING;
	return waiting;
}
