/* SPDX-License-Identifier: MIT */
/*
 * steal.c - the pool looks empty: rob another cache, or prove that every object is in use.
 *
 * Idea         A collect reads the depot's heads and regions, and of every cache {in_transit, current, the head of its
 *              full ones}, its own among them, and adds up two sums: of these tagged words, and of what was ever pushed
 *              on the magazines that caches name.
 *              1. A magazine on another cache's stack is taken whole, by CAS: no barrier, since no thread works on it.
 *              2. Else the magazines that seem to hold something are noted with their top; one heavy fence; then one
 *                 object is taken by CAS on top.  The owner is never waited for.  It goes straight to the caller: no
 *                 surplus is ever out of sight.
 *              3. Else nothing was seen anywhere.  One collect may be fooled by objects that wander past it, so a
 *                 second one follows.  If it sees nothing either and the sums agree, nothing moved and nothing came
 *                 back in between, so by C1 no slot was free at that moment.  The sums are kept: as long as a collect
 *                 finds them again, it alone is enough.
 *              The cold store's count goes up and down, so it is no part of the sums.  Each collect reads it first,
 *              even before the number of caches.  Where two collects agree, the other words stood still from the end of
 *              the first to the beginning of the second, so its reading at the beginning of the second is the moment;
 *              where one collect agrees with sums that were kept, they have stood still since those, and the reading at
 *              its beginning is.  A cache that was born before that moment is counted after it.
 * Invariants   SV1 what a collect reads of a magazine was so at one moment: it reads top, bottom, and top again.  If
 *                  top moved, another thread took an object: that counts as "something", and the collect says nothing
 *                  more of this magazine.  Else top and bottom are of one moment, the count of objects is exact (it
 *                  lies between -slots, while an owner has bottom lowered for a pop of many, and slots), and so is the
 *                  count of pushes (magazine_pushes()).
 *              SV2 words and counts of pushes only grow, so equal sums mean that each is equal.  (The sum of the counts
 *                  is below 2^63.  The sum of the words wraps after 2^64, by some 2^40 changes.)
 *              SV3 a magazine on which nothing is pushed does not come to hold something.  So one that the first
 *                  collect found empty, and on which nothing was pushed until the second, was empty all the time.
 *              SV4 sums that are zero, as in a cache that has made no collect, equal no collect's: its own
 *                  `current_word` is among those added up.
 * Progress     Lock-free: STEAL_AGAIN only if another thread moved something between our readings, or the cold store or
 *              a region has something, which the caller takes.
 * Kernel       One membarrier in step 2.  An exhausted pool says so again and again without a system call.
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
	bool something; /* a free slot may be somewhere                                          */
	bool chunks;    /* there are unused chunks                                               */
	unsigned notes;
	struct note {
		uint32_t number;
		uint64_t top;
	} note[NOTES_MAX];
};

/* Adds the magazine that `word` names to the sums, and notes it if it seems to hold something.  An unused chunk may
 * be in transit before its CAS.  No thread takes an object from it then, since an unused chunk has all of its objects
 * (G2). Inlined: one call in two is for an `in_transit` that names none. */
static ALWAYS_INLINE void collect_magazine(const struct core *core, uint64_t word, bool in_transit, struct collect *s)
{
	uint32_t number = tagged_number(word);

	s->sums.words += word;
	if (!number)
		return;

	struct lfpool_magazine *m = magazines_at(&core->magazines, number);
	/* acquire, edge SHOW: what its taker released before; and bottom is no older than the one which that taker saw.
	 * */
	uint64_t top = load_acquire(&m->top);
	/* acquire, edge GIVE; and top, read again, is no older than the one that the owner saw. */
	uint64_t bottom = magazine_bottom(m, core->magazines.slots);

	/* relaxed: the first look has acquired this value, or it is another one.  SV1. */
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

/* Brings home a full magazine of another cache's. */
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

/* Looks at everything.  True when a whole magazine was brought home on the way (`robs`). */
static bool collect_all(struct cache *c, struct collect *s, bool robs)
{
	const struct core *core = c->core;

	/* acquire, edge SHOW.  The cold store first of all: it has no part in the sums. */
	s->something = cold_allowed_in(load_acquire(&core->cold.counts)) != 0 && s->cold;
	/* acquire, edge SHOW: caches that are counted, and what moved into them. */
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
	/* Each thief begins behind its own cache, so that they spread, and ends with it: what others took out of it, or
	 * robbed, came after what they released before. */
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
	/* As it was when there was nothing: then there has been nothing since. */
	if (same(&first.sums, &c->exhausted))
		return STEAL_EXHAUSTED;
	(void)collect_all(c, &second, false);
	/* `something`: in the cold store; or a magazine's top moved, and its pushes are not in the sum. */
	if (second.something || !same(&first.sums, &second.sums))
		return STEAL_AGAIN;
	c->exhausted = second.sums;
	return STEAL_EXHAUSTED;
}
