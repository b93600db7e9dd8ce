/* SPDX-License-Identifier: MIT */
/*
 * stack.c - see stack.h.
 */
#include "stack.h"

#include <stdio.h>

/* ---- Nodes ---- */

/* relaxed, all of it: the stack orders what is written before a node is on it before what is read of it.  They would
 * need no atomics, if the program did not also try what happens without deferral. */
static uint64_t word_of(uint64_t stamp, unsigned i)
{
	return (stamp + 1) * (2 * i + 3);
}

static void node_fill(struct node *node, uint64_t stamp)
{
	atomic_store_explicit(&node->stamp, stamp, memory_order_relaxed);
	for (unsigned i = 0; i < 4; i++)
		atomic_store_explicit(&node->text[i], word_of(stamp, i), memory_order_relaxed);
}

bool node_is(const struct node *node, uint64_t stamp)
{
	bool same = atomic_load_explicit(&node->stamp, memory_order_relaxed) == stamp;

	for (unsigned i = 0; i < 4; i++)
		same &= atomic_load_explicit(&node->text[i], memory_order_relaxed) == word_of(stamp, i);
	return same;
}

/* ---- The stack ---- */

bool stack_open(struct stack *stack, size_t capacity, bool deferral)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	*stack = (struct stack){.deferral = deferral};
	ck_stack_init(&stack->nodes);
	ck_epoch_init(&stack->epoch);
	lfpool_status_t status = lfpool_epoch_create(&stack->gate, &stack->epoch);

	config.name = "stack nodes";
	config.object_size = sizeof(struct node);
	config.object_alignment = _Alignof(struct node);
	config.capacity = capacity;
	config.scheme = lfpool_epoch_scheme(stack->gate);
	if (status == LFPOOL_OK)
		status = lfpool_create(&stack->pool, &config);
	if (status != LFPOOL_OK) {
		fprintf(stderr, "epoch_stack: no pool: %s\n", lfpool_status_string(status));
		lfpool_epoch_destroy(stack->gate);
	}
	return status == LFPOOL_OK;
}

bool stack_push(struct stack *stack, uint64_t stamp)
{
	struct node *node = lfpool_acquire(stack->pool);

	if (!node)
		return false;
	node_fill(node, stamp);
	ck_stack_push_upmc(&stack->nodes, &node->link);
	return true;
}

struct node *stack_pop(struct stack *stack)
{
	return (struct node *)(void *)ck_stack_pop_upmc(&stack->nodes);
}

void stack_retire(struct stack *stack, ck_epoch_record_t *record, struct node *node)
{
	if (stack->deferral)
		lfpool_release_epoch(stack->pool, record, node);
	else
		lfpool_release(stack->pool, node);
}

const struct node *stack_top(const struct stack *stack)
{
	return (const struct node *)ck_pr_load_ptr(&stack->nodes.head);
}

const struct node *stack_below(const struct node *node)
{
	return (const struct node *)ck_pr_load_ptr(&node->link.next);
}

size_t stack_close(struct stack *stack)
{
	/* Waits for the nodes that are retired. */
	const size_t active = lfpool_destroy(stack->pool);

	lfpool_epoch_destroy(stack->gate);
	return active;
}
