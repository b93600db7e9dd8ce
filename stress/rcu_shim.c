/* SPDX-License-Identifier: MIT */
/*
 * rcu_shim.c - see rcu_shim.h.
 */
#include "rcu_shim.h"

#include "common/annotate.h"
#include "common/rcu_barrier.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <urcu/call-rcu.h>
#include <urcu/flavor.h>

typedef void (*callback_of)(struct rcu_head *head);

static const struct rcu_flavor_struct *real;

/* The place of all releases by readers. */
static const char sections;

/* ---- Readers ---- */

static void read_lock(void)
{
	real->read_lock();
}

static void read_unlock(void)
{
	ordered_before(&sections);
	real->read_unlock();
}

static int read_ongoing(void)
{
	return real->read_ongoing();
}

static void quiescent_state(void)
{
	ordered_before(&sections);
	real->read_quiescent_state();
}

static void thread_offline(void)
{
	ordered_before(&sections);
	real->thread_offline();
}

static void thread_online(void)
{
	real->thread_online();
}

static void register_thread(void)
{
	real->register_thread();
}

static void unregister_thread(void)
{
	ordered_before(&sections);
	real->unregister_thread();
}

/* ---- Grace periods ---- */

static void synchronize(void)
{
	/* In QSBR the call ends the caller's section. */
	ordered_before(&sections);
	real->update_synchronize_rcu();
	ordered_after(&sections);
}

/* Of the one caller of call_rcu(): lfpool's scheme. */
static _Atomic(callback_of) callback;

static void grace_period_is_over(struct rcu_head *head)
{
	ordered_after(&sections);
	/* relaxed: the same for all. */
	atomic_load_explicit(&callback, memory_order_relaxed)(head);
}

static void call(struct rcu_head *head, callback_of given)
{
	/* relaxed, here and below: as above. */
	const callback_of before = atomic_exchange_explicit(&callback, given, memory_order_relaxed);

	if (before && before != given)
		abort();
	real->update_call_rcu(head, grace_period_is_over);
}

static void barrier(void)
{
	/* A thread of QSBR ends a section when it goes offline. */
	ordered_before(&sections);
	flavor_barrier(real);
}

/* ---- */

static void register_atfork(struct urcu_atfork *atfork)
{
	real->register_rculfhash_atfork(atfork);
}

static void unregister_atfork(struct urcu_atfork *atfork)
{
	real->unregister_rculfhash_atfork(atfork);
}

/* Without defer_rcu(), which is not called here. */
static const struct rcu_flavor_struct annotated = {
	.read_lock = read_lock,
	.read_unlock = read_unlock,
	.read_ongoing = read_ongoing,
	.read_quiescent_state = quiescent_state,
	.update_call_rcu = call,
	.update_synchronize_rcu = synchronize,
	.thread_offline = thread_offline,
	.thread_online = thread_online,
	.register_thread = register_thread,
	.unregister_thread = unregister_thread,
	.barrier = barrier,
	.register_rculfhash_atfork = register_atfork,
	.unregister_rculfhash_atfork = unregister_atfork,
};

const struct rcu_flavor_struct *rcu_shim(const struct rcu_flavor_struct *flavor)
{
	real = flavor;
	return ANNOTATED ? &annotated : flavor;
}
