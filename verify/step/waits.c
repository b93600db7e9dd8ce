/* SPDX-License-Identifier: MIT */
/*
 * waits.c - operations that wait for an object, and that serve waiters.  Like operations.c.
 *
 * Idea         The others hold two objects, which they release after the victim was stopped.  So if it is stopped
 *              while serving a sleeping call, they must wake that call; and if the victim itself waits, it gets one
 *              object and no more.
 * Concurrency  The sleeping call has a separate thread.  It is in the kernel when a breakpoint is planted, and the
 *              code that it runs after waking (the way out of lfpool_acquire_wait()) the victim does not run.  So no
 *              call sleeps while the victim closes the pool: both would take slots.  (tests/pool/unit_fork_others.c)
 */
#include "calls.h"
#include "sleeper.h"

#include "lfpool/wait.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The call that sleeps ---- */

static struct scene *caller_scene;
static _Atomic(long) caller_number; /* of its thread, for the system */

static const char *call(void)
{
	/* relaxed: polled until it is not 0. */
	atomic_store_explicit(&caller_number, syscall(SYS_gettid), memory_order_relaxed);
	caller_scene->got[0] = lfpool_acquire_wait(caller_scene->pool, -1);
	return NULL;
}

static struct worker caller = {.work = call};

/* Does it sleep in the kernel? */
static bool caller_sleeps(void)
{
	const long number = atomic_load_explicit(&caller_number, memory_order_relaxed);
	char path[64], text[256];
	const char *state = NULL;
	FILE *file;

	if (!number)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", number);
	file = fopen(path, "r");
	if (!file) {
		fprintf(stderr, "no %s: the test cannot know when a thread sleeps\n", path);
		exit(3);
	}
	if (fgets(text, sizeof(text), file))
		state = strrchr(text, ')');
	(void)fclose(file);
	return state && state[1] == ' ' && state[2] == 'S';
}

/* Returns when it waits in the queue, and sleeps: on the way there it holds no lock, and sleeps nowhere else. */
void caller_begin(struct scene *s)
{
	static bool started;

	if (!started)
		worker_start(&caller);
	started = s->caller_waits = true;
	caller_scene = s;
	worker_order(&caller);
	while (scene_waiting(s) == 0 || !caller_sleeps())
		(void)sched_yield();
}

void scene_await_caller(struct scene *s)
{
	if (s->caller_waits)
		(void)worker_answer(&caller);
}

/* ---- Continuations ---- */

void keep_object(void *scene, lfpool_t *pool, void *object)
{
	struct scene *s = scene;

	wrong_if(s, s->cancelled, "a cancelled continuation was called");
	wrong_if(s, s->called++, "a continuation was called twice");
	wrong_if(s, pool != s->pool || !(object || scene_closed(s)),
		 "a continuation was called with something else than an object of its pool");
	s->got[0] = object;
}

/* ---- Operations ---- */

OPERATION(acquire_wait_not_at_all, s->got[0] = STEP(lfpool_acquire_wait(s->pool, 0)))
OPERATION(acquire_wait, s->got[0] = STEP(lfpool_acquire_wait(s->pool, 1)))

static void acquire_async(struct scene *s)
{
	const lfpool_status_t status = STEP(lfpool_acquire_async(s->pool, keep_object, s, &s->ticket));

	wrong_if(s, status != LFPOOL_OK, "lfpool_acquire_async() was refused");
}

static void cancel(struct scene *s)
{
	s->cancelled = STEP(lfpool_cancel(s->pool, s->ticket));
	wrong_if(s, s->cancelled == (s->got[0] != NULL), "a continuation was called and cancelled, or neither");
}

/* got[] is set only on success: otherwise the objects are back in the pool. */
static void acquire_bulk_wait(struct scene *s)
{
	void *objects[OBJECTS_MAX];

	if (STEP(lfpool_acquire_bulk_wait(s->pool, NULL, objects, s->wanted, 1)) == LFPOOL_OK)
		memcpy(s->got, objects, s->wanted * sizeof(*objects));
}

static void close_pool(struct scene *s)
{
	(void)STEP(lfpool_close(s->pool, 0));
	wrong_if(s, s->ticket && s->called != 1, "the pool is closed, but a continuation was not called");
}

static void release_to_call(struct scene *s)
{
	release_through_cache(s);
	scene_await_caller(s);
}

/* ---- The table ---- */

/* The kernel's clock: reading it may take one instruction more than the last time. */
#define CLOSING POOL(2 * EACH, 2 * EACH, 0, NULL, NULL, CLOSES)
#define TIMED POOL(2 * EACH, 2 * EACH, 0, NULL, NULL, IN_PROGRAM)

const struct operation wait_operations[] = {
	{"acquire wait 0", SMALL, "own +2 want 1", acquire_wait_not_at_all, 0, 1},
	{"acquire wait 0, exhausted", SMALL, "own all lend 2 want 1", acquire_wait_not_at_all, 0, 0},
	{"acquire wait 1 ns", TIMED, "own all lend 2 want 1", acquire_wait, 0, 1},
	{"acquire bulk wait of 3, 1 ns", TIMED, "own all lend 2 want 3", acquire_bulk_wait, 0, 3},
	{"acquire async, at once", SMALL, "own +2 want 1", acquire_async, 0, 1},
	{"acquire async, queued", SMALL, "own all lend 2 want 1", acquire_async, MOVES_QUEUE, 1},
	{"cancel a continuation", SMALL, "own all lend 2 want 1 async", cancel, MOVES_QUEUE, 0},
	{"release, to a continuation", SMALL, "own all lend 2 want 1 async hand 1", release_through_cache,
	 MOVES_TOP | MOVES_QUEUE, 1},
	{"release, to a call that sleeps", SMALL, "own all lend 2 want 1 hand 1 call", release_to_call,
	 MOVES_TOP | MOVES_QUEUE, 1},
	{"acquire async, queued, behind a crowd", SMALL, "own all lend 2 want 1 crowd 17", acquire_async, MOVES_QUEUE,
	 1},
	{"cancel a continuation, behind a crowd", SMALL, "own all lend 2 want 1 crowd 17 async", cancel, MOVES_QUEUE,
	 0},
	{"release, to a continuation, behind a crowd", SMALL, "own all lend 2 want 1 crowd 17 async hand 1",
	 release_through_cache, MOVES_TOP | MOVES_QUEUE, 1},
	{"release, to a call that sleeps, behind a crowd", SMALL, "own all lend 2 want 1 crowd 17 hand 1 call",
	 release_to_call, MOVES_TOP | MOVES_QUEUE, 1},
	{"close", CLOSING, "own +6 -3", close_pool, CHANGED | MOVES_TOP | MOVES_COLD | MOVES_QUEUE, 1},
	{"close, a continuation", CLOSING, "own all lend 2 want 1 async", close_pool, MOVES_COLD | MOVES_QUEUE, 1},
	{"close, a continuation, behind a crowd", CLOSING, "own all lend 2 want 1 crowd 17 async", close_pool,
	 MOVES_COLD | MOVES_QUEUE, 1},
	{.name = NULL},
};
