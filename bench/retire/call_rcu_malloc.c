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

static void *open_malloc(const struct plan *plan)
{
	memb_start();
	return memb_open_nothing(plan);
}

const struct subject subject_call_rcu_malloc = {
	.name = "call-rcu-malloc",
	.what = "malloc(), and call_rcu() for each object, which calls free()",
	.traits = TRAIT_BACKLOG,
	OWN_MEMB_MEMBERS(open_malloc, leave_nothing),
};
