/* SPDX-License-Identifier: MIT */
/*
 * engine.c - runs a small concurrent program again and again, each time with other choices.
 *
 * Idea         The threads are fibers of one thread.  Each gives way before every operation on a shared location, and
 *              only there; so an execution is a list of choices, and the same choices give the same execution.
 * Strategies   Depth-first with a bound on preemptions (Musuvathi and Qadeer 2007): all executions with few of them, in
 *              order; ends with "exhausted".  Random walk, one in four of them in strict turns of a few operations,
 *              which is where two threads disturb each other for ever if they can.  PCT (Burckhardt and others 2010):
 *              random priorities, changed at d - 1 random places, which finds a bug of depth d with a stated
 *              probability.
 * Sharing      Only a location that two threads access and one of them writes needs a choice.  Which these are is
 *              learnt: whenever one more turns up, the search begins again (engine_relearn), so nothing is missed.
 * Replay       What was chosen against the usual, by number of operation: "12s1,31r2,40f": before operation 12 thread 1
 *              runs, the load at 31 reads the last but two, the CAS at 40 fails for no reason.
 * Livelock     An execution with more than OPERATIONS_MAX operations is a failure: the programs are short.
 */
#include "explore.h"

#include "fiber.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERATIONS_MAX 4000
#define CHOICES_MAX (3 * OPERATIONS_MAX)
#define CHANGES_MAX 8

enum ending { ENDED, FAILED, RELEARN };

static struct {
	const struct search *search;
	const struct program *program;
	struct result *result;
	uint64_t random;

	/* This execution. */
	bool running;
	unsigned thread, left;
	bool done[THREADS_MAX];
	uint64_t operations;
	unsigned preemptions, stale, spurious;
	enum ending ending;
	size_t logged;
	const char *replay_at;

	/* Depth-first: the path. */
	struct {
		uint16_t taken, options;
	} path[CHOICES_MAX];
	size_t path_length, path_at;

	/* Random, PCT. */
	uint32_t switch_chance;
	uint64_t turn;              /* strict turns: operations until the next thread's; 0: no turns */
	uint64_t lead[THREADS_MAX]; /* before them thread t runs up to operation lead[t]             */
	unsigned priority[THREADS_MAX];
	uint64_t change[CHANGES_MAX], longest;
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

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(void)
{
	uint64_t z = engine.random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static bool chance(uint32_t of_256)
{
	return draw() % 256 < of_256;
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

/* ---- Choices ---- */

static void log_choice(enum decision kind, unsigned value)
{
	char *text = engine.result->replay;
	size_t room = sizeof(engine.result->replay) - engine.logged;
	int length = snprintf(text + engine.logged, room, "%s%llu%c%u", engine.logged ? "," : "",
			      (unsigned long long)engine.operations, (char)kind, value);

	if (length > 0 && (size_t)length < room)
		engine.logged += (size_t)length;
}

/* What the rest of the replay string says for this operation, or `usual`. */
static unsigned replayed(enum decision kind, unsigned usual)
{
	char *rest;
	unsigned long long operation = strtoull(engine.replay_at, &rest, 10);

	if (!*rest || operation != engine.operations || (enum decision)*rest != kind)
		return usual;

	unsigned value = (unsigned)strtoul(rest + 1, &rest, 10);

	engine.replay_at = *rest ? rest + 1 : rest;
	return value;
}

static unsigned next_on_path(unsigned options)
{
	if (options < 2)
		return 0;
	if (engine.path_at == engine.path_length) {
		if (engine.path_length == CHOICES_MAX) {
			engine_fail("more than %d choices", CHOICES_MAX);
			return 0;
		}
		engine.path[engine.path_length].taken = 0;
		engine.path[engine.path_length++].options = (uint16_t)options;
	}
	if (engine.path[engine.path_at].options != options)
		engine_fail("the explorer's fault: a choice of %u was one of %u before", options,
			    engine.path[engine.path_at].options);
	return engine.path[engine.path_at++].taken;
}

/* The next path in depth-first order; false when there is none. */
static bool advance(void)
{
	while (engine.path_length) {
		size_t last = engine.path_length - 1;

		if (++engine.path[last].taken < engine.path[last].options)
			return true;
		engine.path_length--;
	}
	return false;
}

unsigned engine_choose(unsigned options, enum decision kind)
{
	unsigned *spent = kind == STALE ? &engine.stale : &engine.spurious;
	unsigned limit = kind == STALE ? engine.search->stale : engine.search->spurious;
	unsigned chosen = 0;

	if (options < 2)
		return 0;
	switch (engine.search->strategy) {
	case DEPTH_FIRST:
		chosen = *spent < limit ? next_on_path(options) : 0;
		break;
	case RANDOM:
	case PCT:
		if (chance(kind == STALE ? 48 : 8))
			chosen = (unsigned)(draw() % options);
		break;
	case REPLAY:
		chosen = replayed(kind, 0);
		if (chosen >= options)
			chosen = options - 1;
		break;
	}
	if (chosen) {
		++*spent;
		log_choice(kind, chosen);
	}
	return chosen;
}

static unsigned random_other(void)
{
	unsigned pick = (unsigned)(draw() % engine.left), t = 0;

	for (;; t++)
		if (!engine.done[t] && pick-- == 0)
			return t;
}

static unsigned next_in_turn(void)
{
	unsigned t = engine.thread;

	do {
		t = (t + 1) % engine.program->threads;
	} while (engine.done[t]);
	return t;
}

static unsigned highest_priority(void)
{
	unsigned best = THREADS_MAX;

	for (unsigned t = 0; t < engine.program->threads; t++)
		if (!engine.done[t] && (best == THREADS_MAX || engine.priority[t] > engine.priority[best]))
			best = t;
	return best;
}

/* Who runs next.  `ended`: the running thread has, so that a switch is not a preemption. */
static unsigned choose_thread(bool ended)
{
	unsigned usual = engine.thread, chosen, pick;

	if (ended)
		for (usual = 0; engine.done[usual]; usual++)
			;
	chosen = usual;
	switch (engine.search->strategy) {
	case DEPTH_FIRST:
		if (!ended && engine.preemptions >= engine.search->preemptions)
			break;
		/* Option 0 is the usual thread; the others follow in order. */
		pick = next_on_path(engine.left);
		for (unsigned t = 0; pick; t++)
			if (t != usual && !engine.done[t] && --pick == 0)
				chosen = t;
		break;
	case RANDOM:
		if (!ended && engine.turn)
			chosen = engine.operations < engine.lead[usual] || engine.operations % engine.turn ? usual : next_in_turn();
		else if (ended || chance(engine.switch_chance))
			chosen = random_other();
		break;
	case PCT:
		for (unsigned i = 0; i + 1 < engine.search->depth && i < CHANGES_MAX; i++)
			if (engine.change[i] == engine.operations && !ended)
				engine.priority[engine.thread] = i + 1;
		chosen = highest_priority();
		break;
	case REPLAY:
		chosen = replayed(SWITCH, usual);
		if (chosen >= engine.program->threads || engine.done[chosen])
			chosen = usual;
		break;
	}
	if (chosen != usual) {
		engine.preemptions += !ended;
		log_choice(SWITCH, chosen);
	}
	return chosen;
}

void engine_point(bool shared)
{
	if (!engine.running)
		return;
	/* A replay may not have learnt yet what the search knew to be shared. */
	if (shared || engine.search->strategy == REPLAY) {
		unsigned before = engine.thread, next = choose_thread(false);

		if (next != before) {
			engine.thread = next;
			fiber_switch(&fibers[before], fibers[next]);
		}
	}
	if (++engine.operations > OPERATIONS_MAX)
		engine_fail("no end after %d operations: livelock", OPERATIONS_MAX);
}

/* ---- Executions ---- */

static void body(void)
{
	unsigned self = engine.thread;

	/* Made, and waiting to be chosen for the first time. */
	fiber_switch(&fibers[self], scheduler);
	engine.program->run(engine.program->context, self);
	engine.done[self] = true;
	if (--engine.left == 0)
		end(ENDED);
	engine.thread = choose_thread(true);
	fiber_switch(&fibers[self], fibers[engine.thread]);
	abort();
}

static void prepare_random(void)
{
	static const uint32_t chances[] = {4, 16, 48, 96};

	engine.switch_chance = chances[draw() % 4];
	engine.turn = draw() % 4 ? 0 : 1 + draw() % 4;
	for (unsigned t = 0; t < THREADS_MAX; t++)
		engine.lead[t] = (t ? engine.lead[t - 1] : 0) + draw() % 128;
	for (unsigned t = 0; t < engine.program->threads; t++)
		engine.priority[t] = 100 + (unsigned)(draw() % 1000) * THREADS_MAX + t;
	for (unsigned i = 0; i < CHANGES_MAX; i++)
		engine.change[i] = draw() % (engine.longest + 1);
}

static enum ending execute(void)
{
	const struct program *program = engine.program;

	engine.path_at = 0;
	engine.operations = 0;
	engine.preemptions = engine.stale = engine.spurious = 0;
	engine.logged = 0;
	engine.replay_at = engine.search->replay ? engine.search->replay : "";
	engine.result->replay[0] = '\0';
	if (engine.search->strategy == RANDOM || engine.search->strategy == PCT)
		prepare_random();
	program->reset(program->context);
	memory_begin();
	engine.running = true;
	engine.left = program->threads;
	for (engine.thread = 0; engine.thread < program->threads; engine.thread++) {
		engine.done[engine.thread] = false;
		fibers[engine.thread] = fiber_make(stacks[engine.thread], sizeof(stacks[0]), body);
		fiber_switch(&scheduler, fibers[engine.thread]);
	}
	/* Nobody is preempted by the first choice. */
	engine.thread = choose_thread(true);
	fiber_switch(&scheduler, fibers[engine.thread]);
	engine.running = false;
	if (engine.operations > engine.longest)
		engine.longest = engine.operations;
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
	engine.path_length = 0;
	engine.longest = 0;
	memory_forget();
	while (result_out->executions < search->executions_max) {
		/* Each execution from its own seed, so that one can be found again by its number. */
		engine.random = search->seed + result_out->executions * UINT64_C(0x2545f4914f6cdd1d);

		enum ending ending = execute();

		if (ending == RELEARN) {
			engine.path_length = 0;
			result_out->executions = 0;
			continue;
		}
		result_out->executions++;
		if (ending == FAILED || search->strategy == REPLAY)
			return;
		if (search->strategy == DEPTH_FIRST && !advance()) {
			result_out->exhausted = true;
			return;
		}
	}
}
