/* SPDX-License-Identifier: MIT */
/*
 * demand.h - when is NULL the right answer?
 *
 * Idea         The pool may return NULL only if at some moment during the call every object was in use.  That moment
 *              cannot be seen from outside, but a bound on it can.  Count an object as "out" from before its acquire
 *              begins until its release has returned.  Then every object in use is counted, and so is the caller's
 *              own wish, so a moment with all objects in use has more than `capacity` out.  Without such a moment
 *              during the call NULL was wrong.  The bound never blames a right NULL; it may miss a wrong one while
 *              other threads are in calls.
 * Layout       One 64-bit word {full moments:32, out:32}. An increment that lifts `out` above the capacity counts a
 *              full moment in the same CAS. So `out` was above the capacity during the call if and only if it was so
 *              right after the caller's increment, or a full moment was counted since.
 * Sizes        In a pool that grows and shrinks, the scenario counts missing objects as out: from before a shrink
 *              until a growth has returned.  It also counts the objects that a running lfpool_trim() may hold.
 * Orders       seq_cst: `out` must rise before an acquire changes the pool's words, and fall after a release has
 *              changed them.  This also orders the threads, and could so hide a missing edge of the pool from
 *              ThreadSanitizer.  So rounds whose capacity suffices do not count: every NULL is wrong there.
 */
#ifndef STRESS_DEMAND_H
#define STRESS_DEMAND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct demand {
	bool counted;      /* false: `word` is unused; NULL is never right, unless `unjudged` */
	bool unjudged;     /* NULLs are not judged; then `counted` is false */
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

/* After a release has returned, or an acquire has failed. */
static inline void demand_lower(struct demand *demand, uint32_t count)
{
	if (demand->counted)
		/* seq_cst: see Orders. */
		(void)atomic_fetch_sub(&demand->word, count);
}

/* Could NULL be right?  `reading` is from demand_raise(); called before demand_lower(). */
static inline bool demand_null_allowed(struct demand *demand, uint64_t reading)
{
	return demand->counted && (demand_out(reading) > demand->capacity ||
				   /* seq_cst: see Orders. */
				   atomic_load(&demand->word) >> 32 != reading >> 32);
}

#endif
