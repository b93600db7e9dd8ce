/* SPDX-License-Identifier: MIT */
/*
 * stack.h - opening and closing a list of free objects; a template.  A file with such a list includes loops.h,
 * defines
 *
 *     struct stack                        with a member `objects`
 *     stack_make(struct stack *stack)     empty; its objects exist
 *     stack_unmake(struct stack *stack)
 *
 * includes this file, and names STACK_MEMBERS, with the traits of a bounded pool, in its `struct subject`.
 */
#ifndef LFPOOL_BENCH_STACK_H
#define LFPOOL_BENCH_STACK_H

#include "../objects.h"

static void *open_stack(const struct plan *plan)
{
	struct stack *stack = (struct stack *)must(aligned_alloc(_Alignof(struct stack), sizeof(*stack)));

	stack->objects = objects_make(plan);
	stack_make(stack);
	for (size_t i = plan->capacity; i-- > 0;)
		release(stack, objects_at(&stack->objects, i));
	return stack;
}

static void close_stack(void *shared)
{
	struct stack *stack = (struct stack *)shared;

	stack_unmake(stack);
	objects_free(&stack->objects);
	free(stack);
}

#define STACK_MEMBERS SHARED_BY_ALL(open_stack, close_stack, SUBJECT_LOOPS)

#endif
