/* SPDX-License-Identifier: MIT */
/*
 * rcu_shim.h - liburcu's flavours, as ThreadSanitizer should see them.
 *
 * Idea         liburcu synchronises in assembly, and its libraries are not instrumented: a correct program gives reports.
 *              But a flavour is a struct of functions, and so there can be one more, whose functions are those of a real
 *              flavour and tell the sanitizer what they order: what was read in a section that has ended comes before
 *              what happens after a grace period.  read_unlock, quiescent_state, thread_offline, unregister_thread
 *              release; a callback, and the return from synchronize_rcu, acquires.
 *              That call_rcu() comes before its callback it is not told: the pool does not rely on that (edge BEGUN).
 *              All releases go to one place.  So a callback is also ordered after sections that began after its grace
 *              period and ended before it: a pair that RCU does not order, and whose race is reported in the runs in which
 *              that section ends later.  No section, no release: a reader without one is reported.
 * Nodes        The users of a structure say themselves that a node was written before it was put in: ordered_before()
 *              then, ordered_after() when the structure hands it out.  A node that is written to later is reported.
 * Why not      A suppression that names liburcu also silences all that callbacks do, and that is where objects become free.
 * suppress
 * rcu_barrier  is one that the sanitizer understands: common/rcu_barrier.h.
 */
#ifndef STRESS_RCU_SHIM_H
#define STRESS_RCU_SHIM_H

struct rcu_flavor_struct;

/* The flavour itself, or, under ThreadSanitizer, the one that tells what it orders.  One flavour in a process. */
const struct rcu_flavor_struct *rcu_shim(const struct rcu_flavor_struct *flavor);

#endif
