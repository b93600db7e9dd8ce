/* SPDX-License-Identifier: MIT */
/*
 * spin.c - one spin lock around one list, linked through the objects: what many programs have.  No caches, no checks.
 *
 * Documented   ck_spinlock(3) of Concurrency Kit: ck_spinlock_t is the fetch-and-store lock, which ck_spinlock.h says
 *              had the lowest latency on the machines they tested.  "If contention is high and there is no
 *              requirement for starvation-freedom then a centralized greedy spinlock is recommended to be used with
 *              an exponential backoff mechanism": so ck_spinlock_lock_eb().  Alone, a thread gets it by the same one
 *              exchange.
 */
#include "link.h"

#include <ck_cc.h>
#include <ck_md.h>
#include <ck_spinlock.h>

struct stack {
	/* A thread that has the lock wants the list: one line for both. */
	ck_spinlock_t lock CK_CC_CACHELINE;
	struct link *first;
	struct objects objects CK_CC_CACHELINE;
};

static inline void *acquire(void *hand)
{
	struct stack *stack = (struct stack *)hand;

	ck_spinlock_lock_eb(&stack->lock);

	void *object = link_pop(&stack->first);

	ck_spinlock_unlock(&stack->lock);
	return object;
}

static inline void release(void *hand, void *object)
{
	struct stack *stack = (struct stack *)hand;

	ck_spinlock_lock_eb(&stack->lock);
	link_push(&stack->first, object);
	ck_spinlock_unlock(&stack->lock);
}

#include "../workloads.h"

static void stack_make(struct stack *stack)
{
	ck_spinlock_init(&stack->lock);
	stack->first = NULL;
}

#define stack_unmake(stack) (void)(stack)
#include "stack.h"

VERSION_IS("ck " CK_VERSION)

const struct subject subject_spin = {
	.name = "spin",
	.group = "own",
	.what = "one spin lock (ck_spinlock, exponential backoff), one list through the objects",
	.version = version,
	STACK_MEMBERS,
};
