/* SPDX-License-Identifier: MIT */
/*
 * retires.c - operations of a pool with a scheme (lfpool/retire.h).  As operations.c.
 *
 * Idea         Nobody reads here, so that whatever is with the scheme is due: if it is asked, an acquire that finds
 *              nothing gets it.  While the victim stands, others retire too, and go round the place that it holds.  What
 *              they cannot have is the call's own: the objects that it retires, or those of that place.
 */
#include "prepare.h"
#include "stepper.h"

/* ---- Preparations ---- */

/* The last `count` held objects; the first of them is a batch, the others wait. */
static void retire_held(struct scene *s, size_t count)
{
	while (count--)
		(void)lfpool_retire(s->pool, s->held[--s->held_count]);
}

static void prepare_first(struct scene *s)
{
	take(s, NULL, 3);
	hand_over(s, 1);
}

static void prepare_pushed(struct scene *s)
{
	take(s, NULL, 6);
	retire_held(s, 2);
	hand_over(s, 1);
}

static void prepare_bulk(struct scene *s)
{
	take(s, NULL, 9);
	hand_over(s, 6);
}

static void prepare_waiting(struct scene *s)
{
	take(s, NULL, 6);
	retire_held(s, 3);
}

static void prepare_dry(struct scene *s)
{
	take(s, s->mine, lfpool_capacity(s->pool));
	retire_held(s, 2);
	s->wanted = 1;
}

/* The thread's own cache: current 2 of 4.  Whoever finds nothing asks the scheme. */
static void prepare_beside(struct scene *s)
{
	take(s, NULL, 6);
	retire_held(s, 4);
	s->wanted = 1;
}

static void prepare_beside_release(struct scene *s)
{
	take(s, NULL, 6);
	retire_held(s, 4);
	hand_over(s, 1);
}

static void prepare_told(struct scene *s)
{
	take(s, NULL, 6);
	s->held_count -= 4;
	(void)lfpool_retire_bulk(s->pool, s->held + s->held_count, 4);
}

static void prepare_told_more(struct scene *s)
{
	prepare_told(s);
	retire_held(s, 2);
}

/* ---- Operations ---- */

static void acquire(struct scene *s)
{
	STEP_BEGIN();
	s->got[0] = lfpool_acquire(s->pool);
	STEP_END();
}

static void release(struct scene *s)
{
	STEP_BEGIN();
	s->released = lfpool_release(s->pool, s->given[0]) == LFPOOL_OK;
	STEP_END();
}

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
	{"retire, the first", WITH_READY, prepare_first, retire, 0, 1},
	{"retire, to others", WITH_READY, prepare_pushed, retire, 0, 1},
	{"retire bulk of 6", WITH_READY, prepare_bulk, retire_bulk, 0, 6},
	{"retire poll", WITH_READY, prepare_waiting, poll, 0, 3},
	{"acquire, asks", SMALL_READY, prepare_dry, acquire_through_cache, MOVES_TOP, 2},
	{"acquire hit, some are retired", WITH_READY, prepare_beside, acquire, 0, 1},
	{"release hit, some are retired", WITH_READY, prepare_beside_release, release, 0, 1},
	{"retire, the first, told", WITHOUT, prepare_first, retire_told, THROUGH_DEPOT, 1},
	{"reclaim", WITHOUT, prepare_told, reclaim, THROUGH_DEPOT | MOVES_FULL, 4},
	{"reclaim, and begin", WITHOUT, prepare_told_more, reclaim, THROUGH_DEPOT | MOVES_FULL, 6},
};
const size_t retire_operation_count = sizeof(retire_operations) / sizeof(*retire_operations);
