/* SPDX-License-Identifier: MIT */
/*
 * rcu.c - scenario: a grace period of liburcu's flavour memb separates removing a node from reusing it
 * (lfpool/rcu.h).
 *
 * ThreadSan    liburcu synchronises in assembly, and its libraries are not instrumented: a correct program gives
 *              reports.  But a flavour is a struct of functions, so a wrapping one can annotate the order of a real
 *              one: reads in an ended section (nodes.h) come before a callback.  That call_rcu() comes before its
 *              callback is not annotated: the pool does not rely on it (edge BEGUN). All sections share one place, so
 *              a callback is also ordered after sections that began after its grace period and ended before it.  RCU
 *              does not order that pair; its race is reported in runs in which the section ends later.  A reader
 *              without a section releases nothing, and is reported.  A suppression that names liburcu would also
 *              silence the callbacks, which free objects.  common/rcu_barrier.h is an rcu_barrier() that the
 *              sanitizer understands.
 */
#include "nodes.h"

#include "common/annotate.h"
#include "common/rcu_barrier.h"

#include "lfpool/rcu.h"

#include <urcu/call-rcu.h>
#include <urcu/flavor.h>

extern const struct rcu_flavor_struct urcu_memb_flavor;
static const struct rcu_flavor_struct *const flavor = &urcu_memb_flavor;

/* ---- Annotations for ThreadSanitizer ---- */

typedef void (*callback_of)(struct rcu_head *head);

/* The one caller of call_rcu() is lfpool's scheme. */
static _Atomic(callback_of) callback;

static void grace_period_is_over(struct rcu_head *head)
{
	/* relaxed: always the same value. */
	const callback_of then = load_relaxed(&callback);

	ordered_after(&sections);
	then(head);
}

static void told_call(struct rcu_head *head, callback_of given)
{
	/* relaxed: as above. */
	store_relaxed(&callback, given);
	flavor->update_call_rcu(head, grace_period_is_over);
}

static void told_barrier(void)
{
	flavor_barrier(flavor);
}

/* ---- The regime ---- */

static void rcu_open(void);

static struct regime regime_rcu = {
	.open = rcu_open,
	/* call_rcu() collects for 10 ms. */
	.linger_ns = 50000000,
	.nanoseconds = 100000000,
};

static void rcu_open(void)
{
	static struct rcu_flavor_struct told;

	told = *flavor;
	told.update_call_rcu = told_call;
	told.barrier = told_barrier;
	current.config.scheme = lfpool_rcu_scheme(ANNOTATED ? &told : flavor);
	regime_rcu.enter = flavor->register_thread;
	regime_rcu.leave = flavor->unregister_thread;
	regime_rcu.begin = flavor->read_lock;
	regime_rcu.end = flavor->read_unlock;
}

NODES_SCENARIO(rcu, "rcu", "as retire, with RCU: liburcu's flavour memb", &regime_rcu);
