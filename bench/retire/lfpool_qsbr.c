/* SPDX-License-Identifier: MIT */
/*
 * lfpool_qsbr.c - lfpool_release_rcu() with liburcu's QSBR: reading costs nothing, and each thread must say now and then that
 * it reads nothing.  Ours say so after each update and each section.
 *
 * Documented   rcu-api.md: rcu_thread_offline() before a thread sleeps or waits; urcu/static/urcu-qsbr.h.
 */
#define _LGPL_SOURCE

#include <urcu/urcu-qsbr.h>

#include "retiring.h"

#include "../subjects/pool.h"

#include <lfpool/rcu.h>

static void *acquire_wait(void *hand)
{
	urcu_qsbr_thread_offline();

	void *node = pool_acquire_wait(hand);

	urcu_qsbr_thread_online();
	return node;
}

static inline void defer(void *hand, void *node)
{
	(void)lfpool_release_rcu((lfpool_t *)hand, node);
}

static inline void section_begin(void *hand)
{
	(void)hand;
	urcu_qsbr_read_lock();
}

static inline void section_end(void *hand)
{
	(void)hand;
	urcu_qsbr_read_unlock();
}

static inline void quiesce(void *hand)
{
	(void)hand;
	urcu_qsbr_quiescent_state();
}

static inline void go_online(void *hand)
{
	(void)hand;
	urcu_qsbr_thread_online();
}

static inline void go_offline(void *hand)
{
	(void)hand;
	urcu_qsbr_thread_offline();
}

#define HAS_QUIESCENT_STATES
#define acquire pool_acquire
#define settle pool_settle
#define in_flight pool_in_flight
#include "loops.h"

/* Its worker is started before a thread is pinned: memb.h. */
static void *open_qsbr(const struct plan *plan)
{
	(void)urcu_qsbr_get_default_call_rcu_data();
	return pool_open_deferring(plan, LFPOOL_BACKEND_LOCKFREE, lfpool_rcu_scheme(&urcu_qsbr_flavor));
}

static void *join_qsbr(void *shared)
{
	urcu_qsbr_register_thread();
	urcu_qsbr_thread_offline();
	return shared;
}

static void leave_qsbr(void *hand)
{
	(void)hand;
	urcu_qsbr_unregister_thread();
}

const struct subject subject_retire_qsbr = {
	.name = "lfpool-rcu-qsbr",
	.group = "lfpool",
	.what = "lfpool_release_rcu() with the flavour QSBR",
	.traits = TRAIT_BOUNDED,
	FOR_EACH_THREAD(open_qsbr, pool_close, join_qsbr, leave_qsbr, RETIRING_LOOPS),
};
