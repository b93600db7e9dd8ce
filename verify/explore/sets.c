/* SPDX-License-Identifier: MIT */
/*
 * sets.c - see sets.h.
 */
#include "sets.h"

#include "explore.h"
#include "oracle.h"
#include "set/pool_set.h"

#define ID 7

/* A set of one class. */
static _Alignas(CACHE_LINE_PAIR) char memory[sizeof(struct lfpool_set) + sizeof(struct set_class)];
static struct lfpool_set *const set = (struct lfpool_set *)(void *)memory;
static char contents[64];
static lfpool_t *const pool = (lfpool_t *)(void *)contents;

void sets_begin(void)
{
	/* relaxed: nobody else is there. */
	store_relaxed(&set->class[0].id, 0);
	store_relaxed(&set->class[0].pool, (uintptr_t)NULL);
}

void sets_make(void)
{
	(void)oracle_call();
	plain_written(contents);
	set_publish(set, 0, pool, ID);
}

void sets_look_by_address(void)
{
	(void)oracle_call();
	if (set_pool(set, 0))
		plain_read(contents);
}

void sets_look_by_size(void)
{
	(void)oracle_call();
	const uint64_t id = set_id(set, 0);

	if (!id)
		return;
	plain_read(contents);
	if (id != ID || set_pool(set, 0) != pool)
		engine_fail("the id of a pool that cannot be found");
}
