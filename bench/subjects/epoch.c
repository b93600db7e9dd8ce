/* SPDX-License-Identifier: MIT */
/*
 * epoch.c - readers in sections of ConcurrencyKit's ck_epoch.  What they may be reading is freed by lfpool_release_epoch(); or
 * it is malloc()'s, and ck_epoch_call() for each node has a callback that calls free(); then each thread polls its record every
 * 64 updates.
 *
 * Documented   ck_epoch_register(3): a record cannot be destroyed while its epoch exists; so all of them lie beside it.
 *              ck_epoch_call(3), ck_epoch_poll(3): a thread that polls runs the callbacks of its own record; the entry is
 *              embedded in the node.  The exchange before the call is a full barrier.
 */
#include "../workload.h"
#include "pool.h"

#include <ck_epoch.h>
#include <lfpool/epoch.h>
#include <string.h>

#define UPDATES_PER_POLL 64
#define RECORDS_MAX 128

_Static_assert(sizeof(ck_epoch_entry_t) <= sizeof(((struct node *)0)->room), "a node has room for an entry");

struct epoch;

/* Each counter has its owner's line. */
struct hand {
	ck_epoch_record_t record;
	_Alignas(128) struct epoch *epoch;
	size_t freed; /* by this thread; atomic */
	unsigned since_poll;
};

struct epoch {
	ck_epoch_t epoch;
	lfpool_t *pool;                /* NULL: malloc() */
	lfpool_epoch_t *gate;          /* its            */
	_Alignas(128) unsigned joined; /* atomic         */
	struct hand hands[RECORDS_MAX];
};

/* Whose callbacks run in this thread now. */
static _Thread_local struct hand *polling;

static inline void section_begin(void *hand)
{
	ck_epoch_begin(&((struct hand *)hand)->record, NULL);
}

static inline void section_end(void *hand)
{
	ck_epoch_end(&((struct hand *)hand)->record, NULL);
}

static inline void *acquire(void *hand)
{
	lfpool_t *pool = ((struct hand *)hand)->epoch->pool;

	return pool ? lfpool_acquire(pool) : malloc(RETIRE_BYTES);
}

/* malloc() waits for nothing. */
static void *acquire_wait(void *hand)
{
	lfpool_t *pool = ((struct hand *)hand)->epoch->pool;

	return must(pool ? lfpool_acquire_wait(pool, -1) : NULL);
}

static void free_node(ck_epoch_entry_t *entry)
{
	free((char *)entry - offsetof(struct node, room));
	/* relaxed, both: this thread's own, and others only count. */
	__atomic_store_n(&polling->freed, __atomic_load_n(&polling->freed, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

static inline void defer(void *hand, void *node)
{
	struct hand *own = hand;

	if (own->epoch->pool) {
		(void)lfpool_release_epoch(own->epoch->pool, &own->record, node);
		return;
	}
	ck_epoch_call(&own->record, (ck_epoch_entry_t *)(void *)((struct node *)node)->room, free_node);
	if (++own->since_poll < UPDATES_PER_POLL)
		return;
	own->since_poll = 0;
	polling = own;
	(void)ck_epoch_poll(&own->record);
}

/* Each thread its own callbacks: no other may. */
static void settle(void *hand, bool first)
{
	struct hand *own = hand;

	polling = own;
	if (own->epoch->pool)
		pool_settle(own->epoch->pool, first);
	else
		ck_epoch_barrier(&own->record);
}

static size_t in_flight(void *shared, size_t deferred)
{
	const struct epoch *epoch = shared;
	size_t freed = 0;

	if (epoch->pool)
		return lfpool_retired_count(epoch->pool);
	for (size_t i = 0; i < RECORDS_MAX; i++)
		freed += __atomic_load_n(&epoch->hands[i].freed, __ATOMIC_RELAXED);
	return not_yet(deferred, freed);
}

#include "../retiring.h"

static void *open_malloc(const struct plan *plan)
{
	struct epoch *epoch = must(aligned_alloc(_Alignof(struct epoch), sizeof(*epoch)));

	(void)plan;
	memset(epoch, 0, sizeof(*epoch));
	ck_epoch_init(&epoch->epoch);
	return epoch;
}

static void *open_pool(const struct plan *plan)
{
	lfpool_config_t config = pool_config(plan, LFPOOL_BACKEND_LOCKFREE);
	struct epoch *epoch = open_malloc(plan);

	if (lfpool_epoch_create(&epoch->gate, &epoch->epoch) != LFPOOL_OK)
		give_up("lfpool-epoch", "no memory for its records");
	config.scheme = lfpool_epoch_scheme(epoch->gate);
	epoch->pool = pool_create(&config);
	return epoch;
}

static void close_epoch(void *shared)
{
	struct epoch *epoch = shared;

	if (epoch->pool) {
		pool_close(epoch->pool);
		lfpool_epoch_destroy(epoch->gate);
	}
	free(epoch);
}

static void *join(void *shared)
{
	struct epoch *epoch = shared;
	const unsigned index = __atomic_fetch_add(&epoch->joined, 1, __ATOMIC_RELAXED);

	if (index >= RECORDS_MAX)
		give_up("ck_epoch", "more threads than there are records");
	epoch->hands[index].epoch = epoch;
	ck_epoch_register(&epoch->epoch, &epoch->hands[index].record, NULL);
	return &epoch->hands[index];
}

static void leave(void *hand)
{
	ck_epoch_unregister(&((struct hand *)hand)->record);
}

VERSION_IS("ck " BENCH_PEER_VERSION)

const struct subject subject_retire_epoch = {
	SUBJECT("lfpool-epoch", "lfpool", "lfpool_release_epoch(): one entry of ck_epoch for each batch", NULL,
		TRAIT_BOUNDED | TRAIT_BACKLOG),
	FOR_EACH_THREAD(open_pool, close_epoch, join, leave, RETIRING_LOOPS),
};
const struct subject subject_ck_epoch_malloc = {
	SUBJECT("ck-epoch-malloc", "own",
		"malloc(), and ck_epoch_call() for each object, which calls free(); polled every 64 updates", version,
		TRAIT_BACKLOG),
	FOR_EACH_THREAD(open_malloc, close_epoch, join, leave, RETIRING_LOOPS),
};
