/* SPDX-License-Identifier: MIT */
/*
 * depot.h - the shared store: three stacks of magazines, and the chunks that were never used.
 *
 * Idea         Treiber stacks (1986) of magazines, each head a tagged word.  A magazine goes to `full`, `partial` or
 *              `empty` by what it holds; partly filled ones arise when a cache is given up.  The never-used chunks
 *              are a range, not a list: `carved` says how many are gone.  Links lie in the magazines, never in users'
 *              objects, and are atomics: a pop that reads the link of a magazine that has left meanwhile reads a
 *              stale number, and its CAS fails.
 * Invariants   D1  a magazine is in at most one stack, and then no cache owns it (thieves with an old note may still
 *                  take from it).
 *              D2  whoever pops or carves announces the magazine in its `hand` word before the CAS, so the objects in
 *                  it are never out of sight (C1 in cache.h).
 *              D3  a magazine goes onto `full` only when its owner has seen it full.
 * Progress     push, pop, carve: lock-free; a retry means that another thread moved the head.  No system calls, no
 *              allocation.
 * Concurrency  Any thread, any operation.
 * Edges        PUT: push -> pop.  Also read by the collect.
 */
#ifndef LFPOOL_DEPOT_H
#define LFPOOL_DEPOT_H

#include "magazines.h"
#include "tagged.h"

/* A head on lines of its own: every worker's miss writes it. */
struct stack {
	_Alignas(CACHE_LINE_PAIR) tagged_word head;
	_Atomic(uint64_t) retries; /* a statistic, on the line of the head that was just won */
};

struct depot {
	struct stack full, partial, empty;
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) carved; /* chunks used so far; only grows */
};

/* Waits a little after a failed CAS, longer each time: two workers at one head then disturb each other half as
 * much. */
static inline void back_off(unsigned *failures)
{
	for (unsigned pauses = 1u << (*failures < 5 ? *failures : 5); pauses; pauses--)
		cpu_relax();
	++*failures;
}

static inline void stack_push(struct stack *s, struct lfpool_magazine *m)
{
	/* relaxed: a stale head costs one failed CAS. */
	uint64_t head = load_relaxed(&s->head);
	unsigned failures = 0;

	plain_read(&m->number);
	for (;;) {
		/* relaxed: the magazine is ours until the CAS publishes it. */
		store_relaxed(&m->next, tagged_number(head));
		/* release, edge PUT: the link, and all that its owners wrote, to whoever pops it. */
		if (cas_weak_release(&s->head, &head, tagged_next(head, m->number)))
			break;
		/* Retries only after another thread moved the head, or for a spurious failure: lock-free. */
		back_off(&failures);
	}
	if (failures)
		tally_shared(&s->retries, failures);
}

/* Takes the top magazine; returns its number, announced in `hand`, or 0. */
static inline uint32_t stack_pop(struct stack *s, const struct magazines *ms, tagged_word *hand)
{
	/* acquire, edge PUT: the link of the top magazine. */
	uint64_t head = load_acquire(&s->head);
	unsigned failures = 0;

	for (;;) {
		uint32_t number = tagged_number(head);

		if (!number)
			return 0;
		tagged_set(hand, number);
		/* relaxed: PUT made it visible.  It is stale only if the magazine has left, and then the tag has
		 * moved (S1). */
		uint32_t below = load_relaxed(&magazines_at(ms, number)->next);

		/* acquire, edge PUT: on failure the fresh head needs it.  release, edge SHOW: who sees it gone sees
		 * our announcement. */
		if (cas_weak_acq_rel(&s->head, &head, tagged_next(head, below))) {
			if (failures)
				tally_shared(&s->retries, failures);
			return number;
		}
		/* Retries only after another thread moved the head, or for a spurious failure: lock-free. */
		back_off(&failures);
	}
}

/* Takes the next never-used chunk; returns the number of its magazine, announced in `hand`, or 0. */
static inline uint32_t depot_carve(struct depot *d, const struct magazines *ms, tagged_word *hand)
{
	/* relaxed: a stale mark costs one failed CAS. */
	uint64_t carved = load_relaxed(&d->carved);

	while (carved < ms->chunks) {
		uint32_t number = (uint32_t)carved + 1;

		tagged_set(hand, number);
		/* release, edge SHOW: who sees the chunk gone sees our announcement. */
		if (cas_weak_release(&d->carved, &carved, carved + 1)) {
			struct lfpool_magazine *m = magazines_at(ms, number);

			m->number = number;
			plain_written(&m->number);
			magazine_inscribe(m, ms->slots, magazines_first_slot(ms, number));
			return number;
		}
		/* Retries only after another thread carved, or for a spurious failure: lock-free. */
	}
	return 0;
}

/* Puts a magazine where it belongs by what it holds.  Its owner calls; it stays announced until this returns. */
static inline void depot_put(struct depot *d, const struct magazines *ms, struct lfpool_magazine *m)
{
	int count = magazine_owner_count(m, ms->slots);

	stack_push(count >= (int)ms->slots ? &d->full : count > 0 ? &d->partial : &d->empty, m);
}

#endif
