/* SPDX-License-Identifier: MIT */
/*
 * engine.c - runs a small concurrent program repeatedly, each time with different choices.
 *
 * Idea         The threads are fibers of one thread.  Each yields before every operation on a shared location, and
 *              only there.  So an execution is a list of choices, and the same choices give the same execution.
 * Sharing      Only a location that two threads access and one of them writes needs a choice.  The engine learns
 *              these locations: when it finds a new one it restarts the search (engine_relearn), so none is missed.
 * Livelock     An execution with more than OPERATIONS_MAX operations is a failure: the programs are short.
 * Deadlock     An execution in which all remaining threads sleep for ever is a failure.
 */
#include "explore.h"

#include "fiber.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERATIONS_MAX 10000

enum ending { ENDED, FAILED, RELEARN };

static struct {
	const struct search *search;
	const struct program *program;
	struct result *result;

	/* The current execution. */
	bool running;
	unsigned thread, left; /* the running thread; the unfinished threads, one bit each */
	uint64_t operations;
	enum ending ending;
} engine = {.result = &(struct result){0}};

static fiber_t fibers[THREADS_MAX], scheduler;
static char stacks[THREADS_MAX][64 << 10] __attribute__((aligned(64)));

unsigned engine_thread(void)
{
	return engine.thread;
}

unsigned engine_threads(void)
{
	return engine.program->threads;
}

bool engine_running(void)
{
	return engine.running;
}

bool engine_weak(void)
{
	return engine.search->weak;
}

uint64_t engine_now(void)
{
	return engine.operations;
}

static void end(enum ending ending)
{
	fiber_t unused;

	engine.ending = ending;
	fiber_switch(&unused, scheduler);
	abort();
}

void engine_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!engine.result->failed)
		(void)vsnprintf(engine.result->message, sizeof(engine.result->message), format, arguments);
	va_end(arguments);
	engine.result->failed = true;
	if (engine.running)
		end(FAILED);
}

void engine_relearn(void)
{
	end(RELEARN);
	abort();
}

/* ---- Operations ---- */

static unsigned next_thread(bool gone)
{
	const unsigned sleeping = sleepers(false), dozing = sleepers(true), ready = engine.left & ~sleeping;

	if (!(ready | dozing))
		engine_fail("deadlock: lost wake-up: %d threads sleep for ever", __builtin_popcount(engine.left));

	const unsigned next = choose_thread(engine.thread, gone, ready, dozing);

	if (dozing >> next & 1)
		sleep_time_over(next);
	return next;
}

static void step(void)
{
	if (++engine.operations > OPERATIONS_MAX)
		engine_fail("no end after %d operations: livelock", OPERATIONS_MAX);
}

void engine_point(bool shared)
{
	if (!engine.running)
		return;
	/* A replay may not know yet that the location is shared, but the search did. */
	if (shared || engine.search->strategy == REPLAY) {
		unsigned before = engine.thread, next = next_thread(false);

		if (next != before) {
			engine.thread = next;
			fiber_switch(&fibers[before], fibers[next]);
		}
	}
	step();
}

void engine_fall_asleep(void)
{
	const unsigned self = engine.thread;

	engine.thread = next_thread(true);
	if (engine.thread != self)
		fiber_switch(&fibers[self], fibers[engine.thread]);
	/* A wake is an operation: two choices are never made before the same one. */
	step();
}

/* ---- Executions ---- */

static void body(void)
{
	unsigned self = engine.thread;

	/* Prepared, and waiting for its first turn. */
	fiber_switch(&fibers[self], scheduler);
	engine.program->run(engine.program->context, self);
	engine.left &= ~(1u << self);
	if (!engine.left)
		end(ENDED);
	engine.thread = next_thread(true);
	fiber_switch(&fibers[self], fibers[engine.thread]);
	abort();
}

static enum ending execute(void)
{
	const struct program *program = engine.program;

	engine.operations = 0;
	choose_begin(engine.result->executions);
	program->reset(program->context);
	memory_begin();
	sleep_begin();
	engine.running = true;
	engine.left = (1u << program->threads) - 1;
	for (engine.thread = 0; engine.thread < program->threads; engine.thread++) {
		fibers[engine.thread] = fiber_make(stacks[engine.thread], sizeof(stacks[0]), body);
		fiber_switch(&scheduler, fibers[engine.thread]);
	}
	/* The first choice preempts no thread. */
	engine.thread = next_thread(true);
	fiber_switch(&scheduler, fibers[engine.thread]);
	engine.running = false;
	choose_end(engine.operations);
	engine.result->operations += engine.operations;
	if (engine.ending == ENDED)
		program->finish(program->context);
	return engine.result->failed ? FAILED : engine.ending;
}

void engine_search(const struct search *search, const struct program *program, struct result *result_out)
{
	engine.search = search;
	engine.program = program;
	engine.result = result_out;
	*result_out = (struct result){0};
	choose_open(search, program->threads, result_out->replay, sizeof(result_out->replay));
	memory_forget();
	while (result_out->executions < search->executions_max) {
		enum ending ending = execute();

		if (ending == RELEARN) {
			choose_again();
			result_out->executions = 0;
			continue;
		}
		result_out->executions++;
		if (ending == FAILED || search->strategy == REPLAY)
			return;
		if (search->strategy == DEPTH_FIRST && !choose_advance()) {
			result_out->exhausted = true;
			return;
		}
	}
}
