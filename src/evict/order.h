/* SPDX-License-Identifier: MIT */
/*
 * order.h - finds the object with the lowest priority in an evicting pool: an array of priorities, with lower bounds
 * above it.
 *
 * Idea         The rank of a slot is a priority and a stamp, which records the age of the object.  A candidate is a
 *              slot whose word has the phase candidate and no pins (arena.h).  The slots are the leaves of a tree.  16
 *              slots form a block, and each block has a node with a lower bound for the ranks of the candidates in the
 *              block.  16 nodes form a block of the next level, and so on, up to a level with at most 32 nodes, the
 *              root's block.  A search follows the least bound from the root's block down to a block of slots, and
 *              takes the least rank there.  If that rank is not above the least bound in the root's block, no candidate
 *              has a lower rank.  Otherwise the search raises the bounds on its path, and tries again.  A node also
 *              records which child was the least at the last raise, so most searches scan only the root's block.
 *                 A rank changes only while the slot is pinned.  So only the last unpin can make a bound too high, and
 *              that unpin lowers the bounds above the slot.  Raising a bound only makes later searches faster.  Each
 *              eviction raises the bounds above its victim.
 * Invariants   EV1 a slot's priority and stamp change only while the slot is no candidate: the word does not have the
 *                  phase candidate yet, or the call that changes them has pinned the object.
 *              EV2 each bound above a candidate is at most the candidate's rank, unless a thread is raising the bound.
 *                  This holds from the return of the candidate's last unpin until the candidate is pinned, or its use
 *                  ends.
 *              EV3 lowering: after its CAS has removed the last pin, a thread loads the version of each node above the
 *                  slot, from the lowest level up.  If the bound is being raised, the thread adds MISSED to the
 *                  version.  Otherwise, if the bound is above the rank, the thread lowers the two words of the bound,
 *                  priority and stamp, one after the other.  Each word only decreases, so afterwards the bound is at
 *                  most the rank.
 *              EV4 raising: a thread that has added RAISING to the version scans the block below, stores the least rank
 *                  that it found as the bound, and then removes RAISING by a CAS.  If an unpin has added MISSED, the
 *                  CAS fails, and the bound becomes the lowest of all.  If the scan does not see an unpin, that unpin
 *                  loads the version after RAISING was added, in the single order of all seq_cst operations, and so
 *                  adds MISSED.  An unpin that loaded the version earlier may lower a word of the new bound, which is
 *                  allowed.
 *              EV5 a search trusts a bound if the version has no RAISING, and is the same before and after the loads.
 *                  A raise sees each unpin that had returned before the raise began.  A bound that is not trusted
 *                  counts as the lowest of all, which only makes the search scan one more block.
 * Progress     Wait-free, except for the loops that lower a word or add MISSED, which are lock-free.  A thread that
 *              stops while it raises a bound costs each search one more block.
 * Concurrency  -: may run at the same time.  H: not on one slot at the same time; the caller of order_enter alone holds
 *              the slot.  X: no other call is under way.
 *                                                            enter  set_priority  lower  least ..  check, close
 *                  order_enter                                 H         H          -       -           X
 *                  order_set_priority                          H         -          -       -           X
 *                  order_lower                                 -         -          -       -           X
 *                  order_least, order_raise, order_priority    -         -          -       -           X
 *                  order_check, order_close                    X         X          X       X           X
 * Edges        PIN (arena.h): the priority and the stamp, from the last unpin to a search that finds the slot.
 */
#ifndef LFPOOL_ORDER_H
#define LFPOOL_ORDER_H

#include "base/atomics.h"
#include "base/base.h"
#include "core/arena.h"

#include "lfpool/config.h"

/* A block has 16 slots or nodes, whose words fill two cache lines.  (The explorer's pools are small, so its blocks have
 * two slots or nodes.) */
#ifndef ORDER_BLOCK_BITS
#define ORDER_BLOCK_BITS 4
#define ORDER_ROOT_BITS 5
#define ORDER_DESCENTS 4
#endif
#define ORDER_BLOCK ((size_t)1 << ORDER_BLOCK_BITS)
/* ORDER_ROOT: the maximum number of slots or nodes in the root's block.  ORDER_DESCENTS: after this many failed
 * descents, a search uses search_below(), which reads the bounds of all children. */
#define ORDER_ROOT ((size_t)1 << ORDER_ROOT_BITS)
#define ORDER_LEVELS_MAX ((31 + ORDER_BLOCK_BITS - 1) / ORDER_BLOCK_BITS)

/* A priority and a stamp.  Stamps of slots begin at 1, so RANK_LOWEST is below all ranks of slots.  RANK_NONE is above
 * all of them. */
struct rank {
	uint64_t priority, stamp;
};

#define RANK_LOWEST ((struct rank){0, 0})
#define RANK_NONE ((struct rank){UINT64_MAX, UINT64_MAX})

/* A version is {number of raises, the child that the last raise has found, MISSED, RAISING}.  MISSED is set only with
 * RAISING. */
#define VERSION_RAISING UINT64_C(1)
#define VERSION_MISSED UINT64_C(2)
#define VERSION_CHILD UINT64_C(4)
#define VERSION_ONE (VERSION_CHILD << ORDER_BLOCK_BITS)

/* Level 0 has the slots, from slot 1 on; the other levels have nodes. */
struct order_level {
	_Atomic(uint64_t) *priority, *stamp;
	_Atomic(uint64_t) *version; /* nodes only */
};

struct order {
	const struct arena *arena;
	bool (*before)(void *context, uint64_t a, uint64_t b); /* NULL: a < b */
	void *context;
	lfpool_evict_t gives_way;
	unsigned levels; /* the highest level is the root's block */
	size_t mapped_bytes;
	struct order_level level[ORDER_LEVELS_MAX];
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) clock; /* the newest stamp */
	/* Statistics.  handed_over: victims whose slot a new object got.  released: other victims.  not_evicted: new
	 * objects for which no object gave way. */
	_Atomic(uint64_t) handed_over, released, not_evicted;
	/* Slots above `top` have never been candidates.  `top` only grows. */
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) top;
};

/* A candidate, as a search has seen it; if there is no candidate, `slot` is SLOT_NONE. */
struct least {
	struct rank rank;
	uint64_t word;
	uint32_t slot;
};

/* Makes the order for all slots of `arena`, and backs the order's memory as `config->flags` say. */
lfpool_status_t order_open(struct order **order_out, const lfpool_config_t *config, const struct arena *arena);
void order_close(struct order *order);

static inline uint64_t order_stamp(struct order *order)
{
	/* relaxed: stamps only have to differ.  If two calls are ordered, the later one gets the larger stamp. */
	return fetch_add_relaxed(&order->clock, 1) + 1;
}

/* Gives a slot its rank (EV1).  The slot is no candidate. */
void order_enter(struct order *order, uint32_t slot, struct rank rank);
/* Changes the priority of a slot that the caller has pinned (EV1). */
void order_set_priority(struct order *order, uint32_t slot, uint64_t priority);
uint64_t order_priority(const struct order *order, uint32_t slot);
/* Called after the last pin of a candidate was removed.  Lowers the bounds above the candidate (EV3). */
void order_lower(struct order *order, uint32_t slot);

/* Returns the candidate with the least rank.  Ranks may change during the call.  No candidate that stays unchanged
 * during the call has a lower rank than the search read for its result. */
struct least order_least(struct order *order);
/* Called after the block of this slot lost its least candidate.  Raises each bound above the block that is lower than
 * `limit`. */
void order_raise(struct order *order, uint32_t slot, struct rank limit);
/* Does an object with priority `a` give way to a new one with priority `b`? */
bool order_gives_way(const struct order *order, uint64_t a, uint64_t b);

/* Checks EV1 and EV2, while no call is under way.  Returns NULL, or the invariant that does not hold; *where_out is
 * then the index of the slot. */
const char *order_check(const struct order *order, size_t *where_out);

#endif
