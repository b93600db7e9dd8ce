/* SPDX-License-Identifier: MIT */
/*
 * low_water.h - the minimum of a count since the last reset.
 *
 * Idea         The count is a word that changes only by compare-and-swap.  The minimum is in a second word, the mark.
 *              A call that has lowered the count records the new value in the mark, if it is a new minimum.  A reset
 *              first opens the mark, so that any value is a new minimum.  The reset then writes the count back
 *              unchanged by CAS, records the value that this CAS found, and closes the mark.  The recorded value
 *              includes all changes before the CAS.  A call that changes the count after the CAS acquires the count's
 *              word, and so sees that the mark is open.  If another reset begins before the mark is closed, only the
 *              later reset closes the mark.  The minimum reads as 0 while the mark is open, and therefore also after a
 *              reset that never finished.
 * Progress     Lock-free: a retry means that another thread lowered the minimum, or began or ended a reset.
 */
#ifndef LFPOOL_LOW_WATER_H
#define LFPOOL_LOW_WATER_H

#include "base/atomics.h"
#include "base/base.h"
#include "base/widths.h"

/* A mark is {resets:31, resetting:1, least:32}.  The mark is open while `resetting` is 1.  A zeroed mark is closed,
 * with the minimum 0. */
typedef _Atomic(uint64_t) low_water_word;

#define LOW_WATER_RESETTING (UINT64_C(1) << 32)
#define LOW_WATER_RESETS (LOW_WATER_RESETTING << 1)
#define LOW_WATER_MASK (LOW_BITS(LOW_WATER_RESETS_BITS) * LOW_WATER_RESETS | (LOW_WATER_RESETS - 1))

static inline void low_water_note(low_water_word *mark, uint32_t value)
{
	uint64_t now = tally_read(mark);

	while (unlikely(value < (uint32_t)now) && !tally_cas(mark, &now, (now & ~(uint64_t)UINT32_MAX) | value))
		;
}

static inline uint32_t low_water_least(const low_water_word *mark)
{
	const uint64_t now = tally_read(mark);

	return now & LOW_WATER_RESETTING ? 0 : (uint32_t)now;
}

/* Returns the argument for low_water_close(). */
static inline uint64_t low_water_open(low_water_word *mark)
{
	uint64_t now = tally_read(mark), open;

	do
		open = ((now | LOW_WATER_RESETTING | UINT32_MAX) + LOW_WATER_RESETS) & LOW_WATER_MASK;
	while (!tally_cas(mark, &now, open));
	return open;
}

static inline void low_water_close(low_water_word *mark, uint64_t open)
{
	uint64_t now = tally_read(mark);

	while (now >> 32 == open >> 32 && !tally_cas(mark, &now, now & ~LOW_WATER_RESETTING))
		;
}

#endif
