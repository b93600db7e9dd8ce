/* SPDX-License-Identifier: MIT */
/*
 * signal_storm.h - threads that use a pool, and signals that reach them meanwhile, whose handler uses it too.
 *
 * A test gives the threads' work and the handler of SIGUSR1, which counts in `handled`.
 */
#ifndef LFPOOL_TESTS_SIGNAL_STORM_H
#define LFPOOL_TESTS_SIGNAL_STORM_H

#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum { STORM_THREADS = 2 };

struct storm_worker {
	pthread_t thread;
	pthread_barrier_t *ready;
	uint64_t stamp; /* its own */
};

static _Atomic(bool) stop;
static _Atomic(unsigned long) handled;

/* Known to the handler of that thread: written before the first signal. */
static __thread lfpool_cache_t *handlers_cache;
static __thread uint64_t handlers_stamp;

/* The worker's first call: its handler may run from here on. */
static void storm_ready(const struct storm_worker *w, lfpool_t *pool)
{
	handlers_stamp = w->stamp | UINT64_C(1) << 60;
	handlers_cache = lfpool_cache_create(pool);
	REQUIRE(handlers_cache);
	pthread_barrier_wait(w->ready);
}

/* Runs `work`, which gets a worker, in each thread until so many signals were handled and `stop` is set. */
static void storm(void *(*work)(void *), unsigned signals)
{
	pthread_barrier_t ready;
	struct storm_worker workers[STORM_THREADS];

	atomic_store(&stop, false);
	atomic_store(&handled, 0);
	pthread_barrier_init(&ready, NULL, STORM_THREADS + 1);
	for (unsigned i = 0; i < STORM_THREADS; i++) {
		workers[i] = (struct storm_worker){.ready = &ready, .stamp = (uint64_t)(i + 1) << 48};
		thread_start(&workers[i].thread, work, &workers[i]);
	}
	pthread_barrier_wait(&ready);
	for (unsigned i = 0; i < signals; i++) {
		REQUIRE(pthread_kill(workers[i % STORM_THREADS].thread, SIGUSR1) == 0);
		/* Two that come at once would be one. */
		while (i % STORM_THREADS == STORM_THREADS - 1 && atomic_load(&handled) <= i)
			(void)sched_yield();
	}
	atomic_store(&stop, true);
	for (unsigned i = 0; i < STORM_THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_barrier_destroy(&ready);
}

static void storm_handler(void (*on_signal)(int))
{
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
}

#endif
