/* SPDX-License-Identifier: MIT */
/*
 * depot.h - the shared store: stacks of magazines, and the chunks that were never used.
 *
 * Idea         Treiber stacks (1986) of magazines, each head a tagged word.  A magazine goes to `full`, `partial` or
 *              `empty` by what it holds; partly filled ones arise when a cache is given up.  The never-used chunks
 *              are a range, not a list: `carved` says how many are gone.  A head takes one change at a time, so many
 *              processors need many heads: the depot is made of shards, each with its three stacks.  A worker uses
 *              the shard of the processor it runs on, its home, and the others only when that has nothing.  Links lie
 *              in the magazines, never in users' objects, and are atomics: a pop that reads the link of a magazine
 *              that has left meanwhile reads a stale number, and its CAS fails.
 * Invariants   D1  a magazine is in at most one stack, and then no cache owns it (thieves with an old note may still
 *                  take from it).
 *              D2  whoever pops or carves announces the magazine in its `hand` word before the CAS, so the objects in
 *                  it are never out of sight (C1 in cache.h).
 *              D3  a magazine goes onto `full` only when its owner has seen it full.
 *              D4  what lies on `empty` is empty, what lies on `partial` is not full: nobody pushes there.
 * Progress     push, pop, carve: lock-free; a retry means that another thread moved the head.  No system calls, no
 *              allocation.
 * Concurrency  Any thread, any operation.
 * Edges        PUT: push -> pop.  Also read by the collect.
 */
#ifndef LFPOOL_DEPOT_H
#define LFPOOL_DEPOT_H

#include "magazines.h"
#include "os.h"
#include "tagged.h"

/* A head on lines of its own: every worker's miss writes it. */
struct stack {
	_Alignas(CACHE_LINE_PAIR) tagged_word head;
	_Atomic(uint64_t) retries; /* a statistic, on the line of the head that was just won */
};

struct shard {
	struct stack full, partial, empty;
};

#define SHARDS_MAX 32

struct depot {
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) carved; /* chunks used so far; only grows */
	_Atomic(uint64_t) spared;                           /* spare magazines used so far    */
	_Alignas(CACHE_LINE_PAIR) uint32_t shards;          /* in use, at least 1; fixed      */
	struct shard shard[SHARDS_MAX];
};

static inline struct shard *shard_at(struct depot *d, uint32_t index)
{
	return &d->shard[index % d->shards];
}

/* The shard of the processor that the caller runs on.  A guess is good enough: any shard is right. */
static inline uint32_t depot_home(const struct depot *d)
{
	return d->shards > 1 ? os_processor_block() : 0;
}

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

/* Takes the next spare magazine, empty; returns its number, or 0.  It is not announced: it holds nothing, and until it is
 * made it would read as full. */
static inline uint32_t depot_take_spare(struct depot *d, const struct magazines *ms)
{
	/* relaxed: a stale mark costs one failed CAS. */
	uint64_t spared = load_relaxed(&d->spared);

	while (spared < ms->spares) {
		const uint32_t number = ms->chunks + (uint32_t)spared + 1;

		/* relaxed: there is nothing to see behind it. */
		if (cas_weak_relaxed(&d->spared, &spared, spared + 1)) {
			struct lfpool_magazine *m = magazines_at(ms, number);

			m->number = number;
			plain_written(&m->number);
			/* relaxed: published by the word that will name it. */
			store_relaxed(&m->bottom, magazine_bottom_for(0, ms->slots));
			return number;
		}
		/* Retries only after another thread took one, or for a spurious failure: lock-free. */
	}
	return 0;
}

/* ---- Across the shards, home first.  Each returns a number, announced in `hand`, or 0. ---- */

/* A magazine that holds something. */
static inline uint32_t depot_pop_filled(struct depot *d, const struct magazines *ms, tagged_word *hand)
{
	const uint32_t home = depot_home(d);
	uint32_t number = 0;

	for (uint32_t i = 0; i < d->shards && !number; i++) {
		struct shard *s = shard_at(d, home + i);

		number = stack_pop(&s->partial, ms, hand);
		if (!number)
			number = stack_pop(&s->full, ms, hand);
	}
	return number;
}

static inline uint32_t depot_pop_empty(struct depot *d, const struct magazines *ms, tagged_word *hand)
{
	const uint32_t home = depot_home(d);
	uint32_t number = 0;

	for (uint32_t i = 0; i < d->shards && !number; i++)
		number = stack_pop(&shard_at(d, home + i)->empty, ms, hand);
	return number;
}

/* A magazine with room; if it holds anything, announced in `hand`. */
static inline uint32_t depot_pop_room(struct depot *d, const struct magazines *ms, tagged_word *hand)
{
	const uint32_t home = depot_home(d);
	uint32_t number = depot_pop_empty(d, ms, hand);

	for (uint32_t i = 0; i < d->shards && !number; i++)
		number = stack_pop(&shard_at(d, home + i)->partial, ms, hand);
	return number ? number : depot_take_spare(d, ms);
}

static inline void depot_put_empty(struct depot *d, struct lfpool_magazine *m)
{
	stack_push(&shard_at(d, depot_home(d))->empty, m);
}

/* Puts a magazine where it belongs by what it holds.  Its owner calls; it stays announced until this returns. */
static inline void depot_put(struct depot *d, const struct magazines *ms, struct lfpool_magazine *m)
{
	struct shard *s = shard_at(d, depot_home(d));
	int count = magazine_owner_count(m, ms->slots);

	stack_push(count >= (int)ms->slots ? &s->full : count > 0 ? &s->partial : &s->empty, m);
}

#endif
