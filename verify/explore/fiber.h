/* SPDX-License-Identifier: MIT */
/*
 * fiber.h - a separate stack, and the switch to another one.
 *
 * Idea         fiber_switch() saves the registers that a call must preserve on the old stack, remembers the stack
 *              pointer, and continues on the new stack: a dozen instructions, where swapcontext() would enter the
 *              kernel twice.
 */
#ifndef EXPLORE_FIBER_H
#define EXPLORE_FIBER_H

#include <stddef.h>
#include <stdint.h>

#ifndef __x86_64__
#error "the explorer switches stacks in x86-64 assembly"
#endif

typedef void *fiber_t;

void explore_fiber_switch(fiber_t *from, fiber_t to);
__asm__(".text\n"
	".globl explore_fiber_switch\n"
	".type explore_fiber_switch, @function\n"
	"explore_fiber_switch:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size explore_fiber_switch, .-explore_fiber_switch\n");
#define fiber_switch(from, to) explore_fiber_switch((from), (to))

/* A fiber that begins in `entry`, which must not return. */
static inline fiber_t fiber_make(char *stack, size_t bytes, void (*entry)(void))
{
	uintptr_t *top = (uintptr_t *)(void *)(stack + bytes);

	/* A dummy return address; then the entry, reached by a return; then the six saved registers. */
	*--top = 0;
	*--top = (uintptr_t)entry;
	for (int i = 0; i < 6; i++)
		*--top = 0;
	return top;
}

#endif
