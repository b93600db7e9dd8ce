/* SPDX-License-Identifier: MIT */
/*
 * call_rcu_malloc.c - malloc(), and call_rcu() for each node, whose callback is free(): what liburcu's own examples do.
 *
 * Documented   rcu-api.md, call_rcu(): the rcu_head is embedded in the node.  Nothing bounds what waits.
 */
#include "memb.h"

/* Written by the one thread that runs callbacks; atomic. */
static size_t freed;

static void free_node(struct rcu_head *head)
{
	free((char *)head - offsetof(struct node, room));
	/* release: whoever sees the count finds it free. */
	__atomic_store_n(&freed, __atomic_load_n(&freed, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

static inline void *acquire(void *hand)
{
	(void)hand;
	return malloc(RETIRE_BYTES);
}

static void *acquire_wait(void *hand)
{
	(void)hand;
	return must(NULL);
}

static inline void defer(void *hand, void *node)
{
	(void)hand;
	urcu_memb_call_rcu((struct rcu_head *)(void *)((struct node *)node)->room, free_node);
}

static size_t in_flight(void *shared, size_t deferred)
{
	(void)shared;
	return retiring_rest(deferred, __atomic_load_n(&freed, __ATOMIC_ACQUIRE));
}

#define settle memb_settle
#include "loops.h"

static void *open_nothing(const struct plan *plan)
{
	(void)plan;
	memb_start();
	freed = 0;
	return &freed;
}

static void close_nothing(void *shared)
{
	(void)shared;
}

static const char *version(void)
{
	return "liburcu " BENCH_URCU_VERSION;
}

const struct subject subject_call_rcu_malloc = {
	.name = "call-rcu-malloc",
	.group = "own",
	.what = "malloc(), and call_rcu() for each object, which calls free()",
	.version = version,
	.traits = TRAIT_BACKLOG,
	.open = open_nothing,
	.close = close_nothing,
	.join = memb_join,
	.leave = memb_leave,
	.loops = RETIRING_LOOPS,
};
