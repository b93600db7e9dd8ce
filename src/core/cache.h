/* SPDX-License-Identifier: MIT */
/*
 * cache.h - one worker's private store of free slots.  Other workers may steal from it when they find no other free
 * slot.
 *
 * Idea         A cache has a magazine, `current`, and two stacks.  Its user, the thread or call that has claimed it,
 *              works on `current`.  When `current` is empty, the user puts it on the cache's stack of empty magazines
 *              and takes one with objects: from the cache's own stack, from the depot, or from an unused chunk.  When
 *              `current` is full, the user puts it on the cache's stack of full magazines and takes an empty one.  So a
 *              worker gets back the objects that it released itself, and a change of magazines costs two
 *              compare-and-swaps on a line that other threads rarely write.  A stack has at most `bound` magazines.
 *              The surplus goes to the depot, where every thread finds it.  (Bonwick and Adams 2001 have a second
 *              magazine instead of stacks: decision 0019.)
 *                 The word `in_transit` names the magazine that is moving now.  Thieves and collects (steal.c) read
 *              `in_transit`, `current_word` and the stack of full magazines.
 * Invariants   C1  at every instant every free slot is (a) in a magazine on a stack of full or partial magazines, (b)
 *                  in an unused chunk, (c) in a magazine that `current_word` or `in_transit` of some cache names, (d)
 *                  held by the call that is acquiring or releasing it, or (e) cold, and counted as allowed (cold.h).
 *              C2  only the user of a cache writes its `current_word` and `in_transit`.  Any thread may pop from a
 *                  cache's stacks; only the cache's user pushes on them.
 *              C3  only the user of the cache acts as owner of the magazine in `current`.
 *              C4  a cache holds at most two magazines that are on no stack, or three while the cache is being
 *                  initialised (magazine.h, G2).
 *              C5  between calls `in_transit` is clear, current_word and `current` name the same magazine, and `hot`
 *                  names that magazine or is cache_closed().
 *              C6  a stack of a cache has at most `bound` magazines, and is empty until table.count includes the cache
 *                  (T2).
 *              A magazine moves in four steps.  The call announces it in `in_transit`, takes it from its old stack or
 *              region by CAS, makes it `current` or puts it on another stack, and clears `in_transit`.
 * Progress     cache_take, cache_put: lock-free.  Comments in these functions explain why their loops end.
 * Concurrency  -: may run at the same time.  U: not on one cache at the same time; a cache has one user, from
 *              cache_claim to cache_unclaim.  X: never at the same time, because no other thread has the pool.
 *                                                       user's  claim  steals  census, stats  open, close
 *                  user's: take, put, flush, unclaim      U       -      -           -             X
 *                  cache_claim                            -       -      -           -             X
 *                  steals by other caches' users          -       -      -           -             X
 *                  census_*, cache_table_stats            -       -      -           -             X
 *                  cache_table_open, cache_table_close    X       X      X           X             X
 * Edges        SHOW: stores of current_word and in_transit -> collects and thieves.   PUT (depot.h): the stacks.
 *              CLAIM: one user gives the cache up -> the next user claims it.
 */
#ifndef LFPOOL_CACHE_H
#define LFPOOL_CACHE_H

#include "core/arena.h"
#include "core/cold.h"
#include "core/depot.h"

#include "lfpool/report.h"

struct lfpool_t;
struct core;

/* Begins with the public lfpool_cache_t. */
struct cache_head {
	struct lfpool_cache_t face; /* must be first                            */
	struct lfpool_t *pool;
};

struct cache {
	/* Only the cache's user writes these fields. */
	_Alignas(CACHE_LINE_PAIR) struct cache_head head;
	struct core *core;
	struct lfpool_magazine *current; /* the magazine named by current_word */
	uint32_t index;                  /* this cache's index in the table    */
	struct sums {                    /* the sums of a collect, steal.c     */
		uint64_t words, pushes;
	} exhausted;    /* sums of the last proof that no slot was free         */
	struct counts { /* statistics, see lfpool_stats_t                       */
		_Atomic(uint64_t) refills, drains, trips, steals, exhausted;
		_Atomic(uint64_t) returned; /* pushes that are not releases                       */
	} counts;
	struct closed {
		uint64_t words[LFPOOL_HOME_];
	} closed; /* the magazine of cache_closed(), which has no entries */

	/* Other threads read these words (C2). */
	_Alignas(CACHE_LINE_PAIR) tagged_word current_word;
	tagged_word in_transit;
	struct stack full, empty;
	_Atomic(uint32_t) claimed; /* 1 = has a user                                          */
	_Atomic(uint32_t) born;    /* 1 = its extra magazines exist                           */
	/* From the last round of LFPOOL_IDLE: `current_word`, and the pushes on the magazine that it named. */
	_Atomic(uint64_t) rested_word, rested_pushes;
};

/* The number of caches reserved for single calls, so that threads without a cache can work.  In a buffer, a quarter of
 * its caches is reserved. */
#define CACHES_FOR_CALLS 4
_Static_assert(LOT_CACHES / 4 == CACHES_FOR_CALLS, "in a buffer with all of them, too");
enum cache_term { CACHE_FOR_LONG, CACHE_FOR_CALL };
/* After the system has refused memory for caches, the next PATIENCE calls that need a cache do not ask for memory
 * again. */
#define PATIENCE 1000

/* All caches of the pool, in lots of doubling size.  Caches are never unmapped or moved while the pool lives. */
struct cache_table {
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint32_t) count; /* caches that may hold objects; only grows        */
	_Atomic(char *) lot[LOT_COUNT];                    /* lot k: LOT_CACHES * 2^k caches                  */
	uint32_t most, for_calls;                          /* maximum of `count`; caches for single calls     */
};

/* The part of a pool that its caches share. */
struct core {
	struct arena arena;
	struct magazines magazines;
	struct cache_table table;
	bool asymmetric; /* owners need only a compiler barrier: thieves use membarrier, or there are no thieves */
	bool hits;       /* the inlined fast paths may be used; otherwise every call takes the slow path         */
	struct lfpool_t *pool;             /* for probes and caches                      */
	const char *name;                  /* the pool's name                            */
	_Atomic(uint32_t) explicit_caches; /* in a buffer: the number of explicit caches */
	/* A statistic of calls without a cache.  The field begins a new pair of cache lines, because misses read the
	 * fields above. */
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) exhausted;
	_Atomic(uint64_t) unpushed; /* releases that pushed nothing, minus pushes of objects released twice        */
	_Atomic(uint32_t) patience; /* the next `patience` calls must not ask the system for caches (PATIENCE)     */
	struct cold cold;           /* slots that are in no magazine: room to grow, withdrawn or trimmed slots     */
	uint32_t bound;             /* maximum depth of a cache's stacks, in magazines                             */
	bool existing_first;        /* slots in other caches are taken before cold ones                            */
	struct depot depot;         /* the last member, because a pool has memory only for the shards that it uses */
};

/* ---- The table ---- */

/* Uses `memory` as the first lot: cache_lot_bytes() bytes, zeroed and aligned to CACHE_LINE_PAIR.  If `in_buffer` is 0,
 * the lot has LOT_CACHES caches.  Otherwise it has `in_buffer` caches, and no other lot follows. */
void cache_table_open(struct core *core, char *memory, uint32_t in_buffer);
/* Unmaps all lots but the first. */
void cache_table_close(struct core *core);
/* Counts the free slots in the caches' extra magazines (magazine.h), and adds the pushes on these magazines to *pushes;
 * a snapshot. */
size_t cache_table_extra_count(const struct core *core, uint64_t *pushes);
/* Sums up the counts of the caches and the depot, and counts the caches and their free slots; a snapshot. */
void cache_table_stats(const struct core *core, lfpool_stats_t *stats_out);
/* The bytes of a lot with `caches` caches and their extra magazines. */
size_t cache_lot_bytes(size_t magazine_bytes, uint32_t caches);
/* The index-th cache; *left_out: the number of caches that follow it in memory. */
struct cache *cache_at(const struct core *core, uint32_t index, uint32_t *left_out);
/*
 * Claims a cache that only the caller uses: a thread's cache, an explicit cache, or a cache for one call.  The search
 * starts at `hint`.  NULL when the table is full and all caches are taken, or when the system refuses memory.  After
 * such a refusal, the next PATIENCE calls that need a new cache for one call get NULL too.  Lock-free; may enter the
 * kernel.
 */
struct cache *cache_claim(struct core *core, enum cache_term term, uint32_t hint);
/* Gives the cache up.  The objects stay in the cache, and users of other caches can steal them. */
void cache_unclaim(struct cache *c);

/* By default, the objects in a cache have at most this many bytes in total. */
#define CACHE_BYTES ((size_t)256 << 10)

/* The maximum number of objects in a cache between calls. */
static inline uint32_t cache_most_objects(const struct core *core)
{
	return (core->bound + 1) * core->magazines.slots;
}

/* A magazine that is both empty and full, so that every call takes the slow path. */
static inline struct lfpool_magazine *cache_closed(struct cache *c)
{
	return (struct lfpool_magazine *)(void *)&c->closed;
}

/* ---- Take and put ---- */

/* Makes `number`, which `in_transit` names, the current magazine, and puts the previous one, which is empty, on a
 * stack. */
void cache_adopt(struct cache *c, uint32_t number);
/* A free slot from any magazine except an unused chunk's; SLOT_NONE if it found none. */
uint32_t cache_take_idle(struct cache *c);
/* A free slot from anywhere; SLOT_NONE: at some moment during the call no slot was free.  `empty`: the caller has just
 * found `current` empty. */
uint32_t cache_take(struct cache *c, bool empty);
/* Like cache_take(c, false), but without the cold store. */
uint32_t cache_take_existing(struct cache *c);
/* Turns the fast paths on if the current magazine is at home, otherwise off (H8).  Must be called after each change
 * that can bring the current magazine home or away from home. */
void cache_offer(struct cache *c);
/* Takes `slot` back.  Always succeeds. */
void cache_put(struct cache *c, uint32_t slot);
/* Gives the cache's magazines with objects to the depot.  If no empty magazine can replace `current`, gives only the
 * objects in `current`. */
void cache_flush(struct cache *c);

/* ---- steal.c ---- */

enum steal_result {
	STEAL_AGAIN,    /* something moved, or an unused or cold slot is free    */
	STEAL_HOME,     /* a stolen magazine is now `current`                    */
	STEAL_GOT,      /* *slot_out is a stolen slot                            */
	STEAL_EXHAUSTED /* at some moment during the call no slot was free       */
};
/* Steals an object or a magazine, or proves that no slot is free.  `cold`: allowed slots in the cold store count as
 * free. */
enum steal_result cache_steal(struct cache *c, uint32_t *slot_out, bool cold);

/* ---- census.c: snapshots of how many slots are in use, in magazines, cold or unused, and of all counts ---- */

/* The number of slots in used chunks. */
size_t census_carved(const struct core *core);
/* The number of slots in unused chunks, plus the allowed cold slots. */
size_t census_untouched(const struct core *core);
/* The number of free slots in all magazines in use.  *pushes becomes the number of all pushes on magazines so far. */
size_t census_in_magazines(const struct core *core, uint64_t *pushes);
/* The number of used chunks. */
uint64_t census_chunks(const struct core *core);
/* The slots that acquires may have taken so far form runs of neighbouring slots.  census_used() returns the highest
 * of these slots.  census_run() returns the lowest of them that is not below `slot`, and sets *end_out to the slot
 * after its run.  If no such slot exists, the result is not below *end_out. */
size_t census_used(const struct core *core);
size_t census_run(const struct core *core, size_t slot, size_t *end_out);
/* census_lists() adds the numbers of free slots, and the counts of the caches and the depot, to stats that are zero
 * except for the capacity.  census_states(), called afterwards, adds the number of active slots, and the high-water
 * mark. */
void census_lists(const struct core *core, lfpool_stats_t *stats_out);
void census_states(const struct core *core, lfpool_stats_t *stats_out);
void census_reset_high_water(struct core *core);
/* The number of objects that were free all the time since the last census_reset_idle(); 0 before the first reset.
 * `stolen`: how many objects and magazines were stolen since that reset.  The result is never too large. */
size_t census_idle(const struct core *core, uint64_t stolen);
void census_reset_idle(struct core *core);
/* The number of objects and magazines that were ever taken from other caches. */
uint64_t census_steals(const struct core *core);

#endif
