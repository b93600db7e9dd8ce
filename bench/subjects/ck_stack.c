/* SPDX-License-Identifier: MIT */
/*
 * ck_stack.c - Concurrency Kit's stack of free objects: push is a CAS of the head, pop a CAS of the head and a
 * generation, 16 bytes at once.  No caches, no checks.
 *
 * Documented   There is no manual page; ck_stack.h says which calls are "safe for multiple producers and multiple
 *              consumers": ck_stack_push_mpmc() and ck_stack_pop_mpmc(). Only with those may an object come back
 *              while another pop still looks at it, because the generation counts the pops.  The entry is embedded,
 *              as CK_STACK_CONTAINER requires: it is the first word of a free object.  A pop may read that word after
 *              the object has gone to another thread, and then discards it: the memory stays mapped until close.
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

#include "../loops.h"

#define stack_make(stack) ck_stack_init(&(stack)->free)
#define stack_unmake(stack) (void)(stack)
#include "stack.h"

VERSION_IS("ck " BENCH_PEER_VERSION)

const struct subject subject_ck_stack = {
	SUBJECT("ck-stack", "lock-free",
		"Concurrency Kit: ck_stack_pop_mpmc() and ck_stack_push_mpmc(), the entry in the object", version,
		TRAIT_BOUNDED | TRAIT_POOL),
	STACK_MEMBERS,
};
