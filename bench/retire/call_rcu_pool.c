/* SPDX-License-Identifier: MIT */
/*
 * call_rcu_pool.c - a pool, and call_rcu() for each node, whose callback releases it: what a program does today that has
 * both.  With a mutex around the pool, as most are; and with lfpool's, which shows what collecting in batches is good for.
 */
#include "memb.h"

#include "../subjects/pool.h"

static lfpool_t *pool_of_all; /* the one that is open */

static void release_node(struct rcu_head *head)
{
	(void)lfpool_release(pool_of_all, (char *)head - offsetof(struct node, room));
	memb_count_freed();
}

static inline void defer(void *hand, void *node)
{
	(void)hand;
	urcu_memb_call_rcu((struct rcu_head *)(void *)((struct node *)node)->room, release_node);
}

#define acquire pool_acquire
#define acquire_wait pool_acquire_wait
#define settle memb_settle
#define in_flight memb_in_flight
#include "loops.h"

static void *open_with(const struct plan *plan, lfpool_backend_t backend)
{
	memb_start();
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

#define SUBJECT(its_name, its_what, its_open) \
	{.name = its_name, .what = its_what, .traits = TRAIT_BOUNDED, OWN_MEMB_MEMBERS(its_open, pool_close)}

const struct subject subject_call_rcu_mutex = SUBJECT(
	"call-rcu-mutex", "a pool with a mutex, and call_rcu() for each object, which releases it", open_mutex);
const struct subject subject_call_rcu_lfpool = SUBJECT(
	"call-rcu-lfpool", "lfpool's pool, and call_rcu() for each object, which releases it", open_lockfree);
