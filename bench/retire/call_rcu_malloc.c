/* SPDX-License-Identifier: MIT */
/*
 * call_rcu_malloc.c - malloc(), and call_rcu() for each node, whose callback is free(): what liburcu's own examples do.
 *
 * Documented   rcu-api.md, call_rcu(): the rcu_head is embedded in the node.  Nothing bounds what waits.
 */
#include "memb.h"

static void free_node(struct rcu_head *head)
{
	free((char *)head - offsetof(struct node, room));
	memb_count_freed();
}

static inline void defer(void *hand, void *node)
{
	(void)hand;
	urcu_memb_call_rcu((struct rcu_head *)(void *)((struct node *)node)->room, free_node);
}

#define acquire node_malloc
#define acquire_wait node_malloc_wait
#define settle memb_settle
#define in_flight memb_in_flight
#include "loops.h"

static void *open_nothing(const struct plan *plan)
{
	(void)plan;
	memb_start();
	return &memb_freed;
}

VERSION_IS("liburcu " BENCH_URCU_VERSION)

const struct subject subject_call_rcu_malloc = {
	.name = "call-rcu-malloc",
	.group = "own",
	.what = "malloc(), and call_rcu() for each object, which calls free()",
	.version = version,
	.traits = TRAIT_BACKLOG,
	MEMB_MEMBERS(open_nothing, leave_nothing),
};
