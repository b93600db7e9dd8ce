/* SPDX-License-Identifier: MIT */
/*
 * urcu_lfstack.c - Userspace RCU's lock-free stack of free objects: push is a CAS, pop a CAS under the stack's own
 * mutex.  No caches, no checks.
 *
 * Documented   urcu/lfstack.h, the synchronization table: pop needs help against another pop, push against nothing.
 *              A popped node may be pushed again at once in two of the three ways that __cds_lfs_pop names (the
 *              first, RCU, makes it wait for a grace period), and of those only mutual exclusion lets every thread
 *              pop: cds_lfs_pop_blocking() "Calls __cds_lfs_pop with an internal pop mutex held".  The node is
 *              embedded in the object, as in their examples.
 *              README, "Usage of all urcu libraries": _LGPL_SOURCE, which inlines the calls, is for code whose
 *              licence is compatible with the GPL, as ours is.
 */
#define _LGPL_SOURCE

#include "../objects.h"

#include <urcu/lfstack.h>

struct stack {
	struct cds_lfs_stack free __attribute__((aligned(128)));
	struct objects objects __attribute__((aligned(128)));
};

static inline void *acquire(void *hand)
{
	return cds_lfs_pop_blocking(&((struct stack *)hand)->free);
}

static inline void release(void *hand, void *object)
{
	struct cds_lfs_node *node = (struct cds_lfs_node *)object;

	cds_lfs_node_init(node);
	(void)cds_lfs_push(&((struct stack *)hand)->free, node);
}

#include "../loops.h"

#define stack_make(stack) cds_lfs_init(&(stack)->free)
#define stack_unmake(stack) cds_lfs_destroy(&(stack)->free)
#include "stack.h"

VERSION_IS("liburcu " BENCH_PEER_VERSION)

const struct subject subject_urcu_lfstack = {
	SUBJECT("urcu-lfstack", "lock-free",
		"Userspace RCU: cds_lfs_pop_blocking(), under its mutex, and cds_lfs_push(), the node in the object", version,
		TRAIT_BOUNDED | TRAIT_POOL),
	STACK_MEMBERS,
};
