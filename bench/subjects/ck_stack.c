/* SPDX-License-Identifier: MIT */
/*
 * ck_stack.c - Concurrency Kit's stack of free objects, without caches or checks.  A push is a CAS of the head.  A pop
 * is a CAS of 16 bytes: the head and a generation that counts the pops.
 *
 * Documented   There is no manual page.  ck_stack.h calls ck_stack_push_mpmc() and ck_stack_pop_mpmc() "safe for
 *              multiple producers and multiple consumers".  A pool needs these two: an object may be pushed again
 *              while a slow pop still reads it, and only the generation makes the CAS of that pop fail.
 *              CK_STACK_CONTAINER requires an embedded entry: here it is the first word of a free object.  A slow pop
 *              may read this word after another thread has acquired the object.  It discards the value, and the
 *              memory stays mapped until close.
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
