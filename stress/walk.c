/* SPDX-License-Identifier: MIT */
/*
 * walk.c - scenario: every thread acquires, releases and walks.
 *
 * The walker knows for certain that its own objects are active during the whole walk, so each must be visited once.
 * Addresses only grow, so nothing is visited twice.  (verify/explore tests that an object that is free throughout is
 * not visited.)
 */
#include "round.h"

#include "lfpool/walk.h"

#define HOLD_MAX 24
#define PARTS_MAX 7

static struct walker {
	uint32_t rarely; /* one step in this many is a walk */
	/* The current walk. */
	struct worker *worker;
	size_t next;      /* index of the next held object to be visited */
	uintptr_t last;   /* the last visited */
	uint32_t release; /* release one own visited object of this many; 0: none */
} walkers[THREADS_MAX];

static int by_address(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	return (x->object > y->object) - (x->object < y->object);
}

static bool meet(void *context, void *object)
{
	struct walker *w = context;
	struct worker *worker = w->worker;
	const uintptr_t address = (uintptr_t)object;
	/* The next of the held objects. */
	struct held *own = w->next < worker->count ? &worker->hands[w->next] : NULL;

	if (address <= w->last || !lfpool_owns(current.pool, object)) {
		violation("a walk visits %p after %p", object, (void *)w->last);
		return false;
	}
	w->last = address;
	if (own && (uintptr_t)own->object < address) {
		violation("a walk skips %p, which is held", (void *)own->object);
		return false;
	}
	if (!own || (uintptr_t)own->object != address)
		return true;
	if (w->release && chance(worker, w->release))
		worker_release(worker, own);
	w->next++;
	return true;
}

static void walk_by_cursors(struct walker *w, size_t parts)
{
	const lfpool_t *pool = current.pool;
	lfpool_cursor_t cursors[PARTS_MAX];
	void *object;

	if (parts == 1)
		lfpool_cursor_open(cursors, pool);
	else
		lfpool_cursor_split(cursors, parts, pool);
	/* Consecutive parts cover all objects. */
	for (size_t i = 0; i < parts; i++)
		while ((object = doing(lfpool_cursor_next)(&cursors[i])) && meet(w, object))
			;
}

static void walk(struct walker *w)
{
	struct worker *worker = w->worker;
	size_t kept = 0;

	qsort(worker->hands, worker->count, sizeof(worker->hands[0]), by_address);
	w->next = 0;
	w->last = 0;
	w->release = chance(worker, 2) ? 3 : 0;
	if (chance(worker, 2))
		(void)doing(lfpool_for_each_active)(current.pool, meet, w);
	else
		walk_by_cursors(w, 1 + draw(worker, PARTS_MAX));
	if (w->next < worker->count && !cell_failed())
		violation("a walk ends without %p, which is held", (void *)worker->hands[w->next].object);
	for (size_t i = 0; i < worker->count; i++)
		if (worker->hands[i].object)
			worker->hands[kept++] = worker->hands[i];
	worker->count = kept;
}

/* Some walk all the time, others rarely. */
static void walk_enter(struct worker *worker)
{
	walkers[worker->index] = (struct walker){.worker = worker, .rarely = 1u << draw(worker, 10)};
}

static void walk_step(struct worker *worker)
{
	struct walker *w = &walkers[worker->index];

	if (chance(worker, w->rarely)) {
		walk(w);
	} else if (worker->count < HOLD_MAX && chance(worker, 2)) {
		(void)worker_take(worker);
	} else if (worker->count) {
		struct held *any = &worker->hands[draw(worker, (uint32_t)worker->count)];

		worker_release(worker, any);
		*any = worker->hands[--worker->count];
	}
}

SCENARIO(walk, "walk",
	 "each thread acquires, releases, and walks over the active objects: it must visit its own exactly once",
	 .needs_refusals = true, .hands = HOLD_MAX, .enter = walk_enter, .step = walk_step);
