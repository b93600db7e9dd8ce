/* SPDX-License-Identifier: MIT */
/*
 * rcu.h - objects that are released after a grace period of Userspace RCU (liburcu).  Component lfpool-rcu.
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
 * Every flavour will do: urcu_memb_flavor, urcu_mb_flavor, urcu_bp_flavor, urcu_qsbr_flavor, urcu_signal_flavor.  This
 * component calls nothing but the functions that the flavour's struct names, and so links no flavour's library: the
 * program does.
 *
 * One call_rcu() for each batch of objects, not for each object, and no struct rcu_head in the object: lfpool/retire.h
 * says how objects wait, how many they can be, and what happens when the pool runs dry.
 *
 * Whatever is asked of a caller of call_rcu() is asked of who retires: a thread registered with the flavour, online if
 * it is QSBR.  (bp registers by itself.)  The first call_rcu() of a process starts liburcu's worker thread; a program
 * that must not pay for that later calls get_default_call_rcu_data() at its start.  Objects become free in that worker,
 * which runs hooks.deactivate; such a hook may use the pool, but must not wait for a grace period.  liburcu's rules for
 * fork (call_rcu_before_fork() and its kin) hold for what is retired at that moment.
 */
#ifndef LFPOOL_RCU_H
#define LFPOOL_RCU_H

#include "lfpool/retire.h"

LFPOOL_C_BEGIN_

struct rcu_flavor_struct;

/*
 * lfpool_rcu_scheme - for config.scheme: objects may be reused after a grace period of this flavour.
 *
 * flavor    Of liburcu, as for cds_lfht_new_flavor(); it must live as long as the pool.  NULL: no scheme.
 * Returns   The scheme.
 * Threads   Any.  Wait-free.
 *
 * While something is retired, lfpool_drain() and lfpool_destroy() call the flavour's rcu_barrier(), and so may not be
 * called from a callback of call_rcu(); inside a read-side section they are then refused.  A thread of QSBR cannot tell
 * that it is in one: for it these calls are a quiescent state.  A thread that waits for an object
 * (lfpool_acquire_wait()) inside a section, or online with QSBR, holds up what it waits for.
 */
LFPOOL_API lfpool_scheme_t lfpool_rcu_scheme(const struct rcu_flavor_struct *flavor);

LFPOOL_C_END_

#endif
