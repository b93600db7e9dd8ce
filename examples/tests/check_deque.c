/* SPDX-License-Identifier: MIT */
/*
 * check_deque.c - the orders of deque.h, where they matter: two threads, a few operations, very often.  (Those of sleep.h:
 * check_jobs.c, whose wake-ups must come.)
 *
 * Idea         What a wrong order does wrong, it does within a few instructions.  A job system gets there once in a while; here
 *              two threads do nothing else.  So a store that stays in the store buffer past the next load (which is all that an
 *              x86 processor ever does, and Arm's do too) is seen within a second.
 *              An owner pushes one or two jobs and pops them, a thief steals all the time: each job is taken by exactly one.
 */
#include "harness.h"
#include "sanitizers.h"

#include "deque.h"

#include <sched.h>

#define ROUNDS (UNDER_TSAN || UNDER_ASAN ? 20000 : 100000)

static struct deque deque;

/* A job is a number here, and never looked into. */
static struct job *job_number(size_t number)
{
	return (struct job *)(number + 1);
}

#define JOBS (100 * ROUNDS) /* at most; steals are seldom where the two have to share a processor */
#define STEALS (ROUNDS / 4)

static _Atomic(unsigned char) taken[JOBS]; /* how often */
static _Atomic(bool) all_popped;
static _Atomic(size_t) steals;

/* relaxed, all counts: they are read when the thief has ended. */
static bool take(struct job *job)
{
	if (job)
		atomic_fetch_add_explicit(&taken[(size_t)job - 1], 1, memory_order_relaxed);
	return job != NULL;
}

static void *thief(void *nothing)
{
	while (!atomic_load_explicit(&all_popped, memory_order_acquire))
		if (take(deque_steal(&deque)))
			atomic_fetch_add_explicit(&steals, 1, memory_order_relaxed);
	return nothing;
}

static size_t pushed;

static void owner(void)
{
	while (pushed < JOBS && atomic_load_explicit(&steals, memory_order_relaxed) < STEALS) {
		(void)deque_push(&deque, job_number(pushed++));
		/* One, then two, again and again. */
		if (pushed % 3 != 2)
			(void)take(deque_pop(&deque));
		if (pushed % 3 == 0)
			(void)take(deque_pop(&deque));
	}
	while (take(deque_pop(&deque)))
		;
	atomic_store_explicit(&all_popped, true, memory_order_release);
}

static void require_each_once(void)
{
	for (size_t i = 0; i < pushed; i++) {
		if (taken[i] != 1) {
			fprintf(stderr, "job %zu of %zu was taken %u times\n", i, pushed, taken[i]);
			exit(1);
		}
	}
	printf("%zu of %zu jobs stolen\n", atomic_load(&steals), pushed);
}

int main(void)
{
	pthread_t thread;

	if (!deque_init(&deque, 2))
		return 3;
	thread_start(&thread, thief, NULL);
	owner();
	pthread_join(thread, NULL);
	require_each_once();
	deque_free(&deque);
	return 0;
}
