/* SPDX-License-Identifier: MIT */
/*
 * epoch.c - two subjects whose readers are protected by Concurrency Kit's ck_epoch.  In the first the nodes come from
 * a pool, and lfpool_retire() defers them.  In the second they come from malloc(): ck_epoch_call() defers free() for
 * each node, and each thread polls its record every 64 updates.  Only one of the two is open at a time.
 *
 * Documented   ck_epoch_register(3): a record cannot be destroyed while its epoch exists, so both are stored
 *              together.  ck_epoch_call(3), ck_epoch_poll(3): a thread that polls runs the callbacks of its
 *              record; the entry is embedded in the node.  The exchange that replaces a node in the table, just
 *              before the call, is a full barrier.
 */
#include "../workload.h"
#include "pool.h"

#include <ck_epoch.h>
#include <lfpool/epoch.h>
#include <lfpool/report.h>
#include <lfpool/wait.h>
#include <string.h>

#define UPDATES_PER_POLL 64
#define RECORDS_MAX 128

_Static_assert(sizeof(ck_epoch_entry_t) <= sizeof(((struct node *)0)->room), "a node has room for an entry");

/* The data of one thread.  No two threads write to the same cache line. */
struct hand {
	_Alignas(128) ck_epoch_record_t record;
	_Alignas(128) size_t freed; /* by this thread; atomic */
	unsigned since_poll;
};

static ck_epoch_t epoch;
static lfpool_t *pool;         /* NULL: malloc() */
static lfpool_scheme_t scheme; /* of the pool */
static unsigned joined;        /* atomic         */
static struct hand hands[RECORDS_MAX];
/* The hand whose callbacks this thread is running. */
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
	(void)hand;
	return pool ? lfpool_acquire(pool) : malloc(RETIRE_BYTES);
}

/* malloc() never waits. */
#define acquire_wait(hand) must(pool ? lfpool_acquire_wait(pool, -1) : NULL)

static void free_node(ck_epoch_entry_t *entry)
{
	free((char *)entry - offsetof(struct node, room));
	/* relaxed, both: one writer, and the readers only count. */
	__atomic_store_n(&polling->freed, __atomic_load_n(&polling->freed, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

static inline void defer(void *hand, void *node)
{
	struct hand *own = hand;

	if (pool) {
		(void)lfpool_retire(pool, node);
		return;
	}
	ck_epoch_call(&own->record, (ck_epoch_entry_t *)(void *)((struct node *)node)->room, free_node);
	if (++own->since_poll < UPDATES_PER_POLL)
		return;
	own->since_poll = 0;
	polling = own;
	(void)ck_epoch_poll(&own->record);
}

/* Called by every thread: only the owner of a record may run its callbacks. */
static void settle(void *hand, bool first)
{
	polling = hand;
	if (pool)
		pool_settle(pool, first);
	else
		ck_epoch_barrier(&polling->record);
}

static size_t in_flight(void *shared, size_t deferred)
{
	size_t freed = 0;

	(void)shared;
	if (pool)
		return lfpool_quick_stats(pool).retired;
	for (size_t i = 0; i < RECORDS_MAX; i++)
		freed += __atomic_load_n(&hands[i].freed, __ATOMIC_RELAXED);
	return not_yet(deferred, freed);
}

#include "../retiring.h"

static void *open_malloc(const struct plan *plan)
{
	(void)plan;
	memset(hands, 0, sizeof(hands));
	joined = 0;
	pool = NULL;
	ck_epoch_init(&epoch);
	return &epoch;
}

static void *open_pool(const struct plan *plan)
{
	lfpool_config_t config = pool_config(plan, LFPOOL_BACKEND_LOCKFREE);

	(void)open_malloc(plan);
	if (lfpool_epoch_create(&scheme, &epoch) != LFPOOL_OK)
		give_up("lfpool-epoch", "out of memory for its records");
	config.scheme = scheme;
	pool = pool_create(&config);
	return &epoch;
}

static void close_epoch(void *shared)
{
	(void)shared;
	if (!pool)
		return;
	pool_close(pool);
	lfpool_epoch_destroy(scheme);
}

static void *join(void *shared)
{
	struct hand *hand = &hands[__atomic_fetch_add(&joined, 1, __ATOMIC_RELAXED)];

	if (hand >= hands + RECORDS_MAX)
		give_up("ck_epoch", "more threads than records");
	ck_epoch_register(shared, &hand->record, NULL);
	return hand;
}

static void leave(void *hand)
{
	ck_epoch_unregister(&((struct hand *)hand)->record);
}

VERSION_IS("ck " BENCH_PEER_VERSION)

const struct subject subject_retire_epoch = {
	SUBJECT("lfpool-epoch", "lfpool", "lfpool_retire(): one entry of ck_epoch for each batch", NULL,
		TRAIT_BOUNDED | TRAIT_BACKLOG),
	FOR_EACH_THREAD(open_pool, close_epoch, join, leave, RETIRING_LOOPS),
};
const struct subject subject_ck_epoch_malloc = {
	SUBJECT("ck-epoch-malloc", "own",
		"malloc(), and ck_epoch_call() for each object, which calls free(); polled every 64 updates", version,
		TRAIT_BACKLOG),
	FOR_EACH_THREAD(open_malloc, close_epoch, join, leave, RETIRING_LOOPS),
};
