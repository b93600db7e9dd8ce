/* SPDX-License-Identifier: MIT */
/*
 * pools.c - operations on a pool as a whole, and on whichever pool an address belongs to.  As operations.c.
 *
 * Idea         Who creates or destroys a pool may stand in the registry's mutex: others of his kind wait for him then,
 *              and so do fork and a thread's exit.  Nobody else does: the others use their pool, and ask whose their
 *              objects are.  The other way round, who asks whose an object is holds up nobody that creates and destroys
 *              pools.
 */
#include "prepare.h"
#include "stepper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 4096

/* ---- Preparations ---- */

static void prepare_lookup(struct scene *s)
{
	take(s, NULL, 3);
	s->beside = scene_pool();
	s->made = scene_pool();
}

static void prepare_release_self(struct scene *s)
{
	prepare_lookup(s);
	hand_over(s, 1);
}

static void prepare_report(struct scene *s)
{
	take(s, NULL, 5);
}

static void prepare_pool_create(struct scene *s)
{
	take(s, NULL, 3);
	s->beside = scene_pool();
}

static void prepare_pool_destroy(struct scene *s)
{
	prepare_lookup(s);
	if (!lfpool_acquire(s->made)) {
		fprintf(stderr, "no object\n");
		exit(3);
	}
}

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
	{"pool of", AMONG, prepare_lookup, pool_of, 0, 0},
	{"pool of, none", AMONG, prepare_lookup, pool_of_none, 0, 0},
	{"release self", AMONG, prepare_release_self, release_self, 0, 1},
	{"pool create", LOCKING, prepare_pool_create, create_pool, 0, 0},
	{"pool destroy", LOCKING, prepare_pool_destroy, destroy_pool, 0, 0},
	{"stats", USUAL, prepare_report, ask_stats, 0, 0},
	{"dump", WRITING, prepare_report, dump, 0, 0},
};
const size_t pool_operation_count = sizeof(pool_operations) / sizeof(*pool_operations);
