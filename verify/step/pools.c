/* SPDX-License-Identifier: MIT */
/*
 * pools.c - operations on a pool as a whole, and on the pool that owns an address.  Like operations.c.
 *
 * Idea         A thread that creates or destroys a pool may hold the registry's mutex: others that do so then wait,
 *              and so do fork and a thread's exit.  No other call waits: the others use their pool, and look up the
 *              owner of their objects.  Conversely, a thread that looks up an owner blocks none that creates or
 *              destroys pools.
 */
#include "calls.h"

#include "lfpool/handle.h"
#include "lfpool/report.h"
#include "lfpool/resize.h"

#include <string.h>

#define TEXT_BYTES 4096

/* ---- Operations ---- */

static void pool_of(struct scene *s)
{
	lfpool_t *pool = STEP(lfpool_of(s->held[0]));

	wrong_if(s, pool != s->pool, "lfpool_of() names another pool");
}

OPERATION(release_self, s->released = STEP(lfpool_release_self(s->given[0])) == LFPOOL_OK)

static void create_pool(struct scene *s)
{
	s->made = STEP(scene_pool());

	void *object = lfpool_acquire(s->made);

	wrong_if(s, !object || lfpool_of(object) != s->made || lfpool_release_self(object) != LFPOOL_OK,
		 "the new pool does not work");
}

static void destroy_pool(struct scene *s)
{
	lfpool_t *made = s->made;

	/* A child of a fork must not destroy it again. */
	s->made = NULL;

	const size_t active = STEP(lfpool_destroy(made));

	wrong_if(s, active != 1, "lfpool_destroy() returned a wrong count of active objects");
}

static void ask_stats(struct scene *s)
{
	lfpool_stats_t stats;

	(void)STEP(lfpool_stats(s->pool, &stats));
	wrong_if(s,
		 stats.capacity != lfpool_capacity(s->pool) || stats.active < s->held_count ||
			 stats.active > stats.capacity,
		 "lfpool_stats() has impossible counts");
}

/* As text: the same functions make JSON. */
static void dump(struct scene *s)
{
	static char text[TEXT_BYTES];
	const size_t length = STEP(lfpool_dump(s->pool, LFPOOL_TEXT, text, sizeof(text)));

	wrong_if(s, length == 0 || length >= sizeof(text) || strlen(text) != length,
		 "lfpool_dump() returned a wrong length");
}

OPERATION(set_acquire, s->got[0] = STEP(lfpool_set_acquire(s->set, OBJECT_BYTES)))
OPERATION(set_release, s->released = STEP(lfpool_set_release(s->set, s->given[0])) == LFPOOL_OK)

static void set_make(struct scene *s)
{
	void *object = STEP(lfpool_set_acquire(s->set, 2 * OBJECT_BYTES));

	wrong_if(s, !object || lfpool_of(object) == s->pool || lfpool_set_release(s->set, object) != LFPOOL_OK,
		 "a new class of a set does not work");
}

/* ---- The table ---- */

#define AMONG POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, AMONG_POOLS)
#define LOCKING POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, IN_PROGRAM | LOCKS)
#define OF_SET POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, IN_SET)
#define OF_SET_LOCKING POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, IN_SET | IN_PROGRAM | LOCKS)
#define WRITING POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, IN_PROGRAM)

const struct operation pool_operations[] = {
	{"pool of", AMONG, "own +3 beside made", pool_of, 0, 0},
	{"release self", AMONG, "own +3 beside made hand 1", release_self, 0, 1},
	{"pool create", LOCKING, "own +3 beside", create_pool, 0, 0},
	{"pool destroy", LOCKING, "own +3 beside made active", destroy_pool, 0, 0},
	{"set acquire", OF_SET, "own +2 want 1", set_acquire, 0, 1},
	{"set release", OF_SET, "own +2 older", set_release, 0, 1},
	{"set acquire, the first of a class", OF_SET_LOCKING, "own +3", set_make, 0, 0},
	{"stats", USUAL, "own +5", ask_stats, 0, 0},
	{"dump", WRITING, "own +5", dump, 0, 0},
	{.name = NULL},
};

/* ---- The number of objects, and the place of their memory ----
 *
 * Lost objects are counted against lfpool_capacity() of that moment, so an object that is being removed is lost after
 * it has left the free lists, as long as it is still counted.  A stopped trim loses the slots of one step: here one
 * page's.  For a pending shrink or a queue, the others hold some objects that they release after the victim was
 * stopped: they complete the shrink, or serve, before it does.
 */

#define KIB_PER_PAGE 4 /* of objects of 1 KiB */

static void grow(struct scene *s)
{
	const size_t added = STEP(lfpool_grow(s->pool, 6));

	wrong_if(s, added != 6, "lfpool_grow() did not grow, although it had room");
}

static void set_maximum(struct scene *s)
{
	const lfpool_status_t status = STEP(lfpool_limit(s->pool, 4 * EACH));

	wrong_if(s, status != LFPOOL_OK || lfpool_quick_stats(s->pool).max_capacity != 4 * EACH,
		 "the maximum was not set");
}

/* The rest is pending, and may have completed since. */
static void shrink(struct scene *s)
{
	const size_t gone = STEP(lfpool_shrink(s->pool, 3));

	wrong_if(s, gone > 3 || lfpool_capacity(s->pool) - lfpool_quick_stats(s->pool).owed != s->capacity_at_end,
		 "lfpool_shrink() removed or left pending a wrong number of objects");
}

static void cancel_shrink(struct scene *s)
{
	const size_t forgiven = STEP(lfpool_shrink_cancel(s->pool));

	wrong_if(s, forgiven + 2 * EACH - lfpool_capacity(s->pool) != 3 || lfpool_quick_stats(s->pool).owed,
		 "the removed and the cancelled objects do not add up to the pending ones");
}

OPERATION(trim, (void)STEP(lfpool_trim(s->pool, 0, 1)))

#define FIXED GROWING(2 * EACH, 4 * EACH, 0)
#define GROWING_ITSELF GROWING(2 * EACH, 4 * EACH, 4)
#define OF_A_KIB 1024, 4 * EACH, 2 * EACH, 0, 0, 0, NULL, NULL, SPECIAL_NOTHING

const struct operation resize_operations[] = {
	{"grow", FIXED, "own all lend 1", grow, MOVES_COLD, 0},
	{"grow, a debt", FIXED, "own all lend 1 shrink 3", grow, MOVES_COLD | MOVES_QUEUE, 0},
	{"grow, for a continuation", FIXED, "own all lend 1 want 1 async", grow, MOVES_COLD | MOVES_QUEUE, 1},
	{"acquire, grows the pool", GROWING_ITSELF, "own all lend 1 want 1", acquire_through_cache, MOVES_COLD, 1},
	{"acquire, cold", FIXED, "own all lend 1 want 1 grow 4", acquire_through_cache, MOVES_COLD, 1},
	{"set maximum", FIXED, "own all lend 1", set_maximum, 0, 0},
	{"set maximum, for a continuation", GROWING_ITSELF, "limit own all lend 1 want 1 async", set_maximum,
	 MOVES_COLD | MOVES_QUEUE, 1},
	{"shrink, free", USUAL, "own +6 -3 end 3", shrink, CHANGED | MOVES_TOP | MOVES_COLD, 1},
	{"shrink, cold", FIXED, "own +6 -3 grow 3 end 3", shrink, MOVES_COLD, 0},
	{"shrink, owed", USUAL, "own all lend 1 end 3", shrink, MOVES_COLD | MOVES_QUEUE, 0},
	{"shrink cancel", SMALL, "own all lend 1 shrink 3", cancel_shrink, MOVES_COLD | MOVES_QUEUE, 0},
	{"release, pays a debt", SMALL, "own all lend 1 shrink 3 hand 1 end 3", release_through_cache,
	 MOVES_TOP | MOVES_COLD, 1},
	{"trim, cools, hooks", POOL(4 * EACH, 2 * EACH, 0, &hooks_all, NULL, SPECIAL_NOTHING), "own +6 -3", trim,
	 MOVES_COLD, 1},
	{"trim, cools", USUAL, "own +6 -3", trim, MOVES_TOP | MOVES_COLD, 1},
	/* every object is cold; (a shrink gives pages back by the same function) */
	{"trim, gives back", OF_A_KIB, "own +16 -16 trim 16", trim, MOVES_COLD, KIB_PER_PAGE},
	{.name = NULL},
};
