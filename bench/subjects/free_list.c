/* SPDX-License-Identifier: MIT */
/*
 * free_list.c - one pthread mutex around one list, linked through the objects: the pool of a program without a library.  No
 * caches, no checks.
 */
#include "link.h"

struct stack {
	/* A thread that has the mutex wants the list: one line for both. */
	_Alignas(64) pthread_mutex_t mutex;
	struct link *first;
	struct objects objects;
};

static inline void *acquire(void *hand)
{
	struct stack *stack = (struct stack *)hand;

	(void)pthread_mutex_lock(&stack->mutex);

	void *object = link_pop(&stack->first);

	(void)pthread_mutex_unlock(&stack->mutex);
	return object;
}

static inline void release(void *hand, void *object)
{
	struct stack *stack = (struct stack *)hand;

	(void)pthread_mutex_lock(&stack->mutex);
	link_push(&stack->first, object);
	(void)pthread_mutex_unlock(&stack->mutex);
}

#include "../workloads.h"

static void stack_make(struct stack *stack)
{
	(void)pthread_mutex_init(&stack->mutex, NULL);
	stack->first = NULL;
}

#define stack_unmake(stack) (void)pthread_mutex_destroy(&(stack)->mutex)
#include "stack.h"

const struct subject subject_free_list = {
	.name = "free-list",
	.group = "own",
	.what = "one pthread mutex, one list through the objects: no checks",
	STACK_MEMBERS,
};
