/* SPDX-License-Identifier: MIT */
/*
 * walk.c - scenario: every thread acquires, releases and walks.
 *
 * What the walker knows for certain: the objects that it holds itself are active during the whole walk, so each must be
 * met once; addresses only grow, so nothing is met twice; and what it released itself, if no thread has acquired it since,
 * must not be met.  The last is known only in the end: an object that was met is written down with the mark of its last
 * holder, and if the mark is still the same when all threads have stopped, no thread had acquired it.
 */
#include "round.h"

#define HOLD_MAX 24
#define GONE_MAX 8
#define DOUBTS_MAX 64
#define PARTS_MAX 7

static struct walker {
	struct held gone[GONE_MAX]; /* released last, a ring                          */
	size_t released;
	struct held doubt[DOUBTS_MAX];
	size_t doubts;
	uint32_t rarely; /* walks once in so many steps                    */
	/* The walk. */
	struct worker *worker;
	size_t next;      /* of those held, to be met                       */
	uintptr_t last;   /* met                                            */
	uint32_t release; /* of `release` objects of ours one, when met; 0: none */
} walkers[THREADS_MAX];

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
		if (gone->object == object && gone->mark && w->doubts < DOUBTS_MAX && load_relaxed(gone->mark) == gone->token)
			w->doubt[w->doubts++] = *gone;
	}
}

static bool meet(void *context, void *object)
{
	struct walker *w = context;
	struct worker *worker = w->worker;
	const uintptr_t address = (uintptr_t)object;
	/* Of those that we hold the next one. */
	struct held *own = w->next < worker->count ? &worker->hands[w->next] : NULL;

	if (address <= w->last || !lfpool_owns(current.pool, object)) {
		violation("a walk visits %p after %p", object, (void *)w->last);
		return false;
	}
	w->last = address;
	if (own && (uintptr_t)own->object < address) {
		violation("a walk passes %p, which is held", (void *)own->object);
		return false;
	}
	if (!own || (uintptr_t)own->object != address) {
		doubt(w, object);
		return true;
	}
	if (w->release && chance(worker, w->release))
		release(w, own);
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
	struct worker *worker = w->worker;
	size_t kept = 0;

	qsort(worker->hands, worker->count, sizeof(worker->hands[0]), by_address);
	w->next = 0;
	w->last = 0;
	w->release = chance(worker, 2) ? 3 : 0;
	if (chance(worker, 2))
		(void)lfpool_for_each_active(current.pool, meet, w);
	else
		walk_by_cursors(w, 1 + draw(worker, PARTS_MAX));
	if (w->next < worker->count && !cell_failed())
		violation("a walk ends without %p, which is held", (void *)worker->hands[w->next].object);
	for (size_t i = 0; i < worker->count; i++)
		if (worker->hands[i].object)
			worker->hands[kept++] = worker->hands[i];
	worker->count = kept;
}

/* Some walk all the time, some rarely. */
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

		release(w, any);
		*any = worker->hands[--worker->count];
	}
}

static void walk_finish(void)
{
	for (unsigned i = 0; i < current.threads && !cell_failed(); i++) {
		const struct walker *w = &walkers[i];

		for (size_t d = 0; d < w->doubts; d++)
			/* relaxed: the threads have stopped. */
			if (load_relaxed(w->doubt[d].mark) == w->doubt[d].token)
				violation("a walk visited %p, which its walker had released and no thread has acquired since",
					  (void *)w->doubt[d].object);
	}
}

SCENARIO(walk, "walk", "each thread acquires, releases, and walks over the active objects: its own are among them, once",
	 .needs_refusals = true, .hands = HOLD_MAX, .enter = walk_enter, .step = walk_step, .finish = walk_finish);
