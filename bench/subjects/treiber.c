/* SPDX-License-Identifier: MIT */
/* treiber.c - the stack that is usually written first (Treiber 1986): one tagged head, every acquire and release a
 * CAS on it, the links in a separate array.  No caches, no checks. */
#include "../objects.h"

struct stack {
	uint64_t head __attribute__((aligned(128))); /* {tag:32, index:32}; index 0 is the end */
	struct objects objects __attribute__((aligned(128)));
	uint32_t *below; /* atomics */
};

static inline void *acquire(void *hand)
{
	struct stack *stack = (struct stack *)hand;
	/* acquire: the link, and the writes to the object. */
	uint64_t head = __atomic_load_n(&stack->head, __ATOMIC_ACQUIRE);

	for (;;) {
		const uint32_t index = (uint32_t)head;

		if (!index)
			return NULL;

		const uint64_t below = __atomic_load_n(&stack->below[index], __ATOMIC_RELAXED);
		const uint64_t next = ((head >> 32) + 1) << 32 | below;

		if (__atomic_compare_exchange_n(&stack->head, &head, next, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
			return objects_at(&stack->objects, index - 1);
	}
}

static inline void release(void *hand, void *object)
{
	struct stack *stack = (struct stack *)hand;
	const size_t offset = (size_t)((char *)object - stack->objects.memory);
	/* Sizes are powers of two: a shift, as a compiler would generate for a constant. */
	const uint32_t index = (uint32_t)(offset >> __builtin_ctzll(stack->objects.object_bytes)) + 1;
	uint64_t head = __atomic_load_n(&stack->head, __ATOMIC_RELAXED);
	uint64_t next;

	do {
		__atomic_store_n(&stack->below[index], (uint32_t)head, __ATOMIC_RELAXED);
		next = ((head >> 32) + 1) << 32 | index;
		/* release: the link, and the writes to the object. */
	} while (!__atomic_compare_exchange_n(&stack->head, &head, next, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

#include "../loops.h"

static void stack_make(struct stack *stack)
{
	stack->head = 0;
	stack->below = (uint32_t *)must(malloc((stack->objects.count + 1) * sizeof(*stack->below)));
}

#define stack_unmake(stack) free((stack)->below)
#include "stack.h"

const struct subject subject_treiber = {
	SUBJECT("treiber", "own", "one tagged Treiber stack of objects, no caches", NULL, TRAIT_BOUNDED | TRAIT_POOL),
	STACK_MEMBERS,
};
