/* SPDX-License-Identifier: MIT */
/*
 * rcu.c - readers in sections of liburcu's default flavour, memb.  lfpool_retire() defers the nodes, with one
 * call_rcu() per batch.  In other subjects, as in programs today, a callback of call_rcu() frees each node.  Their
 * nodes come from malloc(), as in liburcu's own examples; from a pool with a mutex, as in many programs; or from
 * lfpool, which shows the gain from batches.  One such subject is open at a time.
 *
 * Documented   README, "Usage of all urcu libraries": _LGPL_SOURCE, which inlines rcu_read_lock(), is for code whose
 *              licence is compatible with the GPL, as ours is.  rcu-api.md: call_rcu() is for registered threads; it
 *              starts its worker at the first call, and one worker serves all unless the program asks for more.  It
 *              is started before a thread is pinned; otherwise it would share that processor.  The rcu_head is
 *              embedded in the node.  The number of waiting callbacks is unbounded.
 */
#define _LGPL_SOURCE

#include <urcu/urcu-memb.h>

#include "../workload.h"
#include "pool.h"

#include <lfpool/rcu.h>
#include <lfpool/report.h>
#include <lfpool/wait.h>

_Static_assert(sizeof(struct rcu_head) <= sizeof(((struct node *)0)->room), "a node has room for a callback");

static lfpool_t *pool; /* NULL: malloc() */
static bool batches;   /* lfpool_retire() */
/* The callbacks that have freed a node: one writer, the thread that runs them; atomic. */
static size_t freed;

static inline void section_begin(void *hand)
{
	(void)hand;
	urcu_memb_read_lock();
}

static inline void section_end(void *hand)
{
	(void)hand;
	urcu_memb_read_unlock();
}

static inline void *acquire(void *hand)
{
	(void)hand;
	return pool ? lfpool_acquire(pool) : malloc(RETIRE_BYTES);
}

/* malloc() never waits. */
#define acquire_wait(hand) must(pool ? lfpool_acquire_wait(pool, -1) : NULL)

static void free_node(struct rcu_head *head)
{
	void *node = (char *)head - offsetof(struct node, room);

	if (pool)
		(void)lfpool_release(pool, node);
	else
		free(node);
	/* release: a thread that reads the count finds the node free. */
	__atomic_store_n(&freed, __atomic_load_n(&freed, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

static inline void defer(void *hand, void *node)
{
	(void)hand;
	if (batches)
		(void)lfpool_retire(pool, node);
	else
		urcu_memb_call_rcu((struct rcu_head *)(void *)((struct node *)node)->room, free_node);
}

static void settle(void *hand, bool first)
{
	(void)hand;
	if (batches)
		pool_settle(pool, first);
	else if (first)
		urcu_memb_barrier();
}

static size_t in_flight(void *shared, size_t deferred)
{
	(void)shared;
	return batches ? lfpool_quick_stats(pool).retired
		       : not_yet(deferred, __atomic_load_n(&freed, __ATOMIC_ACQUIRE));
}

#include "../retiring.h"

static void *open_with(const struct plan *plan, bool has_pool, lfpool_backend_t backend, bool in_batches)
{
	lfpool_config_t config = pool_config(plan, backend);

	(void)urcu_memb_get_default_call_rcu_data();
	if (in_batches)
		config.scheme = lfpool_rcu_scheme(&urcu_memb_flavor);
	pool = has_pool ? pool_create(&config) : NULL;
	batches = in_batches;
	freed = 0;
	return &pool;
}

static void close_it(void *shared)
{
	(void)shared;
	if (pool)
		pool_close(pool);
}

static void *join(void *shared)
{
	urcu_memb_register_thread();
	return shared;
}

static void leave(void *hand)
{
	(void)hand;
	urcu_memb_unregister_thread();
}

VERSION_IS("liburcu " BENCH_PEER_VERSION)

#define RCU(id, its_name, its_group, its_what, its_version, its_traits, has_pool, backend, in_batches) \
	static void *open_##id(const struct plan *plan)                                                \
	{                                                                                              \
		return open_with(plan, has_pool, LFPOOL_BACKEND_##backend, in_batches);                \
	}                                                                                              \
	const struct subject subject_##id = {                                                          \
		SUBJECT(its_name, its_group, its_what, its_version, its_traits),                       \
		FOR_EACH_THREAD(open_##id, close_it, join, leave, RETIRING_LOOPS),                     \
	}

RCU(retire_rcu, "lfpool-rcu", "lfpool", "lfpool_retire(): one call_rcu() of liburcu, memb, for each batch", NULL,
    TRAIT_BOUNDED | TRAIT_BACKLOG, true, LOCKFREE, true);
RCU(call_rcu_malloc, "call-rcu-malloc", "own", "malloc(), and call_rcu() for each object, which calls free()", version,
    TRAIT_BACKLOG, false, MALLOC, false);
RCU(call_rcu_mutex, "call-rcu-mutex", "own", "a pool with a mutex, and call_rcu() for each object, which releases it",
    version, TRAIT_BOUNDED, true, MUTEX, false);
RCU(call_rcu_lfpool, "call-rcu-lfpool", "own", "lfpool's pool, and call_rcu() for each object, which releases it",
    version, TRAIT_BOUNDED, true, LOCKFREE, false);
