/* SPDX-License-Identifier: MIT */
/*
 * rcu_support.h - implements readers.h with liburcu: one source, compiled for each of its flavours.
 *
 * Idea         FLAVOUR_HEADER is a flavour's header.  With URCU_API_MAP liburcu's short names map to that flavour, so
 *              a test reads like a program that uses one flavour: rcu_read_lock(), rcu_flavor.
 * QSBR         A thread of this flavour is in a section whenever it is online, and must be offline when it waits.  So
 *              threads are offline here except when they read or retire; with the other flavours, going offline does
 *              nothing.
 */
#ifndef LFPOOL_TESTS_RCU_SUPPORT_H
#define LFPOOL_TESTS_RCU_SUPPORT_H

#define URCU_API_MAP
#include FLAVOUR_HEADER

#include "readers.h"
#include "common/rcu_barrier.h"

#include "lfpool/rcu.h"

/* liburcu's worker looks for callbacks every 10 ms: after this time a wrongly early call would have happened. */
#define A_WHILE_NS INT64_C(40000000)

#if ANNOTATED
/* Callbacks come long after their batches: the sanitizer must remember which thread made the batches. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "history_size=7";
}
#endif

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

static inline void join_readers(void)
{
	rcu_register_thread();
	rcu_thread_offline();
}

static inline void leave_readers(void)
{
	rcu_thread_online();
	rcu_unregister_thread();
}

static int readers_open(void **state)
{
	(void)state;
	join_readers();
	return 0;
}

static int readers_close(void **state)
{
	(void)state;
	leave_readers();
	return 0;
}

/* ---- Pools ------------------------------------------------------------------------------------------------- */

#if ANNOTATED
/* The scheme waits normally.  Only rcu_barrier() is replaced: the sanitizer would report the memory that it uses
 * internally (common/rcu_barrier.h). */
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

static inline lfpool_t *readers_pool(lfpool_config_t config)
{
	return rcu_pool_with(config, &rcu_flavor);
}

static inline void retire_inside(lfpool_t *pool, void *object)
{
	REQUIRE(lfpool_retire(pool, object) == LFPOOL_OK);
}

static inline void retire(lfpool_t *pool, void *object)
{
	rcu_thread_online();
	retire_inside(pool, object);
	rcu_thread_offline();
}

static inline void retire_bulk(lfpool_t *pool, void **objects, size_t count)
{
	rcu_thread_online();
	REQUIRE(lfpool_retire_bulk(pool, objects, count) == count);
	rcu_thread_offline();
}

#endif
