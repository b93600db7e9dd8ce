/* SPDX-License-Identifier: MIT */
/*
 * operations.c - the operations that are stopped at every instruction.
 *
 * Idea         With magazines of four slots (cache_capacity 8) the state after a few acquires and releases on one
 *              thread is exact.  A cache is born with three empty magazines: it works on one and keeps one on its
 *              stack.  A fresh cache's first four acquires carve a chunk, whose magazine becomes `current`; the
 *              emptied one goes to the depot.  So after 8 acquires `current` is empty.  From there releases fill it,
 *              then another, and the first full one stays on the cache's stack.
 */
#include "calls.h"

#include "lfpool/report.h"
#include "lfpool/retire.h"
#include "lfpool/wait.h"

/* ---- Operations ---- */

OPERATION(create_cache, s->mine = STEP(lfpool_cache_create(s->pool)))

/* On failure the objects in the array are already released. */
static void acquire_all(struct scene *s)
{
	if (STEP(lfpool_acquire_bulk_wait(s->pool, NULL, s->got, s->wanted, 0)) != LFPOOL_OK)
		memset(s->got, 0, sizeof(s->got));
}

static void destroy_cache(struct scene *s)
{
	STEP_VOID(lfpool_cache_destroy(s->mine));
	s->mine = NULL;
}

/* ---- The table ---- */

/* name, pool, setup, operate, moves, in_hand */
#define BORROWED POOL(4 * EACH, LFPOOL_CACHE_NONE, 0, NULL, NULL, SPECIAL_NOTHING)

const struct operation operations[] = {
	/* current 2 of 4 */
	{"acquire hit, inlined", USUAL, "mine +2 want 1", acquire_inlined, 0, 1},
	{"release hit, inlined", USUAL, "mine +2 older", release_inlined, 0, 1},
	{"acquire hit, function", USUAL, "mine +2 want 1", acquire_through_cache, 0, 1},
	{"release hit, function", USUAL, "mine +2 older", release_through_cache, 0, 1},
	/* the thread attaches in the set-up, so this is not its first call */
	{"acquire hit, thread's cache", USUAL, "own +2 want 1", acquire, 0, 1},
	{"release hit, thread's cache", USUAL, "own +2 older", release, 0, 1},
	{"acquire, zeroing", WITH(LFPOOL_ZERO), "mine +2 want 1", acquire_inlined, 0, 1},
	{"release, races checked", WITH(LFPOOL_CHECK_RACES), "mine +2 older", release_inlined, 0, 1},
	/* current 1 of 4 */
	{"acquire last of current", USUAL, "mine +3 want 1", acquire_inlined, MOVES_TOP, 1},
	/* current empty, a full magazine on the cache's stack */
	{"acquire, refill own", USUAL, "mine +8 -8 +4 want 1", acquire_inlined, CHANGED, 1},
	/* the depot has a full magazine, or one with two objects; the emptied one goes there, because the cache's
	 * stack is full */
	{"acquire, refill full", USUAL, "other +4 -4 renew want 1", acquire_inlined,
	 MOVES_CURRENT | MOVES_FULL | MOVES_EMPTY, 1},
	{"acquire, refill partial", USUAL, "other +4 -2 renew want 1", acquire_inlined,
	 MOVES_CURRENT | MOVES_PARTIAL | MOVES_EMPTY, 1},
	{"acquire, carve", USUAL, "want 1", acquire_inlined, MOVES_CURRENT | MOVES_CARVED | MOVES_EMPTY, 1},
	/* only three objects in another cache's current, or its two full magazines */
	{"acquire, steal one", SMALL, "other all -3 want 1", acquire_inlined, MOVES_TOP, 1},
	{"acquire, rob a magazine", SMALL, "other all -8 want 1", acquire_inlined, CHANGED | MOVES_EMPTY, 1},
	{"acquire, exhausted", SMALL, "other all want 1", acquire_inlined, 0, 0},
	{"acquire, exhausted again", SMALL, "other all want 1 ask", acquire_inlined, 0, 0},
	/* current full, its stack empty; then full as well */
	{"release, drain", USUAL, "mine +8 -4 hand 1", release_inlined, CHANGED, 1},
	{"release, drain to the depot", USUAL, "mine +9 -5 hand 1", release_inlined,
	 MOVES_CURRENT | MOVES_FULL | MOVES_EMPTY, 1},
	/* current full, and no empty magazine anywhere: each destroyed cache with one object moves one from the
	 * stacks of empty ones to the stacks of partial ones */
	{"release, room in partial", USUAL, "other +16 mine -4 hand 1 spread 10", release_inlined,
	 CHANGED | MOVES_PARTIAL, 1},
	/* a borrowed cache holds nothing between calls */
	{"acquire, borrowed cache", BORROWED, "own +3 -1 want 1", acquire,
	 MOVES_CURRENT | MOVES_PARTIAL | MOVES_EMPTY | MOVES_TOP, 1},
	{"release, borrowed cache", BORROWED, "own +3 hand 1", release, MOVES_CURRENT | MOVES_PARTIAL | MOVES_EMPTY, 1},
	{"acquire, thread's first call", USUAL, "want 1", acquire, CHANGED | MOVES_CARVED | MOVES_EMPTY | MOVES_CACHES,
	 1},
	/* across the end of a magazine */
	{"acquire bulk of 6", USUAL, "own +2 want 6", acquire_bulk,
	 MOVES_CURRENT | MOVES_CARVED | MOVES_EMPTY | MOVES_TOP, 6},
	{"acquire of 6, all or none", USUAL, "own +2 want 6", acquire_all,
	 MOVES_CURRENT | MOVES_CARVED | MOVES_EMPTY | MOVES_TOP, 6},
	{"release bulk of 6", USUAL, "own +8 hand 6", release_bulk, CHANGED, 6},
	{"cache create", USUAL, "other +3", create_cache, CHANGED | MOVES_EMPTY | MOVES_CACHES, 0},
	/* as many caches as fit into the first lot: the next one maps a lot */
	{"cache create, new lot", USUAL, "caches 10", create_cache, CHANGED | MOVES_EMPTY | MOVES_CACHES, 0},
	{"cache create, used before", USUAL, "other +3 leave", create_cache, MOVES_CACHES, 0},
	/* current 2 of 4, a full magazine on its stack */
	{"cache destroy", USUAL, "mine +8 -6", destroy_cache,
	 CHANGED | MOVES_FULL | MOVES_PARTIAL | MOVES_EMPTY | MOVES_CACHES, 0},
	{.name = NULL},
};

/* ---- Retiring (lfpool/retire.h) ----
 *
 * There are no readers, so every batch of the scheme is due: with a polled scheme, an acquire that finds nothing gets
 * it.  While the victim stands, others retire too, and skip the shard that it holds.  They cannot have the objects
 * that the call itself retires, or those of that shard.
 */

OPERATION(retire, s->released = STEP(lfpool_retire(s->pool, s->given[0])) == LFPOOL_OK)
OPERATION(retire_bulk, s->released = STEP(lfpool_retire_bulk(s->pool, s->given, s->given_count)))
OPERATION(poll, (void)STEP(lfpool_retire_poll(s->pool)))

/* Reclaims all batches of the scheme, after the others have finished. */
static void reclaim_rest(struct scene *s)
{
	while (lfpool_quick_stats(s->pool).retired)
		lfpool_batch_reclaim(s->batch);
}

static void retire_told(struct scene *s)
{
	retire(s);
	reclaim_rest(s);
}

static void reclaim(struct scene *s)
{
	STEP_VOID(lfpool_batch_reclaim(s->batch));
	reclaim_rest(s);
}

#define WITH_READY POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, ASKED)
#define SMALL_READY POOL(2 * EACH, 2 * EACH, 0, NULL, NULL, ASKED)
#define THROUGH_DEPOT (CHANGED | MOVES_PARTIAL | MOVES_EMPTY)
#define WITHOUT POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, TOLD)

const struct operation retire_operations[] = {
	{"retire, the first", WITH_READY, "own +3 hand 1", retire, 0, 1},
	{"retire, to others", WITH_READY, "own +6 retire 2 hand 1", retire, 0, 1},
	{"retire bulk of 6", WITH_READY, "own +9 hand 6", retire_bulk, 0, 6},
	{"retire poll", WITH_READY, "own +6 retire 3", poll, 0, 3},
	{"acquire, asks", SMALL_READY, "mine all retire 2 want 1", acquire_through_cache, MOVES_TOP, 2},
	/* the thread's own cache, current 2 of 4: a call that finds nothing polls the scheme */
	{"acquire hit, some are retired", WITH_READY, "own +6 retire 4 want 1", acquire, 0, 1},
	{"release hit, some are retired", WITH_READY, "own +6 retire 4 hand 1", release, 0, 1},
	{"retire, the first, told", WITHOUT, "own +3 hand 1", retire_told, CHANGED | MOVES_PARTIAL, 1},
	{"reclaim", WITHOUT, "own +6 bundle 4", reclaim, THROUGH_DEPOT | MOVES_FULL, 4},
	{"reclaim, and begin", WITHOUT, "own +6 bundle 4 retire 2", reclaim, THROUGH_DEPOT | MOVES_FULL, 6},
	{.name = NULL},
};
