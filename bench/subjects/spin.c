/* SPDX-License-Identifier: MIT */
/*
 * spin.c - a spin lock around a list: what many programs have.
 *
 * Documented   ck_spinlock(3) of Concurrency Kit: ck_spinlock_t is the fetch-and-store lock, which ck_spinlock.h says
 *              had the lowest latency on the machines they tested.  "If contention is high and there is no
 *              requirement for starvation-freedom then a centralized greedy spinlock is recommended to be used with
 *              an exponential backoff mechanism": so ck_spinlock_lock_eb().  Alone, a thread gets it by the same one
 *              exchange.
 */
#include <stddef.h>

#include <ck_spinlock.h>

#define LOCK_T ck_spinlock_t
#define LOCK_INIT(lock) ck_spinlock_init(lock)
#define LOCK(lock) ck_spinlock_lock_eb(lock)
#define UNLOCK(lock) ck_spinlock_unlock(lock)
#include "locked_list.h"

VERSION_IS("ck " BENCH_PEER_VERSION)

const struct subject subject_spin = {
	SUBJECT("spin", "own", "one spin lock (ck_spinlock, exponential backoff), one list through the objects", version,
		TRAIT_BOUNDED | TRAIT_POOL),
	STACK_MEMBERS,
};
