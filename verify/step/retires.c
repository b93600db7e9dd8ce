/* SPDX-License-Identifier: MIT */
/*
 * retires.c - operations of a pool with a scheme (lfpool/retire.h).  As operations.c.
 *
 * Idea         Nobody reads here, so that whatever is with the scheme is due: if it is asked, an acquire that finds
 *              nothing gets it.  While the victim stands, others retire too, and go round the place that it holds.  What
 *              they cannot have is the call's own: the objects that it retires, or those of that place.
 */
#include "setup.h"
#include "stepper.h"

/* ---- Operations ---- */

static void retire(struct scene *s)
{
	STEP_BEGIN();
	s->released = lfpool_retire(s->pool, s->given[0]) == LFPOOL_OK;
	STEP_END();
}

static void retire_bulk(struct scene *s)
{
	STEP_BEGIN();
	s->released = lfpool_retire_bulk(s->pool, s->given, s->given_count);
	STEP_END();
}

static void poll(struct scene *s)
{
	STEP_BEGIN();
	(void)lfpool_retire_poll(s->pool);
	STEP_END();
}

/* What is with the scheme, until nothing is: the others are through. */
static void reclaim_rest(struct scene *s)
{
	while (lfpool_retired_count(s->pool))
		lfpool_batch_reclaim(s->batch);
}

static void retire_told(struct scene *s)
{
	retire(s);
	reclaim_rest(s);
}

static void reclaim(struct scene *s)
{
	STEP_BEGIN();
	lfpool_batch_reclaim(s->batch);
	STEP_END();
	reclaim_rest(s);
}

/* ---- The table ---- */

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
	/* the thread's own cache, current 2 of 4: whoever finds nothing asks the scheme */
	{"acquire hit, some are retired", WITH_READY, "own +6 retire 4 want 1", acquire, 0, 1},
	{"release hit, some are retired", WITH_READY, "own +6 retire 4 hand 1", release, 0, 1},
	{"retire, the first, told", WITHOUT, "own +3 hand 1", retire_told, THROUGH_DEPOT, 1},
	{"reclaim", WITHOUT, "own +6 bundle 4", reclaim, THROUGH_DEPOT | MOVES_FULL, 4},
	{"reclaim, and begin", WITHOUT, "own +6 bundle 4 retire 2", reclaim, THROUGH_DEPOT | MOVES_FULL, 6},
	{.name = NULL},
};
