/* SPDX-License-Identifier: MIT */
/*
 * demand.h - when is NULL the right answer?
 *
 * Idea         The pool may answer NULL only if at some moment during the call every object was in use.  From outside
 *              that moment cannot be seen, but a bound on it can: count an object as "out" from before its acquire
 *              begins until its release has returned.  Then every object in use is counted, and so is the caller's
 *              own wish; a moment with all objects in use is a moment with more than `capacity` out.  If there was no
 *              such moment during the call, NULL was wrong.  The bound errs on one side only: a right NULL is never
 *              blamed, a wrong one may pass while others are between two steps.
 * Layout       One 64-bit word {full moments:32, out:32}.  An increment that lifts out above the capacity counts a
 *              full moment in the same CAS. Out was above the capacity at some time of the call, if and only if it
 *              was so right after the caller's own increment or a full moment was counted since.
 * Sizes        Where the pool grows and shrinks the scenario counts the objects that it does not have as out: from
 *              before a shrink, until a growth has returned.  The same for those that lfpool_trim() may have in its
 *              hands.
 * Orders       seq_cst: the count must move before the pool's own words do, and after them.  That also orders the
 *              threads and could hide a missing edge in the pool from ThreadSanitizer, so rounds whose capacity
 *              suffices for all do not count: there every NULL is wrong.
 */
#ifndef STRESS_DEMAND_H
#define STRESS_DEMAND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct demand {
	bool counted;      /* false: the capacity suffices, NULL is never right */
	bool unjudged;     /* no NULL is judged, and nothing counted            */
	uint32_t capacity; /* objects                                           */
	_Atomic(uint64_t) word;
};

static inline uint32_t demand_out(uint64_t word)
{
	return (uint32_t)word;
}

/* Before acquiring `count` objects.  Returns a reading for demand_null_allowed(). */
static inline uint64_t demand_raise(struct demand *demand, uint32_t count)
{
	if (!demand->counted)
		return 0;

	/* relaxed: the CAS below checks it. */
	uint64_t before = atomic_load_explicit(&demand->word, memory_order_relaxed);
	uint64_t after;

	do {
		after = before + count;
		if (demand_out(before) <= demand->capacity && demand_out(after) > demand->capacity)
			after += UINT64_C(1) << 32;
		/* seq_cst: see Orders. */
	} while (!atomic_compare_exchange_weak(&demand->word, &before, after));
	return after;
}

/* After a release has returned, or an acquire without an object. */
static inline void demand_lower(struct demand *demand, uint32_t count)
{
	if (demand->counted)
		/* seq_cst: see Orders. */
		(void)atomic_fetch_sub(&demand->word, count);
}

/* After an answer of NULL, before demand_lower(): could it be right? */
static inline bool demand_null_allowed(struct demand *demand, uint64_t reading)
{
	return demand->counted && (demand_out(reading) > demand->capacity ||
				   /* seq_cst: see Orders. */
				   atomic_load(&demand->word) >> 32 != reading >> 32);
}

#endif
