/* SPDX-License-Identifier: MIT */
/*
 * rendezvous.h - threads wait for each other, and leave at nearly the same instant.
 *
 * Idea         A barrier whose waiters watch one word instead of sleeping in the kernel, which would wake them one
 *              after the other.  The last to arrive advances the word.
 * Orders       Everything before the rendezvous, of any thread, is visible to every thread after it.
 */
#ifndef STRESS_RENDEZVOUS_H
#define STRESS_RENDEZVOUS_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

struct rendezvous {
	unsigned threads;
	_Atomic(unsigned) arrived;
	_Atomic(unsigned) meetings;
};

static inline void rendezvous_meet(struct rendezvous *r)
{
	/* relaxed: cannot advance before we have arrived. */
	unsigned meeting = atomic_load_explicit(&r->meetings, memory_order_relaxed);

	/* acq_rel: the last one collects what all the others did before. */
	if (atomic_fetch_add_explicit(&r->arrived, 1, memory_order_acq_rel) + 1 == r->threads) {
		/* relaxed: published by the next line; no thread arrives again before it. */
		atomic_store_explicit(&r->arrived, 0, memory_order_relaxed);
		/* release: hands it all to the waiters. */
		atomic_store_explicit(&r->meetings, meeting + 1, memory_order_release);
		return;
	}
	/* acquire: see above.  Ends when the last thread arrives. */
	for (unsigned spins = 0; atomic_load_explicit(&r->meetings, memory_order_acquire) == meeting; spins++)
		if (spins % 64 == 63)
			(void)sched_yield();
}

#endif
