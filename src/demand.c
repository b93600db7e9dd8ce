/* SPDX-License-Identifier: MIT */
/*
 * demand.c - those who want objects are served; what a shrink is owed; see demand.h.
 */
#include "demand.h"

#include "os.h"
#include "pool.h"
#include "probes.h"
#include "resize.h"

/* ---- Serving ---- */

/* Pools that this thread is serving, the innermost first. */
struct serving {
	const lfpool_t *pool;
	struct serving *outer;
};

/* The slot is ours: makes its object active and calls the continuation. */
static void continue_with(lfpool_t *pool, struct handle *handle, lfpool_continuation_t then, void *context, uint32_t slot)
{
	struct serving *const outer = thread_serving(), here = {pool, outer};
	void *object = NULL;

	/* For a signal handler, which looks as well: complete before it is shown. */
	light_barrier();
	/* What a hook refuses is put back, and not served from here. */
	thread_serve(&here);
	(void)pool->backend->begin(pool, handle, slot, &object);
	then(context, pool, object);
	thread_serve(outer);
}

/* Gives the slot to the cell whose word was `word`; false if that has changed. */
static bool give(lfpool_t *pool, struct handle *handle, struct cell *cell, uint64_t word, uint32_t slot)
{
	const uint64_t given = word + cell_word(0, GIVEN - WAITING, slot);
	/* relaxed, both: the look at the word was an acquire.  They are the waiting cell's if the CAS succeeds. */
	const lfpool_continuation_t then = load_relaxed(&cell->then);
	void *const context = load_relaxed(&cell->context);

	/* release, edge QUEUE: the slot, and what its last holder did with it. */
	if (!cas_release(&cell->word, &word, given))
		return false;
	if (!then) {
		cell_wake(&pool->demand, cell, given);
		return true;
	}
	cell_vacate(&pool->demand, cell);
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
		struct cell *cell = owed ? NULL : queue_oldest(d, &word);

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
			demand_want(d, -UINT32_C(1));
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
	for (const struct serving *s = thread_serving(); s; s = s->outer)
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

/* A millisecond from now, or the deadline. */
static uint64_t soon(uint64_t deadline_ns)
{
	const uint64_t now = os_now_ns();

	return deadline_ns < now || deadline_ns - now < 1000000 ? deadline_ns : now + 1000000;
}

/* Until it is given something, or the time is over: the slot, or SLOT_NONE. */
static uint32_t sleep_in(lfpool_t *pool, struct handle *handle, struct cell *cell, uint64_t deadline_ns)
{
	const struct demand *d = &pool->demand;

	for (;;) {
		/* acquire, edge QUEUE: the slot's last holder. */
		uint64_t word = load_acquire(&cell->word);

		if (cell_phase(word) >= GIVEN)
			return (uint32_t)word;
		/* Fails if a server was faster, or for ever waiting calls never. */
		if (deadline_ns != UINT64_MAX && os_now_ns() >= deadline_ns) {
			/* relaxed: it becomes ours again, unchanged. */
			if (cas_relaxed(&cell->word, &word, cell_word(0, CLAIMED, 0)))
				return SLOT_NONE;
			continue;
		}
		/* Nobody else may be there to ask the scheme. */
		doze(d, &cell->word, limbo_asks(pool->limbo) ? soon(deadline_ns) : deadline_ns);
		(void)limbo_poll(pool->limbo, handle);
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
		(void)limbo_poll(pool->limbo, handle);

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

	probe_wait_begin(pool, pool->name);
	/* Goes round again only for an object that was released twice in a race: that one is used up. */
	do {
		struct cell *cell = cell_claim(d, &index);

		if (!cell) {
			object = poll(pool, handle, deadline_ns);
			break;
		}
		cell_enlist(d, cell, queue_ticket(d), NULL, NULL);
		resize_for_waiters(pool, handle);
		slot = sleep_in(pool, handle, cell, deadline_ns);
		cell_vacate(d, cell);
		/* The time is over: a last look, so that NULL means what it always means. */
		if (!slot)
			slot = pool->backend->take(pool, handle);
	} while (slot && !pool->backend->begin(pool, handle, slot, &object));
	probe_wait_end(pool, pool->name, object);
	return object;
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
			demand_want(d, capacity - owed);
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
	demand_want(d, more);
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
	demand_want(d, -less);
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
	while ((cell = queue_oldest(d, &word))) {
		/* relaxed, both: the pool is nobody else's any more. */
		const lfpool_continuation_t then = load_relaxed(&cell->then);
		void *const context = load_relaxed(&cell->context);

		cell_vacate(d, cell);
		if (then)
			then(context, pool, NULL);
	}
}

void demand_free(struct demand *d)
{
	for (unsigned lot = 1; lot < CELL_LOT_COUNT; lot++) {
		/* relaxed: the pool is nobody else's any more. */
		char *cells = load_relaxed(&d->lot[lot]);

		if (cells)
			os_unmap(cells, ((size_t)CELL_LOT << lot) * sizeof(struct cell));
	}
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

		if (cell_phase(word) == WAITING && load_relaxed(&cell->then)) {
			left++;
			continue;
		}
		store_relaxed(&cell->word, 0);
		/* Given, and not fetched. */
		if (cell_phase(word) >= GIVEN)
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
		waiting += cell_phase(load_relaxed(&cell_at(d, index)->word)) == WAITING;
	return waiting;
}
