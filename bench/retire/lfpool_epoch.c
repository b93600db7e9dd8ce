/* SPDX-License-Identifier: MIT */
/*
 * lfpool_epoch.c - lfpool_release_epoch() with ConcurrencyKit's ck_epoch.
 */
#include "ck.h"

#include "../subjects/pool.h"

#include <lfpool/epoch.h>

static inline lfpool_t *pool_of(void *hand)
{
	return ((struct epoch_hand *)hand)->epoch->pool;
}

static inline void *acquire(void *hand)
{
	return lfpool_acquire(pool_of(hand));
}

static void *acquire_wait(void *hand)
{
	return pool_acquire_wait(pool_of(hand));
}

static inline void defer(void *hand, void *node)
{
	(void)lfpool_release_epoch(pool_of(hand), &((struct epoch_hand *)hand)->record, node);
}

static void settle(void *hand, bool first)
{
	pool_settle(pool_of(hand), first);
}

static size_t in_flight(void *shared, size_t deferred)
{
	return pool_in_flight(((const struct epoch *)shared)->pool, deferred);
}

#include "loops.h"

static void *open_epoch(const struct plan *plan)
{
	struct epoch *epoch = epoch_open();
	lfpool_epoch_t *gate;

	if (lfpool_epoch_create(&gate, &epoch->epoch) != LFPOOL_OK)
		give_up("lfpool-epoch", "no memory for its records");
	epoch->gate = gate;
	epoch->pool = pool_open_deferring(plan, LFPOOL_BACKEND_LOCKFREE, lfpool_epoch_scheme(gate));
	return epoch;
}

static void close_epoch(void *shared)
{
	struct epoch *epoch = (struct epoch *)shared;

	pool_close(epoch->pool);
	lfpool_epoch_destroy((lfpool_epoch_t *)epoch->gate);
	free(epoch);
}

const struct subject subject_retire_epoch = {
	.name = "lfpool-epoch",
	.group = "lfpool",
	.what = "lfpool_release_epoch(): one entry of ck_epoch for each batch",
	.traits = TRAIT_BOUNDED | TRAIT_BACKLOG,
	FOR_EACH_THREAD(open_epoch, close_epoch, epoch_join, epoch_leave, RETIRING_LOOPS),
};
