/* SPDX-License-Identifier: MIT */
/*
 * pools.c - operations on a pool as a whole, and on whichever pool an address belongs to.  As operations.c.
 *
 * Idea         Who creates or destroys a pool may stand in the registry's mutex: others of his kind wait for him then,
 *              and so do fork and a thread's exit.  Nobody else does: the others use their pool, and ask whose their
 *              objects are.  The other way round, who asks whose an object is holds up nobody that creates and destroys
 *              pools.
 */
#include "setup.h"
#include "stepper.h"

#include <string.h>

#define TEXT_BYTES 4096

/* ---- Operations ---- */

static void pool_of(struct scene *s)
{
	lfpool_t *pool;

	STEP_BEGIN();
	pool = lfpool_of(s->held[0]);
	STEP_END();
	if (pool != s->pool)
		s->wrong = "lfpool_of() names another pool";
}

static void pool_of_none(struct scene *s)
{
	lfpool_t *pool;

	STEP_BEGIN();
	pool = lfpool_of(s);
	STEP_END();
	if (pool)
		s->wrong = "lfpool_of() names a pool for an address that is in none";
}

static void release_self(struct scene *s)
{
	STEP_BEGIN();
	s->released = lfpool_release_self(s->given[0]) == LFPOOL_OK;
	STEP_END();
}

static void create_pool(struct scene *s)
{
	STEP_BEGIN();
	s->made = scene_pool();
	STEP_END();

	void *object = lfpool_acquire(s->made);

	if (!object || lfpool_of(object) != s->made || lfpool_release_self(object) != LFPOOL_OK)
		s->wrong = "the new pool is of no use";
}

static void destroy_pool(struct scene *s)
{
	size_t active;

	STEP_BEGIN();
	active = lfpool_destroy(s->made);
	STEP_END();
	s->made = NULL;
	if (active != 1)
		s->wrong = "lfpool_destroy() counts other objects than were active";
}

static void ask_stats(struct scene *s)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	STEP_BEGIN();
	(void)lfpool_stats(s->pool, &stats);
	STEP_END();
	if (stats.capacity != lfpool_capacity(s->pool) || stats.active < s->held_count || stats.active > stats.capacity)
		s->wrong = "lfpool_stats() counts objects that cannot be";
}

/* As text: JSON is put together by the same functions. */
static void dump(struct scene *s)
{
	static char text[TEXT_BYTES];
	size_t length;

	STEP_BEGIN();
	length = lfpool_dump(s->pool, LFPOOL_TEXT, text, sizeof(text));
	STEP_END();
	if (length == 0 || length >= sizeof(text) || strlen(text) != length)
		s->wrong = "lfpool_dump() has written something else than it says";
}

/* ---- The table ---- */

#define AMONG POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, AMONG_POOLS)
#define LOCKING POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, IN_PROGRAM | LOCKS)
#define WRITING POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, IN_PROGRAM)

const struct operation pool_operations[] = {
	{"pool of", AMONG, "own +3 beside made", pool_of, 0, 0},
	{"pool of, none", AMONG, "own +3 beside made", pool_of_none, 0, 0},
	{"release self", AMONG, "own +3 beside made hand 1", release_self, 0, 1},
	{"pool create", LOCKING, "own +3 beside", create_pool, 0, 0},
	{"pool destroy", LOCKING, "own +3 beside made active", destroy_pool, 0, 0},
	{"stats", USUAL, "own +5", ask_stats, 0, 0},
	{"dump", WRITING, "own +5", dump, 0, 0},
	{.name = NULL},
};
