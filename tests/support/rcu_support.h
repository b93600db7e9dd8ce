/* SPDX-License-Identifier: MIT */
/*
 * rcu_support.h - what the tests of lfpool/rcu.h share: one source, compiled for each flavour of liburcu.
 *
 * Idea         FLAVOUR_HEADER is a flavour's own header.  With URCU_API_MAP liburcu's short names stay mapped to that
 *              flavour behind it, so a test reads like a program that uses one: rcu_read_lock(), rcu_flavor.
 * QSBR         A thread of this flavour is in a section whenever it is online, and must be offline when it waits.  So
 *              threads are offline here but where they read or retire; in the other flavours that does nothing.
 * Races        ThreadSanitizer sees nothing of what liburcu does.  It is told the edge that all of this is about: from
 *              who leaves a section to who gets an object afterwards.
 */
#ifndef LFPOOL_TESTS_RCU_SUPPORT_H
#define LFPOOL_TESTS_RCU_SUPPORT_H

#define URCU_API_MAP
#include FLAVOUR_HEADER

#include "support.h"
#include "common/annotate.h"
#include "common/rcu_barrier.h"

#include "lfpool/rcu.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#define FOR_EVER INT64_C(-1)
/* liburcu's worker looks for callbacks every 10 ms: what it does too early it has done by then. */
#define A_WHILE_NS INT64_C(40000000)

#if ANNOTATED
/* Batches are old when they are called back: it must remember who made them. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "history_size=7";
}
#endif

static char sections; /* a name for that edge */

/* ---- Sections ---------------------------------------------------------------------------------------------- */

static inline void enter(void)
{
	rcu_thread_online();
	rcu_read_lock();
}

static inline void leave(void)
{
	ordered_before(&sections);
	rcu_read_unlock();
	rcu_thread_offline();
}

/* A thread's first and last act. */
static inline void join_flavour(void)
{
	rcu_register_thread();
	rcu_thread_offline();
}

static inline void leave_flavour(void)
{
	rcu_thread_online();
	rcu_unregister_thread();
}

static inline void await(sem_t *semaphore)
{
	/* The flavour `signal` interrupts it. */
	while (sem_wait(semaphore) != 0)
		REQUIRE(errno == EINTR);
}

/* A thread that is in a section until it is told to leave. */
struct reader {
	pthread_t thread;
	sem_t inside, end;
};

static inline void *read_until_told(void *argument)
{
	struct reader *reader = argument;

	join_flavour();
	enter();
	sem_post(&reader->inside);
	await(&reader->end);
	leave();
	leave_flavour();
	return NULL;
}

static inline void reader_start(struct reader *reader)
{
	sem_init(&reader->inside, 0, 0);
	sem_init(&reader->end, 0, 0);
	thread_start(&reader->thread, read_until_told, reader);
	await(&reader->inside);
}

static inline void reader_end(struct reader *reader)
{
	sem_post(&reader->end);
	pthread_join(reader->thread, NULL);
}

/* ---- Pools ------------------------------------------------------------------------------------------------- */

#if ANNOTATED
/* The scheme waits as it always does. Only rcu_barrier() is another, because its own memory the sanitizer reports (common/rcu_barrier.h). */
static bool (*library_wait)(void *context);
static _Thread_local const struct rcu_flavor_struct *waiting_for;

static inline void visible_barrier(void)
{
	flavor_barrier(waiting_for);
}

static inline bool wait_visibly(void *context)
{
	struct rcu_flavor_struct flavor;

	waiting_for = context;
	flavor = *waiting_for;
	flavor.barrier = visible_barrier;
	return library_wait(&flavor);
}
#endif

static inline lfpool_t *rcu_pool_with(lfpool_config_t config, const struct rcu_flavor_struct *flavor)
{
	config.scheme = lfpool_rcu_scheme(flavor);
#if ANNOTATED
	if (flavor) {
		library_wait = config.scheme.wait;
		config.scheme.wait = wait_visibly;
	}
#endif
	return pool_with(&config);
}

static inline lfpool_t *rcu_pool_of(size_t object_size, size_t capacity)
{
	return rcu_pool_with(config_of(object_size, capacity), &rcu_flavor);
}

static inline void *taken(void *object)
{
	ordered_after(&sections);
	return object;
}

static inline void retire(lfpool_t *pool, void *object)
{
	rcu_thread_online();
	REQUIRE(lfpool_release_rcu(pool, object) == LFPOOL_OK);
	rcu_thread_offline();
}

/* Nothing is retired any more, and nothing is lost. */
static inline void require_drained(lfpool_t *pool, size_t object_size)
{
	REQUIRE(lfpool_drain(pool) == LFPOOL_OK);
	REQUIRE(lfpool_retired_count(pool) == 0);
	(void)taken(NULL);
	require_whole(pool, object_size);
}

#endif
