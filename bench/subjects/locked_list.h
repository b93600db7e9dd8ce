/* SPDX-License-Identifier: MIT */
/* locked_list.h - one lock around one list, linked through the objects: the pool of a program without a library.  No
 * caches, no checks.  A template: a file defines LOCK_T, LOCK_INIT(lock), LOCK(lock) and UNLOCK(lock), and includes
 * this one. */
#include "../objects.h"

struct link {
	struct link *next;
};

struct stack {
	/* On the list's cache line, which the lock's holder needs. */
	LOCK_T lock __attribute__((aligned(64)));
	struct link *first;
	struct objects objects __attribute__((aligned(64)));
};

static inline void *acquire(void *hand)
{
	struct stack *stack = (struct stack *)hand;

	LOCK(&stack->lock);

	struct link *link = stack->first;

	if (link)
		stack->first = link->next;
	UNLOCK(&stack->lock);
	return link;
}

static inline void release(void *hand, void *object)
{
	struct stack *stack = (struct stack *)hand;
	struct link *link = (struct link *)object;

	LOCK(&stack->lock);
	link->next = stack->first;
	stack->first = link;
	UNLOCK(&stack->lock);
}

#include "../loops.h"

static void stack_make(struct stack *stack)
{
	LOCK_INIT(&stack->lock);
	stack->first = NULL;
}

#define stack_unmake(stack) (void)(stack)
#include "stack.h"
