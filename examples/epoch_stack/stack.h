/* SPDX-License-Identifier: MIT */
/*
 * stack.h - a lock-free stack of nodes from a pool: ConcurrencyKit's ck_stack, in sections of a ck_epoch.
 *
 * Idea         The top of the stack is one pointer, without a tag.  A pop reads the top's link, and then replaces the
 *              top by it, if it is still the top.  That is wrong as soon as the node was popped, used again, and
 *              pushed again in between: it is the top once more, but its link is another.  (The ABA problem.)  Nor may
 *              a walk down the stack meet a node that has become another one.  In a section of an epoch neither can
 *              happen: a node that was popped is retired (lfpool_release_epoch()), and free only when each section has
 *              ended that may know it.
 * Stamps       A node's stamp is another one each time the node is used.  So a thread that holds a node can tell that it is
 *              still what it was.
 */
#ifndef EXAMPLE_STACK_H
#define EXAMPLE_STACK_H

#include <ck_epoch.h>
#include <ck_stack.h>

#include "lfpool/epoch.h"

#include <stdatomic.h>

struct node {
	ck_stack_entry_t link; /* first */
	_Atomic(uint64_t) stamp;
	_Atomic(uint64_t) text[4]; /* all of it is made of the stamp */
};

struct stack {
	ck_stack_t nodes;
	ck_epoch_t epoch;
	lfpool_epoch_t *gate;
	lfpool_t *pool;
	bool deferral;
};

/* False if there is no pool.  Nodes are released at once if not `deferral`: it is a mistake, and shows what it leads
 * to. */
bool stack_open(struct stack *stack, size_t capacity, bool deferral);

/* False: all nodes are in use, or wait for sections. */
bool stack_push(struct stack *stack, uint64_t stamp);

/* NULL: it is empty.  The node is the caller's, until stack_retire(); in a section of the caller's, both. */
struct node *stack_pop(struct stack *stack);
void stack_retire(struct stack *stack, ck_epoch_record_t *record, struct node *node);

/* The top; what lies below a node.  NULL: nothing.  In a section of the caller's. */
const struct node *stack_top(const struct stack *stack);
const struct node *stack_below(const struct node *node);

/* Is the node what it was when it had that stamp? */
bool node_is(const struct node *node, uint64_t stamp);

/* Nodes that are still in use.  No other thread may be at it, or use the epoch any more. */
size_t stack_close(struct stack *stack);

#endif
