/* SPDX-License-Identifier: MIT */
/*
 * atomics.h - the verbs for all atomic accesses of the library.  Each verb names its memory order.
 *
 * Idea         No other file includes <stdatomic.h>, so a search for these names finds every access, and the orders can
 *              be replaced here.  In the library, the inlined fast paths of lfpool/inline.h use these verbs too.
 * Comments     The comment at an access begins with its memory order.  "release, edge PUT: publishes the link" means
 *              that the store makes the link visible to each acquire of the edge PUT.  docs/memory-model.md lists all
 *              edges.
 * Test builds  With LFPOOL_EXPLORE, each access is a step of the schedule explorer (verify/explore).  With
 *              LFPOOL_CHAOS=n, about one in n accesses is delayed.
 * Asymmetric   The owner of a magazine needs a full fence between its store of bottom and its load of top.  A thief
 * fence        needs one between its loads of top and bottom.  An owner pops about a thousand times for each theft, so
 *              the thief pays for both fences: membarrier(2) PRIVATE_EXPEDITED executes a full barrier in every running
 *              thread of the process, and the owner keeps only a compiler barrier (light_barrier).  If the system has
 *              no membarrier, both sides use full_fence().  The library chooses once, at start (os.h).  Happens-before
 *              edges are on operations, never on fences, because ThreadSanitizer sees only operations.
 */
#ifndef LFPOOL_ATOMICS_H
#define LFPOOL_ATOMICS_H

#ifdef LFPOOL_EXPLORE
#include "verbs.h"
#else

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
	       "the target needs lock-free 32- and 64-bit atomics");

#ifdef LFPOOL_CHAOS
#include <sched.h>

/* Some races need a thread to stop between two adjacent instructions.  A short spin, or sometimes a yield, makes that
 * window ten thousand times wider. */
static inline void chaos_point(void)
{
	static _Thread_local uint32_t state;

	/* Knuth's linear congruential generator.  The address of `state` makes the numbers differ between threads. */
	state = state * UINT32_C(1664525) + UINT32_C(1013904223) + (uint32_t)(uintptr_t)&state;
	uint32_t drawn = state >> 8;

	if (drawn % LFPOOL_CHAOS)
		return;
	if ((drawn >> 16) % 8 == 0) {
		(void)sched_yield();
		return;
	}
	for (uint32_t spins = drawn >> 16; spins; spins--)
		__asm__ __volatile__("");
}

#define POINT() chaos_point()
#else
#define POINT() ((void)0)
#endif

#define load_relaxed(p) (POINT(), atomic_load_explicit((p), memory_order_relaxed))
#define load_acquire(p) (POINT(), atomic_load_explicit((p), memory_order_acquire))
#define store_relaxed(p, v) (POINT(), atomic_store_explicit((p), (v), memory_order_relaxed))
#define store_release(p, v) (POINT(), atomic_store_explicit((p), (v), memory_order_release))
#define fetch_add_relaxed(p, v) (POINT(), atomic_fetch_add_explicit((p), (v), memory_order_relaxed))

/* These verbs are for words whose changes all threads must see in the same order (evict/order.h). */
#define load_seq_cst(p) (POINT(), atomic_load_explicit((p), memory_order_seq_cst))
#define cas_seq_cst(p, old, new) \
	(POINT(),                \
	 atomic_compare_exchange_strong_explicit((p), (old), (new), memory_order_seq_cst, memory_order_seq_cst))

/* Strong compare-and-swap, true on success.  After a failure *old holds the value found.  cas_acq_rel and cas_acquire
 * load that value with acquire; cas_release and cas_relaxed load it relaxed. */
#define cas_acq_rel(p, old, new) \
	(POINT(),                \
	 atomic_compare_exchange_strong_explicit((p), (old), (new), memory_order_acq_rel, memory_order_acquire))
#define cas_acquire(p, old, new) \
	(POINT(),                \
	 atomic_compare_exchange_strong_explicit((p), (old), (new), memory_order_acquire, memory_order_acquire))
#define cas_release(p, old, new) \
	(POINT(),                \
	 atomic_compare_exchange_strong_explicit((p), (old), (new), memory_order_release, memory_order_relaxed))
#define cas_relaxed(p, old, new) \
	(POINT(),                \
	 atomic_compare_exchange_strong_explicit((p), (old), (new), memory_order_relaxed, memory_order_relaxed))
/* Weak compare-and-swap, for loops: it may fail spuriously. */
#define cas_weak_acq_rel(p, old, new) \
	(POINT(), atomic_compare_exchange_weak_explicit((p), (old), (new), memory_order_acq_rel, memory_order_acquire))
#define cas_weak_release(p, old, new) \
	(POINT(), atomic_compare_exchange_weak_explicit((p), (old), (new), memory_order_release, memory_order_relaxed))
#define cas_weak_relaxed(p, old, new) \
	(POINT(), atomic_compare_exchange_weak_explicit((p), (old), (new), memory_order_relaxed, memory_order_relaxed))

/* plain_read() and plain_written() mark accesses to plain data that a happens-before edge hands over.  The explorer
 * checks the edge; in other builds the macros are empty. */
#define plain_read(p) ((void)0)
#define plain_written(p) ((void)0)

/* Statistics need no order.  tally() is for a word with one writer, tally_shared() and tally_cas() for any number of
 * writers. */
#define tally(p) atomic_store_explicit((p), atomic_load_explicit((p), memory_order_relaxed) + 1, memory_order_relaxed)
#define tally_shared(p, n) ((void)atomic_fetch_add_explicit((p), (n), memory_order_relaxed))
#define tally_cas(p, old, new) \
	atomic_compare_exchange_strong_explicit((p), (old), (new), memory_order_relaxed, memory_order_relaxed)
#define tally_read(p) atomic_load_explicit((p), memory_order_relaxed)
/* peek() is only for conditions of ASSERT. */
#define peek(p) atomic_load_explicit((p), memory_order_relaxed)

static inline void light_barrier(void)
{
	__asm__ __volatile__("" ::: "memory");
}

static inline void full_fence(void)
{
#if defined(__x86_64__)
	/* A locked addition of 0 in the stack's red zone orders like mfence, at half its cost. */
	__asm__ __volatile__("lock; addl $0, -64(%%rsp)" ::: "memory", "cc");
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* A hint to the processor that this is a waiting loop. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
	__asm__ __volatile__("yield");
#endif
}

#endif

#define LFPOOL_LOAD_RELAXED_(p) load_relaxed(p)
#define LFPOOL_LOAD_ACQUIRE_(p) load_acquire(p)
#define LFPOOL_STORE_RELAXED_(p, v) store_relaxed(p, v)
#define LFPOOL_STORE_RELEASE_(p, v) store_release(p, v)
#define LFPOOL_LIGHT_BARRIER_() light_barrier()
/* The plain names are functions of the library, so lfpool/inline.h must not define them in the library. */
#define LFPOOL_INLINE_KEEP_NAMES_

#endif
