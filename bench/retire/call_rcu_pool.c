/* SPDX-License-Identifier: MIT */
/*
 * call_rcu_pool.c - a pool, and call_rcu() for each node, whose callback releases it: what a program does today that has
 * both.  With a mutex around the pool, as most are; and with lfpool's, which shows what collecting in batches is good for.
 */
#include "memb.h"

#include "../subjects/pool.h"

/* Of the one pool that is open.  `freed` is written by the one thread that runs callbacks; atomic. */
static lfpool_t *pool_of_all;
static size_t freed;

static void release_node(struct rcu_head *head)
{
	(void)lfpool_release(pool_of_all, (char *)head - offsetof(struct node, room));
	/* release: whoever sees the count finds it free. */
	__atomic_store_n(&freed, __atomic_load_n(&freed, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

static inline void *acquire(void *hand)
{
	return lfpool_acquire((lfpool_t *)hand);
}

static void *acquire_wait(void *hand)
{
	return must(lfpool_acquire_wait((lfpool_t *)hand, -1));
}

static inline void defer(void *hand, void *node)
{
	(void)hand;
	urcu_memb_call_rcu((struct rcu_head *)(void *)((struct node *)node)->room, release_node);
}

static size_t in_flight(void *shared, size_t deferred)
{
	(void)shared;
	return retiring_rest(deferred, __atomic_load_n(&freed, __ATOMIC_ACQUIRE));
}

#define settle memb_settle
#include "loops.h"

static void *open_with(const struct plan *plan, lfpool_backend_t backend)
{
	memb_start();
	freed = 0;
	pool_of_all = pool_open(plan, backend, 0);
	return pool_of_all;
}

static void *open_mutex(const struct plan *plan)
{
	return open_with(plan, LFPOOL_BACKEND_MUTEX);
}

static void *open_lockfree(const struct plan *plan)
{
	return open_with(plan, LFPOOL_BACKEND_LOCKFREE);
}

static const char *version(void)
{
	return "liburcu " BENCH_URCU_VERSION;
}

const struct subject subject_call_rcu_mutex = {
	.name = "call-rcu-mutex",
	.group = "own",
	.what = "a pool with a mutex, and call_rcu() for each object, which releases it",
	.version = version,
	.traits = TRAIT_BOUNDED,
	.open = open_mutex,
	.close = pool_close,
	.join = memb_join,
	.leave = memb_leave,
	.loops = RETIRING_LOOPS,
};

const struct subject subject_call_rcu_lfpool = {
	.name = "call-rcu-lfpool",
	.group = "own",
	.what = "lfpool's pool, and call_rcu() for each object, which releases it",
	.version = version,
	.traits = TRAIT_BOUNDED,
	.open = open_lockfree,
	.close = pool_close,
	.join = memb_join,
	.leave = memb_leave,
	.loops = RETIRING_LOOPS,
};
