/* SPDX-License-Identifier: MIT */
/*
 * memb.h - sections of liburcu's default flavour, memb: for subjects that use it.  To be included first.
 *
 * Documented   README, "Usage of all urcu libraries": _LGPL_SOURCE, which inlines rcu_read_lock(), is for code whose licence
 *              is compatible with the GPL, as ours is.  rcu-api.md: call_rcu() is for registered threads; it starts its worker
 *              at the first call, and one worker serves all unless the program asks for more.  It is started before a
 *              thread is pinned, since it would be on the same processor.
 */
#ifndef LFPOOL_BENCH_MEMB_H
#define LFPOOL_BENCH_MEMB_H

#define _LGPL_SOURCE

#include <urcu/urcu-memb.h>

#include "retiring.h"

_Static_assert(sizeof(struct rcu_head) <= sizeof(((struct node *)0)->room), "a node has room for a callback");

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

/* Callbacks that have freed a node: written by the one thread that runs them; atomic. */
static size_t memb_freed;

static inline void memb_start(void)
{
	memb_freed = 0;
	(void)urcu_memb_get_default_call_rcu_data();
}

static inline void *memb_join(void *shared)
{
	urcu_memb_register_thread();
	return shared;
}

static inline void memb_leave(void *hand)
{
	(void)hand;
	urcu_memb_unregister_thread();
}

/* For subjects whose nodes are malloc's. */
static inline void *memb_open_nothing(const struct plan *plan)
{
	(void)plan;
	return &memb_freed;
}

VERSION_IS("liburcu " BENCH_URCU_VERSION)

/* The last members of a subject whose readers use it; and of one that is not ours. */
#define MEMB_MEMBERS(its_open, its_close) FOR_EACH_THREAD(its_open, its_close, memb_join, memb_leave, RETIRING_LOOPS)
#define OWN_MEMB_MEMBERS(its_open, its_close) .group = "own", .version = version, MEMB_MEMBERS(its_open, its_close)

/* For subjects whose nodes are callbacks. */
static inline void memb_settle(void *hand, bool first)
{
	(void)hand;
	if (first)
		urcu_memb_barrier();
}

static inline void memb_count_freed(void)
{
	/* release: a thread that sees the count finds the node free. */
	__atomic_store_n(&memb_freed, __atomic_load_n(&memb_freed, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

static inline size_t memb_in_flight(void *shared, size_t deferred)
{
	(void)shared;
	return retiring_rest(deferred, __atomic_load_n(&memb_freed, __ATOMIC_ACQUIRE));
}

#endif
