/* SPDX-License-Identifier: MIT */
/*
 * verbs.h - the verbs of src/base/atomics.h as steps of the explorer.
 *
 * Idea         The library is compiled with this file instead of <stdatomic.h>: the same source, but each atomic
 *              access is a call that may first switch to another thread (engine.c) and may read an old value
 *              (memory.c). Verbs that the library does not use are for mutants, which weaken one order at a time.
 */
#ifndef EXPLORE_VERBS_H
#define EXPLORE_VERBS_H

#include <stdbool.h>
#include <stdint.h>

enum explore_order {
	EXPLORE_RELAXED = 0,
	EXPLORE_ACQUIRE = 1,
	EXPLORE_RELEASE = 2,
	EXPLORE_ACQ_REL = 3,
	EXPLORE_SEQ_CST = 7
};

uint64_t explore_load(const void *address, unsigned bytes, enum explore_order order);
void explore_store(void *address, unsigned bytes, uint64_t value, enum explore_order order);
uint64_t explore_add(void *address, unsigned bytes, uint64_t value);
/* `weak`: may fail spuriously. *old, of `bytes` bytes, is the expected value, and on failure the value found. */
bool explore_cas(void *address, unsigned bytes, void *old, uint64_t value, bool weak, enum explore_order success,
		 enum explore_order failure);
void explore_fence(void);
void explore_plain(const void *address, bool write);

/* The value type of the atomic that p points to. */
#define EXPLORE_TYPE(p) __typeof__((void)0, *(p))
#define EXPLORE_LOAD(p, order) ((EXPLORE_TYPE(p))(uintptr_t)explore_load((const void *)(p), sizeof(*(p)), order))
#define EXPLORE_STORE(p, v, order) explore_store((void *)(p), sizeof(*(p)), (uint64_t)(uintptr_t)(v), order)
#define EXPLORE_CAS(p, old, new, weak, success, failure) \
	explore_cas((void *)(p), sizeof(*(p)), (old), (uint64_t)(uintptr_t)(new), weak, success, failure)

#define load_relaxed(p) EXPLORE_LOAD(p, EXPLORE_RELAXED)
#define load_acquire(p) EXPLORE_LOAD(p, EXPLORE_ACQUIRE)
#define store_relaxed(p, v) EXPLORE_STORE(p, v, EXPLORE_RELAXED)
#define store_release(p, v) EXPLORE_STORE(p, v, EXPLORE_RELEASE)
#define fetch_add_relaxed(p, v) ((EXPLORE_TYPE(p))explore_add((void *)(p), sizeof(*(p)), (uint64_t)(v)))

#define load_seq_cst(p) EXPLORE_LOAD(p, EXPLORE_SEQ_CST)
#define cas_seq_cst(p, old, new) EXPLORE_CAS(p, old, new, false, EXPLORE_SEQ_CST, EXPLORE_SEQ_CST)

#define cas_acq_rel(p, old, new) EXPLORE_CAS(p, old, new, false, EXPLORE_ACQ_REL, EXPLORE_ACQUIRE)
#define cas_acquire(p, old, new) EXPLORE_CAS(p, old, new, false, EXPLORE_ACQUIRE, EXPLORE_ACQUIRE)
#define cas_release(p, old, new) EXPLORE_CAS(p, old, new, false, EXPLORE_RELEASE, EXPLORE_RELAXED)
#define cas_relaxed(p, old, new) EXPLORE_CAS(p, old, new, false, EXPLORE_RELAXED, EXPLORE_RELAXED)
#define cas_weak_acq_rel(p, old, new) EXPLORE_CAS(p, old, new, true, EXPLORE_ACQ_REL, EXPLORE_ACQUIRE)
#define cas_weak_release(p, old, new) EXPLORE_CAS(p, old, new, true, EXPLORE_RELEASE, EXPLORE_RELAXED)
#define cas_weak_relaxed(p, old, new) EXPLORE_CAS(p, old, new, true, EXPLORE_RELAXED, EXPLORE_RELAXED)

/* Verbs weaker than the library's, for mutants. */
#define cas_no_acquire(p, old, new) EXPLORE_CAS(p, old, new, false, EXPLORE_RELEASE, EXPLORE_ACQUIRE)
#define cas_no_release(p, old, new) EXPLORE_CAS(p, old, new, false, EXPLORE_ACQUIRE, EXPLORE_ACQUIRE)
#define cas_failure_relaxed(p, old, new) EXPLORE_CAS(p, old, new, false, EXPLORE_ACQ_REL, EXPLORE_RELAXED)
#define cas_weak_no_acquire(p, old, new) EXPLORE_CAS(p, old, new, true, EXPLORE_RELEASE, EXPLORE_ACQUIRE)
#define cas_weak_no_release(p, old, new) EXPLORE_CAS(p, old, new, true, EXPLORE_ACQUIRE, EXPLORE_ACQUIRE)
#define cas_weak_failure_relaxed(p, old, new) EXPLORE_CAS(p, old, new, true, EXPLORE_ACQ_REL, EXPLORE_RELAXED)

#define plain_read(p) explore_plain((p), false)
#define plain_written(p) explore_plain((p), true)

/* Statistics are not steps, except the rare one that other threads wait for. */
#define tally_cas(p, old, new) EXPLORE_CAS(p, old, new, false, EXPLORE_RELAXED, EXPLORE_RELAXED)
#define tally(p) ((void)++*(uint64_t *)(void *)(p))
#define tally_shared(p, n) ((void)(*(uint64_t *)(void *)(p) += (n)))
#define tally_read(p) (*(const uint64_t *)(const void *)(p))
/* An assertion is not a step either. */
#define peek(p) (*(const EXPLORE_TYPE(p) *)(const void *)(p))

/* Empty here: the model does not cover compiler reordering. */
static inline void light_barrier(void) {}

static inline void full_fence(void)
{
	explore_fence();
}

static inline void cpu_relax(void) {}

#endif
