/* SPDX-License-Identifier: MIT */
/*
 * atomics.h - every atomic access of the library, with the memory order in the verb.
 *
 * Idea         No other file includes <stdatomic.h>, so the orders can be listed, argued and replaced in one place.
 *              In the library, the inlined fast paths of lfpool/inline.h use these verbs too.
 * Test builds  LFPOOL_EXPLORE: each verb is a step of the schedule explorer (verify/explore).  LFPOOL_CHAOS=n: one of n
 *              verbs comes after a delay.
 * Asymmetric   The owner of a magazine and a thief each need a full fence (owner: store bottom, load top; thief: load
 * fence        top, load bottom).  An owner pops a thousand times for each theft, so the thief pays for both:
 *              membarrier(2) PRIVATE_EXPEDITED puts a full barrier into every running thread of the process.  The
 *              owner keeps a compiler barrier (light_barrier).  Where the system has no membarrier both sides use
 *              full_fence(); os.h chooses once, at start.  Happens-before edges are on operations, never on fences,
 *              because ThreadSanitizer sees only operations.
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

/* A short spin, or sometimes a yield: it makes windows between two adjacent instructions ten thousand times wider, for
 * races that need a thread to stop there. */
static inline void chaos_point(void)
{
	static _Thread_local uint32_t state;

	/* Knuth's linear congruential generator; threads differ by the address. */
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

/* For words whose changes all threads must see in one order (evict/order.h). */
#define load_seq_cst(p) (POINT(), atomic_load_explicit((p), memory_order_seq_cst))
#define cas_seq_cst(p, old, new) \
	(POINT(),                \
	 atomic_compare_exchange_strong_explicit((p), (old), (new), memory_order_seq_cst, memory_order_seq_cst))

/* Strong compare-and-swap, true on success.  On failure *old holds the value found: acquired by cas_acq_rel and
 * cas_acquire, relaxed by the others. */
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
/* Weak ones, for loops, may fail spuriously. */
#define cas_weak_acq_rel(p, old, new) \
	(POINT(), atomic_compare_exchange_weak_explicit((p), (old), (new), memory_order_acq_rel, memory_order_acquire))
#define cas_weak_release(p, old, new) \
	(POINT(), atomic_compare_exchange_weak_explicit((p), (old), (new), memory_order_release, memory_order_relaxed))
#define cas_weak_relaxed(p, old, new) \
	(POINT(), atomic_compare_exchange_weak_explicit((p), (old), (new), memory_order_relaxed, memory_order_relaxed))

/* Accesses to plain data that an edge hands over: the explorer checks the edge. */
#define plain_read(p) ((void)0)
#define plain_written(p) ((void)0)

/* Statistics, which need no order.  tally: one writer; tally_shared and tally_cas: any number. */
#define tally(p) atomic_store_explicit((p), atomic_load_explicit((p), memory_order_relaxed) + 1, memory_order_relaxed)
#define tally_shared(p, n) ((void)atomic_fetch_add_explicit((p), (n), memory_order_relaxed))
#define tally_cas(p, old, new) \
	atomic_compare_exchange_strong_explicit((p), (old), (new), memory_order_relaxed, memory_order_relaxed)
#define tally_read(p) atomic_load_explicit((p), memory_order_relaxed)
/* For ASSERT alone. */
#define peek(p) atomic_load_explicit((p), memory_order_relaxed)

static inline void light_barrier(void)
{
	__asm__ __volatile__("" ::: "memory");
}

static inline void full_fence(void)
{
#if defined(__x86_64__)
	/* A locked instruction on the stack's red zone changes nothing, and orders like mfence at half its price. */
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
/* In the library, the plain names are functions. */
#define LFPOOL_INLINE_KEEP_NAMES_

#endif
