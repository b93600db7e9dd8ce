/* SPDX-License-Identifier: MIT */
/*
 * resizes.c - operations that change how many objects there are, or where their memory is.  As operations.c.
 *
 * Idea         What is lost is counted against lfpool_capacity() of that moment, so an object that leaves the pool is
 *              lost while it has left the free lists and is counted still.  Of a trim that was stopped the slots of one
 *              step are lost: here one page's.  Where a debt or a queue is met, the others hold some objects that they
 *              release once the victim stands: they pay, or serve, before it does.
 */
#include "hooks.h"
#include "prepare.h"
#include "stepper.h"

#define KIB_OBJECT 1024
#define KIB_PER_PAGE 4 /* of them */

/* ---- Preparations: the thread's own cache is attached ---- */

static void prepare_some(struct scene *s)
{
	take(s, NULL, 6);
	give(s, NULL, 3);
}

/* All objects held, one of them by the others. */
static void prepare_none_left(struct scene *s)
{
	take(s, NULL, lfpool_capacity(s->pool));
	lend(s, 1);
}

static void prepare_acquire(struct scene *s)
{
	prepare_none_left(s);
	s->wanted = 1;
}

static void prepare_acquire_cold(struct scene *s)
{
	prepare_acquire(s);
	(void)lfpool_grow(s->pool, 4);
}

static void prepare_queued(struct scene *s)
{
	prepare_acquire(s);
	(void)lfpool_acquire_async(s->pool, keep_object, s, &s->ticket);
}

static void prepare_queued_at_maximum(struct scene *s)
{
	(void)lfpool_limit(s->pool, lfpool_capacity(s->pool));
	prepare_queued(s);
}

static void prepare_owed(struct scene *s)
{
	prepare_none_left(s);
	(void)lfpool_shrink(s->pool, 3);
}

static void prepare_pay(struct scene *s)
{
	prepare_owed(s);
	hand_over(s, 1);
	s->capacity_at_end = lfpool_capacity(s->pool) - 3;
}

static void prepare_shrink(struct scene *s)
{
	prepare_some(s);
	s->capacity_at_end = lfpool_capacity(s->pool) - 3;
}

static void prepare_shrink_cold(struct scene *s)
{
	prepare_shrink(s);
	(void)lfpool_grow(s->pool, 3);
	s->capacity_at_end += 3;
}

static void prepare_shrink_owed(struct scene *s)
{
	prepare_none_left(s);
	s->capacity_at_end = lfpool_capacity(s->pool) - 3;
}

/* Every object is cold. */
static void prepare_cold(struct scene *s)
{
	const size_t count = lfpool_capacity(s->pool);

	take(s, NULL, count);
	give(s, NULL, count);
	(void)lfpool_trim(s->pool, 0, count * KIB_OBJECT);
}

static void prepare_cold_and_out(struct scene *s)
{
	prepare_cold(s);
	(void)lfpool_shrink(s->pool, 2 * KIB_PER_PAGE);
	s->capacity_at_end = lfpool_capacity(s->pool);
}

/* ---- Operations ---- */

static void grow(struct scene *s)
{
	size_t added;

	STEP_BEGIN();
	added = lfpool_grow(s->pool, 6);
	STEP_END();
	if (added != 6)
		s->wrong = "lfpool_grow() had room, and has not grown";
}

static void set_maximum(struct scene *s)
{
	lfpool_status_t status;

	STEP_BEGIN();
	status = lfpool_limit(s->pool, 4 * EACH);
	STEP_END();
	if (status != LFPOOL_OK || lfpool_max_capacity(s->pool) != 4 * EACH)
		s->wrong = "the maximum is not what it was set to";
}

/* What is not taken out is owed, and may have been paid since. */
static void shrink(struct scene *s)
{
	size_t gone;

	STEP_BEGIN();
	gone = lfpool_shrink(s->pool, 3);
	STEP_END();
	if (gone > 3 || lfpool_capacity(s->pool) - lfpool_shrink_owed(s->pool) != s->capacity_at_end)
		s->wrong = "lfpool_shrink() has taken out or is owed more, or less, than it was asked for";
}

static void cancel_shrink(struct scene *s)
{
	size_t forgiven;

	STEP_BEGIN();
	forgiven = lfpool_shrink_cancel(s->pool);
	STEP_END();
	if (forgiven + 2 * EACH - lfpool_capacity(s->pool) != 3 || lfpool_shrink_owed(s->pool))
		s->wrong = "what was paid and what was forgiven is not what was owed";
}

static void trim(struct scene *s)
{
	STEP_BEGIN();
	(void)lfpool_trim(s->pool, 0, 1);
	STEP_END();
}

/* ---- The table ---- */

#define FIXED GROWING(2 * EACH, 4 * EACH, 0)
#define GROWING_ITSELF GROWING(2 * EACH, 4 * EACH, 4)
#define KIB 1024, 4 * EACH, 2 * EACH, 0, 0, 0, NULL, NULL, SPECIAL_NOTHING
#define HOOKED POOL(4 * EACH, 2 * EACH, 0, &hooks_all, NULL, SPECIAL_NOTHING)

const struct operation resize_operations[] = {
	{"grow", FIXED, prepare_none_left, grow, MOVES_COLD, 0},
	{"grow, a debt", FIXED, prepare_owed, grow, MOVES_COLD | MOVES_QUEUE, 0},
	{"grow, for a continuation", FIXED, prepare_queued, grow, MOVES_COLD | MOVES_QUEUE, 1},
	{"acquire, grows by itself", GROWING_ITSELF, prepare_acquire, acquire_through_cache, MOVES_COLD, 1},
	{"acquire, cold", FIXED, prepare_acquire_cold, acquire_through_cache, MOVES_COLD, 1},
	{"set maximum", FIXED, prepare_none_left, set_maximum, 0, 0},
	{"set maximum, for a continuation", GROWING_ITSELF, prepare_queued_at_maximum, set_maximum,
		  MOVES_COLD | MOVES_QUEUE, 1},
	{"shrink, free", USUAL, prepare_shrink, shrink, CHANGED | MOVES_TOP | MOVES_COLD, 1},
	{"shrink, cold", FIXED, prepare_shrink_cold, shrink, MOVES_COLD, 0},
	{"shrink, owed", USUAL, prepare_shrink_owed, shrink, MOVES_QUEUE, 0},
	{"shrink cancel", SMALL, prepare_owed, cancel_shrink, MOVES_QUEUE, 0},
	{"release, pays a debt", SMALL, prepare_pay, release_through_cache, MOVES_TOP | MOVES_COLD | MOVES_QUEUE, 1},
	{"trim, cools", USUAL, prepare_some, trim, MOVES_TOP | MOVES_COLD, 1},
	{"trim, cools, hooks", HOOKED, prepare_some, trim, MOVES_TOP | MOVES_COLD, 1},
	{"trim, gives back", KIB, prepare_cold, trim, MOVES_COLD, KIB_PER_PAGE},
	{"trim, gives back what is out", KIB, prepare_cold_and_out, trim, MOVES_COLD, KIB_PER_PAGE},
};
const size_t resize_operation_count = sizeof(resize_operations) / sizeof(*resize_operations);
