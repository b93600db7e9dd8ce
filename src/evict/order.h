/* SPDX-License-Identifier: MIT */
/*
 * order.h - which object of an evicting pool has the lowest priority: an array of priorities, with lower bounds above
 * it.
 *
 * Idea         A slot has a priority, and a stamp that is its age; the two together are its rank.  64 slots are a
 *              block.  A node has a lower bound for the ranks of the candidates in its block.  64 nodes are a block
 *              too, and so on.  A search goes to the node with the least bound, then to each other node whose bound
 *              is below the rank that it has found.  A candidate is a slot with a word that says candidate, without
 *              pins (arena.h).  So a rank changes while the slot is pinned, and the last unpin is the only step that
 *              can make a bound wrong: it lowers the bounds above the slot.  Raising a bound only makes later
 *              searches faster.
 * Invariants   EV1 a slot's priority and stamp change only while its object is pinned by the caller, or is not
 *              active.
 *              EV2 when the last unpin of a candidate has returned, each bound above it that is not being raised is
 *                  at most its rank, until it is pinned or leaves.
 *              EV3 lowering: after the CAS that removed the last pin, at each level from the lowest up, a bound that
 *                  is above the rank is lowered.  The two words of a bound are lowered one after the other; each only
 *                  grows less, so both together are at most the rank in the end.
 *              EV4 raising: a thread that has made the version odd raises the two words, scans the block below again,
 *                  lowers them to the least rank found, and makes the version even.  An unpin that the second scan
 *                  misses comes after the raised words in the one order of all seq_cst operations, so it sees them,
 *                  and lowers them as EV3 says.
 *              EV5 a bound that was read with one even version before and after was not being raised.  Any other
 *                  bound counts as the lowest of all, which only makes a search look at one more block.
 * Progress     Wait-free, except the loops that lower a word: lock-free.  A thread that stops while it raises a bound
 *              costs each search one more block.
 * Edges        PIN (arena.h): the priority and the stamp, from the last unpin to a search that finds the slot.
 */
#ifndef LFPOOL_ORDER_H
#define LFPOOL_ORDER_H

#include "base/atomics.h"
#include "base/base.h"
#include "core/arena.h"

#include "lfpool/config.h"

/* Slots, or nodes, of a block.  (The explorer has blocks of two: its pools are small.) */
#ifndef ORDER_BLOCK_BITS
#define ORDER_BLOCK_BITS 6
#endif
#define ORDER_BLOCK ((size_t)1 << ORDER_BLOCK_BITS)
#define ORDER_LEVELS_MAX ((31 + ORDER_BLOCK_BITS - 1) / ORDER_BLOCK_BITS)

/* A priority and an age.  Stamps of slots are from 1 on: RANK_LOWEST is below each, RANK_NONE above. */
struct rank {
	uint64_t priority, stamp;
};

#define RANK_LOWEST ((struct rank){0, 0})
#define RANK_NONE ((struct rank){UINT64_MAX, UINT64_MAX})

/* The slots, from slot 1 on (level 0), or the nodes of a level. */
struct order_level {
	_Atomic(uint64_t) *priority, *stamp;
	_Atomic(uint64_t) *version; /* of a node: odd while its bound is raised */
};

struct order {
	const struct arena *arena;
	bool (*before)(void *context, uint64_t a, uint64_t b); /* NULL: a < b */
	void *context;
	lfpool_evict_t gives_way;
	unsigned levels; /* the slots, and the nodes above them: the highest level is one block */
	size_t mapped_bytes;
	struct order_level level[ORDER_LEVELS_MAX];
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) clock; /* the newest stamp */
	/* Statistics: victims whose slot a newcomer got, other victims, and newcomers to whom no object gave way. */
	_Atomic(uint64_t) handed_over, released, not_evicted;
	/* Slots 1 .. top have been candidates; it only grows. */
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) top;
};

/* A candidate, as a search has seen it; without one the slot is SLOT_NONE. */
struct least {
	struct rank rank;
	uint64_t word;
	uint32_t slot;
};

/* For the slots of `arena`, 1 .. slots; its memory is backed as `config->flags` say. */
lfpool_status_t order_open(struct order **order_out, const lfpool_config_t *config, const struct arena *arena);
void order_close(struct order *order);

/* A new stamp: later than all before. */
static inline uint64_t order_stamp(struct order *order)
{
	/* relaxed: that no two are equal is enough; calls that are ordered see it grow. */
	return fetch_add_relaxed(&order->clock, 1) + 1;
}

/* Gives a slot its rank; its object is not active yet, or pinned by the caller.  EV1. */
void order_enter(struct order *order, uint32_t slot, struct rank rank);
/* Changes the priority; the slot is pinned by the caller.  EV1. */
void order_set_priority(struct order *order, uint32_t slot, uint64_t priority);
uint64_t order_priority(const struct order *order, uint32_t slot);
/* The caller has removed the last pin of a candidate: EV3. */
void order_lower(struct order *order, uint32_t slot);

/* Of all candidates that stay so, and whose rank does not change, during the call, the one with the least rank, or
 * one whose rank was below it when it was seen. */
struct least order_least(struct order *order);
/* Does an object with priority `a` give way to a newcomer with priority `b`? */
bool order_gives_way(const struct order *order, uint64_t a, uint64_t b);

/* EV2, while no call is under way: NULL, or which invariant does not hold; *where_out: the index of the slot. */
const char *order_check(const struct order *order, size_t *where_out);

#endif
