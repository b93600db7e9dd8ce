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
#include "setup.h"
#include "stepper.h"

#define KIB_PER_PAGE 4 /* of them */

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
	{"grow", FIXED, "own all lend 1", grow, MOVES_COLD, 0},
	{"grow, a debt", FIXED, "own all lend 1 shrink 3", grow, MOVES_COLD | MOVES_QUEUE, 0},
	{"grow, for a continuation", FIXED, "own all lend 1 want 1 async", grow, MOVES_COLD | MOVES_QUEUE, 1},
	{"acquire, grows by itself", GROWING_ITSELF, "own all lend 1 want 1", acquire_through_cache, MOVES_COLD, 1},
	{"acquire, cold", FIXED, "own all lend 1 want 1 grow 4", acquire_through_cache, MOVES_COLD, 1},
	{"set maximum", FIXED, "own all lend 1", set_maximum, 0, 0},
	{"set maximum, for a continuation", GROWING_ITSELF, "limit own all lend 1 want 1 async", set_maximum,
	 MOVES_COLD | MOVES_QUEUE, 1},
	{"shrink, free", USUAL, "own +6 -3 end 3", shrink, CHANGED | MOVES_TOP | MOVES_COLD, 1},
	{"shrink, cold", FIXED, "own +6 -3 grow 3 end 3", shrink, MOVES_COLD, 0},
	{"shrink, owed", USUAL, "own all lend 1 end 3", shrink, MOVES_QUEUE, 0},
	{"shrink cancel", SMALL, "own all lend 1 shrink 3", cancel_shrink, MOVES_QUEUE, 0},
	{"release, pays a debt", SMALL, "own all lend 1 shrink 3 hand 1 end 3", release_through_cache,
	 MOVES_TOP | MOVES_COLD | MOVES_QUEUE, 1},
	{"trim, cools", USUAL, "own +6 -3", trim, MOVES_TOP | MOVES_COLD, 1},
	{"trim, cools, hooks", HOOKED, "own +6 -3", trim, MOVES_TOP | MOVES_COLD, 1},
	/* every object is cold; and two pages of them have left the pool */
	{"trim, gives back", KIB, "own +16 -16 trim 16", trim, MOVES_COLD, KIB_PER_PAGE},
	{"trim, gives back what is out", KIB, "own +16 -16 trim 16 shrink 8 end 0", trim, MOVES_COLD, KIB_PER_PAGE},
	{.name = NULL},
};
