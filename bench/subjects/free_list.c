/* SPDX-License-Identifier: MIT */
/*
 * free_list.c - one pthread mutex around one list, linked through the objects: the pool that somebody would write.  No
 * caches, no checks.
 */
#include "../objects.h"

struct link {
	struct link *next;
};

struct stack {
	/* Who has the mutex wants the list: one line for both. */
	_Alignas(64) pthread_mutex_t mutex;
	struct link *first;
	struct objects objects;
};

static inline void *acquire(void *hand)
{
	struct stack *stack = (struct stack *)hand;

	(void)pthread_mutex_lock(&stack->mutex);

	struct link *link = stack->first;

	if (link)
		stack->first = link->next;
	(void)pthread_mutex_unlock(&stack->mutex);
	return link;
}

static inline void release(void *hand, void *object)
{
	struct stack *stack = (struct stack *)hand;
	struct link *link = (struct link *)object;

	(void)pthread_mutex_lock(&stack->mutex);
	link->next = stack->first;
	stack->first = link;
	(void)pthread_mutex_unlock(&stack->mutex);
}

#include "../workloads.h"

static void stack_make(struct stack *stack)
{
	(void)pthread_mutex_init(&stack->mutex, NULL);
	stack->first = NULL;
}

static void stack_unmake(struct stack *stack)
{
	(void)pthread_mutex_destroy(&stack->mutex);
}

#include "stack.h"

const struct subject subject_free_list = {
	.name = "free-list",
	.group = "own",
	.what = "one pthread mutex, one list through the objects: no checks",
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	SHARED_BY_ALL(open_stack, close_stack, SUBJECT_LOOPS),
};
