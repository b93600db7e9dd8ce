/* SPDX-License-Identifier: MIT */
/*
 * retired.h - objects that are retired and not yet free (lfpool/retire.h).
 *
 * Idea         Each thread uses one of a few shards.  A shard has a growing stack of retired slots, and at most one
 *              batch, for which the scheme decides when it may be reused.  One word describes the batch and the stack:
 *              {phase:2, count:30, slot:32}.  The count and the slot belong to the stack.
 *                  idle  -> begun   CAS, by a retire: its slots are the batch (-> held, if the scheme is asked)
 *                  begun -> begun   CAS, by a retire: its slots are pushed (also held -> held)
 *                  begun -> idle    CAS, after the batch was reclaimed: the stack is empty
 *                  begun -> begun   CAS, after the batch was reclaimed: the stack becomes the next batch
 *              If the scheme has to be asked (`ready`), any call may ask about a batch that is begun.  That adds
 *                  begun -> held    CAS, by the call that asks, which then has the batch alone
 *                  held  -> begun   CAS, by that call: the batch is not ready, or the next one has begun
 *                  held  -> idle    CAS, by that call: the batch was reclaimed, and the stack is empty
 *              The links of the stack and of the batch are in an array, with a word for each slot.  The stack is only
 *              taken as a whole, and only the call that took it reads its links.  So ABA cannot occur, and the word
 *              needs no tag.
 * Invariants   R1  a retired slot is on one stack, or in one batch, and its link is marked as retired.  The link of a
 *                  free or active slot is not marked.
 *              R2  an idle shard has an empty stack: when a batch has been reclaimed, the stack becomes the next batch.
 *                  So a slot on the stack waits for the current batch, and then for its own.
 *              R3  a batch belongs to one call or to the scheme.  A call gets the batch when it changes the word from
 *                  idle to begun or held, or when it takes the stack.  It writes the batch until it calls `begin`.
 *                  After that the batch belongs to the scheme, or to the call that changed the word from begun to held.
 *                  If the batch is ready, that call puts the objects back before it lets the batch go.
 *              R4  `ended` counts the batches of a shard whose objects are all free.
 * Progress     Retire: lock-free, except for `begin`.  Asking: lock-free, except for `ready`, because a call skips a
 *              shard that is held.  If a thread stops while it holds a shard, the objects there stay retired, and other
 *              calls retire to other shards.
 * Concurrency  -: may run at the same time.  H: one call at a time for a slot, or for a batch: each has one holder
 *              (R3).  E: only in a hook at the end of a batch; finish waits for that batch.  X: no other call is under
 *              way.
 *                                              push, poll  reclaim  count, has  finish  close
 *                  retired_push, retired_poll      H          -         -         E       X
 *                  lfpool_batch_reclaim            -          H         -         -       X
 *                  retired_count, retired_has      -          -         -         -       X
 *                  retired_finish                  E          -         -         X       X
 *                  retired_close                   X          X         X         X       X
 * Edges        RETIRE: from a push to the call that takes the stack.  Also from the call that lets a batch go to the
 *              call that begins the next batch, or holds or reclaims this one.
 *              BEGUN: from the call that begins a batch to the call that reclaims it, for tools that do not see how the
 *              scheme orders the two.
 *              ENDED: from the call that puts back a batch's objects to a drain, a poll or an acquire that sees the new
 *              count.
 */
#ifndef LFPOOL_RETIRED_H
#define LFPOOL_RETIRED_H

#include "base/atomics.h"
#include "base/base.h"
#include "pool/pool.h"

#include "lfpool/retire.h"

/* A slot's link: the slot below it, or SLOT_NONE; and this bit while the slot is retired. */
#define LINK_RETIRED (UINT32_C(1) << 31)

/* A retire asks the scheme each time that the stack has grown by RETIRES_PER_POLL slots. */
#ifndef RETIRES_PER_POLL
#define RETIRES_PER_POLL 64
#endif

/* ---- The word of a shard ---- */

enum phase_of_shard { IDLE, BEGUN, HELD };

static inline enum phase_of_shard shard_phase(uint64_t word)
{
	return (enum phase_of_shard)(word >> 62);
}

static inline uint32_t shard_count(uint64_t word)
{
	return (uint32_t)(word >> 32) & (RETIRED_SLOTS_MAX - 1);
}

static inline uint64_t shard_word(enum phase_of_shard phase, uint32_t count, uint32_t slot)
{
	return (uint64_t)phase << 62 | (uint64_t)count << 32 | slot;
}

/* The word for the same stack in this phase. */
static inline uint64_t shard_in(uint64_t word, enum phase_of_shard phase)
{
	return shard_word(phase, shard_count(word), (uint32_t)word);
}

/* ------------------------------------------------------------------------------------------------------------- */

struct cache_head;

struct batch {
	_Alignas(16) struct lfpool_batch_t face; /* must be first: a scheme gets this part  */
	lfpool_t *pool;
	struct retired_shard *shard;
	uint32_t first;          /* slot; its link leads to the next        */
	_Atomic(uint32_t) begun; /* batches so far, for edge BEGUN          */
};

struct retired_shard {
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) word;
	/* Written by the holder of the batch (R3). */
	_Alignas(CACHE_LINE_PAIR) struct batch batch;
	_Atomic(uint32_t) with_scheme; /* objects in the batch, a statistic  */
	_Atomic(uint64_t) ended;       /* R4                                 */
};

struct retired {
	lfpool_scheme_t scheme;
	size_t mapped_bytes;
	uint32_t shards;         /* a power of two */
	_Atomic(uint32_t) *link; /* by slot */
	struct retired_shard shard[];
};

static inline uint32_t retired_below(const struct retired *retired, uint32_t slot)
{
	/* relaxed: edge RETIRE made the link visible with the stack, or this call wrote it. */
	return load_relaxed(&retired->link[slot]) & ~LINK_RETIRED;
}

/* Makes pool->retired, for this scheme and slots 1 .. slots, and backs its memory as `flags` say (os.h).  A failure
 * changes nothing. */
lfpool_status_t retired_open(lfpool_t *pool, const lfpool_scheme_t *scheme, size_t slots, uint32_t flags);
/* Retires a slot that the caller holds and whose object's use has ended. */
void retired_push(lfpool_t *pool, uint32_t slot);
/* Called before the pool is destroyed.  Waits until no object is retired and no thread works on a batch.  Unlike
 * lfpool_drain(), it also waits for objects that hooks retire during the wait, and for the thread that has put back the
 * last batch.  Returns LFPOOL_E_IN_SECTION as lfpool_drain() does.  `retired` may be NULL. */
lfpool_status_t retired_finish(struct retired *retired, lfpool_t *pool);
void retired_close(struct retired *retired);

/* Does the scheme have to be asked (`ready`)?  `retired` may be NULL here and below. */
static inline bool retired_asks(const struct retired *retired)
{
	return retired && retired->scheme.ready;
}

/* Asks about each batch, if the scheme has to be asked.  True: any thread reclaimed a batch during the call.  The
 * objects go to the cache `head`, or to the thread's cache if `head` is NULL.  A signal handler passes its own cache,
 * because it must not touch another one. */
bool retired_poll(struct retired *retired, struct cache_head *head);

/* retired_count(): the number of retired slots, at most `capacity`; a snapshot.  retired_has(): is this slot
 * retired? */
size_t retired_count(const struct retired *retired, size_t capacity);
static inline bool retired_has(const struct retired *retired, uint32_t slot)
{
	/* relaxed: a snapshot, unless the slot's holder calls. */
	return retired && load_relaxed(&retired->link[slot]) != 0;
}

#if EMBEDDED
/* No pool in a buffer has a scheme. */
#define retired_finish(retired, pool) LFPOOL_OK
#define retired_close(retired) ((void)(retired))
#define retired_poll(retired, head) ((void)(head), false)
#define retired_count(retired, capacity) ((size_t)0)
#endif

#endif
