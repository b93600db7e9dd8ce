/* SPDX-License-Identifier: MIT */
/*
 * ck_stack.c - Concurrency Kit's stack of free objects: push is a CAS of the head, pop a CAS of the head and a
 * generation, 16 bytes at once.  No caches, no checks.
 *
 * Documented   There is no manual page; ck_stack.h says which calls are "safe for multiple producers and multiple
 *              consumers": ck_stack_push_mpmc() and ck_stack_pop_mpmc().  Only those bear that an object comes back
 *              while another pop still looks at it, since the generation counts the pops.  The entry is embedded, as
 *              CK_STACK_CONTAINER wants it; it is the first word of a free object.  A pop may read that word after
 *              the object has gone to another thread, and throws away what it read: the memory stays mapped until
 *              close.
 */
#include "../objects.h"

#include <ck_md.h>
#include <ck_stack.h>

#if !defined(CK_F_STACK_POP_MPMC)
#error "ck_stack_pop_mpmc() is not available: this processor has no compare-and-swap of two words"
#endif

struct stack {
	ck_stack_t free CK_CC_CACHELINE;
	struct objects objects CK_CC_CACHELINE;
};

static inline void *acquire(void *hand)
{
	return ck_stack_pop_mpmc(&((struct stack *)hand)->free);
}

static inline void release(void *hand, void *object)
{
	ck_stack_push_mpmc(&((struct stack *)hand)->free, (ck_stack_entry_t *)object);
}

#include "../workloads.h"

static void *open_ck_stack(const struct plan *plan)
{
	struct stack *stack = (struct stack *)must(aligned_alloc(_Alignof(struct stack), sizeof(*stack)));

	stack->objects = objects_make(plan);
	ck_stack_init(&stack->free);
	for (size_t i = plan->capacity; i-- > 0;)
		release(stack, objects_at(&stack->objects, i));
	return stack;
}

static void close_ck_stack(void *shared)
{
	struct stack *stack = (struct stack *)shared;

	objects_free(&stack->objects);
	free(stack);
}

static const char *version(void)
{
	return "ck " CK_VERSION;
}

const struct subject subject_ck_stack = {
	.name = "ck-stack",
	.group = "lock-free",
	.what = "Concurrency Kit: ck_stack_pop_mpmc() and ck_stack_push_mpmc(), the entry in the object",
	.version = version,
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	.open = open_ck_stack,
	.close = close_ck_stack,
	.join = join_shared,
	.leave = leave_nothing,
	.loops = SUBJECT_LOOPS,
};
