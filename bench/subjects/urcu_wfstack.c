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

#define stack_make(stack) cds_wfs_init(&(stack)->free)
#define stack_unmake(stack) cds_wfs_destroy(&(stack)->free)
#include "stack.h"

VERSION_IS("liburcu " BENCH_URCU_VERSION)

const struct subject subject_urcu_wfstack = {
	.name = "urcu-wfstack",
	.group = "lock-free",
	.what = "Userspace RCU: cds_wfs_pop_blocking(), under its mutex, and cds_wfs_push(), the node in the object",
	.version = version,
	STACK_MEMBERS,
};
