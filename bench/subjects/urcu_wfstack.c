/* SPDX-License-Identifier: MIT */
/*
 * urcu_wfstack.c - Userspace RCU's stack with wait-free push, of free objects: push is an exchange, pop a CAS under
 * the stack's own mutex, and waits for a push that is not complete.  No caches, no checks.
 *
 * Documented   urcu/wfstack.h, the synchronization table: the same as for urcu_lfstack.c, with the same consequence:
 *              cds_wfs_pop_blocking() "Calls __cds_wfs_pop_blocking with an internal pop mutex held".  A node is
 *              initialised before each push, since the object's owner has written where it is, and push wants it so.
 *              _LGPL_SOURCE: see urcu_lfstack.c.
 */
#define _LGPL_SOURCE

#include "../objects.h"

#include <urcu/wfstack.h>

struct stack {
	struct cds_wfs_stack free __attribute__((aligned(128)));
	struct objects objects __attribute__((aligned(128)));
};

static inline void *acquire(void *hand)
{
	return cds_wfs_pop_blocking(&((struct stack *)hand)->free);
}

static inline void release(void *hand, void *object)
{
	struct cds_wfs_node *node = (struct cds_wfs_node *)object;

	cds_wfs_node_init(node);
	(void)cds_wfs_push(&((struct stack *)hand)->free, node);
}

#include "../workloads.h"

static void *open_urcu_wfstack(const struct plan *plan)
{
	struct stack *stack = (struct stack *)must(aligned_alloc(_Alignof(struct stack), sizeof(*stack)));

	stack->objects = objects_make(plan);
	cds_wfs_init(&stack->free);
	for (size_t i = plan->capacity; i-- > 0;)
		release(stack, objects_at(&stack->objects, i));
	return stack;
}

static void close_urcu_wfstack(void *shared)
{
	struct stack *stack = (struct stack *)shared;

	cds_wfs_destroy(&stack->free);
	objects_free(&stack->objects);
	free(stack);
}

static const char *version(void)
{
	return "liburcu " BENCH_URCU_VERSION;
}

const struct subject subject_urcu_wfstack = {
	.name = "urcu-wfstack",
	.group = "lock-free",
	.what = "Userspace RCU: cds_wfs_pop_blocking(), under its mutex, and cds_wfs_push(), the node in the object",
	.version = version,
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	.open = open_urcu_wfstack,
	.close = close_urcu_wfstack,
	.join = join_shared,
	.leave = leave_nothing,
	.loops = SUBJECT_LOOPS,
};
