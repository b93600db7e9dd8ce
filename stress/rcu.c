/* SPDX-License-Identifier: MIT */
/*
 * rcu.c - scenario: a grace period of RCU stands between taking out a node and its reuse (lfpool/rcu.h), by liburcu's
 * flavour memb.
 *
 * ThreadSan    liburcu synchronises in assembly, and its libraries are not instrumented: a correct program gives
 *              reports.  But a flavour is a struct of functions, and so there can be one more, which tells the
 *              sanitizer what a real one orders: what was read in a section that has ended (nodes.h) comes before what
 *              a callback does.  That call_rcu() comes before its callback it is not told: the pool does not rely on
 *              that (edge BEGUN).  All sections go to one place.  So a callback is also ordered after sections that
 *              began after its grace period and ended before it: a pair that RCU does not order, and whose race is
 *              reported in the runs in which that section ends later.  No section, no release: a reader without one is
 *              reported.  A suppression that names liburcu would also silence all that callbacks do, and there objects
 *              become free.  rcu_barrier() is one that the sanitizer understands: common/rcu_barrier.h.
 */
#include "nodes.h"

#include "common/annotate.h"
#include "common/rcu_barrier.h"

#include "lfpool/rcu.h"

#include <urcu/call-rcu.h>
#include <urcu/flavor.h>

extern const struct rcu_flavor_struct urcu_memb_flavor;
static const struct rcu_flavor_struct *const flavor = &urcu_memb_flavor;

/* ---- What ThreadSanitizer is told ---- */

typedef void (*callback_of)(struct rcu_head *head);

/* Of the one caller of call_rcu(): lfpool's scheme. */
static _Atomic(callback_of) callback;

static void grace_period_is_over(struct rcu_head *head)
{
	/* relaxed: the same for all. */
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

static lfpool_status_t rcu_retire(void *object)
{
	return lfpool_retire(current.pool, object);
}

static void rcu_open(void);

static struct regime regime_rcu = {
	.open = rcu_open,
	.retire = rcu_retire,
	/* call_rcu() gathers for 10 ms. */
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

NODES_SCENARIO(rcu, "rcu", "the same by RCU: liburcu's flavour memb", &regime_rcu);
