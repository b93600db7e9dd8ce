/* SPDX-License-Identifier: MIT */
/*
 * magazine.h - a bounded Chase-Lev deque of free slots: one owner, any number of thieves.
 *
 * Idea         The owner pushes and pops at bottom, thieves take from top by CAS.  A magazine is also the unit that
 *              moves between caches and the depot; whoever holds it is its owner, and the hand-over (depot head,
 *              `previous` word) orders the old owner's accesses before the new owner's.  The hits are in
 *              lfpool/inline.h; here are the pop of the last object, the thief, and the readings for the collect.
 *              Sources: Chase, Lev 2005; Le, Pop, Cohen, Zappa Nardelli 2013 (the orders).
 * Invariants   H1 .. H5 of lfpool/inline.h, and
 *              H6  the object at position top leaves only by a CAS of top (owner or thief), so an entry read before a
 *                  successful CAS of top was the right one;
 *              H7  a magazine that was born with slots (numbers 1 .. chunks) has entry 0 in the places its owner has
 *                  not written yet: the slot that belongs there is computed.  Zeroed memory is a full, never used
 *                  magazine.
 *              pop_many, and place with push_placed, do for several slots what pop and push do for one: one change of
 *              bottom, one barrier.
 * Progress     push, pop: wait-free.  take: wait-free (one CAS, no retry).
 * Concurrency           | push | pop | take | readings
 *              push, pop: the owner alone; take and the readings: anybody, at any time, even on a magazine that has
 *              moved on.
 * Edges        GIVE: every store of bottom -> load_acquire of bottom by a thief or a collect.
 *              SPACE: CAS of top -> load_acquire of top in push.
 * Wrap         top has 64 bits and never wraps.  Positions have 16 bits in H1, so a count is exact if both readings are of
 *              one moment, and an owner's always: its top is no older than its last push.  A thief whose top is old may
 *              count anything, and its CAS fails.  bottom counts 2^48 pushes: a collect is fooled only if exactly k *
 *              2^48 pushes on one magazine fall between its two readings, 6.5 days at 2 ns each.
 */
#ifndef LFPOOL_MAGAZINE_H
#define LFPOOL_MAGAZINE_H

#include "atomics.h"
#include "base.h"
#include "widths.h"

#include "lfpool/inline.h"

#define MAGAZINE_SLOTS_MAX 4096

/* Positions tell a full magazine from one whose owner has lowered bottom by all of its slots, when thieves had taken as
 * many: bottom is ahead of top by -2 * slots .. 0. */
#define MAGAZINE_SLOTS_FIT (1 << (LFPOOL_POSITION_BITS - 2))

/* Bytes of a magazine of `slots` slots, in whole pairs of cache lines. */
static inline size_t magazine_bytes(size_t slots)
{
	return round_up(sizeof(struct lfpool_magazine) + slots * sizeof(uint32_t), CACHE_LINE_PAIR);
}

/* Objects between two readings of top and bottom (H1), which must be of one moment; down to -slots while the owner has
 * bottom lowered. */
static inline int magazine_count(uint64_t top, uint64_t bottom, uint32_t slots)
{
	return (int)slots + LFPOOL_AHEAD(bottom, top);
}

/*
 * Pushes since the magazine was born, modulo 2^48 (H4), if both readings are of one moment.  bottom = pushes * 65536 +
 * position, and H1 says which position: top - slots + objects.
 */
static inline uint64_t magazine_pushes(uint64_t top, uint64_t bottom, uint32_t slots)
{
	const uint64_t position = top - slots + (uint64_t)(int64_t)magazine_count(top, bottom, slots);

	return (bottom - position) >> LFPOOL_POSITION_BITS & LOW_BITS(PUSHES_BITS);
}

/* What a zeroed bottom becomes so that the magazine holds `count` objects, top being 0. */
static inline uint64_t magazine_bottom_for(uint32_t count, uint32_t slots)
{
	return (uint64_t)count - slots;
}

/* Owner: how many objects it holds at most (thieves may be taking some). */
static inline int magazine_owner_count(struct lfpool_magazine *m, uint32_t slots)
{
	/* relaxed, both: an estimate that only thieves can make too high. */
	return magazine_count(load_relaxed(&m->top), load_relaxed(&m->bottom), slots);
}

/*
 * Owner, with bottom lowered to `bottom` and the thieves fenced off since: ends the pop.  If a thief gets the last
 * object, it has been in that thief's hands since before bottom was lowered: a call that finds nothing while bottom is
 * low is never deceived by an object that nobody is taking.
 */
static inline uint32_t magazine_pop_end(struct lfpool_magazine *m, uint32_t slots, uint64_t bottom)
{
	uint32_t slot = SLOT_NONE;
	/* relaxed: the barrier orders it after the store; a stale top is only too low (see docs/memory-model.md,
	 * "owner and thief"). */
	uint64_t top = load_relaxed(&m->top);
	int left = magazine_count(top, bottom, slots);

	if (left >= 0)
		/* relaxed: our own push, or one that came with the magazine. */
		slot = load_relaxed(&m->entry[bottom & (slots - 1)]);
	if (left > 0)
		return slot;
	if (left == 0) {
		/* The last one.  release, edge SHOW: who sees it gone sees what we released before. */
		if (!cas_release(&m->top, &top, top + 1))
			slot = SLOT_NONE;
	}
	/* release, edge GIVE: bottom as it was; if top moved the magazine is now empty, else it was. */
	store_release(&m->bottom, bottom + 1);
	return slot;
}

/* Between the owner's store of bottom and its load of top.  `asymmetric`: a compiler barrier suffices, see
 * atomics.h. */
static inline void owner_fence(bool asymmetric)
{
	if (asymmetric)
		light_barrier();
	else
		full_fence();
}

/*
 * Owner: take the newest object, or SLOT_NONE.  Unlike a hit this one also takes the last object, by CAS against the
 * thieves.
 */
static inline uint32_t magazine_pop(struct lfpool_magazine *m, uint32_t slots, bool asymmetric)
{
	/* relaxed: our own last store (H2). */
	uint64_t bottom = load_relaxed(&m->bottom) - 1;

	/* release, edge GIVE: a thief that reads this value still sees every earlier push. */
	store_release(&m->bottom, bottom);
	owner_fence(asymmetric);
	return magazine_pop_end(m, slots, bottom);
}

/*
 * Owner: take up to `count` of the newest objects at once; says how many.  Their slots stay in the entries from
 * position *first_out on, until the owner pushes again.  Bottom is lowered below all of them in one step; from then on
 * a thief can get at most the one at top: to reach the next it must read top after that theft and bottom after a fence,
 * and finds bottom lowered.  So only the object at top is raced for, if it is among ours, and the magazine is empty
 * afterwards.  What is hidden meanwhile is taken, by us or by that thief: see magazine_pop_end().
 */
static inline uint32_t magazine_pop_many(struct lfpool_magazine *m, uint32_t slots, bool asymmetric, uint32_t count,
					 uint64_t *first_out)
{
	/* relaxed, both: our own last store (H2); a stale top makes us ask for too many, not for too few. */
	uint64_t bottom = load_relaxed(&m->bottom);
	int there = magazine_count(load_relaxed(&m->top), bottom, slots);

	if (there <= 0)
		return 0;
	if (count > (uint32_t)there)
		count = (uint32_t)there;
	bottom -= count;
	*first_out = bottom;
	/* release, edge GIVE: a thief that reads this value still sees every earlier push. */
	store_release(&m->bottom, bottom);
	owner_fence(asymmetric);
	/* relaxed: as in magazine_pop_end(). */
	uint64_t top = load_relaxed(&m->top);
	int left = magazine_count(top, bottom, slots);

	if (likely(left > 0))
		return count;
	/* Of ours, those that thieves had taken before. */
	uint32_t gone = (uint32_t)-left, taken = count - gone;

	*first_out += gone;
	if (taken) {
		gone++;
		/* The last one.  release, edge SHOW: who sees it gone sees what we released before. */
		if (!cas_release(&m->top, &top, top + 1)) {
			++*first_out;
			taken--;
		}
	}
	/* release, edge GIVE: bottom meets top. */
	store_release(&m->bottom, bottom + gone);
	return taken;
}

/* The slot at a position that magazine_pop_many() gave us. */
static inline uint32_t magazine_slot_at(const struct lfpool_magazine *m, uint32_t slots, uint64_t position)
{
	/* relaxed: our own push, or one that came with the magazine. */
	return load_relaxed(&m->entry[position & (slots - 1)]);
}

/* Owner: put `slot` on; false when the magazine is full. */
static inline bool magazine_push(struct lfpool_magazine *m, uint32_t slots, uint32_t slot)
{
	/* relaxed: our own last store (H2). */
	uint64_t bottom = load_relaxed(&m->bottom);

	/* acquire, edge SPACE: the thief that advanced top has read the entry we are about to overwrite. */
	if (magazine_count(load_acquire(&m->top), bottom, slots) >= (int)slots)
		return false;
	/* relaxed: published by the store of bottom. */
	store_relaxed(&m->entry[bottom & (slots - 1)], slot);
	/* release, edge GIVE: the entry, the slot's state and what was written to the object go to whoever takes the
	 * slot. */
	store_release(&m->bottom, bottom + LFPOOL_PUSHED);
	return true;
}

/* Owner: how many more it has room for; they go to the positions from *first_out on. */
static inline uint32_t magazine_room(struct lfpool_magazine *m, uint32_t slots, uint64_t *first_out)
{
	/* relaxed: our own last store (H2). */
	*first_out = load_relaxed(&m->bottom);
	/* acquire, edge SPACE: the thieves that advanced top have read the entries that we may overwrite. */
	return slots - (uint32_t)magazine_count(load_acquire(&m->top), *first_out, slots);
}

/* Owner: write down `slot` where magazine_room() said; magazine_push_placed() will push it. */
static inline void magazine_place(struct lfpool_magazine *m, uint32_t slots, uint64_t position, uint32_t slot)
{
	/* relaxed: published by the store of bottom. */
	store_relaxed(&m->entry[position & (slots - 1)], slot);
}

/* Owner: push the `count` slots that were placed from `first` on. */
static inline void magazine_push_placed(struct lfpool_magazine *m, uint64_t first, uint32_t count)
{
	/* release, edge GIVE: the entries, and what magazine_push() says. */
	store_release(&m->bottom, first + count * LFPOOL_PUSHED);
}

/*
 * Owner, on first use: write down the slots that belong here by birth (H7), so that hits find them without
 * arithmetic.  Thieves that come meanwhile read 0 or the same slot: both right.
 */
static inline void magazine_inscribe(struct lfpool_magazine *m, uint32_t slots, uint32_t first_slot)
{
	for (uint32_t i = 0; i < slots; i++)
		/* relaxed: says what 0 said. */
		store_relaxed(&m->entry[i], first_slot + i);
}

/*
 * Thief: take the oldest object, or SLOT_NONE.  `top` was read (acquire) before a heavy fence that the caller
 * executed after it. first_slot: the slot that entry 0 stands for at position 0 (H7).
 */
static inline uint32_t magazine_take(struct lfpool_magazine *m, uint32_t slots, uint64_t top, uint32_t first_slot)
{
	/* acquire, edge GIVE: the entry, and what its releaser wrote. */
	if (magazine_count(top, load_acquire(&m->bottom), slots) <= 0)
		return SLOT_NONE;
	/* relaxed: GIVE made it visible; it is stale only if top has moved, and then the CAS fails (H6). */
	uint32_t slot = load_relaxed(&m->entry[top & (slots - 1)]);

	/* release, edge SPACE: keeps the read of the entry before the owner's next write of it; edge SHOW: who sees the
	 * object gone sees what we released before.  Nothing to acquire: GIVE has brought what belongs to the object. */
	if (!cas_release(&m->top, &top, top + 1))
		return SLOT_NONE;
	return slot ? slot : first_slot + (uint32_t)(top & (slots - 1));
}

#endif
