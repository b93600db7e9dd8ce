/* SPDX-License-Identifier: MIT */
/*
 * ck_epoch_malloc.c - malloc(), and ck_epoch_call() for each node, whose callback is free(); each thread polls its record
 * every 64 updates.
 *
 * Documented   ck_epoch_call(3), ck_epoch_poll(3): a thread that polls runs the callbacks of its own record; the entry is
 *              embedded in the node.  The exchange before the call is a full barrier.
 */
#include "ck.h"

#define UPDATES_PER_POLL 64

_Static_assert(sizeof(ck_epoch_entry_t) <= sizeof(((struct node *)0)->room), "a node has room for an entry");

/* Whose callbacks run in this thread now. */
static _Thread_local struct epoch_hand *polling;

static void free_node(ck_epoch_entry_t *entry)
{
	free((char *)entry - offsetof(struct node, room));
	/* relaxed, both: this thread's own, and others only count. */
	__atomic_store_n(&polling->freed, __atomic_load_n(&polling->freed, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

static inline void defer(void *hand, void *node)
{
	struct epoch_hand *own = (struct epoch_hand *)hand;

	ck_epoch_call(&own->record, (ck_epoch_entry_t *)(void *)((struct node *)node)->room, free_node);
	if (++own->since_poll < UPDATES_PER_POLL)
		return;
	own->since_poll = 0;
	polling = own;
	(void)ck_epoch_poll(&own->record);
}

/* Each thread its own: no other may. */
static void settle(void *hand, bool first)
{
	struct epoch_hand *own = (struct epoch_hand *)hand;

	(void)first;
	polling = own;
	ck_epoch_barrier(&own->record);
}

static size_t in_flight(void *shared, size_t deferred)
{
	const struct epoch *epoch = (const struct epoch *)shared;
	size_t freed = 0;

	for (size_t i = 0; i < RECORDS_MAX; i++)
		freed += __atomic_load_n(&epoch->hands[i].freed, __ATOMIC_RELAXED);
	return retiring_rest(deferred, freed);
}

#define acquire node_malloc
#define acquire_wait node_malloc_wait
#include "loops.h"

static void *open_epoch(const struct plan *plan)
{
	(void)plan;
	return epoch_open();
}

VERSION_IS("ck " BENCH_CK_VERSION)

const struct subject subject_ck_epoch_malloc = {
	.name = "ck-epoch-malloc",
	.group = "own",
	.what = "malloc(), and ck_epoch_call() for each object, which calls free(); polled every 64 updates",
	.version = version,
	.traits = TRAIT_BACKLOG,
	FOR_EACH_THREAD(open_epoch, free, epoch_join, epoch_leave, RETIRING_LOOPS),
};
