/* SPDX-License-Identifier: MIT */
/*
 * walk.c - scenario: every thread acquires, releases and walks.
 *
 * What the walker knows for certain: the objects that it holds itself are active during the whole walk, so each must be
 * met once; addresses only grow, so nothing is met twice; and what it released itself, if no thread has acquired it since,
 * must not be met.  The last is known only in the end: an object that was met is written down with the mark of its last
 * holder, and if the mark is still the same when all threads have stopped, no thread had acquired it.
 */
#include "scenario.h"

#include <string.h>

#define HOLD_MAX 24
#define GONE_MAX 8
#define DOUBTS_MAX 64
#define PARTS_MAX 7

static struct walker {
	struct held held[HOLD_MAX]; /* sorted by address during a walk                */
	size_t count;
	struct held gone[GONE_MAX]; /* released last, a ring                          */
	size_t released;
	struct held doubt[DOUBTS_MAX];
	size_t doubts;
	/* The walk. */
	struct worker *worker;
	size_t next;      /* of those held, to be met                       */
	uintptr_t last;   /* met                                            */
	uint32_t release; /* of `release` objects of ours one, when met; 0: none */
} walkers[THREADS_MAX];

static void walk_plan(void)
{
	memset(walkers, 0, sizeof(walkers));
	round_capacity((size_t)current.threads * HOLD_MAX);
}

static int by_address(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	return (x->object > y->object) - (x->object < y->object);
}

static void release(struct walker *w, struct held *held)
{
	w->gone[w->released++ % GONE_MAX] = *held;
	worker_release(w->worker, held);
}

/* One that we have released: has a thread acquired it since? */
static void doubt(struct walker *w, const unsigned char *object)
{
	for (size_t i = 0; i < GONE_MAX && i < w->released; i++) {
		const struct held *gone = &w->gone[i];

		/* relaxed: what matters is whether it is still so in the end. */
		if (gone->object == object && gone->mark && w->doubts < DOUBTS_MAX &&
		    atomic_load_explicit(gone->mark, memory_order_relaxed) == gone->token)
			w->doubt[w->doubts++] = *gone;
	}
}

static bool meet(void *context, void *object)
{
	struct walker *w = context;
	const uintptr_t address = (uintptr_t)object;

	if (address <= w->last || !lfpool_owns(current.pool, object)) {
		violation("a walk visits %p after %p", object, (void *)w->last);
		return false;
	}
	w->last = address;
	if (w->next < w->count && (uintptr_t)w->held[w->next].object < address) {
		violation("a walk passes %p, which is held", (void *)w->held[w->next].object);
		return false;
	}
	if (w->next == w->count || (uintptr_t)w->held[w->next].object != address) {
		doubt(w, object);
		return true;
	}
	if (w->release && worker_chance(w->worker, w->release))
		release(w, &w->held[w->next]);
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
	/* One part after the other they go through all. */
	for (size_t i = 0; i < parts; i++)
		while ((object = lfpool_cursor_next(&cursors[i])) && meet(w, object))
			;
}

static void walk(struct walker *w)
{
	size_t kept = 0;

	qsort(w->held, w->count, sizeof(w->held[0]), by_address);
	w->next = 0;
	w->last = 0;
	w->release = worker_chance(w->worker, 2) ? 3 : 0;
	if (worker_chance(w->worker, 2))
		(void)lfpool_for_each_active(current.pool, meet, w);
	else
		walk_by_cursors(w, 1 + random_below(&w->worker->random, PARTS_MAX));
	if (w->next < w->count && !cell_failed())
		violation("a walk ends without %p, which is held", (void *)w->held[w->next].object);
	for (size_t i = 0; i < w->count; i++)
		if (w->held[i].object)
			w->held[kept++] = w->held[i];
	w->count = kept;
}

static void walk_work(struct worker *worker)
{
	struct walker *w = &walkers[worker->index];
	/* Some walk all the time, some rarely. */
	const uint32_t rarely = 1u << random_below(&worker->random, 10);

	w->worker = worker;
	while (worker_goes_on(worker, 32)) {
		if (worker_chance(worker, rarely)) {
			walk(w);
		} else if (w->count < HOLD_MAX && worker_chance(worker, 2)) {
			w->count += worker_acquire(worker, &w->held[w->count]);
		} else if (w->count) {
			const size_t any = random_below(&worker->random, (uint32_t)w->count);

			release(w, &w->held[any]);
			w->held[any] = w->held[--w->count];
		}
	}
	while (w->count)
		release(w, &w->held[--w->count]);
}

static void check_doubts(const struct walker *w)
{
	for (size_t i = 0; i < w->doubts; i++)
		/* relaxed: the threads have stopped. */
		if (atomic_load_explicit(w->doubt[i].mark, memory_order_relaxed) == w->doubt[i].token)
			violation("a walk visited %p, which its walker had released and no thread has acquired since",
				  (void *)w->doubt[i].object);
}

static void walk_finish(void)
{
	for (unsigned i = 0; i < current.threads && !cell_failed(); i++)
		check_doubts(&walkers[i]);
}

const struct scenario scenario_walk = {
	.name = "walk",
	.description = "each thread acquires, releases, and walks over the active objects: its own are among them, once",
	.needs_refusals = true,
	.plan = walk_plan,
	.work = walk_work,
	.finish = walk_finish,
};
