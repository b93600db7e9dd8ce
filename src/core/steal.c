/* SPDX-License-Identifier: MIT */
/*
 * steal.c - for a call that has found no free slot: steals from another cache, or proves that every object is in use.
 *
 * Idea         A collect is one scan: it reads the depot's heads and regions, and the words {in_transit, current_word,
 *              head of `full`} of every cache, including the caller's.  It computes two sums: the sum of these tagged
 *              words, and the sum of the pushes on the magazines that caches name.
 *              1. If another cache has full magazines on its stack, the call takes one as a whole, by CAS.  This needs
 *                 no barrier, because no thread works on a magazine on a stack.
 *              2. Otherwise the collect has noted up to NOTES_MAX magazines that seem to have objects, and their tops.
 *                 After one heavy fence the call takes one object by a CAS of a top, without waiting for the owner.
 *                 The call returns this object, and leaves all other objects visible to other threads.
 *              3. If the collect saw no object, an object may still have moved from a magazine that the collect had not
 *                 read yet to one that it had already read.  So a second collect follows.  If the second one sees no
 *                 object either, and the sums agree, nothing moved and nothing was released between the collects.  So
 *                 by C1 no slot was free then.  The call keeps the sums: later, one collect with equal sums suffices.
 *              The cold store's count is not in the sums, because the sums must never fall, and this count can.
 *              Each collect reads that count first, even before the number of caches.  So no slot was free at the
 *              moment when the last collect read the count: if two collects agree, the other words did not change
 *              between the end of the first and the beginning of the second; if one collect agrees with kept sums, the
 *              words have not changed since these sums were computed.  The last collect includes each cache that was
 *              born before this moment.
 * Invariants   SV1 a collect uses values of a magazine that are from one moment, because it reads top, bottom, and top
 *                  again.  If top moved, another thread took an object: the collect sets `something`, and skips this
 *                  magazine.  Otherwise the count of objects and the count of pushes (magazine_pushes()) are exact.
 *                  (The count of objects may be negative, down to -slots, while an owner has bottom lowered for a pop
 *                  of many objects.)
 *              SV2 tagged words and counts of pushes only grow, so equal sums mean that each word and each count is
 *                  equal.  (The sum of the counts is below 2^63.  The sum of the words wraps at 2^64, which takes about
 *                  2^40 changes.)
 *              SV3 a magazine gets objects only by pushes.  So a magazine that the first collect found empty, and that
 *                  had no push before the second, was empty all the time.
 *              SV4 the sums of a collect are never 0, because they include the caller's `current_word`.  So they differ
 *                  from the initial kept sums of a cache, which are 0.
 * Progress     Lock-free: the result is STEAL_AGAIN only if another thread moved something between our reads, or if the
 *              cold store or a region has slots, which the caller then takes.
 * Kernel       Step 2 calls membarrier(2) once.  Calls in an exhausted pool make no system call.
 * Edges        SHOW, GIVE: every store that a collect reads is a release, and every read is an acquire;
 *              docs/memory-model.md, "the collect".
 */
#include "core/cache.h"

#include "base/probes.h"

#define NOTES_MAX 8

struct collect {
	struct sums sums;
	bool cold;      /* slots in the cold store count as free */
	bool something; /* there may be a free slot              */
	bool chunks;    /* there are unused chunks               */
	unsigned notes;
	struct note {
		uint32_t number;
		uint64_t top;
	} note[NOTES_MAX];
};

/* Adds the magazine that `word` names to the sums, and notes it for step 2 if it seems to have objects.  A chunk in
 * transit is not noted while there are unused chunks: the CAS that takes the chunk may not have happened yet, and an
 * unused chunk must keep all of its objects (G2).  Inlined, because one call in two is for an `in_transit` that names
 * no magazine. */
static ALWAYS_INLINE void collect_magazine(const struct core *core, uint64_t word, bool in_transit, struct collect *s)
{
	uint32_t number = tagged_number(word);

	s->sums.words += word;
	if (!number)
		return;

	struct lfpool_magazine *m = magazines_at(&core->magazines, number);
	/* acquire, edge SHOW: sees the earlier stores of the thread that moved top.  So bottom, which is loaded next,
	 * is no older than the bottom that the other thread saw. */
	uint64_t top = load_acquire(&m->top);
	/* acquire, edge GIVE.  So the second load of top is no older than the top that the owner saw before it stored
	 * this bottom. */
	uint64_t bottom = magazine_bottom(m, core->magazines.slots);

	/* relaxed: either the first read has acquired this value, or top has moved (SV1). */
	if (load_relaxed(&m->top) != top) {
		s->something = true;
		return;
	}
	s->sums.pushes += magazine_pushes(bottom);
	if (magazine_count(magazine_top(top), bottom) <= 0)
		return;
	s->something = true;
	if (s->notes < NOTES_MAX && !(in_transit && s->chunks && number <= core->magazines.chunks))
		s->note[s->notes++] = (struct note){number, top};
}

/* Takes a full magazine from another cache's stack, and makes it `current`. */
static bool rob(struct cache *c, struct cache *victim)
{
	const uint32_t number = stack_pop(&victim->full, &c->core->magazines, &c->in_transit);

	if (!number) {
		tagged_set(&c->in_transit, 0);
		return false;
	}
	cache_adopt(c, number);
	tally(&c->counts.steals);
	probe_steal(c->core->pool, c->core->name, true);
	return true;
}

/* Makes a collect.  With `robs`, the function takes the first full magazine that it finds on another cache's stack, and
 * then returns true at once. */
static bool collect_all(struct cache *c, struct collect *s, bool robs)
{
	const struct core *core = c->core;

	/* acquire, edge SHOW: sees earlier changes of the lists.  The cold store is read first, because it is not in
	 * the sums. */
	s->something = cold_allowed_in(load_acquire(&core->cold.counts)) != 0 && s->cold;
	/* acquire, edge SHOW: sees the counted caches, and the magazines that moved into them. */
	const uint32_t count = load_acquire(&core->table.count);

	for (uint32_t i = 0; i < core->depot.shards; i++) {
		const struct shard *shard = &core->depot.shard[i];
		/* acquire, edge PUT: sees the magazines on the stacks. */
		uint64_t full = load_acquire(&shard->full.head), partial = load_acquire(&shard->partial.head);

		s->sums.words += full + partial;
		/* acquire, edge SHOW: sees the announcements of the chunks that were taken. */
		s->chunks |= load_acquire(&shard->carved) < shard->chunks;
		s->something |= tagged_number(full) || tagged_number(partial);
	}
	s->something |= s->chunks;
	/* Each thief begins with the cache after its own, so that thieves begin at different caches.  A thief ends with
	 * its own cache, and so sees the earlier releases of the threads that stole from it. */
	struct cache *victim = c;
	uint32_t index = c->index, left = 0;

	for (uint32_t i = 0; i < count; i++) {
		index = index + 1 < count ? index + 1 : 0;
		if (left && index) {
			victim++;
			left--;
		} else {
			victim = cache_at(core, index, &left);
		}
		/* acquire, both, edge SHOW: see the earlier stores of the cache's user. */
		collect_magazine(core, load_acquire(&victim->in_transit), true, s);
		collect_magazine(core, load_acquire(&victim->current_word), false, s);
		/* acquire, edge PUT: sees the magazines on the stack. */
		const uint64_t full = load_acquire(&victim->full.head);

		s->sums.words += full;
		if (unlikely(tagged_number(full))) {
			s->something = true;
			if (robs && rob(c, victim))
				return true;
		}
	}
	return false;
}

/* True: nothing moved and nothing was pushed between two collects (SV2). */
static bool same(const struct sums *a, const struct sums *b)
{
	return a->words == b->words && a->pushes == b->pushes;
}

enum steal_result cache_steal(struct cache *c, uint32_t *slot_out, bool cold)
{
	const struct magazines *ms = &c->core->magazines;
	struct collect first = {.cold = cold}, second = first;

	if (collect_all(c, &first, true))
		return STEAL_HOME;
	if (first.notes) {
		arena_heavy_fence(&c->core->arena);
		for (unsigned i = 0; i < first.notes; i++) {
			const uint32_t number = first.note[i].number;
			const uint64_t top = first.note[i].top;
			const uint32_t place = magazine_place_of(magazine_top(top), ms->slots);

			*slot_out = arena_slot(&c->core->arena, magazine_take(magazines_at(ms, number), ms->slots, top,
									      magazines_born(ms, number, place)));
			if (*slot_out)
				return STEAL_GOT;
		}
	}
	if (first.something)
		return STEAL_AGAIN;
	/* No word has changed since a moment when no slot was free. */
	if (same(&first.sums, &c->exhausted))
		return STEAL_EXHAUSTED;
	(void)collect_all(c, &second, false);
	/* `something`: there may be a free slot, or a top has moved, so that the pushes on its magazine are not in the
	 * sum. */
	if (second.something || !same(&first.sums, &second.sums))
		return STEAL_AGAIN;
	c->exhausted = second.sums;
	return STEAL_EXHAUSTED;
}
