/* SPDX-License-Identifier: MIT */
/*
 * steal.c - the pool looks empty: rob another cache, or prove that every object is in use.
 *
 * Idea         A collect reads the depot's heads and regions, and the words {in_transit, current_word, head of `full`}
 *              of every cache, the caller's included.  It adds up two sums: of these tagged words, and of the pushes on
 *              the magazines that caches name.
 *              1. A magazine on another cache's stack is taken whole, by CAS, without a barrier: no thread works on it.
 *              2. Otherwise the collect has noted magazines that seem to have objects, and their top.  After one heavy
 *                 fence one object is taken by CAS on top, without waiting for the owner.  It goes straight to the
 *                 caller, so no other object is out of sight meanwhile.
 *              3. If it saw no object, objects may have moved past it, so a second collect follows.  If that sees
 *                 nothing either and the sums agree, nothing moved and nothing was released in between.  So by C1 no
 *                 slot was free at that moment.  The sums are kept, and later one collect with equal sums suffices.
 *              The cold store's count goes up and down, so it is not in the sums, and each collect reads it first, even
 *              before the number of caches.  If two collects agree, the other words did not change from the end of the
 *              first to the beginning of the second, so the moment is when the second read the count.  If a collect
 *              agrees with kept sums, the words have not changed since these, and the moment is when that collect read
 *              the count.  A cache that was born before that moment is included in the collect.
 * Invariants   SV1 a collect's values of a magazine are of one moment: it reads top, bottom, and top again.  If top
 *                  moved, another thread took an object: that counts as "something", and the collect skips this
 *                  magazine.  Otherwise the count of objects is exact (from -slots, while an owner has bottom lowered
 *                  for a pop of many, to slots), and so is the count of pushes (magazine_pushes()).
 *              SV2 words and counts of pushes only grow, so equal sums mean that each is equal.  (The sum of the counts
 *                  is below 2^63.  The sum of the words wraps after 2^64, by some 2^40 changes.)
 *              SV3 a magazine gets objects only by pushes.  So a magazine that the first collect found empty, and that
 *                  had no push until the second, was empty all the time.
 *              SV4 zero sums, as in a cache that has made no collect, differ from those of any collect, which include
 *                  the caller's `current_word`.
 * Progress     Lock-free: STEAL_AGAIN only if another thread moved something between our reads, or if the cold store
 *              or a region has something, which the caller takes.
 * Kernel       One membarrier in step 2.  Calls in an exhausted pool make no system call.
 * Edges        SHOW, GIVE: every store the collect reads is a release, every read an acquire; docs/memory-model.md,
 *              "the collect".
 */
#include "core/cache.h"

#include "base/probes.h"
#include "os/os.h"

#define NOTES_MAX 8

struct collect {
	struct sums sums;
	bool cold;      /* slots in the cold store count                                         */
	bool something; /* there may be a free slot                                              */
	bool chunks;    /* there are unused chunks                                               */
	unsigned notes;
	struct note {
		uint32_t number;
		uint64_t top;
	} note[NOTES_MAX];
};

/* Adds the magazine that `word` names to the sums, and notes it for step 2 if it seems to have objects.  A chunk in
 * transit is not noted while there are unused chunks: the CAS that takes it may not have happened yet, and an unused
 * chunk must keep all of its objects (G2).
 * Inlined, because one call in two is for an `in_transit` that names no magazine. */
static ALWAYS_INLINE void collect_magazine(const struct core *core, uint64_t word, bool in_transit, struct collect *s)
{
	uint32_t number = tagged_number(word);

	s->sums.words += word;
	if (!number)
		return;

	struct lfpool_magazine *m = magazines_at(&core->magazines, number);
	/* acquire, edge SHOW: the earlier stores of the thread that moved top; bottom is no older than what it saw. */
	uint64_t top = load_acquire(&m->top);
	/* acquire, edge GIVE; and top, read again, is no older than the top that the owner saw. */
	uint64_t bottom = magazine_bottom(m, core->magazines.slots);

	/* relaxed: the first read has acquired this value, or top has moved.  SV1. */
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

/* Takes a full magazine of another cache as `current`. */
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

/* Reads everything.  With `robs`, true when it took a whole magazine on the way. */
static bool collect_all(struct cache *c, struct collect *s, bool robs)
{
	const struct core *core = c->core;

	/* acquire, edge SHOW.  The cold store first: it is not in the sums. */
	s->something = cold_allowed_in(load_acquire(&core->cold.counts)) != 0 && s->cold;
	/* acquire, edge SHOW: the counted caches, and the magazines that moved into them. */
	const uint32_t count = load_acquire(&core->table.count);

	for (uint32_t i = 0; i < core->depot.shards; i++) {
		const struct shard *shard = &core->depot.shard[i];
		/* acquire, edge PUT. */
		uint64_t full = load_acquire(&shard->full.head), partial = load_acquire(&shard->partial.head);

		s->sums.words += full + partial;
		/* acquire, edge SHOW. */
		s->chunks |= load_acquire(&shard->carved) < shard->chunks;
		s->something |= tagged_number(full) || tagged_number(partial);
	}
	s->something |= s->chunks;
	/* Each thief begins after its own cache, so that thieves spread.  It ends with its own, and so sees what the
	 * threads that robbed it had released before. */
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
		/* acquire, both, edge SHOW. */
		collect_magazine(core, load_acquire(&victim->in_transit), true, s);
		collect_magazine(core, load_acquire(&victim->current_word), false, s);
		/* acquire, edge PUT. */
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

/* Nothing moved and nothing was pushed between two collects (SV2). */
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
	/* Nothing has changed since no slot was free. */
	if (same(&first.sums, &c->exhausted))
		return STEAL_EXHAUSTED;
	(void)collect_all(c, &second, false);
	/* `something`: in the cold store; or a magazine whose top moved, so that its pushes are not in the sum. */
	if (second.something || !same(&first.sums, &second.sums))
		return STEAL_AGAIN;
	c->exhausted = second.sums;
	return STEAL_EXHAUSTED;
}
