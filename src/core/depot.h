/* SPDX-License-Identifier: MIT */
/*
 * depot.h - stacks of magazines, and the depot: the surplus of all caches, and the unused chunks.
 *
 * Idea         A stack of magazines is a Treiber stack (1986) whose head is a tagged word.  Each cache owns two stacks,
 *              `full` and `empty` (cache.h).  The depot is made of shards, and each cache belongs to one shard.  A
 *              shard has three stacks and a region, a range of neighbouring chunks.  The chunks of a region are used in
 *              order, so the chunks of one worker are close together.  Links are stored in the magazines, never in
 *              users' objects.  Links are atomic, because a pop may read the link of a magazine that has
 *              already left the stack; the CAS of that pop then fails.
 * Invariants   D1  a magazine is on at most one stack.  While it is on a stack, no cache owns it, but a thief that
 *                  noted it earlier may still take an object from it.
 *              D2  a call that pops or carves announces the magazine in its cache's word `in_transit` before the CAS,
 *                  so other threads can always find the magazine's objects (C1 in cache.h).
 *              D3  a magazine is put on a stack of full magazines only after its owner has seen it full.
 *              D4  a magazine on a stack of empty magazines is empty, and a magazine on `partial` is not full, because
 *                  no thread pushes objects on a magazine that is on a stack.
 *              D5  the link of a magazine on a stack includes the depth of the stack from that magazine down, so no
 *                  shared counter is needed.  If a call's CAS of the head succeeds, the depth that the call had read
 *                  was right (S1).
 *              D6  each chunk is in the region of exactly one shard.  The first `carved` chunks of a region are used.
 * Progress     push, pop, carve: lock-free; a retry means that another thread moved the head.  No system calls, no
 *              allocation.
 * Concurrency  After depot_open(), any two calls may run at the same time.  The caller owns the magazine that it
 *              pushes, and is the user of the cache whose `in_transit` it passes.
 * Edges        PUT: a push of a magazine -> its pop, and each collect.
 */
#ifndef LFPOOL_DEPOT_H
#define LFPOOL_DEPOT_H

#include "base/low_water.h"
#include "core/magazine.h"
#include "core/tagged.h"

struct stack {
	tagged_word head;
	low_water_word least;      /* minimum depth since lfpool_high_water_reset()     */
	low_water_word idle;       /* minimum depth since the last round of LFPOOL_IDLE */
	_Atomic(uint64_t) retries; /* a statistic, on the cache line of the head        */
};

/* Many workers write the heads, so the heads are on separate cache lines. */
struct shard {
	_Alignas(CACHE_LINE_PAIR) struct stack full;
	_Alignas(CACHE_LINE_PAIR) struct stack empty;
	_Alignas(CACHE_LINE_PAIR) struct stack partial;
	_Atomic(uint64_t) carved; /* chunks of the region that were used; only grows */
	_Atomic(uint64_t) rested; /* the head of `partial` in the last round of LFPOOL_IDLE */
	uint32_t before, chunks;  /* the number of chunks before the region, and in it; fixed */
};

#define SHARDS_MAX 32

struct depot {
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) spared; /* spare magazines used so far                */
	uint32_t shards;                                    /* number of shards in use, at least 1; fixed */
	struct shard shard[SHARDS_MAX];
};

static inline struct shard *shard_at(struct depot *d, uint32_t index)
{
	return &d->shard[index % d->shards];
}

static inline void depot_open(struct depot *d, uint32_t shards, uint32_t chunks)
{
	d->shards = shards;
	for (uint32_t i = 0, before = 0; i < shards; i++) {
		struct shard *s = &d->shard[i];

		s->before = before;
		s->chunks = chunks / shards + (i < chunks % shards);
		before += s->chunks;
	}
}

/* Waits after a failed CAS, longer each time.  With this wait, two workers at one head disturb each other half as
 * often. */
static inline void back_off(unsigned *failures)
{
	for (unsigned pauses = 1u << (*failures < 5 ? *failures : 5); pauses; pauses--)
		cpu_relax();
	++*failures;
}

/* ---- Links ---- */

static inline uint64_t link_to(uint32_t depth, uint32_t below)
{
	return (uint64_t)depth << 32 | below;
}

static inline uint32_t link_depth(uint64_t link)
{
	return (uint32_t)(link >> 32);
}

static inline uint32_t link_below(uint64_t link)
{
	return (uint32_t)link;
}

/* The depth of the stack whose head is `head`, which the caller has acquired (edge PUT).  Exact if the head has not
 * changed since. */
static inline uint32_t depth_below(const struct magazines *ms, uint64_t head)
{
	const uint32_t number = tagged_number(head);

	/* relaxed: edge PUT made the link visible. */
	return number ? link_depth(load_relaxed(&magazines_at(ms, number)->next)) : 0;
}

/*
 * ---- The minimum depth since the last reset: the magazines that were there all the time (low_water.h) ----
 *
 * A call that pops a magazine, or finds the stack empty, records the depth before it does anything else.  So the depth
 * without a popped magazine is recorded before an object of this magazine is used.  (A thread may stop after its pop,
 * before it records the depth.  Even then, a depth of 0 is recorded before a thief takes from the popped magazine,
 * because thieves look into caches only after they have found every stack empty, and have recorded that.)  `mark`:
 * `least` or `idle` of this stack.
 */
static inline void stack_reset(struct stack *s, low_water_word *mark, const struct magazines *ms)
{
	const uint64_t open = low_water_open(mark);
	unsigned failures = 0;

	for (;;) {
		/* acquire, edge PUT: sees the link of the top magazine. */
		uint64_t head = load_acquire(&s->head);
		const uint32_t depth = depth_below(ms, head);

		/* release, edge PUT: publishes the open mark. */
		if (cas_weak_release(&s->head, &head, tagged_next(head, tagged_number(head)))) {
			low_water_note(mark, depth);
			break;
		}
		/* Retries only after another thread moved the head, or after a spurious failure: lock-free. */
		back_off(&failures);
	}
	low_water_close(mark, open);
}

static inline void stack_note(struct stack *s, uint32_t depth)
{
	low_water_note(&s->least, depth);
	low_water_note(&s->idle, depth);
}

/* ---- Push and pop ---- */

/* Pushes a magazine.  Returns false, and pushes nothing, if the stack already has `bound` magazines. */
static inline bool stack_push_within(struct stack *s, const struct magazines *ms, struct lfpool_magazine *m,
				     uint32_t bound)
{
	unsigned failures = 0;

	/* relaxed: the magazine is ours. */
	const uint32_t number = load_relaxed(&m->number);

	for (;;) {
		/* acquire, edge PUT: sees the link of the top magazine, for D5. */
		uint64_t head = load_acquire(&s->head);
		const uint32_t depth = depth_below(ms, head);

		if (depth >= bound)
			return false;
		/* relaxed: the magazine is ours until the CAS publishes it. */
		store_relaxed(&m->next, link_to(depth + 1, tagged_number(head)));
		/* release, edge PUT: publishes the link and the stores of the magazine's owners, for the call that pops
		 * it. */
		if (cas_weak_release(&s->head, &head, tagged_next(head, number)))
			break;
		/* Retries only after another thread moved the head, or after a spurious failure: lock-free. */
		back_off(&failures);
	}
	if (failures)
		tally_shared(&s->retries, failures);
	return true;
}

static inline void stack_push(struct stack *s, const struct magazines *ms, struct lfpool_magazine *m)
{
	(void)stack_push_within(s, ms, m, UINT32_MAX);
}

/* Takes the top magazine; returns its number, announced in `in_transit`, or 0. */
static inline uint32_t stack_pop(struct stack *s, const struct magazines *ms, tagged_word *in_transit)
{
	/* acquire, edge PUT: sees the link of the top magazine. */
	uint64_t head = load_acquire(&s->head);
	unsigned failures = 0;

	for (;;) {
		uint32_t number = tagged_number(head);

		if (!number) {
			stack_note(s, 0);
			return 0;
		}
		tagged_set(in_transit, number);
		/* relaxed: edge PUT made the link visible.  If the link is stale, the magazine has left the stack, so
		 * the head's tag has changed (S1) and the CAS fails. */
		uint64_t link = load_relaxed(&magazines_at(ms, number)->next);

		/* acquire, edge PUT: sees the link of the new top magazine, after a failure.  release, edge SHOW: a
		 * thread that finds the magazine gone also sees our announcement. */
		if (cas_weak_acq_rel(&s->head, &head, tagged_next(head, link_below(link)))) {
			stack_note(s, link_depth(link) - 1);
			if (failures)
				tally_shared(&s->retries, failures);
			return number;
		}
		/* Retries only after another thread moved the head, or after a spurious failure: lock-free. */
		back_off(&failures);
	}
}

/* Takes the next unused chunk of a region; returns the number of its magazine, announced in `in_transit`, or 0. */
static inline uint32_t shard_carve(struct shard *s, const struct magazines *ms, tagged_word *in_transit)
{
	/* relaxed: a stale count costs one failed CAS. */
	uint64_t carved = load_relaxed(&s->carved);

	while (carved < s->chunks) {
		const uint32_t number = s->before + (uint32_t)carved + 1;

		tagged_set(in_transit, number);
		/* release, edge SHOW: a thread that finds the chunk gone also sees our announcement. */
		if (cas_weak_release(&s->carved, &carved, carved + 1)) {
			magazine_make_full(magazines_at(ms, number), number, ms->slots, magazines_born(ms, number, 0),
					   ms->stride);
			return number;
		}
		/* Retries only after another thread carved, or after a spurious failure: lock-free. */
	}
	return 0;
}

/* Takes the next spare magazine, which is empty; returns its number, or 0.  A spare is not announced: it has no
 * objects, and another thread would read it as full until it is initialised. */
static inline uint32_t depot_take_spare(struct depot *d, const struct magazines *ms)
{
	/* relaxed: a stale count costs one failed CAS. */
	uint64_t spared = load_relaxed(&d->spared);

	while (spared < ms->spares) {
		const uint32_t number = ms->chunks + (uint32_t)spared + 1;

		/* relaxed: the CAS publishes nothing. */
		if (cas_weak_relaxed(&d->spared, &spared, spared + 1)) {
			magazine_make_empty(magazines_at(ms, number), number);
			return number;
		}
		/* Retries only after another thread took a spare, or after a spurious failure: lock-free. */
	}
	return 0;
}

/*
 * ---- For all shards, beginning with shard `home` ----
 *
 * Each function returns the number of a magazine, which is announced in `in_transit`, or 0.
 */

/* A magazine with objects. */
static inline uint32_t depot_pop_filled(struct depot *d, uint32_t home, const struct magazines *ms,
					tagged_word *in_transit)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < d->shards && !number; i++) {
		struct shard *s = shard_at(d, home + i);

		number = stack_pop(&s->partial, ms, in_transit);
		if (!number)
			number = stack_pop(&s->full, ms, in_transit);
	}
	return number;
}

/* An unused chunk. */
static inline uint32_t depot_carve(struct depot *d, uint32_t home, const struct magazines *ms, tagged_word *in_transit)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < d->shards && !number; i++)
		number = shard_carve(shard_at(d, home + i), ms, in_transit);
	return number;
}

static inline uint32_t depot_pop_empty(struct depot *d, uint32_t home, const struct magazines *ms,
				       tagged_word *in_transit)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < d->shards && !number; i++)
		number = stack_pop(&shard_at(d, home + i)->empty, ms, in_transit);
	return number;
}

/* A magazine with room; announced in `in_transit` if it has objects. */
static inline uint32_t depot_pop_room(struct depot *d, uint32_t home, const struct magazines *ms,
				      tagged_word *in_transit)
{
	uint32_t number = depot_pop_empty(d, home, ms, in_transit);

	for (uint32_t i = 0; i < d->shards && !number; i++)
		number = stack_pop(&shard_at(d, home + i)->partial, ms, in_transit);
	return number ? number : depot_take_spare(d, ms);
}

#endif
