/* SPDX-License-Identifier: MIT */
/*
 * free_list.c - a pthread mutex around one list, linked through the objects: the pool of a program without a library.  No caches, no
 * checks.
 */
#include "../objects.h"

#include <pthread.h>

struct link {
	struct link *next;
};

struct stack {
	/* A thread that has the lock wants the list: one line for both. */
	pthread_mutex_t lock __attribute__((aligned(64)));
	struct link *first;
	struct objects objects __attribute__((aligned(64)));
};

static inline void *acquire(void *hand)
{
	struct stack *stack = (struct stack *)hand;

	(void)pthread_mutex_lock(&stack->lock);

	struct link *link = stack->first;

	if (link)
		stack->first = link->next;
	(void)pthread_mutex_unlock(&stack->lock);
	return link;
}

static inline void release(void *hand, void *object)
{
	struct stack *stack = (struct stack *)hand;
	struct link *link = (struct link *)object;

	(void)pthread_mutex_lock(&stack->lock);
	link->next = stack->first;
	stack->first = link;
	(void)pthread_mutex_unlock(&stack->lock);
}

#include "../loops.h"

static void stack_make(struct stack *stack)
{
	(void)pthread_mutex_init(&stack->lock, NULL);
	stack->first = NULL;
}

#define stack_unmake(stack) (void)(stack)
#include "stack.h"

const struct subject subject_free_list = {
	SUBJECT("free-list", "own", "one pthread mutex, one list through the objects: no checks", NULL,
		TRAIT_BOUNDED | TRAIT_POOL),
	STACK_MEMBERS,
};
