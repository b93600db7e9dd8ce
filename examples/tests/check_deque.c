/* SPDX-License-Identifier: MIT */
/*
 * check_deque.c - the orders of deque.h and sleep.h, where they matter: two threads, a few operations, very often.
 *
 *     check_deque
 *
 * Idea         What a wrong order does wrong, it does within a few instructions.  A job system gets there once in a while; here
 *              two threads do nothing else.  So a store that stays in the store buffer past the next load (which is all that an
 *              x86 processor ever does, and Arm's do too) is seen within a second.
 * Last job     An owner pushes one or two jobs and pops them, a thief steals all the time: each job is taken by exactly one.
 * Sleeper      One pushes and then looks for sleepers, one says that it sleeps and then looks for jobs: it must not be that
 *              neither sees the other.
 */
#include "harness.h"
#include "sanitizers.h"

#include "deque.h"
#include "sleep.h"

#include <sched.h>

#define ROUNDS (UNDER_TSAN || UNDER_ASAN ? 20000 : 100000)

/* Two threads that meet again and again. */
static _Atomic(uint64_t) arrivals;

static void meet(void)
{
	const uint64_t mine = atomic_fetch_add_explicit(&arrivals, 1, memory_order_acq_rel);

	for (unsigned turns = 0; atomic_load_explicit(&arrivals, memory_order_acquire) < (mine | 1) + 1; turns++)
		if (turns % 1000 == 999)
			sched_yield();
}

static struct deque deque;

/* A job is a number here, and never looked into. */
static struct job *job_number(size_t number)
{
	return (struct job *)(number + 1);
}

/* ---- Last job ---------------------------------------------------------------------------------------------- */

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
	meet();
	while (!atomic_load_explicit(&all_popped, memory_order_acquire))
		if (take(deque_steal(&deque)))
			atomic_fetch_add_explicit(&steals, 1, memory_order_relaxed);
	return nothing;
}

static size_t pushed;

static void owner(void)
{
	meet();
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

/* ---- Sleeper ----------------------------------------------------------------------------------------------- */

static struct sleepers sleepers = SLEEPERS_INIT;
static bool saw_sleeper, saw_job;

/* Looks, and stays counted until the other has looked. */
static bool look(const void *nothing)
{
	(void)nothing;
	saw_job = !deque_looks_empty(&deque);
	meet();
	return true;
}

static void *sleeper(void *nothing)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		meet();
		sleep_until(&sleepers, look, NULL);
	}
	return nothing;
}

static void pusher(void)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		meet();
		/* The other has a mutex to lock. */
		for (unsigned i = 0; i < round % 512; i++)
			atomic_signal_fence(memory_order_seq_cst);
		(void)deque_push(&deque, job_number(0));
		/* As wake() looks. */
		saw_sleeper = atomic_load_explicit(&sleepers.count, memory_order_seq_cst) != 0;
		meet();
		if (!saw_sleeper && !saw_job) {
			fprintf(stderr, "round %u: the job was not seen, nor the sleeper\n", round);
			exit(1);
		}
		(void)deque_pop(&deque);
	}
}

static void together(void *(*one)(void *), void (*other)(void))
{
	pthread_t thread;

	thread_start(&thread, one, NULL);
	other();
	pthread_join(thread, NULL);
}

int main(void)
{
	if (!deque_init(&deque, 2))
		return 3;
	together(thief, owner);
	require_each_once();
	together(sleeper, pusher);
	deque_free(&deque);
	printf("%d rounds: nobody overslept\n", ROUNDS);
	return 0;
}
