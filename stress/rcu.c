/* SPDX-License-Identifier: MIT */
/*
 * rcu.c - scenario: a grace period of RCU stands between taking out a node and its reuse (lfpool/rcu.h), by any flavour of
 * liburcu.  With QSBR a thread is in a section while it is online, and says between two actions that it is in none; a reader
 * that strays goes offline.
 *
 * ThreadSan    liburcu synchronises in assembly, and its libraries are not instrumented: a correct program gives reports.
 *              But a flavour is a struct of functions, and so there can be one more, which tells the sanitizer what a real
 *              one orders: what was read in a section that has ended comes before what happens after a grace period.
 *              What ends a section releases; a callback, and the return from synchronize_rcu, acquires.
 *              That call_rcu() comes before its callback it is not told: the pool does not rely on that (edge BEGUN).
 *              All releases go to one place.  So a callback is also ordered after sections that began after its grace
 *              period and ended before it: a pair that RCU does not order, and whose race is reported in the runs in which
 *              that section ends later.  No section, no release: a reader without one is reported.
 *              A suppression that names liburcu would also silence all that callbacks do, and there objects become free.
 *              rcu_barrier() is one that the sanitizer understands: common/rcu_barrier.h.
 */
#include "nodes.h"

#include "common/annotate.h"
#include "common/rcu_barrier.h"

#include "lfpool/rcu.h"

#include <string.h>
#include <urcu/call-rcu.h>
#include <urcu/flavor.h>

extern const struct rcu_flavor_struct urcu_memb_flavor, urcu_mb_flavor, urcu_bp_flavor, urcu_qsbr_flavor, urcu_signal_flavor;

/* As this is called. */
static const struct rcu_flavor_struct *flavor;

/* ---- Flavours ---- */

typedef void (*callback_of)(struct rcu_head *head);

static const struct rcu_flavor_struct *real;
/* Of the one caller of call_rcu(): lfpool's scheme. */
static _Atomic(callback_of) callback;
/* The place of all releases by readers. */
static const char sections;

static void read_unlock(void)
{
	ordered_before(&sections);
	real->read_unlock();
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

static void unregister_thread(void)
{
	ordered_before(&sections);
	real->unregister_thread();
}

static void synchronize(void)
{
	/* In QSBR the call ends the caller's section. */
	ordered_before(&sections);
	real->update_synchronize_rcu();
	ordered_after(&sections);
}

static void grace_period_is_over(struct rcu_head *head)
{
	/* relaxed: the same for all. */
	const callback_of then = load_relaxed(&callback);

	ordered_after(&sections);
	then(head);
}

static void call(struct rcu_head *head, callback_of given)
{
	/* relaxed: as above. */
	store_relaxed(&callback, given);
	real->update_call_rcu(head, grace_period_is_over);
}

static void barrier(void)
{
	/* A thread of QSBR ends a section when it goes offline. */
	ordered_before(&sections);
	flavor_barrier(real);
}

/* The flavour itself, or, under ThreadSanitizer, the one that tells what it orders. */
static const struct rcu_flavor_struct *flavor_of(const char *name)
{
	static const struct {
		const char *name;
		const struct rcu_flavor_struct *flavor;
	} flavors[] = {
		{"memb", &urcu_memb_flavor}, {"mb", &urcu_mb_flavor},         {"bp", &urcu_bp_flavor},
		{"qsbr", &urcu_qsbr_flavor}, {"signal", &urcu_signal_flavor},
	};
	static struct rcu_flavor_struct told;
	size_t i = 0;

	while (strcmp(name, flavors[i].name) != 0)
		i++;
	real = flavors[i].flavor;
	if (!ANNOTATED || told.read_lock)
		return ANNOTATED ? &told : real;
	told = *real;
	told.read_unlock = read_unlock;
	told.read_quiescent_state = quiescent_state;
	told.thread_offline = thread_offline;
	told.unregister_thread = unregister_thread;
	told.update_synchronize_rcu = synchronize;
	told.update_call_rcu = call;
	told.barrier = barrier;
	return &told;
}

/* ---- The regime ---- */

static void rcu_pause(void)
{
	flavor->read_quiescent_state();
}

static void rcu_stray(bool away)
{
	if (away)
		flavor->thread_offline();
	else
		flavor->thread_online();
}

static lfpool_status_t rcu_retire(void *object)
{
	return lfpool_release_rcu(current.pool, object);
}

static void rcu_open(void);

static struct regime regime_rcu = {
	.open = rcu_open,
	.pause = rcu_pause,
	.stray = rcu_stray,
	.retire = rcu_retire,
	/* call_rcu() gathers for 10 ms. */
	.linger_ns = 50000000,
	.nanoseconds = 100000000,
};

static void rcu_open(void)
{
	flavor = flavor_of(options.flavor);
	current.config.scheme = lfpool_rcu_scheme(flavor);
	regime_rcu.enter = flavor->register_thread;
	regime_rcu.leave = flavor->unregister_thread;
	regime_rcu.begin = flavor->read_lock;
	regime_rcu.end = flavor->read_unlock;
	text_add(&current.remark, ", %s", options.flavor);
}

NODES_SCENARIO(rcu, "rcu", "the same by RCU: a flavour of liburcu (--flavor)", &regime_rcu);
