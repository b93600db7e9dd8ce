/* SPDX-License-Identifier: MIT */
/*
 * magazine.h - a magazine is a bounded Chase-Lev deque of free slots, with one owner and any number of thieves.  This
 * file also has the array of all magazines of a pool.
 *
 * Idea         The owner pushes and pops at bottom, thieves take from top by CAS.  Whole magazines move between caches
 *              and the depot, and their ownership moves with them: the accesses to the head of a stack order the old
 *              owner's accesses before the new owner's.  lfpool/inline.h has the fast paths.  This file has the pop of
 *              the last object, the thief's side, and the reads of a collect (steal.c).
 *              Sources: Chase, Lev 2005; Le, Pop, Cohen, Zappa Nardelli 2013 (the orders).
 *
 *                  word   0 .. HOME - 1        HOME          ...          limit - 1
 *                         top bottom next ..   entry[0]                   entry[slots - 1]
 *
 *              A magazine is a ring: the object at position p is in entry (p - HOME) modulo slots.  The limit is HOME +
 *              slots.  A magazine is at home while all of its objects are at positions HOME .. limit - 1.  At home, the
 *              position of an object is the index of its word in the drawing above.  Fast paths work only on a magazine
 *              at home.  A magazine leaves home when its owner reuses entries that thieves have emptied.  An owner that
 *              finds its magazine empty resets the positions, and so brings it home.
 *                 Magazines have numbers.  Magazines 1 .. chunks are born full: magazine n holds the slots of the n-th
 *              chunk.  The next magazines are the spares.  They are born empty, as room for the objects by which the
 *              pool may grow.  Both groups are one array in the pool's mapping.  Unused magazines are not touched, so
 *              they take no memory.  Each new cache adds EXTRA_PER_CACHE empty magazines with the next numbers.
 *              Their memory is mapped in lots of doubling size: lot k is for LOT_CACHES * 2^k caches.  So the address
 *              of a magazine follows from its number without a search, and no magazine moves.
 * Invariants   H1 .. H5 and H8 of lfpool/inline.h, and
 *              H6  the object at position top leaves only by a CAS of top, by the owner or a thief.  So if a thread's
 *                  CAS of top succeeds, the entry that the thread read before was the right one.
 *              H7  a chunk's magazine (numbers 1 .. chunks) is born full.  Its field `number` is 0 until a thread, its
 *                  maker, has initialised the magazine.  Until then each zero word means the value that the maker will
 *                  write: HOME for top, the limit for bottom, and for an entry the object that belongs there.
 *              G1  a magazine's address never changes and is mapped as long as the pool lives.
 *              G2  there are at least chunks + spares + EXTRA_PER_CACHE * (born caches) magazines.  A cache holds at
 *                  most two of them off the stacks, or three while it is being initialised (C4).  The chunks' magazines
 *                  and the spares have room for the maximum number of objects of the pool.  So a release always finds
 *                  room: docs/design.md, "Release never fails".
 * Progress     push, pop: wait-free.  take: wait-free (one CAS, no retry).
 * Concurrency  -: may run at the same time, even after the magazine has moved.  O: one owner at a time.  X: never at
 *              the same time, because no other thread has the magazine yet.  N: a reader ignores a magazine that has no
 *              number yet.
 *                                                                       make_empty  owner's  take  reads
 *                  make_empty                                               X          X      X      N
 *                  owner's: make_full, go_home, room, place, push, pop      X          O      -      -
 *                  take                                                     X          -      -      -
 *                  reads                                                    N          -      -      -
 * Edges        GIVE: every store of bottom -> load_acquire of bottom by a thief or a collect.
 *              SPACE: CAS of top -> load_acquire of top by an owner that reuses the entry.
 *              MADE: the store of number -> load_acquire of number in magazine_bottom().
 * Wrap         top wraps after 2^48 resets, about two months; a thief or a collect must stop for that long to be
 *              misled.  H1 subtracts positions of 16 bits, and is exact if both words are of
 *              one moment.  An owner's count never wraps, because the top that it reads is no older than its
 *              last push.  A thief with an old top may compute any count, but its CAS fails.  bottom counts pushes
 *              modulo 2^48.  Two collects wrongly agree only if exactly k * 2^48 pushes, on all magazines that caches
 *              name, fall between them.  2^48 pushes take 6.5 days at 2 ns each.
 */
#ifndef LFPOOL_MAGAZINE_H
#define LFPOOL_MAGAZINE_H

#include "base/atomics.h"
#include "base/base.h"
#include "base/widths.h"

#include "lfpool/inline.h"

#define MAGAZINE_SLOTS_MAX 4096

/* bottom - top is at least -slots and at most slots.  (It is -slots if the owner has lowered bottom by `slots`, and
 * thieves have taken all objects.)  Positions must have enough bits to distinguish these values. */
#define MAGAZINE_SLOTS_FIT (1 << (LFPOOL_POSITION_BITS_ - 2))
#define POSITIONS (UINT64_C(1) << LFPOOL_POSITION_BITS_)

/* The size in bytes of a magazine with `slots` slots, rounded up to whole pairs of cache lines. */
static inline size_t magazine_bytes(size_t slots)
{
	return round_up(sizeof(struct lfpool_magazine) + slots * sizeof(uintptr_t), CACHE_LINE_PAIR);
}

/* ---- Words ---- */

/* The position after `count` objects that begin at HOME; with `count` = slots, the limit.  In a magazine without
 * pushes, the word `bottom` is equal to its position. */
static inline uint32_t magazine_limit(uint32_t count)
{
	return (uint32_t)LFPOOL_HOME_ + count;
}

/* These functions return the word `bottom` with a changed position: bottom_lowered() lowers the position by `count`;
 * bottom_raised() and bottom_pushed() raise it.  bottom_pushed() also adds `count` to the number of pushes. */
static inline uint64_t bottom_lowered(uint64_t bottom, uint32_t count)
{
	return (bottom & ~(POSITIONS - 1)) | LFPOOL_POSITION_(bottom - count);
}

static inline uint64_t bottom_raised(uint64_t bottom, uint32_t count)
{
	return (bottom & ~(POSITIONS - 1)) | LFPOOL_POSITION_(bottom + count);
}

static inline uint64_t bottom_pushed(uint64_t bottom, uint32_t count)
{
	return bottom_raised(bottom + count * POSITIONS, count);
}

/* The number of objects, if both words are of one moment (H1).  The number may be negative, down to -slots, while the
 * owner has bottom lowered. */
static inline int magazine_count(uint64_t top, uint64_t bottom)
{
	return LFPOOL_AHEAD_(bottom, top);
}

/* Pushes since the magazine was made, modulo 2^48 (H4). */
static inline uint64_t magazine_pushes(uint64_t bottom)
{
	return bottom >> LFPOOL_POSITION_BITS_ & LOW_BITS(PUSHES_BITS);
}

/* The index of a position's entry in the ring, from 0. */
static inline uint32_t magazine_place_of(uint64_t position, uint32_t slots)
{
	return (uint32_t)(position - LFPOOL_HOME_) & (slots - 1);
}

/* ---- Reads, by any thread ---- */

static inline uint64_t magazine_top(uint64_t word)
{
	return word ? word : LFPOOL_HOME_;
}

/* Loads the word `bottom` with acquire, edge GIVE.  Before the magazine is made, a bottom of 0 means the limit (H7). */
static inline uint64_t magazine_bottom(const struct lfpool_magazine *m, uint32_t slots)
{
	/* acquire, edge MADE: sees the maker's store of bottom. */
	const bool made = load_acquire(&m->number);
	const uint64_t bottom = load_acquire(&m->bottom);

	return made || bottom ? bottom : magazine_limit(slots);
}

/* The number of objects in a magazine.  For the owner it is an upper bound, because thieves may take some; for other
 * threads it is a snapshot. */
static inline int magazine_count_now(const struct lfpool_magazine *m, uint32_t slots)
{
	/* relaxed: a stale top only makes the count too high, just like a theft after the load. */
	return magazine_count(magazine_top(load_relaxed(&m->top)), magazine_bottom(m, slots));
}

/* The object at a position; 0: the object that belongs there from the beginning (H7). */
static inline uintptr_t magazine_at(const struct lfpool_magazine *m, uint32_t slots, uint64_t position)
{
	/* relaxed: the owner pushed this object, or acquired it with the magazine; for a thief, see magazine_take(). */
	return load_relaxed(&m->entry[magazine_place_of(position, slots)]);
}

/* ---- Owner ---- */

/* On first use of a chunk's magazine, replaces the zero entries (H7) by the addresses of the objects, so that fast
 * paths need no arithmetic.  The first object is at `first`, and the next ones follow `stride` bytes apart.  (The
 * bottom of a short last chunk was stored when the pool was opened.) */
static inline void magazine_make_full(struct lfpool_magazine *m, uint32_t number, uint32_t slots, uintptr_t first,
				      size_t stride)
{
	uint64_t top = 0;

	ASSERT("H7", !peek(&m->number));
	for (uint32_t i = 0; i < slots; i++)
		/* relaxed: the address means the same as the 0. */
		store_relaxed(&m->entry[i], first + i * stride);
	/* relaxed: HOME means the same as the 0.  Fails if a thief has already advanced top. */
	(void)cas_relaxed(&m->top, &top, LFPOOL_HOME_);
	/* relaxed: the limit means the same as the 0, and the store of `number` publishes it. */
	if (!load_relaxed(&m->bottom))
		store_relaxed(&m->bottom, magazine_limit(slots));
	/* release, edge MADE: publishes bottom. */
	store_release(&m->number, number);
}

/* Initialises a magazine that is born empty, and that no other thread knows yet. */
static inline void magazine_make_empty(struct lfpool_magazine *m, uint32_t number)
{
	/* relaxed, all: published by the word that will name the magazine. */
	store_relaxed(&m->top, LFPOOL_HOME_);
	store_relaxed(&m->bottom, magazine_limit(0));
	store_relaxed(&m->number, number);
}

/* Is a magazine with these two words at home (H8)? */
static inline bool magazine_words_home(uint64_t top, uint64_t bottom, uint32_t slots)
{
	return LFPOOL_POSITION_(bottom) - LFPOOL_HOME_ <= slots && LFPOOL_POSITION_(top) - LFPOOL_HOME_ <= slots &&
	       magazine_count(top, bottom) >= 0;
}

static inline bool magazine_is_home(struct lfpool_magazine *m, uint32_t slots)
{
	/* relaxed, both: bottom is our own last store (H2).  A stale top is too low, but never from before the last
	 * reset, because that reset was our own or an earlier owner's. */
	const uint64_t bottom = load_relaxed(&m->bottom), top = load_relaxed(&m->top);

	return magazine_words_home(top, bottom, slots);
}

/*
 * Resets an empty magazine.  The owner may store top, because no thread can take from an empty magazine: the CAS of a
 * thief with an old top fails, and any other thief finds no object.  Bottom moves first, so the count is negative until
 * top follows.  The steps are so small that the difference in H1 does not wrap.
 */
static inline void magazine_go_home(struct lfpool_magazine *m)
{
	/* relaxed: our own last store (H2). */
	uint64_t bottom = load_relaxed(&m->bottom);
	/* acquire, edge SPACE: the thieves that advanced top have read the entries that we will overwrite. */
	uint64_t top = load_acquire(&m->top);

	for (uint32_t left; (left = (uint32_t)LFPOOL_POSITION_(top - LFPOOL_HOME_));) {
		const uint32_t step = left < POSITIONS / 4 ? left : (uint32_t)(POSITIONS / 4);

		bottom = bottom_lowered(bottom, step);
		top += POSITIONS - step;
		/* release, both: edges GIVE and SHOW, as for a pop. */
		store_release(&m->bottom, bottom);
		ASSERT("H6", magazine_count(peek(&m->top), bottom) == -(int)step);
		store_release(&m->top, top);
	}
}

/*
 * Completes a pop, after the owner has stored the lowered `bottom` and fenced.  A thief gets the last object only if it
 * began to take that object before bottom was lowered.  So while the lowered bottom hides an object, some call is
 * taking that object.  Resets the magazine if it is empty afterwards.
 */
static inline uintptr_t magazine_pop_end(struct lfpool_magazine *m, uint32_t slots, uint64_t bottom)
{
	uintptr_t object = 0;
	/* relaxed: the barrier orders this load after the store; a stale top is only too low (see docs/memory-model.md,
	 * "owner and thief"). */
	uint64_t top = load_relaxed(&m->top);
	int left = magazine_count(top, bottom);

	ASSERT("H1", left >= -1 && left < (int)slots);
	ASSERT("H2", peek(&m->bottom) == bottom);
	if (left >= 0) {
		object = magazine_at(m, slots, bottom);
		ASSERT("H7", object);
	}
	if (left > 0)
		return object;
	if (left == 0) {
		/* The last object.  release, edge SHOW: a thread that finds the object gone also sees our earlier
		 * releases. */
		if (!cas_release(&m->top, &top, top + 1))
			object = 0;
	}
	/* release, edge GIVE: restores bottom.  The magazine is empty now. */
	store_release(&m->bottom, bottom_raised(bottom, 1));
	magazine_go_home(m);
	return object;
}

/* The owner's half of the asymmetric fence (atomics.h), between its store of bottom and its load of top. */
static inline void owner_fence(bool asymmetric)
{
	if (asymmetric)
		light_barrier();
	else
		full_fence();
}

/* Takes the newest object, or returns 0.  Unlike the fast path it also takes the last object, by CAS. */
static inline uintptr_t magazine_pop(struct lfpool_magazine *m, uint32_t slots, bool asymmetric)
{
	/* relaxed: our own last store (H2). */
	const uint64_t bottom = bottom_lowered(load_relaxed(&m->bottom), 1);

	/* release, edge GIVE: a thief that reads this value still sees every earlier push. */
	store_release(&m->bottom, bottom);
	owner_fence(asymmetric);
	return magazine_pop_end(m, slots, bottom);
}

/*
 * Takes up to `wanted` of the newest objects at once; returns their number.  The objects stay in the entries from
 * position *first_out on, until the owner pushes again.  Bottom is lowered below all of them in one step.  From then on
 * thieves can get at most one of them, the object at top: a thief that wants the next one must read top after that
 * object was taken; after its fence it reads the lowered bottom, and finds no object.  So the owner races with thieves
 * only if it wants the object at top too.  In that case the magazine is empty afterwards.
 */
static inline uint32_t magazine_pop_many(struct lfpool_magazine *m, bool asymmetric, size_t wanted, uint64_t *first_out)
{
	/* relaxed, both: bottom is our own last store (H2); a stale top makes `count` too large, never too small. */
	uint64_t bottom = load_relaxed(&m->bottom);
	int there = magazine_count(load_relaxed(&m->top), bottom);

	if (there <= 0)
		return 0;
	const uint32_t count = wanted < (size_t)there ? (uint32_t)wanted : (uint32_t)there;

	bottom = bottom_lowered(bottom, count);
	*first_out = LFPOOL_POSITION_(bottom);
	/* release, edge GIVE: a thief that reads this value still sees every earlier push. */
	store_release(&m->bottom, bottom);
	owner_fence(asymmetric);
	/* relaxed: as in magazine_pop_end(). */
	uint64_t top = load_relaxed(&m->top);
	int left = magazine_count(top, bottom);

	ASSERT("H2", peek(&m->bottom) == bottom);
	if (likely(left > 0))
		return count;
	/* Thieves have taken `gone` of these objects. */
	uint32_t gone = (uint32_t)-left, taken = count - gone;

	*first_out += gone;
	if (taken) {
		gone++;
		/* The last object.  release, edge SHOW: a thread that finds the object gone also sees our earlier
		 * releases. */
		if (!cas_release(&m->top, &top, top + 1)) {
			++*first_out;
			taken--;
		}
	}
	/* release, edge GIVE: raises bottom to top, so the magazine is empty. */
	store_release(&m->bottom, bottom_raised(bottom, gone));
	return taken;
}

/* Reads the `count` objects that magazine_pop_many() took, which begin at position `first`.  Stores the newest object
 * first. */
static inline void magazine_read_many(const struct lfpool_magazine *m, uint32_t slots, uint64_t first, uint32_t count,
				      void **objects_out)
{
	/* One round for each contiguous part of the ring. */
	while (count) {
		const uint32_t end = magazine_place_of(first + count - 1, slots) + 1, row = count < end ? count : end;
		const _Atomic(uintptr_t) *entry = &m->entry[end];

#pragma GCC unroll 8
		for (uint32_t i = 0; i < row; i++)
			/* relaxed: as in magazine_at(). */
			*objects_out++ = (void *)load_relaxed(--entry);
		count -= row;
	}
}

/* Returns how many objects can be pushed, from position *first_out on, while the magazine stays at home.  First resets
 * a magazine that thieves have emptied. */
static inline uint32_t magazine_room(struct lfpool_magazine *m, uint32_t slots, uint64_t *first_out)
{
	/* relaxed, all: bottom is our own last store (H2); a stale top is only too low. */
	uint64_t bottom = load_relaxed(&m->bottom), top = load_relaxed(&m->top);

	if (magazine_count(top, bottom) <= 0) {
		magazine_go_home(m);
		bottom = load_relaxed(&m->bottom);
		top = load_relaxed(&m->top);
	}
	*first_out = bottom;
	return magazine_words_home(top, bottom, slots) ? magazine_limit(slots) - LFPOOL_POSITION_(bottom) : 0;
}

/* Writes `object` into the entry of a position that is not below bottom; magazine_push_placed() will push it. */
static inline void magazine_place(struct lfpool_magazine *m, uint32_t slots, uint64_t position, uintptr_t object)
{
	/* relaxed: published by the store of bottom. */
	store_relaxed(&m->entry[magazine_place_of(position, slots)], object);
}

/* Writes `count` objects into the entries from position `first` on, where magazine_room() has found room for them. */
static inline void magazine_place_many(struct lfpool_magazine *m, uint32_t slots, uint64_t first, uint32_t count,
				       void *const *objects)
{
	_Atomic(uintptr_t) *const entry = &m->entry[LFPOOL_POSITION_(first) - LFPOOL_HOME_];

	/* magazine_room() finds no room in a magazine that is not at home. */
	ASSERT("H8", !count || (magazine_words_home(peek(&m->top), first, slots) &&
				LFPOOL_POSITION_(first) + count <= magazine_limit(slots)));

#pragma GCC unroll 8
	for (uint32_t i = 0; i < count; i++)
		/* relaxed: as above. */
		store_relaxed(&entry[i], (uintptr_t)objects[i]);
}

/* Pushes the `count` objects placed from `first` on. */
static inline void magazine_push_placed(struct lfpool_magazine *m, uint64_t first, uint32_t count)
{
	ASSERT("H4", magazine_pushes(peek(&m->bottom)) == magazine_pushes(first));
	ASSERT("H2", peek(&m->bottom) == first);
	ASSERT("H3", magazine_count(magazine_top(peek(&m->top)), first) >= 0);
	/* release, edge GIVE: publishes the entries, the slots' states and the contents of the objects, for the next
	 * holders. */
	store_release(&m->bottom, bottom_pushed(first, count));
}

/* Pushes `object`; false if the magazine has no room at home. */
static inline bool magazine_push(struct lfpool_magazine *m, uint32_t slots, uintptr_t object)
{
	uint64_t bottom;

	if (!magazine_room(m, slots, &bottom))
		return false;
	magazine_place(m, slots, bottom, object);
	magazine_push_placed(m, bottom, 1);
	return true;
}

/* Pushes `object` on a magazine that has room only in entries that thieves have emptied.  The magazine leaves home. */
static inline void magazine_push_round(struct lfpool_magazine *m, uint32_t slots, uintptr_t object)
{
	/* relaxed: our own last store (H2). */
	const uint64_t bottom = load_relaxed(&m->bottom);

	/* acquire, edge SPACE: the thief that advanced top has read the entry that we overwrite. */
	(void)load_acquire(&m->top);
	ASSERT("H1", magazine_count(peek(&m->top), bottom) < (int)slots);
	magazine_place(m, slots, bottom, object);
	magazine_push_placed(m, bottom, 1);
}

/* ---- Thief ---- */

/*
 * Takes the oldest object, or returns 0.  The caller has read the word `top` (acquire), and then executed a heavy
 * fence.  `born`: the object that a zero entry means (H7).
 */
static inline uintptr_t magazine_take(struct lfpool_magazine *m, uint32_t slots, uint64_t top, uintptr_t born)
{
	const uint64_t position = magazine_top(top);

	/* acquire, edge GIVE: sees the entry, and the writes of the thread that released the object. */
	if (magazine_count(position, magazine_bottom(m, slots)) <= 0)
		return 0;
	/* relaxed: edge GIVE made the entry visible.  The entry is stale only if top has moved, and then the CAS fails
	 * (H6). */
	const uintptr_t object = magazine_at(m, slots, position);

	/* release, edge SPACE: the read of the entry comes before the owner's next write of it.  Edge SHOW: a thread
	 * that finds the object gone also sees our earlier releases.  No acquire, because edge GIVE made the object's
	 * contents visible. */
	if (!cas_release(&m->top, &top, position + 1))
		return 0;
	ASSERT("H7", object || born);
	return object ? object : born;
}

/* ---- All magazines of a pool ---- */

#define EXTRA_PER_CACHE 3
#define LOT_CACHES 16
#define LOT_COUNT 9
#define CACHES_MAX (LOT_CACHES * ((1 << LOT_COUNT) - 1))

struct magazines {
	char *chunk_base; /* address of magazine 1                    */
	size_t bytes;     /* bytes from one magazine to the next      */
	uint32_t slots;   /* per magazine, a power of two             */
	uint32_t chunks;  /* magazines that are born full             */
	uint32_t spares;  /* the next magazines, which are born empty */
	uintptr_t zero;   /* object s is at zero + s * stride         */
	size_t stride;
	_Atomic(char *) extra_lot[LOT_COUNT]; /* lot k: EXTRA_PER_CACHE * LOT_CACHES * 2^k magazines */
};

/* Lot k has `first << k` items.  Returns the lot of item `index` (from 0), and the item's index in that lot. */
static inline unsigned lot_of(uint32_t index, uint32_t first, uint32_t *place_out)
{
	unsigned lot = 31u - (unsigned)__builtin_clz(index / first + 1);

	*place_out = index - first * ((1u << lot) - 1);
	return lot;
}

static inline struct lfpool_magazine *magazines_at(const struct magazines *ms, uint32_t number)
{
	if (likely(number <= ms->chunks + ms->spares))
		return (struct lfpool_magazine *)(void *)(ms->chunk_base + (size_t)(number - 1) * ms->bytes);

	uint32_t place;
	unsigned lot = lot_of(number - ms->chunks - ms->spares - 1, EXTRA_PER_CACHE * LOT_CACHES, &place);

	/* relaxed: the edge by which the caller got the number also published the lot. */
	char *magazines = load_relaxed(&ms->extra_lot[lot]);

	plain_read(magazines);
	return (struct lfpool_magazine *)(void *)(magazines + (size_t)place * ms->bytes);
}

/* The number of extra magazine `which` (0 .. EXTRA_PER_CACHE - 1) of cache `cache` (from 0). */
static inline uint32_t magazines_extra_number(const struct magazines *ms, uint32_t cache, uint32_t which)
{
	return ms->chunks + ms->spares + 1 + cache * EXTRA_PER_CACHE + which;
}

/* The object that a zero entry of a chunk's magazine means (H7).  (Entries of other magazines are never 0.) */
static inline uintptr_t magazines_born(const struct magazines *ms, uint32_t number, uint32_t place)
{
	return ms->zero + ((uintptr_t)(number - 1) * ms->slots + 1 + place) * ms->stride;
}

static inline int magazines_count(const struct magazines *ms, uint32_t number)
{
	return magazine_count_now(magazines_at(ms, number), ms->slots);
}

/* The count of pushes for statistics.  This count has all bits, even in a test build whose collects compare fewer bits
 * (PUSHES_BITS). */
static inline uint64_t magazines_pushes(const struct magazines *ms, uint32_t number)
{
	/* acquire, edge GIVE: a thread that sees a push in this count finds the pushed object free, or acquired
	 * anew. */
	return load_acquire(&magazines_at(ms, number)->bottom) >> LFPOOL_POSITION_BITS_;
}

#endif
