/* SPDX-License-Identifier: MIT */
/*
 * fiber.h - a function with a stack of its own, that can stop in the middle and go on later, on another thread.
 *
 * Idea         ucontext(3), and a pool of fibers: the hook `create` maps a stack with a page below that must not be touched,
 *              and enters it once; `destroy` unmaps it.  What create built survives reuse.  A fiber that has ended stands at
 *              the top of its own loop, so the next function needs neither a new stack nor a new context.
 * Host         The caller that resumes a fiber says on whose behalf: its worker.  fiber_yield() returns the host that the fiber
 *              goes on with.  That is the only way for the fiber to know it.
 * Thread-local A compiler takes for granted that a function stays on its thread: it may compute the address of a thread-local
 *              variable (errno is one) once, and use it again after a yield, on another thread (gcc and clang both do, at
 *              -O2; LLVM's issue 47179).  What is reached through the host cannot be kept like that.
 * Publication  A fiber must not be handed to another worker by itself: it still stands on its stack.  fiber_resume() returns
 *              false when it has left it, and then the caller that resumed it hands it on.
 * Cost         Two system calls for each switch: ucontext(3) saves the signal mask.  Other libraries of fibers do without.
 */
#ifndef EXAMPLE_SCHEDULERS_FIBER_H
#define EXAMPLE_SCHEDULERS_FIBER_H

#include "lfpool/lfpool.h"

#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

struct fiber;

typedef void fiber_function(struct fiber *fiber, void *host, const void *argument);

/* An object of the pool. */
struct fiber {
	ucontext_t context;  /* where it goes on                                                    */
	ucontext_t *resumer; /* where the one goes on that resumed it                               */
	void *host;          /* of the one that resumed it                                          */
	fiber_function *run;
	const void *argument;
	bool ended;
	char *stack;                     /* the lowest address, of the page that must not be touched               */
	void *tsan_fiber, *tsan_resumer; /* what ThreadSanitizer calls the two stacks            */
};

/* A pool of fibers.  Memory for stacks is mapped as they are first used. */
lfpool_status_t fibers_create(lfpool_t **pool_out, size_t capacity);

/* What the fiber, just acquired, shall run. */
void fiber_begin(struct fiber *fiber, fiber_function *run, const void *argument);

/* Runs the fiber on this thread, from where it stands.  true: it has ended, and can be released.  false: it has yielded, and
 * can be resumed by any thread. */
bool fiber_resume(struct fiber *fiber, void *host);

/* Inside the fiber: back to the one that resumed it.  Returns when it is resumed: the host from now on. */
void *fiber_yield(struct fiber *fiber);

#endif
