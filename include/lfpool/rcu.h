/* SPDX-License-Identifier: MIT */
/*
 * rcu.h - deferred release after a grace period of Userspace RCU (liburcu).  Component lfpool-rcu.
 *
 *     #include <urcu/urcu-memb.h>
 *
 *     config.scheme = lfpool_rcu_scheme(&urcu_memb_flavor);
 *     ...
 *     urcu_memb_read_lock();
 *     deleted = cds_lfht_del(table, &node->link) == 0;
 *     urcu_memb_read_unlock();
 *     if (deleted)
 *             lfpool_retire(pool, node);
 *
 * Every flavour works (memb, mb, bp, qsbr, signal).  The program links the flavour's library; this component calls only
 * the functions in the flavour's struct.  There is one call_rcu() per batch of objects (lfpool/retire.h), not per
 * object, and no struct rcu_head in the object.
 *
 * A thread that retires objects must be allowed to call call_rcu(): it must be registered with the flavour (bp
 * registers threads automatically), and with QSBR it must be online.  The first call_rcu() of a process starts
 * liburcu's worker thread; call get_default_call_rcu_data() at the start of the program to pay for that early.  Objects
 * become free in that worker, so hooks.deactivate runs there.  The hook may use the pool, but must not wait for a grace
 * period.  A program that forks while objects are retired must obey liburcu's rules (call_rcu_before_fork() and the
 * related functions).
 */
#ifndef LFPOOL_RCU_H
#define LFPOOL_RCU_H

#include "lfpool/retire.h"

LFPOOL_C_BEGIN_

struct rcu_flavor_struct;

/*
 * lfpool_rcu_scheme - make a scheme (config.scheme): objects may be reused after a grace period of this flavour.
 *
 * While an object is retired, lfpool_drain() and lfpool_destroy() call the flavour's rcu_barrier().  So do not call
 * these two from a callback of call_rcu().  Inside a read-side section they are refused.  With QSBR, which cannot
 * detect sections, the two calls are a quiescent state of the calling thread.  lfpool_acquire_wait() inside a section,
 * or online with QSBR, delays the grace period that it waits for.
 *
 * flavor    For example &urcu_memb_flavor; it must live as long as the pool.  NULL: no scheme.
 * Returns   The scheme.
 * Threads   Any.  Wait-free.
 */
LFPOOL_API lfpool_scheme_t lfpool_rcu_scheme(const struct rcu_flavor_struct *flavor);

LFPOOL_C_END_

#endif
