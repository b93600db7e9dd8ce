/* SPDX-License-Identifier: MIT */
/*
 * fiber.c - see fiber.h.
 */
#include "fiber.h"

#include "sanitizers.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define STACK_BYTES ((size_t)64 * 1024)
#define GUARD_BYTES ((size_t)4096)

/* ---- ThreadSanitizer has a shadow of every stack, and must be told of a switch ---------------------------------- */

#if UNDER_TSAN
#include <sanitizer/tsan_interface.h>
#else
#define __tsan_create_fiber(flags) NULL
#define __tsan_destroy_fiber(fiber) ((void)(fiber))
#define __tsan_get_current_fiber() NULL
#define __tsan_switch_to_fiber(fiber, flags) ((void)(fiber))
#endif

/* ---- Switching -------------------------------------------------------------------------------------------------- */

static void leave(struct fiber *fiber)
{
	__tsan_switch_to_fiber(fiber->tsan_resumer, 0);
	if (swapcontext(&fiber->context, fiber->resumer) != 0)
		abort();
}

/* All that ever runs on the stack; the address in two halves, for makecontext() passes ints. */
static void live(unsigned upper, unsigned lower)
{
	struct fiber *fiber = (struct fiber *)((uintptr_t)upper << 16 << 16 | lower);

	for (;;) {
		fiber->run(fiber, fiber->host, fiber->argument);
		fiber->ended = true;
		leave(fiber);
	}
}

void *fiber_yield(struct fiber *fiber)
{
	leave(fiber);
	return fiber->host;
}

bool fiber_resume(struct fiber *fiber, void *host)
{
	ucontext_t here;

	fiber->host = host;
	fiber->resumer = &here;
	fiber->tsan_resumer = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(fiber->tsan_fiber, 0);
	if (swapcontext(&here, &fiber->context) != 0)
		abort();
	return fiber->ended;
}

void fiber_begin(struct fiber *fiber, fiber_function *run, const void *argument)
{
	fiber->run = run;
	fiber->argument = argument;
	fiber->ended = false;
}

/* ---- The pool ----------------------------------------------------------------------------------------------------- */

static bool fiber_create(void *context, void *object)
{
	struct fiber *fiber = object;

	(void)context;
	fiber->stack = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1,
			    0);
	if (fiber->stack == MAP_FAILED)
		return false;
	if (mprotect(fiber->stack, GUARD_BYTES, PROT_NONE) != 0 || getcontext(&fiber->context) != 0) {
		munmap(fiber->stack, GUARD_BYTES + STACK_BYTES);
		return false;
	}
	fiber->context.uc_stack.ss_sp = fiber->stack + GUARD_BYTES;
	fiber->context.uc_stack.ss_size = STACK_BYTES;
	fiber->context.uc_link = NULL;
	makecontext(&fiber->context, (void (*)(void))live, 2, (unsigned)((uintptr_t)fiber >> 16 >> 16),
		    (unsigned)(uintptr_t)fiber);
	fiber->tsan_fiber = __tsan_create_fiber(0);
	return true;
}

static void fiber_destroy(void *context, void *object)
{
	struct fiber *fiber = object;

	(void)context;
	__tsan_destroy_fiber(fiber->tsan_fiber);
	munmap(fiber->stack, GUARD_BYTES + STACK_BYTES);
}

lfpool_status_t fibers_create(lfpool_t **pool_out, size_t capacity)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	config.name = "fibers";
	config.object_size = sizeof(struct fiber);
	config.object_alignment = 64;
	config.capacity = capacity;
	config.hooks.create = fiber_create;
	config.hooks.destroy = fiber_destroy;
	return lfpool_create(pool_out, &config);
}
